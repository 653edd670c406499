/*
 * source_lines.c - finds places of source files, and cuts the lines around them.
 *
 *     place ──▶ files that symbols name ──▶ root: folder, rest ──▶ source_file.c ──▶ lines
 *
 * In: symbols, places, roots. Out: a list of parts. Invariant: the path that is opened is made of a
 * root and of a path that the symbols have; what somebody asked for only chooses among these.
 */
#include "source_lines.h"

#include <stdlib.h>

#include "parser/sized.h"
#include "source_roots.h"

/* Longer lines are cut: they are data, not code. */
#define LINE_BYTES_MAX 1000u

static const char *const status_words[] = {
#define STATUS_WORD(name, word) word,
    ETLHEAP_SOURCE_STATUSES(STATUS_WORD)
#undef STATUS_WORD
};

static const char *const link_words[] = { "",
#define LINK_WORD(name, word) word,
                                          ETLHEAP_SOURCE_LINKS(LINK_WORD)
#undef LINK_WORD
};

const char *etlheap_source_status_word(etlheap_source_status status)
{
    return status_words[status];
}

const char *etlheap_source_link_word(etlheap_source_link link)
{
    return (u32)link < ETL_COUNT_OF(link_words) ? link_words[link] : "";
}

/* --- which files are meant ------------------------------------------------------------------- */

typedef enum match { MATCH_NONE, MATCH_END, MATCH_WHOLE } match;

static match match_of(const char *path, const char *asked)
{
    const size_t size = strlen(path), end = strlen(asked);
    if (end == 0 || end > size || !etlheap_source_paths_same(path + size - end, asked))
        return MATCH_NONE;
    if (end == size)
        return MATCH_WHOLE;
    return strchr("/\\", path[size - end - 1]) ? MATCH_END : MATCH_NONE;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The paths that a place means, each once and sorted; a whole path means no other that ends with
 * it. The caller frees *paths. Errors: ETL_ERR_MEMORY. */
static etl_status find_paths(const etlheap_symbols *symbols, const char *asked, const char ***paths,
                             u32 *count, etl_error *err)
{
    const u32 files = etlheap_symbols_source_count(symbols);
    const char **const found = malloc(((size_t)files + 1) * sizeof *found);
    match best = MATCH_END;
    *paths = found;
    *count = 0;
    if (!found)
        return etl_no_memory(err);
    for (u32 i = 0; i < files; i++) {
        etlheap_source_file file;
        const match matched =
            etlheap_symbols_source_at(symbols, i, &file) ? match_of(file.file, asked) : MATCH_NONE;
        if (matched < best)
            continue;
        *count = matched > best ? 0 : *count;
        best = matched;
        found[(*count)++] = file.file;
    }
    qsort(found, *count, sizeof *found, compare_paths);
    u32 kept = 0;
    for (u32 i = 0; i < *count; i++) {
        if (i == 0 || strcmp(found[i], found[i - 1]) != 0)
            found[kept++] = found[i];
    }
    *count = kept;
    return ETL_OK;
}

bool etlheap_source_is_named(const etlheap_symbols *symbols, const etlheap_source_place *place)
{
    etlheap_source_file file;
    for (u32 i = 0; etlheap_symbols_source_at(symbols, i, &file); i++) {
        if (match_of(file.file, place->file) != MATCH_NONE)
            return true;
    }
    return false;
}

/* --- one part -------------------------------------------------------------------------------- */

/* What several parts of one file share: it is read once if they follow each other. */
typedef struct reader {
    const etlheap_symbols *symbols;
    const etlheap_source_options *options;
    const char *file; /* that `text` is of; NULL: none */
    etlheap_source_text text;
    etlheap_source_state state;
} reader;

/* Compares the file with what was compiled. */
static etlheap_source_state state_of(const reader *r, const char *path)
{
    etlheap_source_state state = ETLHEAP_SOURCE_UNSURE;
    etlheap_source_file file;
    for (u32 i = 0; etlheap_symbols_source_at(r->symbols, i, &file); i++) {
        if (file.checksum_size == 0 || strcmp(file.file, path) != 0)
            continue;
        if (etlheap_source_text_is(&r->text, &file))
            return ETLHEAP_SOURCE_SAME;
        state = ETLHEAP_SOURCE_CHANGED;
    }
    return state;
}

static etl_status read_file(reader *r, const char *path, etl_error *err)
{
    const char *rest = NULL;
    const etlheap_source_root *const root =
        etlheap_source_roots_find(&r->options->roots, path, &rest);
    etlheap_source_text_free(&r->text);
    r->state = ETLHEAP_SOURCE_UNSURE;
    r->file = path;
    r->text.status = ETLHEAP_SOURCE_UNMAPPED;
    if (!root)
        return ETL_OK;
    const char *const folder = root->to[0] == '\0' ? "." : root->to;
    const etl_status status = etlheap_source_text_read(folder, rest, &r->text, err);
    if (status == ETL_OK && r->text.bytes && r->text.status != ETLHEAP_SOURCE_TOO_LARGE)
        r->state = state_of(r, path);
    return status;
}

/* The bytes of the line that begins at `at`, without its end. */
static size_t line_size(const char *at, size_t left)
{
    const char *const end = memchr(at, '\n', left);
    size_t size = end ? (size_t)(end - at) : left;
    while (size > 0 && at[size - 1] == '\r')
        size--;
    return size;
}

/* A cut falls between characters. */
static void add_line(etlheap_text *out, const char *at, size_t size)
{
    const bool is_cut = size > LINE_BYTES_MAX;
    if (is_cut) {
        size = LINE_BYTES_MAX;
        while (size > 0 && ((u8)at[size] & 0xc0) == 0x80)
            size--;
    }
    etlheap_text_add(out, at, size);
    etlheap_text_add_string(out, is_cut ? "\xe2\x80\xa6\n" : "\n");
}

/* Cuts the lines around that of the part. */
static void cut_lines(const etlheap_text *lines, u32 around, etlheap_source_part *part,
                      etlheap_text *out)
{
    const char *at = etlheap_text_of(lines);
    size_t left = lines->size;
    const u32 first = part->line > around ? part->line - around : 1;
    const u64 last = (u64)part->line + around;
    u32 number = 0;
    while (left > 0) {
        const char *const end = memchr(at, '\n', left);
        const size_t size = end ? (size_t)(end - at) + 1 : left;
        number++;
        if (number >= first && number <= last) {
            add_line(out, at, line_size(at, left));
            part->line_count++;
        }
        at += size;
        left -= size;
    }
    part->file_lines = number;
    part->first_line = first;
    if (part->line > number) {
        part->status = ETLHEAP_SOURCE_PAST_END;
        part->line_count = 0;
        etlheap_text_clear(out);
    }
}

/* Characters of a URL that need no escape. */
static bool is_plain(char c)
{
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || strchr("-._~/", c) != NULL;
}

/* vscode://file/PATH:LINE, for the name of a file that was read. */
static void add_link(const char *path, u32 line, etlheap_text *out)
{
    const char *const drive = path[0] != '/' && path[1] == ':' ? &path[1] : NULL;
    etlheap_text_add_string(out, "vscode://file/");
    for (path += path[0] == '/'; *path != '\0'; path++) {
        if (*path == '\\')
            etlheap_text_add(out, "/", 1);
        else if (is_plain(*path) || path == drive)
            etlheap_text_add(out, path, 1);
        else
            etlheap_text_add_format(out, "%%%02X", (unsigned)(u8)*path);
    }
    etlheap_text_add_format(out, ":%u", line);
}

/* Takes the text; NULL if there is none, or memory ran out. */
static char *taken(etlheap_text *text)
{
    char *const bytes = text->failed ? NULL : text->bytes;
    if (bytes == NULL)
        free(text->bytes);
    *text = (etlheap_text){ .bytes = NULL, .failed = text->failed };
    return bytes;
}

static etl_status make_part(reader *r, const char *path, u32 line, etlheap_source_part *out,
                            etl_error *err)
{
    etlheap_text file = { 0 }, mapped = { 0 }, link = { 0 }, text = { 0 };
    etl_status status = r->file && strcmp(r->file, path) == 0 ? ETL_OK : read_file(r, path, err);
    if (status != ETL_OK)
        return status;
    *out = (etlheap_source_part){ .line = line, .status = r->text.status, .state = r->state };
    etlheap_text_add_string(&file, path);
    if (etlheap_source_roots_have(&r->options->roots, path))
        (void)etlheap_source_roots_add(&r->options->roots, path, &mapped);
    if (out->status == ETLHEAP_SOURCE_SHOWN)
        cut_lines(&r->text.lines, r->options->lines, out, &text);
    if (r->text.bytes && r->options->link == ETLHEAP_SOURCE_LINK_VSCODE)
        add_link(r->text.name, line, &link);
    out->text_size = text.size;
    const bool failed = file.failed || mapped.failed || link.failed || text.failed;
    out->file = taken(&file);
    out->path = taken(&mapped);
    out->link = taken(&link);
    out->text = taken(&text);
    return failed ? etl_no_memory(err) : ETL_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

static etl_status add_part(reader *r, const char *path, u32 line, etlheap_source_lines *lines,
                           etl_error *err)
{
    if (lines->count == lines->capacity) {
        const u32 capacity = lines->capacity * 2 + 4;
        etlheap_source_part *const at = realloc(lines->at, capacity * sizeof *at);
        if (!at)
            return etl_no_memory(err);
        lines->at = at;
        lines->capacity = capacity;
    }
    etlheap_source_part *const part = &lines->at[lines->count++];
    *part = (etlheap_source_part){ .file = NULL };
    return make_part(r, path, line, part, err);
}

etl_status etlheap_source_lines_read(const etlheap_symbols *symbols,
                                     const etlheap_source_place *places, uint32_t count,
                                     const etlheap_source_options *given,
                                     etlheap_source_lines **out, etl_error *err)
{
    etlheap_source_options options = { .size = sizeof options };
    *out = NULL;
    etl_status status =
        etl_read_sized(given, "etlheap_source_options", &options, sizeof options, err);
    if (status != ETL_OK)
        return status;
    etlheap_source_lines *const lines = calloc(1, sizeof *lines);
    if (!lines)
        return etl_no_memory(err);
    reader r = { .symbols = symbols, .options = &options };
    for (u32 i = 0; i < count && status == ETL_OK; i++) {
        const char **paths = NULL;
        u32 path_count = 0;
        status = find_paths(symbols, places[i].file, &paths, &path_count, err);
        for (u32 k = 0; k < path_count && status == ETL_OK; k++)
            status = add_part(&r, paths[k], places[i].line, lines, err);
        free(paths);
    }
    etlheap_source_text_free(&r.text);
    if (status == ETL_OK)
        *out = lines;
    else
        etlheap_source_lines_free(lines);
    return status;
}

static void free_part(etlheap_source_part *part)
{
    free(part->file);
    free(part->path);
    free(part->link);
    free(part->text);
}

void etlheap_source_lines_keep_shown(etlheap_source_lines *lines)
{
    u32 kept = 0;
    for (u32 i = 0; i < lines->count; i++) {
        if (lines->at[i].status == ETLHEAP_SOURCE_SHOWN)
            lines->at[kept++] = lines->at[i];
        else
            free_part(&lines->at[i]);
    }
    lines->count = kept;
}

void etlheap_source_lines_free(etlheap_source_lines *lines)
{
    if (!lines)
        return;
    for (u32 i = 0; i < lines->count; i++)
        free_part(&lines->at[i]);
    free(lines->at);
    free(lines);
}
