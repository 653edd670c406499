/*
 * runs_read.c - reads the lines of an index of runs (runs.ndjson).
 *
 * In: a mapped file, which people may have edited. Out: etlheap_run_line rows that point into it.
 *
 *     {"schema":...,"file":"app.etl","marks":{ ... },...}\n
 *       key     value: only where it begins and ends
 *
 * A line is read only as far as its outermost members. The inside of a value matters only for where
 * it ends, so a count of brackets is enough for any depth. Invariants: lines that are not ours are
 * skipped, not refused. If several lines have the same file or output, the last counts.
 */
#include "runs_lines.h"

#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/map.h"

const char *etlheap_verdict_word(etlheap_verdict verdict)
{
    static const char *const words[] = {
#define VERDICT_WORD(name, word) word,
        ETLHEAP_VERDICTS(VERDICT_WORD)
#undef VERDICT_WORD
    };
    return (u32)verdict < ETLHEAP_VERDICT_COUNT ? words[verdict] : "";
}

struct etlheap_runs {
    etl_map map;
    etlheap_run_line *lines;
    u32 count, capacity;
    bool is_whole;
};

static etl_status read_lines(etlheap_runs *runs);
static bool keep_last(etlheap_runs *runs, bool by_output);
static etl_bytes take_line(etl_bytes *index, bool *is_whole);
static bool read_members(etlheap_run_line *out);
static bool read_member(const run_member *m, etlheap_run_line *out, u32 *found);
static bool read_verdict(etl_bytes word, etlheap_verdict *out);
static bool read_number(etl_bytes digits, u64 *out);
static bool read_id(etl_bytes value, etlheap_run_id *out);
static etl_bytes inside(etl_bytes value);
static void skip(etl_bytes *left, size_t size);

etl_status etlheap_runs_open(const char *path, etlheap_runs **out, etl_error *err)
{
    *out = NULL;
    etlheap_runs *const runs = calloc(1, sizeof *runs);
    if (!runs)
        return etl_no_memory(err);
    etl_status status = etl_map_open(path, false, &runs->map, err);
    if (status == ETL_OK) {
        status = read_lines(runs);
        if (status != ETL_OK)
            etl_fail_with(err, status, 0, "out of memory");
    }
    if (status == ETL_OK)
        *out = runs;
    else
        etlheap_runs_close(runs);
    return status;
}

void etlheap_runs_close(etlheap_runs *runs)
{
    if (!runs)
        return;
    etl_map_close(&runs->map);
    free(runs->lines);
    free(runs);
}

u32 etlheap_runs_count(const etlheap_runs *runs)
{
    return runs->count;
}

const etlheap_run_line *etlheap_runs_at(const etlheap_runs *runs, u32 index)
{
    return index < etlheap_runs_count(runs) ? &runs->lines[index] : NULL;
}

bool etlheap_runs_is_whole(const etlheap_runs *runs)
{
    return runs->is_whole;
}

static bool add_line(etlheap_runs *runs, const etlheap_run_line *line)
{
    if (runs->count == runs->capacity) {
        const u32 capacity = runs->capacity < 64 ? 64 : runs->capacity * 2;
        etlheap_run_line *const lines = realloc(runs->lines, capacity * sizeof *lines);
        if (!lines)
            return false;
        runs->lines = lines;
        runs->capacity = capacity;
    }
    runs->lines[runs->count++] = *line;
    return true;
}

static etl_status read_lines(etlheap_runs *runs)
{
    etl_bytes left = runs->map.bytes;
    runs->is_whole = true;
    while (left.size > 0) {
        etlheap_run_line line = { .text = take_line(&left, &runs->is_whole) };
        if (runs->is_whole && read_members(&line) && !add_line(runs, &line))
            return ETL_ERR_MEMORY;
    }
    return keep_last(runs, false) && keep_last(runs, true) ? ETL_OK : ETL_ERR_MEMORY;
}

/* A line with its file or its output, of which only one line may remain. */
typedef struct claim {
    etl_bytes text;
    u32 line;
} claim;

static int by_claim(const void *a, const void *b)
{
    const claim *const x = a, *const y = b;
    const size_t shared = etl_min_u64(x->text.size, y->text.size);
    const int order = shared == 0 ? 0 : memcmp(x->text.at, y->text.at, shared);
    if (order != 0)
        return order;
    if (x->text.size != y->text.size)
        return x->text.size < y->text.size ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static bool is_equal(etl_bytes a, etl_bytes b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* Keeps the last line for each file, or for each output; lines without one are all kept. */
static bool keep_last(etlheap_runs *runs, bool by_output)
{
    claim *const claims = calloc((size_t)runs->count + 1, sizeof *claims);
    u32 kept = 0;
    if (!claims)
        return false;
    for (u32 i = 0; i < runs->count; i++)
        claims[i] = (claim){ by_output ? runs->lines[i].output : runs->lines[i].file, i };
    qsort(claims, runs->count, sizeof *claims, by_claim);
    for (u32 i = 0; i + 1 < runs->count; i++) {
        if (is_equal(claims[i].text, claims[i + 1].text) && !run_is_text(claims[i].text, "null"))
            runs->lines[claims[i].line].text = (etl_bytes){ NULL, 0 };
    }
    for (u32 i = 0; i < runs->count; i++) {
        if (runs->lines[i].text.at)
            runs->lines[kept++] = runs->lines[i];
    }
    runs->count = kept;
    free(claims);
    return true;
}

/* Takes a line. The last line has no end if its writer was killed. */
static etl_bytes take_line(etl_bytes *index, bool *is_whole)
{
    const u8 *const end = memchr(index->at, '\n', index->size);
    const size_t size = end ? (size_t)(end - index->at) : index->size;
    const etl_bytes line = { index->at, size };
    *is_whole = end != NULL;
    skip(index, size + (end != NULL));
    return line;
}

/* The members that make a line one of ours. */
enum { FOUND_SCHEMA = 1, FOUND_FILE = 2, FOUND_OUTPUT = 4, FOUND_VERDICT = 8, FOUND_ALL = 15 };

static bool read_members(etlheap_run_line *out)
{
    etl_bytes left = out->text;
    u32 found = 0;
    run_member m;
    while (run_next_member(&left, &m)) {
        if (!read_member(&m, out, &found))
            return false;
    }
    return left.at == NULL && found == FOUND_ALL;
}

/* The character at the beginning of a string's inside, as far as a path needs it; others are 'x'.
 * 0 for one that the writer would not have escaped. */
static char path_char(etl_bytes *left)
{
    char c = (char)left->at[0];
    skip(left, 1);
    if (c != '\\' || left->size == 0)
        return c;
    c = (char)left->at[0];
    skip(left, 1);
    if (c != 'u')
        return strchr("\\\"", c) ? c : strchr("bfnrt", c) ? 'x' : '\0';
    u64 code = 0;
    for (int i = 0; i < 4 && left->size > 0; i++, skip(left, 1)) {
        const char *const digits = "0123456789abcdef";
        const char *const digit = strchr(digits, (char)(left->at[0] | 0x20));
        if (!digit)
            return '\0';
        code = code * 16 + (u64)(digit - digits);
    }
    return code >= 0x20 && code < 0x7F ? '\0' : 'x';
}

/* Is it the path of a store below the folder of the index, or null? Whoever can write to the index
 * could name any file by it, and scripts merge what it names. */
static bool is_below(etl_bytes value)
{
    etl_bytes left = inside(value);
    size_t dots = 0, size = 0; /* of the current component */
    bool is_first = true;
    if (run_is_text(value, "null"))
        return true;
    if (left.size == 0)
        return false;
    while (left.size > 0) {
        const char c = path_char(&left);
        const bool ends = c == '/' || etl_path_is_separator(c);
        if (c == '\0' || (ends && (size == 0 || (dots == 2 && size == 2))) ||
            (is_first && c == ':' && etl_path_is_separator('\\')))
            return false;
        is_first &= !ends;
        dots = ends ? 0 : dots + (c == '.');
        size = ends ? 0 : size + 1;
    }
    return size > 0 && !(dots == 2 && size == 2);
}

static bool read_member(const run_member *m, etlheap_run_line *out, u32 *found)
{
    const struct {
        const char *key;
        etlheap_run_id *id;
    } ids[] = { { "input_hash", &out->marks.input },
                { "output_hash", &out->marks.output },
                { "settings_hash", &out->marks.settings },
                { RUN_INPUT_STAMP, &out->marks.input_stamp },
                { RUN_OUTPUT_STAMP, &out->marks.output_stamp } };
    for (size_t i = 0; i < ETL_COUNT_OF(ids); i++) {
        if (run_is_text(m->key, ids[i].key))
            return read_id(m->value, ids[i].id);
    }
    if (run_is_text(m->key, "schema")) {
        *found |= FOUND_SCHEMA;
        return run_is_text(inside(m->value), RUN_SCHEMA);
    }
    if (run_is_text(m->key, "file")) {
        *found |= FOUND_FILE;
        out->file = m->value;
    } else if (run_is_text(m->key, "output")) {
        *found |= FOUND_OUTPUT;
        out->output = m->value;
        return is_below(m->value);
    } else if (run_is_text(m->key, "verdict")) {
        *found |= FOUND_VERDICT;
        return read_verdict(inside(m->value), &out->verdict);
    } else if (run_is_text(m->key, "input_bytes")) {
        return read_number(m->value, &out->input_bytes);
    } else if (run_is_text(m->key, "output_bytes")) {
        return read_number(m->value, &out->output_bytes);
    }
    return true;
}

bool run_is_text(etl_bytes bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.at, text, bytes.size) == 0;
}

/* The inside of a string, without its quotes; nothing if it is not a string. */
static etl_bytes inside(etl_bytes value)
{
    const bool is_string = value.size >= 2 && value.at[0] == '"';
    return is_string ? (etl_bytes){ value.at + 1, value.size - 2 } : (etl_bytes){ value.at, 0 };
}

static bool read_verdict(etl_bytes word, etlheap_verdict *out)
{
    for (u32 i = 0; i < ETLHEAP_VERDICT_COUNT; i++) {
        *out = (etlheap_verdict)i;
        if (run_is_text(word, etlheap_verdict_word(*out)))
            return true;
    }
    return false;
}

/* null is 0. */
static bool read_number(etl_bytes digits, u64 *out)
{
    *out = 0;
    if (run_is_text(digits, "null"))
        return true;
    for (size_t i = 0; i < digits.size; i++) {
        const u8 c = digits.at[i];
        if (c < '0' || c > '9' || *out > (UINT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (u64)(c - '0');
    }
    return true;
}

static bool read_hex(const u8 *digits, u64 *out)
{
    *out = 0;
    for (u32 i = 0; i < 16; i++) {
        const u8 c = digits[i];
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && (c < 'a' || c > 'f'))
            return false;
        *out = *out << 4 | (u64)(is_digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static bool read_id(etl_bytes value, etlheap_run_id *out)
{
    const etl_bytes digits = inside(value);
    if (run_is_text(value, "null"))
        return true;
    out->given = digits.size == 32 && read_hex(digits.at, &out->id.high) &&
                 read_hex(digits.at + 16, &out->id.low);
    return out->given;
}

static void skip(etl_bytes *left, size_t size)
{
    left->at += size;
    left->size -= size;
}

static void skip_blanks(etl_bytes *left)
{
    while (left->size > 0 && (*left->at == ' ' || *left->at == '\t' || *left->at == '\r'))
        skip(left, 1);
}

static bool skip_char(etl_bytes *left, char c)
{
    skip_blanks(left);
    if (left->size == 0 || *left->at != (u8)c)
        return false;
    skip(left, 1);
    return true;
}

/* Takes a string with its quotes; false if it does not end. */
static bool take_string(etl_bytes *left, etl_bytes *out)
{
    const u8 *const begin = left->at;
    if (!skip_char(left, '"'))
        return false;
    while (left->size > 0 && *left->at != '"')
        skip(left, *left->at == '\\' && left->size > 1 ? 2 : 1);
    const bool ends = skip_char(left, '"');
    *out = (etl_bytes){ begin, (size_t)(left->at - begin) };
    return ends;
}

static bool take_value(etl_bytes *left, etl_bytes *out)
{
    u32 depth = 0;
    skip_blanks(left);
    const u8 *const begin = left->at;
    while (left->size > 0) {
        const u8 c = *left->at;
        if (depth == 0 && (c == ',' || c == '}'))
            break;
        if (c == '"') {
            etl_bytes ignored;
            if (!take_string(left, &ignored))
                return false;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= depth > 0 && (c == '}' || c == ']');
        skip(left, 1);
    }
    *out = (etl_bytes){ begin, (size_t)(left->at - begin) };
    return depth == 0 && out->size > 0;
}

/* Takes the next member. *left begins as the whole line. After the last member it is {NULL, 0}; if
 * the line is not an object, it is left unchanged. */
bool run_next_member(etl_bytes *left, run_member *out)
{
    etl_bytes at = *left;
    etl_bytes key;
    if (at.size > 0 && *at.at == '}') {
        skip(&at, 1);
        *left = at.size == 0 ? (etl_bytes){ NULL, 0 } : at;
        return false;
    }
    if (!(skip_char(&at, '{') || skip_char(&at, ',')))
        return false;
    skip_blanks(&at);
    if (!take_string(&at, &key) || !skip_char(&at, ':') || !take_value(&at, &out->value))
        return false;
    out->key = inside(key);
    *left = at;
    return true;
}
