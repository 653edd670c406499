/*
 * short_names.c - makes text fit a number of columns: names of functions lose template arguments,
 * then break over lines, then lose their middle.
 *
 * In: display text and the room it has (etlheap_fit). Out: text appended that fits.
 *
 *     std::vector<int,std::allocator<int> >::push_back (app.exe)  a.cpp:42
 *     std::vector<…>::push_back (app.exe)  a.cpp:42      1. without template arguments
 *     std::vector<…>::push_back (app.exe)                2. broken where two spaces are
 *         a.cpp:42
 *     std::vector<…>::pu…(app.exe)                       3. without its middle
 *
 * Invariants: no line is wider than its room, and a cut text fills it exactly. Brackets of
 * operators ("operator<<") are not lists of arguments, and no cut leaves half of "<…>".
 */
#include "short_names.h"

#include "formats/io/text_buffer.h"
#include "display.h"

#define MIDDLE_MIN   12 /* narrower texts lose their end */
#define BELOW_INDENT 4
#define PART_GAP     2

static void add_cut(etlheap_text *to, const char *text, size_t size, const etlheap_fit *fit,
                    const char *ellipsis);
static void add_broken(etlheap_text *to, const char *text, size_t size, const etlheap_fit *fit);
static size_t part_size(const char *text, size_t size);
static void keep_lists_whole(const char *text, size_t size, const char *ellipsis, size_t *head,
                             size_t *tail);
static size_t tail_of(const char *text, size_t size, u32 columns);
static size_t step_size(const char *name, size_t size, size_t at, size_t *operator_end,
                        size_t *arguments);
static size_t operator_size(const char *name, size_t size, size_t at);
static size_t arguments_size(const char *text, size_t size);
static bool is_word(char c);

void etlheap_display_add_fitted(etlheap_text *to, const char *text, size_t size,
                                const etlheap_fit *fit)
{
    const char *const ellipsis = fit->ascii ? "..." : "\xE2\x80\xA6";
    etlheap_text name = { 0 };
    if (fit->is_name && etlheap_display_fit(text, size, fit->columns) < size) {
        etlheap_display_add_short(&name, text, size, ellipsis);
        text = etlheap_text_of(&name);
        size = name.size;
    }
    if (etlheap_display_fit(text, size, fit->columns) == size)
        etlheap_text_add(to, text, size);
    else if (fit->is_name && fit->breaks)
        add_broken(to, text, size, fit);
    else
        add_cut(to, text, size, fit, ellipsis);
    to->failed |= name.failed;
    etlheap_text_free(&name);
}

void etlheap_display_add_short(etlheap_text *to, const char *name, size_t size,
                               const char *ellipsis)
{
    size_t run = 0;
    size_t operator_end = 0;
    for (size_t at = 0; at < size;) {
        size_t arguments;
        const size_t step = step_size(name, size, at, &operator_end, &arguments);
        if (arguments > 2) {
            etlheap_text_add(to, name + run, at + 1 - run);
            etlheap_text_add_string(to, ellipsis);
            run = at + arguments - 1; /* the closing bracket */
        }
        at += step;
    }
    etlheap_text_add(to, name + run, size - run);
}

size_t etlheap_display_word_size(const char *text, size_t size)
{
    size_t operator_end = 0, arguments;
    size_t at = 0;
    while (at < size && text[at] != ' ')
        at += step_size(text, size, at, &operator_end, &arguments);
    return at;
}

/* The size of the token at `at`: a list of template arguments, an operator, or one byte. */
static size_t step_size(const char *name, size_t size, size_t at, size_t *operator_end,
                        size_t *arguments)
{
    const size_t of_operator = operator_size(name, size, at);
    const bool follows_name = at > 0 && (is_word(name[at - 1]) || at == *operator_end);
    const bool opens = of_operator == 0 && follows_name && name[at] == '<';
    *arguments = opens ? arguments_size(name + at, size - at) : 0;
    *operator_end = at + of_operator;
    if (*arguments > 0)
        return *arguments;
    return of_operator > 0 ? of_operator : 1;
}

/* Appends the parts, which are separated by two spaces, on as many lines as they need: the name and
 * its module, the place in the source, a mark. */
static void add_broken(etlheap_text *to, const char *text, size_t size, const etlheap_fit *fit)
{
    size_t indent = 0;
    while (indent < size && text[indent] == ' ')
        indent++;
    u32 below = (u32)indent + BELOW_INDENT;
    if (below >= fit->columns)
        below = 0;
    u32 column = (u32)indent;
    etlheap_text_add(to, text, indent);
    for (size_t at = indent; at < size;) {
        const size_t part = part_size(text + at, size - at);
        const u32 columns = etlheap_display_width(text + at, part);
        const u32 gap = at > indent ? PART_GAP : 0;
        if (at > indent && column + gap + columns > fit->columns) {
            etlheap_text_add_format(to, "\n%*s", (int)below, "");
            column = below;
        } else {
            etlheap_text_add_format(to, "%*s", (int)gap, "");
            column += gap;
        }
        const etlheap_fit rest = { fit->columns - column, true, false, fit->ascii };
        etlheap_display_add_fitted(to, text + at, part, &rest);
        column += (u32)etl_min_u64(columns, rest.columns);
        at += part;
        while (at < size && text[at] == ' ')
            at++;
    }
}

/* The number of bytes before two spaces or the end. */
static size_t part_size(const char *text, size_t size)
{
    size_t part = 0;
    while (part < size && !(part + 1 < size && text[part] == ' ' && text[part + 1] == ' '))
        part++;
    return part;
}

/* Cuts the middle out. A name begins with the function, so two thirds are kept from its start; of a
 * path or a command line, two thirds are kept from its end. */
static void add_cut(etlheap_text *to, const char *text, size_t size, const etlheap_fit *fit,
                    const char *ellipsis)
{
    const u32 marked =
        (u32)etl_min_u64(etlheap_display_width(ellipsis, strlen(ellipsis)), fit->columns);
    const u32 kept = fit->columns - marked;
    const u32 end = fit->columns < MIDDLE_MIN ? 0 : (fit->is_name ? kept / 3 : kept - kept / 3);
    size_t head = etlheap_display_fit(text, size, kept - end);
    size_t tail = tail_of(text, size, end);
    keep_lists_whole(text, size, ellipsis, &head, &tail);
    etlheap_text_add(to, text, head);
    etlheap_text_add(to, ellipsis, fit->ascii ? marked : strlen(ellipsis));
    etlheap_text_add(to, text + tail, size - tail);
    /* A wide character or a list that did not fit leaves columns unused. */
    const u32 used =
        etlheap_display_width(text, head) + etlheap_display_width(text + tail, size - tail);
    etlheap_text_add_format(to, "%*s", (int)(kept - used), "");
}

/* A cut through "<…>" would leave half of it, so the cut is moved past the whole list. */
static void keep_lists_whole(const char *text, size_t size, const char *ellipsis, size_t *head,
                             size_t *tail)
{
    const size_t dots = strlen(ellipsis);
    const size_t list = dots + 2;
    for (size_t at = 0; at + list <= size; at++) {
        if (text[at] != '<' || text[at + list - 1] != '>' ||
            memcmp(text + at + 1, ellipsis, dots) != 0)
            continue;
        if (*head > at && *head < at + list)
            *head = at;
        if (*tail > at && *tail < at + list)
            *tail = at + list;
    }
}

/* The start of the longest end of the text that takes at most `columns`. */
static size_t tail_of(const char *text, size_t size, u32 columns)
{
    u32 left = etlheap_display_width(text, size);
    size_t at = 0;
    while (at < size) {
        const etlheap_glyph glyph = etlheap_glyph_at(text + at, size - at);
        if (left <= columns && glyph.columns > 0)
            break;
        left -= glyph.columns;
        at += glyph.size;
    }
    return at;
}

/* The size of "operator<<" and the like, which have no brackets; 0 for other text. */
static size_t operator_size(const char *name, size_t size, size_t at)
{
    static const char word[] = "operator";
    static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>",
                                         "<=",  ">=",  "->",  "<",   ">" };
    const size_t length = sizeof word - 1;
    if (size - at <= length || memcmp(name + at, word, length) != 0 ||
        (at > 0 && is_word(name[at - 1])))
        return 0;
    for (size_t i = 0; i < ETL_COUNT_OF(signs); i++) {
        const size_t sign = strlen(signs[i]);
        if (size - at - length >= sign && memcmp(name + at + length, signs[i], sign) == 0)
            return length + sign;
    }
    return 0;
}

/* The number of bytes from a bracket to its partner, both included; 0 without a partner. The arrow
 * of a return type is not a bracket. */
static size_t arguments_size(const char *text, size_t size)
{
    size_t depth = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<')
            depth++;
        if (text[i] != '>' || (i > 0 && text[i - 1] == '-'))
            continue;
        depth--;
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

/* May the byte be part of an identifier? Bytes beyond ASCII count as letters. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (u8)c >= 0x80;
}
