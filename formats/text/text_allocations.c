/*
 * text_allocations.c - one line for each lifetime.
 *
 *       Address    Size  Handle  Type  Alloc Time  Free Time  ...  Process  Stack
 *     0x1f00120      24  0x1f0000 AIFO  1.234567800         -  ...  app.exe (4321)  app.exe!f < ...
 *
 * Columns are as wide as usual values need; a line is never cut. Words have no
 * spaces up to the process, so that lines can be cut by programs.
 */
#include "formats/io/units.h"
#include "formats/parts/allocation_rows.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>
#include <stdio.h>

#define TIME_COLUMNS    16
#define ADDRESS_COLUMNS 16
#define SIZE_COLUMNS    12
#define THREAD_COLUMNS  8

static void write_head(etlheap_sink *sink);
static void write_row(const etlheap_row *row, const etlheap_lifetime *lifetime, etlheap_sink *sink);
static void write_right(etlheap_sink *sink, const char *text, size_t columns);
static void write_left(etlheap_sink *sink, const char *text, size_t columns);
static void write_address(etlheap_sink *sink, u64 address);
static void write_time(etlheap_sink *sink, i64 ns);
static void write_process(etlheap_sink *sink, const etlheap_row *row);
static void write_stack(const etlheap_table *table, const etlheap_row *row, u32 frames_max,
                        etlheap_frame_texts *texts, etlheap_sink *sink);

etl_status etlheap_write_allocations_text(etlheap_lifetimes *walk, const etlheap_layout *given,
                                          etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_frame_texts texts = { .is_shown = true };
    etlheap_lifetime lifetime;
    write_head(sink);
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        write_row(&row, &lifetime, sink);
        write_stack(etlheap_lifetimes_table(walk), &row, layout->frames_max, &texts, sink);
        etlheap_sink_text(sink, "\n");
    }
    const bool failed = texts.failed;
    etlheap_frame_texts_free(&texts);
    return failed ? ETL_ERR_MEMORY : etlheap_lifetimes_status(walk, NULL);
}

/* WPA's titles, and units where there are any. */
static void write_head(etlheap_sink *sink)
{
    write_right(sink, "Address", ADDRESS_COLUMNS);
    write_right(sink, "Size", SIZE_COLUMNS);
    etlheap_sink_text(sink, "  Kind        ");
    write_right(sink, "Handle", ADDRESS_COLUMNS);
    etlheap_sink_text(sink, "  Type");
    write_right(sink, "Alloc Time (s)", TIME_COLUMNS);
    write_right(sink, "Free Time (s)", TIME_COLUMNS);
    write_right(sink, "LifeTime (s)", TIME_COLUMNS);
    etlheap_sink_text(sink, "  FreeType      Is Realloc");
    write_right(sink, "Thread", THREAD_COLUMNS);
    etlheap_sink_text(sink, "  Process, Stack\n");
}

static void write_row(const etlheap_row *row, const etlheap_lifetime *lifetime, etlheap_sink *sink)
{
    char number[ETLHEAP_UNITS_SIZE];
    write_address(sink, lifetime->address);
    snprintf(number, sizeof number, "%" PRIu64, lifetime->size_bytes);
    write_right(sink, number, SIZE_COLUMNS);
    etlheap_sink_text(sink, "  ");
    write_left(sink, etlheap_kind_name((etlheap_kind)row->kind), sizeof "virtualalloc" - 1);
    if (row->has_heap)
        write_address(sink, row->heap_handle);
    else
        write_right(sink, "-", ADDRESS_COLUMNS);
    etlheap_sink_text(sink, "  ");
    etlheap_sink_text(sink, etlheap_type_name((etlheap_type)row->type));
    write_time(sink, lifetime->alloc_ns);
    write_time(sink, lifetime->free_ns);
    write_time(sink, lifetime->lifetime_ns);
    etlheap_sink_text(sink, "  ");
    write_left(sink, etlheap_free_type_name((etlheap_free_type)row->free_type),
               sizeof "process-exit" - 1);
    write_right(sink, lifetime->is_realloc ? "yes" : "-", sizeof "  Is Realloc" - 1);
    snprintf(number, sizeof number, "%" PRIu32, row->thread);
    write_right(sink, row->thread == ETL_NO_ID ? "-" : number, THREAD_COLUMNS);
    write_process(sink, row);
}

static void write_right(etlheap_sink *sink, const char *text, size_t columns)
{
    const size_t size = strlen(text);
    etlheap_sink_fill(sink, ' ', size < columns ? columns - size : 1);
    etlheap_sink_text(sink, text);
}

static void write_left(etlheap_sink *sink, const char *text, size_t columns)
{
    const size_t size = strlen(text);
    etlheap_sink_text(sink, text);
    etlheap_sink_fill(sink, ' ', size < columns ? columns - size : 0);
}

static void write_address(etlheap_sink *sink, u64 address)
{
    char text[ETLHEAP_UNITS_SIZE];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    write_right(sink, text, ADDRESS_COLUMNS);
}

static void write_time(etlheap_sink *sink, i64 ns)
{
    char text[ETLHEAP_UNITS_SIZE] = "-";
    if (ns != INT64_MIN && ns != INT64_MAX)
        etlheap_units_seconds(ns, text);
    write_right(sink, text, TIME_COLUMNS);
}

static void write_process(etlheap_sink *sink, const etlheap_row *row)
{
    etlheap_sink_text(sink, "  ");
    etlheap_sink_printable(sink, row->process, strlen(row->process));
    etlheap_sink_format(sink, " (%" PRIu32 ")", row->pid);
}

static void write_stack(const etlheap_table *table, const etlheap_row *row, u32 frames_max,
                        etlheap_frame_texts *texts, etlheap_sink *sink)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    const u32 shown = (u32)etl_min_u64(frames.count, frames_max);
    for (u32 i = 0; i < shown; i++) {
        const etl_bytes frame = etlheap_frame_texts_of(texts, table, frames.at[i]);
        etlheap_sink_text(sink, i == 0 ? "  " : " < ");
        etlheap_sink_write(sink, frame.at, frame.size);
    }
    if (shown > 0 && shown < frames.count)
        etlheap_sink_format(sink, " < (%" PRIu32 " more)", frames.count - shown);
}
