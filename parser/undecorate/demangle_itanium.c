/*
 * demangle_itanium.c - C++ names as GCC and clang mangle them elsewhere than on Windows.
 *
 * In: what follows _Z. Out: the qualified name with its template arguments.
 *
 * Types are written with const and pointers behind them (int const*), so that each part of a name
 * is one piece of the output. A substitution (S_, S0_) is a copy of such a piece. Where a pointer
 * to a function or an array has to be written inside of the type, the place is kept beside the
 * text. Parameters of the function itself are not read. Expressions in template arguments are rare,
 * and a name that has them stays as it is. Invariant: depth, length and substitutions are bounded,
 * so a hostile name ends soon.
 *
 * Source: "Itanium C++ ABI", Mangling.
 */
#include "demangle_itanium.h"

static void read_encoding(itanium *p, bool is_whole);

bool itanium_keep(itanium *p, size_t from, size_t inside, piece *out)
{
    const size_t size = p->r->length - from;
    if (p->r->is_failed || size > TEXT_SIZE - p->text_size) {
        p->r->is_failed = true;
        return false;
    }
    memcpy(p->text + p->text_size, p->r->out + from, size);
    *out = (piece){ (u16)p->text_size, (u16)size, (u16)inside };
    p->text_size += size;
    return true;
}

/* Makes what was written since `from` the next substitution. */
void itanium_substitute(itanium *p, size_t from, size_t inside)
{
    if (p->substitution_count < SUBSTITUTIONS_MAX &&
        itanium_keep(p, from, inside, &p->substitutions[p->substitution_count]))
        p->substitution_count++;
    else
        p->r->is_failed = true;
}

static void put_piece(itanium *p, const piece *from)
{
    dem_put_bytes(p->r, p->text + from->at, from->size);
    p->inside = from->inside;
}

/* A number with the digits 0-9 and A-Z before _; "_" alone is 0, and "0_" is 1. */
static size_t sequence_number(dem_reader *r)
{
    size_t value = 0;
    if (dem_take(r, '_'))
        return 0;
    while (!dem_take(r, '_')) {
        const char c = dem_peek(r);
        if (!(dem_is_digit(c) || (c >= 'A' && c <= 'Z')) || value > SUBSTITUTIONS_MAX) {
            r->is_failed = true;
            return 0;
        }
        value = value * 36 + (size_t)(dem_is_digit(c) ? c - '0' : c - 'A' + 10);
        r->at++;
    }
    return value + 1;
}

/* Behind the S: a substitution, or a short form of std. */
void itanium_read_substitution(itanium *p)
{
    static const char *const names[][2] = {
        { "t", "std" },          { "a", "std::allocator" }, { "b", "std::basic_string" },
        { "s", "std::string" },  { "i", "std::istream" },   { "o", "std::ostream" },
        { "d", "std::iostream" }
    };
    p->inside = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        if (dem_take(p->r, names[i][0][0])) {
            dem_put(p->r, names[i][1]);
            return;
        }
    }
    const size_t number = sequence_number(p->r);
    if (number >= p->substitution_count)
        p->r->is_failed = true;
    else
        put_piece(p, &p->substitutions[number]);
}

/* Behind the T: an argument of the template read last; of a generic lambda, auto. */
void itanium_read_parameter(itanium *p)
{
    const size_t number = sequence_number(p->r);
    p->inside = 0;
    if (number < p->argument_count)
        put_piece(p, &p->arguments[number]);
    else
        dem_put(p->r, "auto");
}

/* --- template arguments ---------------------------------------------------------------- */

/* Behind the L: a value. */
static void read_literal(itanium *p)
{
    dem_reader *const r = p->r;
    static const char suffixed[] = "ijlmxy";
    static const char *const suffixes[] = { "", "u", "l", "ul", "ll", "ull" };
    const char type = dem_peek(r);
    const char *const found = type != '\0' ? strchr(suffixed, type) : NULL;
    if (dem_begins(r, "_Z")) {
        r->at += 2;
        dem_put(r, "&");
        read_encoding(p, false);
    } else if (type == 'b' && r->size - r->at > 1) {
        dem_put(r, r->in[r->at + 1] == '1' ? "true" : "false");
        r->at += 2;
    } else {
        if (found != NULL) {
            r->at++;
        } else {
            dem_put(r, "(");
            itanium_read_type(p);
            dem_put(r, ")");
        }
        dem_put(r, dem_take(r, 'n') ? "-" : "");
        const size_t begin = r->at;
        while (dem_is_digit(dem_peek(r)))
            r->at++;
        dem_put_bytes(r, r->in + begin, r->at - begin);
        dem_put(r, found != NULL ? suffixes[found - suffixed] : "");
    }
    if (!dem_take(r, 'E'))
        r->is_failed = true;
}

/* Arguments up to the E. Those of a pack are separated like others. */
static void read_argument_list(itanium *p, piece *arguments, u32 *count, u32 *written)
{
    dem_reader *const r = p->r;
    if (!dem_enter(r))
        return;
    while (!r->is_failed && !dem_take(r, 'E')) {
        if (dem_take(r, 'J')) {
            read_argument_list(p, arguments, count, written);
            continue;
        }
        dem_put(r, *written > 0 ? ", " : "");
        const size_t begin = r->length;
        p->inside = 0;
        if (dem_take(r, 'L'))
            read_literal(p);
        else if (dem_peek(r) == 'X')
            r->is_failed = true;
        else
            itanium_read_type(p);
        (*written)++;
        if (*count < ARGUMENTS_MAX && itanium_keep(p, begin, p->inside, &arguments[*count]))
            (*count)++;
    }
    dem_leave(r);
}

/* Behind the I. */
void itanium_read_arguments(itanium *p)
{
    piece arguments[ARGUMENTS_MAX];
    u32 count = 0, written = 0;
    const size_t length = p->r->length;
    dem_put(p->r, length > 0 && p->r->out[length - 1] == '<' ? " <" : "<"); /* operator< <int> */
    read_argument_list(p, arguments, &count, &written);
    dem_put(p->r, ">");
    memcpy(p->arguments, arguments, count * sizeof *arguments);
    p->argument_count = count;
}

/* --- names ------------------------------------------------------------------------------ */

static const char *const operators[][2] = {
    { "nw", " new" },      { "na", " new[]" }, { "dl", " delete" }, { "da", " delete[]" },
    { "aw", " co_await" }, { "ps", "+" },      { "ng", "-" },       { "ad", "&" },
    { "de", "*" },         { "co", "~" },      { "pl", "+" },       { "mi", "-" },
    { "ml", "*" },         { "dv", "/" },      { "rm", "%" },       { "an", "&" },
    { "or", "|" },         { "eo", "^" },      { "aS", "=" },       { "pL", "+=" },
    { "mI", "-=" },        { "mL", "*=" },     { "dV", "/=" },      { "rM", "%=" },
    { "aN", "&=" },        { "oR", "|=" },     { "eO", "^=" },      { "ls", "<<" },
    { "rs", ">>" },        { "lS", "<<=" },    { "rS", ">>=" },     { "eq", "==" },
    { "ne", "!=" },        { "lt", "<" },      { "gt", ">" },       { "le", "<=" },
    { "ge", ">=" },        { "ss", "<=>" },    { "nt", "!" },       { "aa", "&&" },
    { "oo", "||" },        { "pp", "++" },     { "mm", "-\55" },    { "cm", "," },
    { "pm", "->*" },       { "pt", "->" },     { "cl", "()" },      { "ix", "[]" }
};

/* The parameters of a lambda or a local function are read for their substitutions only. */
static void skip_types(itanium *p)
{
    dem_reader *const r = p->r;
    const size_t length = r->length;
    while (!r->is_failed && dem_peek(r) != 'E' && r->at < r->size)
        itanium_read_type(p);
    r->length = length;
}

/* Ul...E_ and Ut_: a lambda, or another type without a name, by its number. */
static void read_unnamed(itanium *p)
{
    dem_reader *const r = p->r;
    const bool is_lambda = dem_begins(r, "Ul");
    r->at += 2;
    dem_put(r, is_lambda ? "{lambda(" : "{unnamed type");
    if (is_lambda) {
        const size_t begin = r->length;
        for (u32 i = 0; !r->is_failed && !dem_take(r, 'E'); i++) {
            dem_put(r, i > 0 ? ", " : "");
            itanium_read_type(p);
        }
        if (!r->is_failed && r->length - begin == 4 && memcmp(r->out + begin, "void", 4) == 0)
            r->length = begin;
        dem_put(r, ")");
    }
    dem_put(r, "#");
    const size_t number = dem_is_digit(dem_peek(r)) ? dem_number(r) + 2 : 1;
    dem_put_number(r, number);
    dem_put(r, "}");
    if (!dem_take(r, '_'))
        r->is_failed = true;
}

static void read_source_name(dem_reader *r)
{
    const size_t size = dem_number(r);
    if (r->is_failed || size > r->size - r->at || size == 0) {
        r->is_failed = true;
        return;
    }
    if (size >= 10 && memcmp(r->in + r->at, "_GLOBAL__N", 10) == 0)
        dem_put(r, "(anonymous namespace)");
    else
        dem_put_bytes(r, r->in + r->at, size);
    r->at += size;
}

static void read_operator(itanium *p)
{
    dem_reader *const r = p->r;
    dem_put(r, "operator");
    for (size_t i = 0; i < ETL_COUNT_OF(operators); i++) {
        if (dem_begins(r, operators[i][0])) {
            r->at += 2;
            dem_put(r, operators[i][1]);
            return;
        }
    }
    const bool is_literal = dem_begins(r, "li");
    if (!is_literal && !dem_begins(r, "cv")) {
        r->is_failed = true;
        return;
    }
    r->at += 2;
    dem_put(r, is_literal ? "\"\" " : " ");
    if (is_literal)
        read_source_name(r);
    else
        itanium_read_type(p);
}

/* A word, an operator or an unnamed type, with its ABI tags. */
static void read_unqualified(itanium *p)
{
    dem_reader *const r = p->r;
    (void)dem_take(r, 'L'); /* internal linkage */
    const char c = dem_peek(r);
    if (dem_is_digit(c))
        read_source_name(r);
    else if (dem_begins(r, "Ul") || dem_begins(r, "Ut"))
        read_unnamed(p);
    else if (c >= 'a' && c <= 'z')
        read_operator(p);
    else
        r->is_failed = true;
    while (!r->is_failed && dem_take(r, 'B')) {
        dem_put(r, "[abi:");
        read_source_name(r);
        dem_put(r, "]");
    }
}

/* C1 or D2: the word before it again, without template arguments. */
static void read_structor(itanium *p, const piece *word)
{
    dem_reader *const r = p->r;
    dem_put(r, dem_peek(r) == 'D' ? "~" : "");
    r->at++;
    if (!(dem_peek(r) >= '0' && dem_peek(r) <= '5'))
        r->is_failed = true;
    r->at++;
    put_piece(p, word);
}

/* The last word of a piece of text, for constructors of what a substitution names. */
static void last_word(itanium *p, size_t from, piece *out)
{
    size_t begin = from;
    for (size_t i = from; i + 1 < p->r->length; i++) {
        if (p->r->out[i] == '<')
            break;
        if (p->r->out[i] == ':' && p->r->out[i + 1] == ':')
            begin = ++i + 1;
    }
    (void)itanium_keep(p, begin, 0, out);
    for (u16 i = 0; i < out->size; i++) {
        if (p->text[out->at + i] == '<')
            out->size = i;
    }
}

/* Behind the N, up to the E. Each prefix but the whole is a substitution. */
static void read_nested(itanium *p, name_facts *facts)
{
    dem_reader *const r = p->r;
    const size_t begin = r->length;
    piece word = { 0 };
    while (strchr("rVKRO", dem_peek(r)) != NULL && dem_peek(r) != '\0')
        r->at++;
    for (u32 i = 0; !r->is_failed && !dem_take(r, 'E'); i++) {
        const char c = dem_peek(r);
        const bool is_substituted = c == 'S' || (c == 'T' && i == 0);
        facts->ends_with_arguments = false;
        if (c == 'I' && i > 0) {
            r->at++;
            itanium_read_arguments(p);
            facts->ends_with_arguments = true;
        } else if (is_substituted && i == 0) {
            r->at++;
            if (c == 'S')
                itanium_read_substitution(p);
            else
                itanium_read_parameter(p);
            last_word(p, begin, &word);
            if (c == 'S')
                continue;
        } else {
            dem_put(r, i > 0 ? "::" : "");
            const size_t from = r->length;
            const bool is_structor = (c == 'C' || c == 'D') && i > 0;
            if (is_structor)
                read_structor(p, &word);
            else
                read_unqualified(p);
            if (!is_structor && !r->is_failed)
                (void)itanium_keep(p, from, 0, &word);
        }
        if (dem_peek(r) != 'E')
            itanium_substitute(p, begin, 0);
    }
}

/* Behind the Z: a function, and a name in it. */
static void read_local(itanium *p, name_facts *facts)
{
    dem_reader *const r = p->r;
    read_encoding(p, true);
    if (!dem_take(r, 'E'))
        r->is_failed = true;
    if (dem_take(r, 's')) {
        dem_put(r, "::string literal");
    } else {
        if (dem_take(r, 'd')) {
            while (dem_is_digit(dem_peek(r)))
                r->at++;
            if (!dem_take(r, '_'))
                r->is_failed = true;
        }
        dem_put(r, "::");
        itanium_read_name(p, facts);
    }
    if (dem_take(r, '_')) {
        const bool is_long = dem_take(r, '_');
        while (dem_is_digit(dem_peek(r)) && (is_long || r->in[r->at - 1] == '_'))
            r->at++;
        if (is_long && !dem_take(r, '_'))
            r->is_failed = true;
    }
}

void itanium_read_name(itanium *p, name_facts *facts)
{
    dem_reader *const r = p->r;
    const size_t begin = r->length;
    bool is_substitution = false;
    facts->ends_with_arguments = false;
    if (!dem_enter(r))
        return;
    if (dem_take(r, 'N')) {
        read_nested(p, facts);
    } else if (dem_take(r, 'Z')) {
        read_local(p, facts);
    } else {
        if (dem_begins(r, "St")) {
            r->at += 2;
            dem_put(r, "std::");
            read_unqualified(p);
        } else if (dem_take(r, 'S')) {
            itanium_read_substitution(p);
            is_substitution = true;
        } else {
            read_unqualified(p);
        }
        if (dem_peek(r) == 'I') {
            if (!is_substitution)
                itanium_substitute(p, begin, 0);
            r->at++;
            itanium_read_arguments(p);
            facts->ends_with_arguments = true;
        }
    }
    dem_leave(r);
}

/* --- whole names ------------------------------------------------------------------------ */

/* Thunks and tables are called after what they belong to. False: it is none. */
static bool read_special(itanium *p)
{
    static const char *const types[][2] = { { "TV", "vtable for " },
                                            { "TT", "VTT for " },
                                            { "TI", "typeinfo for " },
                                            { "TS", "typeinfo name for " } };
    dem_reader *const r = p->r;
    name_facts facts;
    for (size_t i = 0; i < ETL_COUNT_OF(types); i++) {
        if (dem_begins(r, types[i][0])) {
            r->at += 2;
            dem_put(r, types[i][1]);
            itanium_read_type(p);
            return true;
        }
    }
    if (dem_begins(r, "GV")) {
        r->at += 2;
        dem_put(r, "guard variable for ");
        itanium_read_name(p, &facts);
        return true;
    }
    const bool is_virtual = dem_begins(r, "Tv");
    if (!is_virtual && !dem_begins(r, "Th"))
        return false;
    r->at += 2;
    for (int i = 0; i < (is_virtual ? 2 : 1); i++) {
        (void)dem_take(r, 'n');
        (void)dem_number(r);
        if (!dem_take(r, '_'))
            r->is_failed = true;
    }
    dem_put(r, is_virtual ? "virtual thunk to " : "non-virtual thunk to ");
    read_encoding(p, false);
    return true;
}

/* A function or a variable. Its parameters are read where something follows them. */
static void read_encoding(itanium *p, bool has_types)
{
    dem_reader *const r = p->r;
    name_facts facts = { false };
    if (!dem_enter(r))
        return;
    if (!read_special(p)) {
        itanium_read_name(p, &facts);
        if (has_types || r->depth > 1)
            skip_types(p);
    }
    dem_leave(r);
}

/* A suffix of the compiler, such as .cold, is kept. Letters of types follow any other name. */
void dem_read_itanium(dem_reader *r)
{
    itanium p;
    p.r = r;
    p.substitution_count = p.argument_count = 0;
    p.text_size = p.inside = 0;
    read_encoding(&p, false);
    const char *const rest = r->in + r->at;
    const char *const suffix = r->is_failed ? NULL : memchr(rest, '.', r->size - r->at);
    if (suffix != NULL)
        dem_put_bytes(r, suffix, r->size - (size_t)(suffix - r->in));
}
