/*
 * demangle_d.c - names of D: _D, a qualified name, and the type of what it names.
 *
 * In: a public name of DMD, LDC or GDC. Out: the qualified name with template arguments, joined by
 * dots as D spells it. Types are written as they are read; a part that stands behind another one in
 * the text, but before it in the name, is turned around in the output. The type at the end is read
 * to know that the name is one of D, but not shown. Invariant: a name that does not end where the
 * grammar says stays as it is.
 *
 *     _D4main5Cache3putMFiZv   ->   main.Cache.put
 *     _D 4main 5Cache 3put  M F i Z v
 *        qualified name     type: of a member, function(int) returning void
 *
 * Source: the D language specification, "Application Binary Interface".
 */
#include "demangle_inside.h"

static void read_type(dem_reader *r);
static void read_qualified(dem_reader *r);

/* Moves out[from, middle) behind what follows it. */
static void put_behind(dem_reader *r, size_t from, size_t middle)
{
    char *const out = r->out;
    if (r->is_failed || r->is_muted > 0)
        return;
    for (size_t parts = 0; parts < 3; parts++) {
        size_t low = parts == 1 ? middle : from, high = parts == 0 ? middle : r->length;
        while (low + 1 < high) {
            const char swapped = out[low];
            out[low++] = out[--high];
            out[high] = swapped;
        }
        if (parts == 0 && middle == r->length)
            return;
    }
}

/* A reference back: the distance from its Q, in digits a to z of which the last is in lower case.
 * Returns the place that it names. */
static size_t read_reference(dem_reader *r)
{
    const size_t from = r->at++;
    size_t distance = 0;
    while (dem_peek(r) >= 'A' && dem_peek(r) <= 'Z' && distance <= r->size)
        distance = distance * 26 + (size_t)(r->in[r->at++] - 'A');
    const char last = dem_peek(r);
    if (last < 'a' || last > 'z') {
        r->is_failed = true;
        return 0;
    }
    r->at++;
    distance = distance * 26 + (size_t)(last - 'a');
    if (distance == 0 || distance > from)
        r->is_failed = true;
    return r->is_failed ? 0 : from - distance;
}

static void put_identifier(dem_reader *r, const char *text, size_t size)
{
    static const char *const own[][2] = { { "__ctor", "this" },
                                          { "__dtor", "~this" },
                                          { "__postblit", "this(this)" } };
    for (size_t i = 0; i < ETL_COUNT_OF(own); i++) {
        if (size == strlen(own[i][0]) && memcmp(text, own[i][0], size) == 0) {
            dem_put(r, own[i][1]);
            return;
        }
    }
    dem_put_bytes(r, text, size);
}

/* Text of a template value: so many bytes, in hexadecimal. */
static void read_text(dem_reader *r)
{
    r->at++;
    const size_t count = dem_number(r);
    if (!dem_take(r, '_') || 2 * count > r->size - r->at) {
        r->is_failed = true;
        return;
    }
    dem_put(r, "\"");
    for (size_t i = 0; i < 2 * count && !r->is_failed; i += 2) {
        u32 value = 0;
        for (size_t k = 0; k < 2; k++) {
            const char digit = r->in[r->at++];
            const bool is_letter = digit >= 'a' && digit <= 'f';
            r->is_failed |= !is_letter && !dem_is_digit(digit);
            value = value * 16 + (u32)(is_letter ? digit - 'a' + 10 : digit - '0');
        }
        const char shown = value >= ' ' && value < 0x7f ? (char)value : '?';
        dem_put_bytes(r, &shown, 1);
    }
    dem_put(r, "\"");
}

static void read_value(dem_reader *r)
{
    if (dem_take(r, 'n')) {
        dem_put(r, "null");
    } else if (dem_peek(r) == 'a' || dem_peek(r) == 'w' || dem_peek(r) == 'd') {
        read_text(r);
    } else {
        if (dem_take(r, 'N'))
            dem_put(r, "-");
        else
            (void)dem_take(r, 'i');
        const size_t from = r->at;
        while (dem_is_digit(dem_peek(r)))
            r->at++;
        r->is_failed |= r->at == from;
        dem_put_bytes(r, r->in + from, r->at - from);
    }
}

/* A symbol as a template argument: a qualified name, or all of a mangled one with its length. */
static void read_symbol_argument(dem_reader *r)
{
    const size_t from = r->at;
    if (dem_is_digit(dem_peek(r))) {
        const size_t size = dem_number(r);
        if (!r->is_failed && dem_begins(r, "_D")) {
            const size_t end = r->at + size;
            r->at += 2;
            read_qualified(r);
            r->is_failed |= end > r->size || r->at > end;
            r->at = r->is_failed ? r->at : end;
            return;
        }
        r->at = from;
    }
    (void)(dem_begins(r, "_D") && (r->at += 2) > 0);
    read_qualified(r);
}

static void read_argument(dem_reader *r)
{
    (void)dem_take(r, 'H'); /* a specialised parameter */
    if (dem_take(r, 'T')) {
        read_type(r);
    } else if (dem_take(r, 'V')) {
        r->is_muted++;
        read_type(r);
        r->is_muted--;
        read_value(r);
    } else if (dem_take(r, 'S')) {
        read_symbol_argument(r);
    } else {
        r->is_failed = true;
    }
}

/* __T name arguments Z */
static void read_instance(dem_reader *r)
{
    r->at += 3;
    const size_t size = dem_number(r);
    if (r->is_failed || size == 0 || size > r->size - r->at) {
        r->is_failed = true;
        return;
    }
    put_identifier(r, r->in + r->at, size);
    r->at += size;
    dem_put(r, "!(");
    for (bool is_first = true; !r->is_failed && !dem_take(r, 'Z'); is_first = false) {
        if (!is_first)
            dem_put(r, ", ");
        read_argument(r);
    }
    dem_put(r, ")");
}

static bool begins_instance(const dem_reader *r)
{
    return dem_begins(r, "__T") || dem_begins(r, "__U");
}

/* A name with its length. Older compilers give the length of an instance, too. */
static void read_sized(dem_reader *r)
{
    const size_t size = dem_number(r);
    if (r->is_failed || size > r->size - r->at) {
        r->is_failed = true;
        return;
    }
    const size_t end = r->at + size;
    if (begins_instance(r)) {
        read_instance(r);
        r->is_failed |= r->at != end;
        return;
    }
    put_identifier(r, r->in + r->at, size);
    r->at = end;
}

static bool begins_name(const dem_reader *r)
{
    return dem_is_digit(dem_peek(r)) || dem_peek(r) == 'Q' || begins_instance(r);
}

static void read_name(dem_reader *r)
{
    if (!dem_enter(r))
        return;
    if (dem_peek(r) == 'Q') {
        const size_t target = read_reference(r), back = r->at;
        if (!r->is_failed) {
            r->at = target;
            r->is_failed = !dem_is_digit(dem_peek(r));
            if (!r->is_failed)
                read_sized(r);
            r->at = back;
        }
    } else if (begins_instance(r)) {
        read_instance(r);
    } else {
        read_sized(r);
    }
    dem_leave(r);
}

static bool is_convention(char c)
{
    return c != '\0' && strchr("FUWVRY", c) != NULL;
}

/* Attributes of functions, which are not shown. Ng, Nh, Nk and Nn begin types and parameters. */
static void skip_attributes(dem_reader *r)
{
    while (dem_peek(r) == 'N' && r->at + 1 < r->size &&
           strchr("abcdefijlm", r->in[r->at + 1]) != NULL)
        r->at += 2;
}

static void read_parameter(dem_reader *r)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = dem_take(r, 'M') || dem_take(r, 'I') || dem_take(r, 'J') || dem_take(r, 'K') ||
                  dem_take(r, 'L');
        if (!goes_on && dem_begins(r, "Nk")) {
            r->at += 2;
            goes_on = true;
        }
    }
    read_type(r);
}

/* The convention, attributes and parameters of a function. */
static void read_parameters(dem_reader *r)
{
    r->at++;
    skip_attributes(r);
    dem_put(r, "(");
    for (bool is_first = true; !r->is_failed; is_first = false) {
        if (dem_take(r, 'Z'))
            break;
        if (dem_take(r, 'X') || dem_take(r, 'Y')) {
            dem_put(r, is_first ? "..." : ", ...");
            break;
        }
        if (!is_first)
            dem_put(r, ", ");
        read_parameter(r);
    }
    dem_put(r, ")");
}

/* Names of one scope after the other. A function in the middle has its parameters behind it; at the
 * end these are the type of the whole. */
static void read_qualified(dem_reader *r)
{
    if (!dem_enter(r))
        return;
    read_name(r);
    while (!r->is_failed) {
        const size_t at = r->at;
        r->is_muted++;
        (void)dem_take(r, 'M');
        if (is_convention(dem_peek(r)))
            read_parameters(r);
        r->is_muted--;
        if (r->is_failed || !begins_name(r)) {
            r->is_failed = r->depth > DEM_DEPTH_MAX || r->steps > DEM_STEPS_MAX;
            r->at = at;
            break;
        }
        dem_put(r, ".");
        read_name(r);
    }
    dem_leave(r);
}

/* "R function(int)": the parameters come first in the name, and the result after them. */
static void read_function(dem_reader *r, const char *word)
{
    const size_t from = r->length;
    dem_put(r, word);
    read_parameters(r);
    const size_t middle = r->length;
    read_type(r);
    put_behind(r, from, middle);
}

static void read_wrapped(dem_reader *r, const char *word)
{
    dem_put(r, word);
    dem_put(r, "(");
    read_type(r);
    dem_put(r, ")");
}

/* T[n] and V[K]. */
static void read_array(dem_reader *r, bool has_key)
{
    const size_t from = r->length;
    dem_put(r, "[");
    if (has_key)
        read_type(r);
    else
        dem_put_number(r, dem_number(r));
    dem_put(r, "]");
    const size_t middle = r->length;
    read_type(r);
    put_behind(r, from, middle);
}

static void read_tuple(dem_reader *r)
{
    const size_t count = dem_number(r);
    dem_put(r, "tuple(");
    for (size_t i = 0; i < count && !r->is_failed; i++) {
        if (i > 0)
            dem_put(r, ", ");
        read_type(r);
    }
    dem_put(r, ")");
}

static void read_delegate(dem_reader *r)
{
    while (dem_take(r, 'x') || dem_take(r, 'y') || dem_take(r, 'O'))
        continue;
    if (is_convention(dem_peek(r)))
        read_function(r, " delegate");
    else
        r->is_failed = true;
}

static void read_type_reference(dem_reader *r)
{
    const size_t target = read_reference(r), back = r->at;
    if (r->is_failed)
        return;
    r->at = target;
    read_type(r);
    r->at = back;
}

/* Basic types by their letter; NULL: another type. */
static const char *basic_type(char c)
{
    static const char letters[] = "vghstiklmfdeopjqrcbauwn";
    static const char *const names[] = { "void",   "byte",    "ubyte",       "short",   "ushort",
                                         "int",    "uint",    "long",        "ulong",   "float",
                                         "double", "real",    "ifloat",      "idouble", "ireal",
                                         "cfloat", "cdouble", "creal",       "bool",    "char",
                                         "wchar",  "dchar",   "typeof(null)" };
    const char *const found = c == '\0' ? NULL : strchr(letters, c);
    return found == NULL ? NULL : names[found - letters];
}

static void read_special_type(dem_reader *r)
{
    if (dem_take(r, 'g'))
        read_wrapped(r, "inout");
    else if (dem_take(r, 'h'))
        read_wrapped(r, "__vector");
    else if (dem_take(r, 'n'))
        dem_put(r, "noreturn");
    else
        r->is_failed = true;
}

static void read_other_type(dem_reader *r)
{
    switch (r->at < r->size ? r->in[r->at++] : '\0') {
    case 'x':
        read_wrapped(r, "const");
        break;
    case 'y':
        read_wrapped(r, "immutable");
        break;
    case 'O':
        read_wrapped(r, "shared");
        break;
    case 'N':
        read_special_type(r);
        break;
    case 'A':
        read_type(r);
        dem_put(r, "[]");
        break;
    case 'P':
        read_type(r);
        dem_put(r, "*");
        break;
    case 'G':
        read_array(r, false);
        break;
    case 'H':
        read_array(r, true);
        break;
    case 'B':
        read_tuple(r);
        break;
    case 'D':
        read_delegate(r);
        break;
    case 'C':
    case 'S':
    case 'E':
    case 'T':
    case 'I':
        r->is_failed = r->is_failed || !begins_name(r);
        read_qualified(r);
        break;
    default:
        r->is_failed = true;
    }
}

static void read_type(dem_reader *r)
{
    const char *const basic = basic_type(dem_peek(r));
    if (r->is_failed || !dem_enter(r))
        return;
    if (basic != NULL) {
        r->at++;
        dem_put(r, basic);
    } else if (dem_peek(r) == 'Q') {
        read_type_reference(r);
    } else if (is_convention(dem_peek(r))) {
        read_function(r, " function");
    } else {
        read_other_type(r);
    }
    dem_leave(r);
}

void dem_read_d(dem_reader *r)
{
    if (r->size == strlen("_Dmain") && dem_begins(r, "main")) {
        dem_put(r, "D main");
        return;
    }
    if (!begins_name(r)) {
        r->is_failed = true;
        return;
    }
    read_qualified(r);
    /* What the compiler makes for a type or module has no type. */
    if (!dem_take(r, 'Z')) {
        (void)dem_take(r, 'M');
        r->is_muted++;
        read_type(r);
        r->is_muted--;
    }
    r->is_failed |= r->at != r->size;
}
