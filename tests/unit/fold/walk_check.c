/* walk_check.c - see walk_check.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/fold/lifetimes.h"
#include "tests/support/run_check.h"
#include "walk_check.h"

static etlheap_lifetimes *open_walk(const etlheap_result *result, const walk_request *request,
                                    etl_error *err)
{
    etlheap_lifetimes_options options = request->options;
    etlheap_lifetimes *walk = NULL;
    options.size = sizeof options;
    const etl_status status =
        request->ends_max == 0
            ? etlheap_lifetimes_open(result, request->query, &options, &walk, err)
            : lifetimes_open(result, request->query, &options, request->ends_max, &walk, err);
    assert_int_equal(status == ETL_OK, walk != NULL);
    return walk;
}

static void put_frame(FILE *out, const etlheap_frame *frame)
{
    fputc(' ', out);
    if (frame->module == NULL) {
        fprintf(out, "0x%" PRIx64, frame->address);
        return;
    }
    for (const char *at = frame->module; *at != '\0'; at++)
        fputc(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at, out);
    if (frame->symbol != NULL)
        fprintf(out, "!%s", frame->symbol);
    else
        fprintf(out, "+0x%" PRIx64, frame->offset);
}

static void put_lifetime(FILE *out, const etlheap_lifetimes *walk, const etlheap_lifetime *row)
{
    const etlheap_result *const result = etlheap_lifetimes_result(walk);
    const etlheap_process_info *const process = etlheap_process_of(result, row->process);
    const etlheap_table *const table = etlheap_lifetimes_table(walk);
    assert_int_equal(row->has_heap, row->kind != ETLHEAP_KIND_VIRTUALALLOC);
    fprintf(out, "%s %s %u heap %" PRIx64 " at %" PRIx64 " size %" PRIu64,
            etlheap_kind_name(row->kind), process->name, process->pid, row->heap_handle,
            row->address, row->size_bytes);
    fprintf(out, " %" PRId64 "..%" PRId64 " %s %s %d thread %" PRId32 ":", row->alloc_ns,
            row->free_ns, etlheap_free_type_name(row->free_type), etlheap_type_name(row->type),
            row->is_realloc, (i32)row->thread);
    assert_int_equal(row->stack == ETLHEAP_NO_INDEX, row->raw_stack.v == 0);
    if (row->stack != ETLHEAP_NO_INDEX) {
        assert_true(row->stack < table->stack_count);
        for (u32 i = table->stack_starts[row->stack]; i < table->stack_starts[row->stack + 1]; i++)
            put_frame(out, &table->frames[table->frame_indices[i]]);
    }
    fputc('\n', out);
}

static char *walk_text(const etlheap_result *result, const walk_request *request, bool with_table)
{
    etl_error err = { .status = ETL_OK };
    etlheap_lifetimes *const walk = open_walk(result, request, &err);
    if (walk == NULL)
        fail_msg("%s", err.message);
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    etlheap_lifetime row;
    while (etlheap_lifetimes_next(walk, &row))
        put_lifetime(out, walk, &row);
    assert_int_equal(etlheap_lifetimes_status(walk, &err), ETL_OK);
    assert_false(etlheap_lifetimes_next(walk, &row));
    if (with_table) {
        char *const table = check_table_text(etlheap_lifetimes_table(walk));
        fprintf(out, "%s", table);
        free(table);
    }
    assert_int_equal(fclose(out), 0);
    etlheap_lifetimes_close(walk);
    return text;
}

char *walk_check_text(const etlheap_result *result, const walk_request *request)
{
    return walk_text(result, request, false);
}

char *walk_check_document(const etlheap_result *result, const walk_request *request)
{
    return walk_text(result, request, true);
}

etl_status walk_check_status(const etlheap_result *result, const walk_request *request, u64 *rows,
                             etl_error *err)
{
    etlheap_lifetime row;
    *err = (etl_error){ .status = ETL_OK };
    *rows = 0;
    etlheap_lifetimes *const walk = open_walk(result, request, err);
    if (walk == NULL)
        return err->status;
    while (etlheap_lifetimes_next(walk, &row))
        ++*rows;
    const etl_status status = etlheap_lifetimes_status(walk, err);
    etlheap_lifetimes_close(walk);
    return status;
}

walk_rows walk_check_rows(const etlheap_result *result, const etlheap_query *query,
                          const etlheap_lifetimes_options *options)
{
    walk_rows list = { 0 };
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime row;
    assert_int_equal(etlheap_lifetimes_open(result, query, options, &walk, NULL), ETL_OK);
    while (etlheap_lifetimes_next(walk, &row)) {
        row.stack = 0;
        assert_true(ETLHEAP_PUSH(&list, row));
    }
    assert_int_equal(etlheap_lifetimes_status(walk, NULL), ETL_OK);
    etlheap_lifetimes_close(walk);
    return list;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *walk_check_sorted(char *text)
{
    const size_t size = strlen(text);
    char **const lines = calloc(size + 1, sizeof *lines);
    char *const sorted = malloc(size + 2);
    size_t count = 0;
    assert_non_null(lines);
    assert_non_null(sorted);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_text);
    char *to = sorted;
    for (size_t i = 0; i < count; i++)
        to += sprintf(to, "%s\n", lines[i]);
    *to = '\0';
    free(lines);
    free(text);
    return sorted;
}
