/*
 * workload_told.c - writes what the engine says as lines of text: lifetimes, rows, cells and
 * buckets. workload_answers.h has the pair of it, and workload_true.c the truth.
 *
 * In: results and tables of the engine. Out: lines, sorted before they are compared. Invariant:
 * each line must have exactly the form of its partner in workload_true.c, with everything that the
 * engine promises in it, or a wrong value goes unnoticed.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "workload_answers.h"

/* --- lines ----------------------------------------------------------------------------- */

void workload_line(workload_lines *lines, const char *format, ...)
{
    char text[2 * WORKLOAD_TEXT];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *const copy = malloc(strlen(text) + 1);
    if (copy == NULL || !ETLHEAP_PUSH(&lines->at, copy))
        abort();
    memcpy(copy, text, strlen(text) + 1);
}

void workload_put(workload_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int count =
        vsnprintf(text->at + text->count, WORKLOAD_TEXT - text->count, format, arguments);
    va_end(arguments);
    if (count < 0 || (size_t)count >= WORKLOAD_TEXT - text->count)
        abort();
    text->count += (size_t)count;
}

void workload_lines_free(workload_lines *lines)
{
    for (size_t i = 0; i < lines->at.count; i++)
        free(lines->at.at[i]);
    ETLHEAP_VECTOR_FREE(&lines->at);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(workload_lines *lines)
{
    if (lines->at.count > 0)
        qsort(lines->at.at, lines->at.count, sizeof *lines->at.at, by_text);
}

bool workload_lines_differ(workload_lines *expected, workload_lines *found)
{
    sort(expected);
    sort(found);
    size_t e = 0, f = 0;
    while (e < expected->at.count || f < found->at.count) {
        const int order = e == expected->at.count ? 1
                          : f == found->at.count  ? -1
                                                  : strcmp(expected->at.at[e], found->at.at[f]);
        if (order != 0) {
            if (e < expected->at.count)
                fprintf(stderr, "expected: %s\n", expected->at.at[e]);
            if (f < found->at.count)
                fprintf(stderr, "found:    %s\n", found->at.at[f]);
            return true;
        }
        e++;
        f++;
    }
    return false;
}

/* --- lifetimes ------------------------------------------------------------------------- */

static void told_lifetime(const etlheap_result *result, const etlheap_lifetime *row,
                          workload_lines *out)
{
    workload_text text = { .count = 0 };
    const etlheap_process_info *const process = etlheap_process_of(result, row->process);
    workload_put(
        &text,
        "%s %s %u %" PRIx64 " %" PRIx64 " size %" PRIu64 " %" PRId64 "..%" PRId64 " %s %d tid %d:",
        etlheap_kind_name(row->kind), process->name, process->pid,
        row->has_heap ? row->heap_handle : 0, row->address, row->size_bytes, row->alloc_ticks,
        row->free_ticks, etlheap_free_type_name(row->free_type), row->is_realloc, (int)row->thread);
    const etlheap_frames frames = etlheap_stack_frames(result, row->raw_stack);
    for (u32 i = 0; i < frames.count; i++)
        workload_put(&text, " %" PRIx64, frames.addresses[i]);
    workload_line(out, "%s", text.at);
}

void workload_told_lifetimes(const etlheap_result *result, workload_lines *out)
{
    etlheap_query query = etlheap_query_default();
    query.at_exit_freed = true;
    etlheap_lifetimes *walk = NULL;
    etl_error err;
    if (etlheap_lifetimes_open(result, &query, NULL, &walk, &err) != ETL_OK)
        abort();
    etlheap_lifetime row;
    i64 before = INT64_MIN;
    while (etlheap_lifetimes_next(walk, &row)) {
        if (row.alloc_ticks < before)
            abort(); /* by time of allocation */
        before = row.alloc_ticks;
        told_lifetime(result, &row, out);
    }
    if (etlheap_lifetimes_status(walk, &err) != ETL_OK)
        abort();
    etlheap_lifetimes_close(walk);
}

/* The measures of whole heaps, which are not compared here. */
#define HEAP_SIZES                                                                                 \
    (ETLHEAP_MEASURE_BIT(COMMITTED_SIZE) | ETLHEAP_MEASURE_BIT(RESERVED_SIZE) |                    \
     ETLHEAP_MEASURE_BIT(OVERHEAD_SIZE))

/* --- rows ------------------------------------------------------------------------------ */

static void put_key(workload_text *text, const etlheap_table *table, const etlheap_row *row,
                    etlheap_key key)
{
    switch (key) {
    case ETLHEAP_KEY_KIND:
        workload_put(text, "%s ", etlheap_kind_name(row->kind));
        break;
    case ETLHEAP_KEY_PROCESS:
        workload_put(text, "%s %u ", row->process, row->pid);
        break;
    case ETLHEAP_KEY_HEAP:
        workload_put(text, "heap %" PRIx64 " ", row->has_heap ? row->heap_handle : 0);
        break;
    case ETLHEAP_KEY_TYPE:
        workload_put(text, "%s ", etlheap_type_name(row->type));
        break;
    case ETLHEAP_KEY_FREE_TYPE:
        workload_put(text, "%s ", etlheap_free_type_name(row->free_type));
        break;
    case ETLHEAP_KEY_THREAD:
        workload_put(text, "tid %d ", (int)row->thread);
        break;
    case ETLHEAP_KEY_SIZE_CLASS:
        workload_put(text, "class %" PRIu64 " ", row->size_class_bytes);
        break;
    default:
        workload_put(text, "[");
        for (u32 i = row->stack == ETLHEAP_NO_INDEX ? 0 : table->stack_starts[row->stack];
             row->stack != ETLHEAP_NO_INDEX && i < table->stack_starts[row->stack + 1]; i++)
            workload_put(text, "%" PRIx64 " ", table->frames[table->frame_indices[i]].address);
        workload_put(text, "] ");
        break;
    }
}

static workload_text key_of(const etlheap_table *table, const etlheap_row *row)
{
    workload_text text = { .count = 0 };
    for (u32 i = 0; i < table->group_by_count; i++)
        put_key(&text, table, row, table->group_by[i]);
    return text;
}

void workload_told_rows(const etlheap_table *table, workload_lines *out)
{
    const etlheap_measure_set told = table->measures & ~HEAP_SIZES;
    for (u32 i = 0; i < table->row_count; i++) {
        workload_text text = key_of(table, &table->rows[i]);
        for (u32 m = ETLHEAP_MEASURE_COUNT; m < ETLHEAP_MEASURES_COUNT; m++) {
            if ((told >> m & 1) != 0)
                workload_put(&text, " %" PRId64, table->rows[i].measures[m]);
        }
        workload_line(out, "row %s", text.at);
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        workload_text text = { .count = 0 };
        for (u32 m = ETLHEAP_MEASURE_COUNT; m <= ETLHEAP_MEASURE_REALLOC_COUNT; m++)
            workload_put(&text, " %" PRId64, table->totals[kind].measures[m]);
        workload_line(out, "total %s%s unknown frees %" PRIu64, etlheap_kind_name((u8)kind),
                      text.at, table->totals[kind].free_without_alloc);
    }
}

/* --- windows and histograms -------------------------------------------------------------- */

void workload_told_cells(const etlheap_windows *windows, workload_lines *out)
{
    for (u32 r = 0; r < windows->table->row_count; r++) {
        const workload_text key = key_of(windows->table, &windows->table->rows[r]);
        for (u32 i = 0; i < windows->window_count; i++) {
            etlheap_cell cell;
            if (!etlheap_windows_cell(windows, r, i, &cell))
                continue;
            workload_text text = { .count = 0 };
            for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
                workload_put(&text, " %" PRId64 "/%" PRId64, cell.count[t], cell.size[t]);
            workload_line(out,
                          "window %u %s%s out %" PRId64 "/%" PRId64 " peak %" PRId64 "/%" PRId64
                          " impact %" PRId64,
                          i, key.at, text.at, cell.outstanding_count, cell.outstanding_size,
                          cell.peak_count, cell.peak_size, cell.impacting_size);
        }
    }
}

void workload_told_buckets(const etlheap_histogram *histogram, workload_lines *out)
{
    for (u32 i = 0; i < histogram->bucket_count; i++) {
        const etlheap_bucket *const bucket = &histogram->buckets[i];
        if (bucket->count == 0)
            continue;
        workload_line(
            out, "%s %s %u %d from %" PRIu64 ": %" PRId64 "/%" PRId64 " out %" PRId64 "/%" PRId64,
            etlheap_kind_name(bucket->kind), bucket->process == NULL ? "-" : bucket->process,
            bucket->process == NULL ? 0 : bucket->pid, bucket->is_open,
            bucket->is_open ? 0 : bucket->from, bucket->count, bucket->size_bytes,
            bucket->outstanding_count, bucket->outstanding_size_bytes);
    }
}
