/*
 * source_words.c - splits the words FILE:LINE of places in source files.
 *
 * In: words of the options. Out: places, and how their lines are shown. Invariant: a place has a
 * file and a line from 1 on.
 */
#include "source_words.h"

#include <stdlib.h>

/* Cuts "FILE:LINE" at its last colon; the file may begin with a drive. */
static bool split(char *text, etlheap_source_place *out)
{
    char *const colon = strrchr(text, ':');
    u64 line = 0;
    if (!colon || colon == text || colon[1] == '\0')
        return false;
    for (const char *c = colon + 1; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || line > UINT32_MAX / 10)
            return false;
        line = line * 10 + (u64)(*c - '0');
    }
    *colon = '\0';
    *out = (etlheap_source_place){ text, (u32)line };
    return line > 0 && line <= UINT32_MAX;
}

static etl_status parse_places(const cli_words *words, cli_sources *out, etl_error *err)
{
    size_t size = 1;
    for (u32 i = 0; i < words->count; i++)
        size += strlen(words->at[i]) + 1;
    out->places = calloc((size_t)words->count + 1, sizeof *out->places);
    out->text = malloc(size);
    if (!out->places || !out->text)
        return etl_no_memory(err);
    char *text = out->text;
    for (u32 i = 0; i < words->count; i++) {
        const size_t word_size = strlen(words->at[i]) + 1;
        memcpy(text, words->at[i], word_size);
        if (!split(text, &out->places[i]))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "--source: invalid value '%.100s': expected FILE:LINE, such as "
                                 "leak.cpp:42",
                                 words->at[i]);
        text += word_size;
        out->count++;
    }
    return ETL_OK;
}

etl_status cli_sources_parse(const cli_options *options, cli_sources *out, etl_error *err)
{
    *out = (cli_sources){ .places = NULL };
    etl_status status = cli_roots_parse(options, &out->roots, err);
    if (status == ETL_OK)
        status = parse_places(&options->sources, out, err);
    if (status == ETL_OK && options->source_lines > CLI_SOURCE_LINES_MAX)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--source-lines takes a number up to %u",
                               CLI_SOURCE_LINES_MAX);
    out->options = (etlheap_source_options){ .size = sizeof out->options,
                                             .roots = out->roots.roots,
                                             .lines = options->source_lines,
                                             .link = options->source_link };
    return status;
}

void cli_sources_free(cli_sources *sources)
{
    cli_roots_free(&sources->roots);
    free(sources->places);
    free(sources->text);
    *sources = (cli_sources){ .places = NULL };
}
