/*
 * demangle_types.c - types in C++ names of the Itanium ABI.
 *
 * In: the letters of a type. Out: its text, with const and pointers behind what they belong to, and
 * the place where a pointer to it would stand. Invariant: a type that is not one letter is a
 * substitution for later ones, in the order in which types end.
 */
#include "demangle_itanium.h"

/* The name of a type that is one letter, or two after a D; NULL: it is none. */
static const char *builtin_type(dem_reader *r)
{
    static const char *const letters[26] = { "signed char",
                                             "bool",
                                             "char",
                                             "double",
                                             "long double",
                                             "float",
                                             "__float128",
                                             "unsigned char",
                                             "int",
                                             "unsigned int",
                                             NULL,
                                             "long",
                                             "unsigned long",
                                             "__int128",
                                             "unsigned __int128",
                                             NULL,
                                             NULL,
                                             NULL,
                                             "short",
                                             "unsigned short",
                                             NULL,
                                             "void",
                                             "wchar_t",
                                             "long long",
                                             "unsigned long long",
                                             "..." };
    static const char *const pairs[][2] = {
        { "Dn", "decltype(nullptr)" }, { "Di", "char32_t" }, { "Ds", "char16_t" },
        { "Du", "char8_t" },           { "Da", "auto" },     { "Dc", "decltype(auto)" }
    };
    const char c = dem_peek(r);
    if (c >= 'a' && c <= 'z' && letters[c - 'a'] != NULL) {
        r->at++;
        return letters[c - 'a'];
    }
    for (size_t i = 0; i < ETL_COUNT_OF(pairs); i++) {
        if (dem_begins(r, pairs[i][0])) {
            r->at += 2;
            return pairs[i][1];
        }
    }
    return NULL;
}

/* Writes a sign of a pointer to the type that begins at `begin`, where the type wants it. */
static void put_sign(itanium *p, size_t begin, const char *sign)
{
    dem_reader *const r = p->r;
    char rest[512];
    if (p->inside == 0) {
        dem_put(r, sign);
        return;
    }
    const size_t at = begin + p->inside;
    const size_t size = r->length - at;
    if (r->is_failed || at > r->length || size > sizeof rest) {
        r->is_failed = true;
        return;
    }
    /* Between "int " and "(char)": a first sign brings its own parentheses. */
    const bool is_first = at == 0 || r->out[at - 1] == ' ';
    memcpy(rest, r->out + at, size);
    r->length = at;
    dem_put(r, is_first ? "(" : "");
    dem_put(r, sign);
    p->inside = r->length - begin;
    dem_put(r, !is_first ? "" : size > 0 && rest[0] == '[' ? ") " : ")");
    dem_put_bytes(r, rest, size);
}

/* Behind the F: return type and parameters up to the E. */
static void read_function_type(itanium *p, size_t begin)
{
    dem_reader *const r = p->r;
    (void)dem_take(r, 'Y');
    itanium_read_type(p);
    dem_put(r, " ");
    const size_t inside = r->length - begin;
    dem_put(r, "(");
    const size_t from = r->length;
    for (u32 i = 0; !r->is_failed && !dem_take(r, 'E'); i++) {
        if (dem_take(r, 'R') || dem_take(r, 'O')) {
            if (dem_peek(r) == 'E')
                continue;
            r->at--;
        }
        dem_put(r, i > 0 ? ", " : "");
        itanium_read_type(p);
    }
    if (!r->is_failed && r->length - from == 4 && memcmp(r->out + from, "void", 4) == 0)
        r->length = from;
    dem_put(r, ")");
    p->inside = inside;
}

/* Behind the A: size and element. */
static void read_array_type(itanium *p, size_t begin)
{
    dem_reader *const r = p->r;
    const size_t at = r->at;
    while (dem_is_digit(dem_peek(r)))
        r->at++;
    const size_t size = r->at - at;
    if (!dem_take(r, '_'))
        r->is_failed = true;
    itanium_read_type(p);
    dem_put(r, " ");
    p->inside = r->length - begin;
    dem_put(r, "[");
    dem_put_bytes(r, r->in + at, size);
    dem_put(r, "]");
}

/* Behind the M: class and member. */
static void read_member_type(itanium *p, size_t begin)
{
    dem_reader *const r = p->r;
    piece owner = { 0 };
    char sign[256];
    itanium_read_type(p);
    if (r->is_failed || !itanium_keep(p, begin, 0, &owner))
        return;
    r->length = begin;
    while (dem_peek(r) == 'K' && r->at + 1 < r->size && r->in[r->at + 1] == 'F')
        r->at++;
    itanium_read_type(p);
    if (r->is_failed || owner.size + sizeof "::*" > sizeof sign) {
        r->is_failed = true;
        return;
    }
    memcpy(sign, p->text + owner.at, owner.size);
    memcpy(sign + owner.size, "::*", sizeof "::*");
    if (p->inside == 0)
        dem_put(r, " ");
    put_sign(p, begin, sign);
}

/* Types made of another one, by their first letter. False: it is none. */
static bool read_compound(itanium *p, size_t begin)
{
    static const char *const signs[][2] = { { "P", "*" },         { "R", "&" },
                                            { "O", "&&" },        { "K", " const" },
                                            { "V", " volatile" }, { "r", " restrict" } };
    dem_reader *const r = p->r;
    for (size_t i = 0; i < ETL_COUNT_OF(signs); i++) {
        if (!dem_take(r, signs[i][0][0]))
            continue;
        if (i == 3 && dem_take(r, 'V')) { /* both are one step */
            itanium_read_type(p);
            put_sign(p, begin, " const volatile");
            return true;
        }
        itanium_read_type(p);
        put_sign(p, begin, signs[i][1]);
        return true;
    }
    if (dem_begins(r, "DoF") || dem_begins(r, "DOF"))
        r->at += 2;
    if (dem_take(r, 'F'))
        read_function_type(p, begin);
    else if (dem_take(r, 'A'))
        read_array_type(p, begin);
    else if (dem_take(r, 'M'))
        read_member_type(p, begin);
    else if (dem_begins(r, "Dp"))
        r->at += 2, itanium_read_type(p);
    else
        return false;
    return true;
}

void itanium_read_type(itanium *p)
{
    dem_reader *const r = p->r;
    const size_t begin = r->length;
    name_facts facts;
    if (!dem_enter(r))
        return;
    const char *const builtin = builtin_type(r);
    p->inside = 0;
    if (builtin != NULL) {
        dem_put(r, builtin);
    } else if (dem_peek(r) == 'S' && !dem_begins(r, "St")) {
        r->at++;
        itanium_read_substitution(p);
        if (dem_take(r, 'I')) {
            itanium_read_arguments(p);
            p->inside = 0;
            itanium_substitute(p, begin, 0);
        }
    } else if (dem_take(r, 'T')) {
        itanium_read_parameter(p);
        itanium_substitute(p, begin, p->inside);
    } else {
        if (!read_compound(p, begin)) {
            itanium_read_name(p, &facts);
            p->inside = 0;
        }
        itanium_substitute(p, begin, p->inside);
    }
    dem_leave(r);
}
