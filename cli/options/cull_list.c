/*
 * cull_list.c - the frames that culling removes: patterns from options and files, and the
 * library's list of known allocators.
 *
 * In: words "MODULE!FUNCTION" of options, lines of a file. Out: an array of etlheap_pattern for the
 * query. Invariant: the list owns the texts that patterns point into; it must outlive the query.
 */
#include "cull_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

#define LINE_SIZE 1024

static etl_status add_pattern(cli_patterns *patterns, etlheap_pattern pattern, char *text,
                              etl_error *err);
static etl_status add_text(cli_patterns *patterns, const char *text, bool *good, etl_error *err);
static etl_status add_lines(cli_patterns *patterns, FILE *file, const char *path, etl_error *err);

etl_status cli_patterns_add_words(cli_patterns *patterns, const cli_words *words,
                                  const char *spelled, etl_error *err)
{
    for (u32 i = 0; i < words->count; i++) {
        bool good;
        const etl_status status = add_text(patterns, words->at[i], &good, err);
        if (status != ETL_OK)
            return status;
        if (!good)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' matches every frame; write module!, symbol or "
                                 "module!symbol",
                                 spelled, words->at[i]);
    }
    return ETL_OK;
}

etl_status cli_patterns_add_modules(cli_patterns *patterns, const cli_words *words,
                                    const char *spelled, etl_error *err)
{
    for (u32 i = 0; i < words->count; i++) {
        const char *const word = words->at[i];
        const size_t size = strcspn(word, "!");
        if (size == 0 ||
            (word[size] == '!' && word[size + 1] != '\0' && strcmp(word + size, "!*") != 0))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' names a function, but whole modules are folded; "
                                 "write the module alone",
                                 spelled, word);
        char *const copy = strdup(word);
        if (!copy)
            return etl_no_memory(err);
        copy[size] = '\0';
        const etl_status status =
            add_pattern(patterns, (etlheap_pattern){ .module = copy }, copy, err);
        if (status != ETL_OK)
            return status;
    }
    return ETL_OK;
}

etl_status cli_patterns_add_file(cli_patterns *patterns, const char *path, etl_error *err)
{
    const char *why;
    FILE *const file = etl_file_stream_regular(path, &why);
    if (!file)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the cull list %.80s: %s", path, why);
    errno = 0;
    etl_status status = add_lines(patterns, file, path, err);
    if (status == ETL_OK && ferror(file))
        status = etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the cull list %.80s: %s", path,
                               strerror(errno));
    fclose(file);
    return status;
}

etl_status cli_patterns_add_allocators(cli_patterns *patterns, etl_error *err)
{
    u32 count;
    const etlheap_pattern *const allocators = etlheap_allocator_frames(&count);
    for (u32 i = 0; i < count; i++) {
        const etl_status status = add_pattern(patterns, allocators[i], NULL, err);
        if (status != ETL_OK)
            return status;
    }
    return ETL_OK;
}

void cli_patterns_free(cli_patterns *patterns)
{
    for (u32 i = 0; i < patterns->count; i++)
        free(patterns->texts[i]);
    free(patterns->texts);
    free(patterns->at);
    *patterns = (cli_patterns){ 0 };
}

/* Takes ownership of the text, even on failure. */
static etl_status add_pattern(cli_patterns *patterns, etlheap_pattern pattern, char *text,
                              etl_error *err)
{
    const size_t count = (size_t)patterns->count + 1;
    etlheap_pattern *const at = realloc(patterns->at, count * sizeof *at);
    if (at)
        patterns->at = at;
    char **const texts = realloc(patterns->texts, count * sizeof *texts);
    if (texts)
        patterns->texts = texts;
    if (!at || !texts) {
        free(text);
        return etl_no_memory(err);
    }
    at[patterns->count] = pattern;
    texts[patterns->count] = text;
    patterns->count++;
    return ETL_OK;
}

/* *good says whether the text is a pattern; the status reports only a lack of memory. */
static etl_status add_text(cli_patterns *patterns, const char *text, bool *good, etl_error *err)
{
    etlheap_pattern pattern;
    char *const copy = strdup(text);
    *good = false;
    if (!copy)
        return etl_no_memory(err);
    if (!cli_parse_pattern(copy, &pattern)) {
        free(copy);
        return ETL_OK;
    }
    *good = true;
    return add_pattern(patterns, pattern, copy, err);
}

/* A line longer than the buffer is refused, not split into two patterns. */
static etl_status add_lines(cli_patterns *patterns, FILE *file, const char *path, etl_error *err)
{
    char line[LINE_SIZE];
    for (u32 number = 1; fgets(line, sizeof line, file); number++) {
        bool good = strchr(line, '\n') || feof(file);
        line[strcspn(line, "\r\n")] = '\0';
        if (good && (line[0] == '\0' || line[0] == '#'))
            continue;
        const etl_status status = good ? add_text(patterns, line, &good, err) : ETL_OK;
        if (status != ETL_OK)
            return status;
        if (!good)
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                "line %u of %.80s: expected a frame pattern: module!, symbol or module!symbol",
                number, path);
    }
    return ETL_OK;
}
