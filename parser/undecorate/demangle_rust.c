/*
 * demangle_rust.c - names of Rust, of both manglings.
 *
 * In: what follows _R or _Z. Out: the path, without the hashes that change with every build.
 *
 * The older mangling is a C++ name of plain words, the last of which is a hash. Version 0 is a
 * grammar of its own, whose back references name a place in the input that is read again.
 * Invariant: steps and output are bounded, because references may multiply a name.
 *
 * Source: RFC 2603; rustc compiler/rustc_symbol_mangling/src/legacy.rs.
 */
#include "demangle_inside.h"

/* --- the older mangling ---------------------------------------------------------------- */

static bool is_hash(const char *word, size_t size)
{
    if (size != 17 || word[0] != 'h')
        return false;
    for (size_t i = 1; i < size; i++) {
        if (!dem_is_digit(word[i]) && !(word[i] >= 'a' && word[i] <= 'f'))
            return false;
    }
    return true;
}

/* What an escape between two $ stands for; NULL: it is none. */
static const char *escape_of(const char *word, size_t size, char buffer[2])
{
    static const char *const escapes[][2] = { { "SP", "@" }, { "BP", "*" }, { "RF", "&" },
                                              { "LT", "<" }, { "GT", ">" }, { "LP", "(" },
                                              { "RP", ")" }, { "C", "," } };
    for (size_t i = 0; i < ETL_COUNT_OF(escapes); i++) {
        if (strlen(escapes[i][0]) == size && memcmp(escapes[i][0], word, size) == 0)
            return escapes[i][1];
    }
    u32 code = 0;
    if (size < 2 || size > 3 || word[0] != 'u')
        return NULL;
    for (size_t i = 1; i < size; i++) {
        const char c = word[i];
        if (!dem_is_digit(c) && !(c >= 'a' && c <= 'f'))
            return NULL;
        code = code * 16 + (u32)(dem_is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    buffer[0] = (char)code;
    buffer[1] = '\0';
    return code >= ' ' && code < 0x7f ? buffer : NULL;
}

static void put_word(dem_reader *r, const char *word, size_t size)
{
    if (size > 1 && word[0] == '_' && word[1] == '$') {
        word++;
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        char buffer[2];
        const char *const end = word[i] == '$' ? memchr(word + i + 1, '$', size - i - 1) : NULL;
        const size_t length = end == NULL ? 0 : (size_t)(end - word) - i - 1;
        const char *const text = end == NULL ? NULL : escape_of(word + i + 1, length, buffer);
        if (text != NULL) {
            dem_put(r, text);
            i += length + 1;
        } else if (word[i] == '.' && i + 1 < size && word[i + 1] == '.') {
            dem_put(r, "::");
            i++;
        } else {
            dem_put_bytes(r, word + i, 1);
        }
    }
}

bool dem_read_rust_legacy(dem_reader *r)
{
    const size_t begin = r->at;
    size_t words = 0;
    bool has_hash = false;
    if (!dem_take(r, 'N'))
        return false;
    for (; dem_is_digit(dem_peek(r)) && !has_hash; words++) {
        const size_t size = dem_number(r);
        if (r->is_failed || size > r->size - r->at)
            break;
        has_hash = is_hash(r->in + r->at, size);
        if (!has_hash && words > 0)
            dem_put(r, "::");
        if (!has_hash)
            put_word(r, r->in + r->at, size);
        r->at += size;
    }
    if (has_hash && words > 1 && dem_peek(r) == 'E')
        return true;
    r->at = begin;
    r->length = 0;
    r->is_failed = false;
    return false;
}

/* --- version 0 -------------------------------------------------------------------------- */

static void read_path(dem_reader *r, bool is_value);
static void read_type(dem_reader *r);

/* A number with the digits 0-9, a-z, A-Z and a final _; nothing before it is 0, digits are one
 * more. */
static u64 base62(dem_reader *r)
{
    u64 value = 0;
    if (dem_take(r, '_'))
        return 0;
    while (!dem_take(r, '_')) {
        const char c = dem_peek(r);
        const u64 digit = dem_is_digit(c)        ? (u64)(c - '0')
                          : c >= 'a' && c <= 'z' ? (u64)(c - 'a') + 10
                          : c >= 'A' && c <= 'Z' ? (u64)(c - 'A') + 36
                                                 : 62;
        if (digit == 62 || value > UINT64_MAX / 64) {
            r->is_failed = true;
            return 0;
        }
        value = value * 62 + digit;
        r->at++;
    }
    return value + 1;
}

/* A number that may be missing after its letter. */
static u64 optional62(dem_reader *r, char letter)
{
    return dem_take(r, letter) ? base62(r) + 1 : 0;
}

static etl_bytes read_identifier(dem_reader *r)
{
    (void)dem_take(r, 'u'); /* Punycode is shown as it stands */
    const size_t size = dem_number(r);
    (void)dem_take(r, '_');
    if (r->is_failed || size > r->size - r->at) {
        r->is_failed = true;
        return (etl_bytes){ NULL, 0 };
    }
    const etl_bytes word = { (const u8 *)r->in + r->at, size };
    r->at += size;
    return word;
}

static void put_identifier(dem_reader *r, etl_bytes word)
{
    if (word.size > 0)
        dem_put_bytes(r, (const char *)word.at, word.size);
}

typedef void read_fn(dem_reader *r, bool is_value);

/* Reads a place before this one again. The number counts from behind _R. */
static void read_back(dem_reader *r, read_fn *rule, bool is_value)
{
    const size_t here = r->at - 1;
    const u64 place = base62(r) + 2;
    const size_t after = r->at;
    if (r->is_failed || place >= here) {
        r->is_failed = true;
        return;
    }
    r->at = (size_t)place;
    if (r->is_muted == 0) /* to read it again would only find its end */
        rule(r, is_value);
    r->at = after;
}

static void read_lifetime(dem_reader *r)
{
    (void)base62(r);
    dem_put(r, "'_");
}

static void read_constant(dem_reader *r, bool is_value)
{
    (void)is_value;
    if (!dem_enter(r))
        return;
    const char type = dem_peek(r);
    r->at += r->at < r->size;
    if (type == 'B') {
        read_back(r, read_constant, false);
    } else if (type == 'p') {
        dem_put(r, "_");
    } else if (strchr("abchijlmnostxy", type) != NULL && type != '\0') {
        u64 value = 0;
        size_t digits = 0;
        const bool is_negative = dem_take(r, 'n');
        const size_t begin = r->at;
        for (; !r->is_failed && !dem_take(r, '_'); digits++) {
            const char c = dem_peek(r);
            if (!dem_is_digit(c) && !(c >= 'a' && c <= 'f'))
                r->is_failed = true;
            value = value * 16 + (u64)(dem_is_digit(c) ? c - '0' : c - 'a' + 10);
            r->at += !r->is_failed;
        }
        dem_put(r, is_negative ? "-" : "");
        if (type == 'b')
            dem_put(r, value != 0 ? "true" : "false");
        else if (digits > 16 || type == 'c')
            dem_put(r, "0x"), dem_put_bytes(r, r->in + begin, r->is_failed ? 0 : digits);
        else
            dem_put_number(r, value);
    } else {
        r->is_failed = true;
    }
    dem_leave(r);
}

static void read_arguments(dem_reader *r)
{
    dem_put(r, "<");
    for (u32 i = 0; !r->is_failed && !dem_take(r, 'E'); i++) {
        dem_put(r, i > 0 ? ", " : "");
        if (dem_take(r, 'L'))
            read_lifetime(r);
        else if (dem_take(r, 'K'))
            read_constant(r, false);
        else
            read_type(r);
    }
    dem_put(r, ">");
}

/* The place of an implementation, which only tells several of one type apart. */
static void skip_implementation(dem_reader *r)
{
    (void)optional62(r, 's');
    r->is_muted++;
    read_path(r, false);
    r->is_muted--;
}

static void read_nested(dem_reader *r, bool is_value)
{
    const char space = dem_peek(r);
    r->at += r->at < r->size;
    read_path(r, is_value);
    const u64 number = optional62(r, 's');
    const etl_bytes name = read_identifier(r);
    const bool is_special = space >= 'A' && space <= 'Z';
    if (!is_special && !(space >= 'a' && space <= 'z'))
        r->is_failed = true;
    if (is_special) {
        dem_put(r, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
        if (space != 'C' && space != 'S')
            dem_put_bytes(r, &space, 1);
        dem_put(r, name.size > 0 ? ":" : "");
        put_identifier(r, name);
        dem_put(r, "#");
        dem_put_number(r, number);
        dem_put(r, "}");
    } else if (name.size > 0) {
        dem_put(r, "::");
        put_identifier(r, name);
    }
}

static void read_path(dem_reader *r, bool is_value)
{
    if (!dem_enter(r))
        return;
    const char kind = dem_peek(r);
    r->at += r->at < r->size;
    switch (kind) {
    case 'C':
        (void)optional62(r, 's');
        put_identifier(r, read_identifier(r));
        break;
    case 'M':
    case 'X':
    case 'Y':
        if (kind != 'Y')
            skip_implementation(r);
        dem_put(r, "<");
        read_type(r);
        if (kind != 'M') {
            dem_put(r, " as ");
            read_path(r, false);
        }
        dem_put(r, ">");
        break;
    case 'N':
        read_nested(r, is_value);
        break;
    case 'I':
        read_path(r, is_value);
        dem_put(r, is_value ? "::" : "");
        read_arguments(r);
        break;
    case 'B':
        read_back(r, read_path, is_value);
        break;
    default:
        r->is_failed = true;
        break;
    }
    dem_leave(r);
}

static void read_function_type(dem_reader *r)
{
    (void)optional62(r, 'G');
    dem_put(r, dem_take(r, 'U') ? "unsafe fn(" : "fn(");
    if (dem_take(r, 'K') && !dem_take(r, 'C'))
        (void)read_identifier(r);
    for (u32 i = 0; !r->is_failed && !dem_take(r, 'E'); i++) {
        dem_put(r, i > 0 ? ", " : "");
        read_type(r);
    }
    dem_put(r, ")");
    if (dem_take(r, 'u'))
        return;
    dem_put(r, " -> ");
    read_type(r);
}

static void read_dyn(dem_reader *r)
{
    dem_put(r, "dyn ");
    (void)optional62(r, 'G');
    for (u32 i = 0; !r->is_failed && !dem_take(r, 'E'); i++) {
        dem_put(r, i > 0 ? " + " : "");
        read_path(r, false);
        while (!r->is_failed && dem_take(r, 'p')) {
            dem_put(r, "<");
            put_identifier(r, read_identifier(r));
            dem_put(r, " = ");
            read_type(r);
            dem_put(r, ">");
        }
    }
    if (!dem_take(r, 'L'))
        r->is_failed = true;
    else
        (void)base62(r);
}

/* The name of a type that is one letter; NULL: it is none. */
static const char *basic_type(char letter)
{
    static const char *const names[26] = { "i8",   "bool",  "char",  "f64", "str", "f32", NULL,
                                           "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
                                           "u128", "_",     NULL,    NULL,  "i16", "u16", "()",
                                           "...",  NULL,    "i64",   "u64", "!" };
    return letter >= 'a' && letter <= 'z' ? names[letter - 'a'] : NULL;
}

static void read_back_type(dem_reader *r, bool is_value)
{
    (void)is_value;
    read_type(r);
}

static void read_sequence(dem_reader *r, char kind)
{
    u32 count = 0;
    dem_put(r, kind == 'T' ? "(" : "[");
    if (kind == 'T') {
        for (; !r->is_failed && !dem_take(r, 'E'); count++) {
            dem_put(r, count > 0 ? ", " : "");
            read_type(r);
        }
        dem_put(r, count == 1 ? ",)" : ")");
        return;
    }
    read_type(r);
    if (kind == 'A') {
        dem_put(r, "; ");
        read_constant(r, false);
    }
    dem_put(r, "]");
}

static void read_type(dem_reader *r)
{
    if (!dem_enter(r))
        return;
    const char kind = dem_peek(r);
    const char *const basic = basic_type(kind);
    r->at += r->at < r->size;
    if (basic != NULL) {
        dem_put(r, basic);
    } else if (kind == 'A' || kind == 'S' || kind == 'T') {
        read_sequence(r, kind);
    } else if (kind == 'R' || kind == 'Q') {
        dem_put(r, "&");
        if (dem_take(r, 'L'))
            (void)base62(r);
        dem_put(r, kind == 'Q' ? "mut " : "");
        read_type(r);
    } else if (kind == 'P' || kind == 'O') {
        dem_put(r, kind == 'P' ? "*const " : "*mut ");
        read_type(r);
    } else if (kind == 'F') {
        read_function_type(r);
    } else if (kind == 'D') {
        read_dyn(r);
    } else if (kind == 'B') {
        read_back(r, read_back_type, false);
    } else {
        r->at -= r->at > 0;
        read_path(r, false);
    }
    dem_leave(r);
}

/* What follows the path is the crate that made the copy, and suffixes of LLVM. */
void dem_read_rust(dem_reader *r)
{
    if (dem_is_digit(dem_peek(r)))
        r->is_failed = true;
    else
        read_path(r, true);
    const char next = dem_peek(r);
    if (next != '\0' && next != '.' && next != '$' && !(next >= 'A' && next <= 'Z'))
        r->is_failed = true;
}
