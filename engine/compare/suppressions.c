/*
 * suppressions.c - known leaks in the syntax of LeakSanitizer: reads them and matches frames.
 *
 * In: the text of a file, later frames (module, function, source file). Out: the number of the
 * first suppression that matches.
 *
 * People have such files already, and their meaning must not change with the tool that reads them.
 * Invariant: so what LeakSanitizer does is right, even where it is odd:
 *
 *   - the text between two `*` is taken where it occurs first, and never looked for again
 *     further on: `foo$` does not match `foofoo`, but `*foo*$` does;
 *   - `$` ends the pattern wherever it stands; `^` is special only at the beginning;
 *   - blanks before and after a line are ignored, those after `leak:` are part of the pattern;
 *   - a frame is compared by its module with all suppressions, then by its function and
 *     source file; the first match in the order of the file counts.
 *
 * Three differences are deliberate: names of modules are compared without case, as Windows does;
 * functions match also if they do without what changes from build to build, in the name and in the
 * pattern, so that the file of an earlier build goes on to match (stable_name.h); and modules match
 * with and without folders, because a name has them only in runs that load several files of that
 * name (module_names.c). Names with folders are also compared without them. A pattern with folders
 * is compared with the ends of a plain name's path, and must match all files of that name. And two
 * lines that LeakSanitizer accepts are refused, because nobody means them: `leak:` alone, which
 * suppresses everything, and a NUL, which hides the rest of the file.
 *
 * Source: compiler-rt lib/sanitizer_common/sanitizer_suppressions.cpp (Parse, Match),
 * sanitizer_common.cpp (TemplateMatch), lib/lsan/lsan_common.cpp (GetSuppressionForAddr). The tests
 * compare with the library that gcc ships.
 */
#include "suppressions.h"

#include "engine/core/stable_name.h"
#include "engine/result/spellings.h"
#include "parser/system/map.h"
#include "parser/system/name_fold.h"

#include <inttypes.h>
#include <stdlib.h>

#define SUPPRESSIONS_MAX     (1u << 20)
#define SUPPRESSION_FILE_MAX ((size_t)4 << 30)
#define FOLDERS_MAX          8u
#define PATH_MAX_SIZE        1024 /* of folders */

static const char prefix[] = "leak:";
static const char unknown_module[] = "<unknown module>"; /* as LeakSanitizer calls it */

static etl_bytes take_line(etl_bytes *rest);
static etl_bytes trim(etl_bytes line);
static etl_status add_line(etlheap_suppressions *suppressions, const char *file, u32 line,
                           etl_bytes text, etl_error *err);
static const char *copy_text(etlheap_suppressions *suppressions, etl_bytes text);

etl_status etlheap_suppressions_open(etlheap_suppressions **out, etl_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? ETL_OK : etl_no_memory(err);
}

void etlheap_suppressions_close(etlheap_suppressions *suppressions)
{
    if (!suppressions)
        return;
    ETLHEAP_VECTOR_FREE(&suppressions->list);
    etlheap_arena_free(&suppressions->arena);
    free(suppressions);
}

/* Editors on Windows begin UTF-8 files with a mark that is not part of the text. */
etl_status etlheap_suppressions_add(etlheap_suppressions *suppressions, const char *name,
                                    etl_bytes text, etl_error *err)
{
    static const u8 mark[] = { 0xEF, 0xBB, 0xBF };
    if (text.size > SUPPRESSION_FILE_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "%.80s is too large for suppressions", name);
    const char *const file = copy_text(suppressions, (etl_bytes){ (const u8 *)name, strlen(name) });
    if (!file)
        return etl_no_memory(err);
    if (text.size >= sizeof mark && memcmp(text.at, mark, sizeof mark) == 0)
        text = (etl_bytes){ text.at + sizeof mark, text.size - sizeof mark };
    etl_status status = ETL_OK;
    for (u32 line = 1; status == ETL_OK && text.size > 0; line++)
        status = add_line(suppressions, file, line, trim(take_line(&text)), err);
    return status;
}

etl_status etlheap_suppressions_read(etlheap_suppressions *suppressions, const char *path,
                                     etl_error *err)
{
    etl_map map = { .memory = NULL };
    etl_error why = { .status = ETL_OK };
    etl_status status = etl_map_open(path, true, &map, &why);
    if (status != ETL_OK)
        return etl_fail_with(err, status, 0, "suppression file %.80s: %.120s", path, why.message);
    status = etlheap_suppressions_add(suppressions, path, map.bytes, err);
    etl_map_close(&map);
    return status;
}

u32 etlheap_suppressions_count(const etlheap_suppressions *suppressions)
{
    return (u32)suppressions->list.count;
}

/* The text of a pattern that counts: nothing after `$` is looked at. */
static const char *take_piece(const char **pattern, size_t *size)
{
    *pattern += strspn(*pattern, "*");
    const char *const piece = *pattern;
    *size = strcspn(piece, "*$");
    *pattern += *size;
    return piece;
}

static bool index_pattern(pattern_index *index, u32 number, const char *pattern)
{
    const size_t before = index->pieces.count;
    pattern += *pattern == '^';
    while (*pattern != '\0' && *pattern != '$') {
        size_t size;
        const char *const piece = take_piece(&pattern, &size);
        if (!pattern_index_add(index, number, piece, size))
            return false;
    }
    return index->pieces.count > before || pattern_index_add_open(index, number);
}

static bool module_matches(const void *patterns, u32 pattern, const char *name)
{
    const etlheap_suppressions *const suppressions = patterns;
    return suppression_matches_module(suppressions->list.at[pattern].pattern, name);
}

static bool name_matches(const void *patterns, u32 pattern, const char *name)
{
    const etlheap_suppressions *const suppressions = patterns;
    return suppression_matches(suppressions->list.at[pattern].pattern, name);
}

static bool stable_matches(const void *patterns, u32 pattern, const char *name)
{
    const etlheap_suppressions *const suppressions = patterns;
    return suppression_matches(suppressions->list.at[pattern].stable, name);
}

/* True if the pattern is about a module in a folder. */
static bool has_folder(const char *pattern)
{
    return strchr(pattern, '\\') != NULL;
}

/* The file must be a part of what matches: a pattern that matches the folders alone is about source
 * files there. */
static bool path_matches(const void *patterns, u32 pattern, const char *path)
{
    const etlheap_suppressions *const suppressions = patterns;
    const char *const text = suppressions->list.at[pattern].pattern;
    const size_t size = (size_t)(module_plain_name(path) - path);
    char folders[PATH_MAX_SIZE];
    if (size >= sizeof folders || !suppression_matches_module(text, path))
        return false;
    memcpy(folders, path, size);
    folders[size] = '\0';
    return !suppression_matches_module(text, folders);
}

static bool index_patterns(pattern_index *index, const etlheap_suppressions *suppressions,
                           pattern_matches_fn *matches)
{
    bool ok = true;
    for (size_t i = 0; ok && i < suppressions->list.count; i++) {
        const suppression *const one = &suppressions->list.at[i];
        if (matches == path_matches && !has_folder(one->pattern))
            continue;
        ok = index_pattern(index, (u32)i, matches == stable_matches ? one->stable : one->pattern);
    }
    return ok && pattern_index_finish(index, matches, suppressions);
}

bool suppression_finder_open(suppression_finder *out, const etlheap_suppressions *suppressions)
{
    *out = (suppression_finder){ .suppressions = suppressions,
                                 .modules = { .ignores_case = true },
                                 .paths = { .ignores_case = true } };
    return index_patterns(&out->modules, suppressions, module_matches) &&
           index_patterns(&out->names, suppressions, name_matches) &&
           (!suppressions->has_folders ||
            index_patterns(&out->paths, suppressions, path_matches)) &&
           (!suppressions->has_unstable ||
            index_patterns(&out->stables, suppressions, stable_matches));
}

void suppression_finder_close(suppression_finder *finder)
{
    pattern_index_free(&finder->modules);
    pattern_index_free(&finder->names);
    pattern_index_free(&finder->stables);
    pattern_index_free(&finder->paths);
    ETLHEAP_VECTOR_FREE(&finder->files);
}

u64 suppression_finder_steps(const suppression_finder *finder)
{
    return finder->modules.steps + finder->names.steps + finder->stables.steps +
           finder->paths.steps;
}

/* --- modules and their files ------------------------------------------------------ */

static int by_file(const void *a, const void *b)
{
    const suppression_file *const x = a, *const y = b;
    const int order = etl_name_compare(x->name, y->name);
    return order != 0 ? order : (x->found > y->found) - (x->found < y->found);
}

/* The first suppression that matches the path, from one of its folders on. */
static u32 find_path(suppression_finder *finder, const char *path)
{
    u32 found = SUPPRESSION_NONE, folders = 0;
    for (const char *at = path + strlen(path); at > path && folders <= FOLDERS_MAX; at--) {
        if (at[-1] != '\\' || folders++ == 0)
            continue;
        const u32 here = pattern_index_first(&finder->paths, at);
        found = here < found ? here : found;
    }
    return found;
}

/* Keeps for each name what matches all its files; the largest is that, or SUPPRESSION_NONE. */
static void decide_files(suppression_finder *finder)
{
    size_t kept = 0;
    if (finder->files.count > 0)
        qsort(finder->files.at, finder->files.count, sizeof *finder->files.at, by_file);
    for (size_t i = 0; i < finder->files.count; i++) {
        if (kept > 0 && etl_name_same(finder->files.at[kept - 1].name, finder->files.at[i].name))
            kept--;
        finder->files.at[kept++] = finder->files.at[i];
    }
    finder->files.count = kept;
}

bool suppression_finder_add_files(suppression_finder *finder, const etlheap_result *result)
{
    const u32 count = finder->suppressions->has_folders ? etlheap_module_count(result) : 0;
    for (u32 i = 0; i < count; i++) {
        const etlheap_module_info *const module = etlheap_module_of(result, i);
        const suppression_file file = { module_plain_name(module->name),
                                        find_path(finder, module->path) };
        if (!ETLHEAP_PUSH(&finder->files, file))
            return false;
    }
    decide_files(finder);
    return true;
}

/* The first suppression of a module: of its name, its name without folders, or its files. */
static u32 find_module(suppression_finder *finder, const char *module)
{
    u32 found = pattern_index_first(&finder->modules, module);
    if (has_folder(module)) {
        const u32 plain = pattern_index_first(&finder->modules, module_plain_name(module));
        return plain < found ? plain : found;
    }
    size_t at;
    ETL_BISECT(at, 0, finder->files.count, etl_name_compare(finder->files.at[at].name, module) < 0);
    if (at < finder->files.count && etl_name_same(finder->files.at[at].name, module) &&
        finder->files.at[at].found < found)
        found = finder->files.at[at].found;
    return found;
}

static u32 find_name(pattern_index *index, const char *name)
{
    return name == NULL ? SUPPRESSION_NONE : pattern_index_first(index, name);
}

/* True if the stable forms may match where the name and the patterns do not. */
static bool has_unstable_name(const etlheap_suppressions *suppressions, const etlheap_frame *frame)
{
    return suppressions->has_unstable || stable_name_differs(frame->symbol);
}

bool suppressions_find(suppression_finder *finder, const etlheap_frame *frame, u32 *found)
{
    const bool has_stables = finder->suppressions->has_unstable;
    *found = find_module(finder, frame->module ? frame->module : unknown_module);
    if (*found == SUPPRESSION_NONE)
        *found = find_name(&finder->names, frame->symbol);
    if (*found == SUPPRESSION_NONE && frame->symbol &&
        has_unstable_name(finder->suppressions, frame)) {
        char *const stable = malloc(strlen(frame->symbol) + 1);
        if (!stable)
            return false;
        (void)stable_name_write(frame->symbol, stable);
        *found = find_name(has_stables ? &finder->stables : &finder->names, stable);
        free(stable);
    }
    if (*found == SUPPRESSION_NONE)
        *found = find_name(&finder->names, frame->file);
    return true;
}

/* The number of bytes of the text that match the piece at its start; 0 if it starts differently. */
static size_t piece_at(const char *text, const char *piece, size_t size, bool is_module)
{
    const char *const end = piece + size;
    const char *at = text;
    if (!is_module)
        return strncmp(text, piece, size) == 0 ? size : 0;
    while (piece < end) {
        const u32 wanted = etl_name_next(&piece);
        if (etl_name_next(&at) != wanted)
            return 0;
    }
    return (size_t)(at - text);
}

/* The first occurrence of a non-empty piece in the text, and its length there; NULL if none. */
static const char *find_piece(const char *text, const char *piece, size_t *size, bool is_module)
{
    for (; *text != '\0'; text++) {
        if (!is_module && (text = strchr(text, *piece)) == NULL)
            return NULL;
        const size_t found = piece_at(text, piece, *size, is_module);
        if (found > 0) {
            *size = found;
            return text;
        }
    }
    return NULL;
}

static bool matches(const char *pattern, const char *name, bool is_module)
{
    if (!name || *name == '\0')
        return false;
    bool tied = *pattern == '^';
    bool after_star = false;
    pattern += tied;
    while (*pattern != '\0') {
        if (*pattern == '*') {
            tied = false;
            after_star = true;
            pattern++;
            continue;
        }
        if (*pattern == '$')
            return *name == '\0' || after_star;
        size_t size = strcspn(pattern, "*$");
        const char *const piece = pattern;
        pattern += size;
        const char *const found = find_piece(name, piece, &size, is_module);
        if (!found || (tied && found != name))
            return false;
        name = found + size;
        tied = false;
        after_star = false;
    }
    return true;
}

bool suppression_matches(const char *pattern, const char *name)
{
    return matches(pattern, name, false);
}

bool suppression_matches_module(const char *pattern, const char *module)
{
    return matches(pattern, module, true);
}

/* Takes a line and its line end. */
static etl_bytes take_line(etl_bytes *rest)
{
    const u8 *const end = memchr(rest->at, '\n', rest->size);
    const size_t size = end ? (size_t)(end - rest->at) : rest->size;
    const etl_bytes line = { rest->at, size };
    const size_t taken = end ? size + 1 : size;
    *rest = (etl_bytes){ rest->at + taken, rest->size - taken };
    return line;
}

static etl_bytes trim(etl_bytes line)
{
    while (line.size > 0 && (line.at[0] == ' ' || line.at[0] == '\t'))
        line = (etl_bytes){ line.at + 1, line.size - 1 };
    while (line.size > 0 && memchr(" \t\r", line.at[line.size - 1], 3))
        line.size--;
    return line;
}

/* True if a stable form has a word of the program. One that says only "some lambda" would suppress
 * far more than its author meant. */
static bool says_something(const char *stable)
{
    static const char *const general[] = { "lambda", "anon", "unnamed", "operator", "closure" };
    while (*stable != '\0') {
        const size_t size = strspn(stable, "abcdefghijklmnopqrstuvwxyz"
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        bool is_general = size < 2;
        for (size_t i = 0; !is_general && i < ETL_COUNT_OF(general); i++)
            is_general = size == strlen(general[i]) && memcmp(stable, general[i], size) == 0;
        if (!is_general)
            return true;
        stable += size > 0 ? size : 1;
    }
    return false;
}

/* False without memory. */
static bool set_stable(etlheap_suppressions *suppressions, suppression *added, size_t size)
{
    added->stable = added->pattern;
    if (!stable_name_differs(added->pattern))
        return true;
    char *const stable = etlheap_arena_alloc(&suppressions->arena, size + 1);
    if (!stable)
        return false;
    (void)stable_name_write(added->pattern, stable);
    if (says_something(stable))
        added->stable = stable;
    suppressions->has_unstable = true;
    return true;
}

static etl_status add_line(etlheap_suppressions *suppressions, const char *file, u32 line,
                           etl_bytes text, etl_error *err)
{
    const size_t skip = sizeof prefix - 1;
    if (text.size == 0 || text.at[0] == '#')
        return ETL_OK;
    if (text.size <= skip || memcmp(text.at, prefix, skip) != 0 || memchr(text.at, 0, text.size))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "line %" PRIu32 " of %.120s: expected leak:PATTERN, with a part of "
                             "the name of a function, source file or module",
                             line, file);
    if (suppressions->list.count >= SUPPRESSIONS_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "more than %u suppressions", SUPPRESSIONS_MAX);
    suppression added = {
        .pattern = copy_text(suppressions, (etl_bytes){ text.at + skip, text.size - skip }),
        .file = file,
        .line = line,
    };
    suppressions->has_folders |= added.pattern && has_folder(added.pattern);
    if (!added.pattern || !set_stable(suppressions, &added, text.size - skip) ||
        !ETLHEAP_PUSH(&suppressions->list, added))
        return etl_no_memory(err);
    return ETL_OK;
}

/* NUL-terminated; NULL without memory. */
static const char *copy_text(etlheap_suppressions *suppressions, etl_bytes text)
{
    char *const copy = etlheap_arena_alloc(&suppressions->arena, text.size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text.at, text.size);
    copy[text.size] = '\0';
    return copy;
}
