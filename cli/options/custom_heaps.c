/*
 * custom_heaps.c - reads the descriptions of custom allocators, from options and files.
 *
 * In: texts in the form of parser/custom_events.h, or files with one in each line. Out: an array of
 * etl_custom_allocator for the engine.
 */
#include "custom_heaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parse_values.h"
#include "parser/parser.h"
#include "parser/system/files.h"

#define LINE_SIZE 1024

/* `where` begins the sentence of an error: the option, or the line of a file. */
static etl_status add_text(cli_custom_heaps *heaps, const char *where, const char *text,
                           etl_error *err)
{
    etl_custom_allocator one;
    etl_error why = { .offset = 0 };
    if (etl_custom_parse(text, &one, &why) != ETL_OK)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: %s", where, why.message);
    return CLI_APPEND(heaps, one) ? ETL_OK : etl_no_memory(err);
}

/* A line longer than the buffer is not cut into two. */
static etl_status add_lines(cli_custom_heaps *heaps, FILE *file, const char *path, etl_error *err)
{
    char line[LINE_SIZE], where[128];
    etl_status status = ETL_OK;
    for (u32 number = 1; status == ETL_OK && fgets(line, sizeof line, file); number++) {
        const bool is_whole = strchr(line, '\n') || feof(file);
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(where, sizeof where, "line %u of %.80s", number, path);
        if (!is_whole)
            status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s is longer than %d characters",
                                   where, LINE_SIZE - 2);
        else if (line[0] != '\0' && line[0] != '#')
            status = add_text(heaps, where, line, err);
    }
    return status;
}

static etl_status add_file(cli_custom_heaps *heaps, const char *path, etl_error *err)
{
    const char *why;
    FILE *const file = etl_file_stream_regular(path, &why);
    if (!file)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the custom heaps %.80s: %s", path,
                             why);
    errno = 0;
    etl_status status = add_lines(heaps, file, path, err);
    if (status == ETL_OK && ferror(file))
        status = etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the custom heaps %.80s: %s", path,
                               strerror(errno));
    fclose(file);
    return status;
}

etl_status cli_custom_heaps_add(cli_custom_heaps *heaps, const char *spelled, const char *text,
                                etl_error *err)
{
    return text[0] == '@' ? add_file(heaps, text + 1, err) : add_text(heaps, spelled, text, err);
}

/* "Etwr paged" or "Irp nonpaged/1": any tag, as no list has them all. */
static bool is_pool(const char *word)
{
    const char *const type = strrchr(word, ' ');
    return type != NULL &&
           (strncmp(type + 1, "paged", 5) == 0 || strncmp(type + 1, "nonpaged", 8) == 0);
}

bool cli_custom_heap_named(const cli_options *options, const char *word, u64 *handle)
{
    const size_t size = strcspn(word, " ");
    bool is_known = false;
    if (cli_parse_handle(word, handle))
        return true;
    for (u32 i = 0; i < etl_custom_allocator_count() + options->custom.count; i++) {
        const etl_custom_allocator *const row =
            i < options->custom.count ? &options->custom.at[i]
                                      : etl_custom_allocator_at(i - options->custom.count);
        is_known |= strlen(row->name) == size && strncmp(row->name, word, size) == 0;
    }
    return (is_known || is_pool(word)) && etlheap_heap_of_name(word, handle);
}
