/*
 * csv_allocations.c - lifetimes as comma-separated values.
 *
 * A line of names, then one line a lifetime, its columns in the order of JSON; times
 * are nanoseconds, what is not known is empty. Stacks come late: they are the cells
 * that are long.
 */
#include "formats/parts/allocation_rows.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "csv_rows.h"

static const etlheap_field own_fields[] = {
    ETLHEAP_FIELD_IS_REALLOC, ETLHEAP_FIELD_ADDRESS,   ETLHEAP_FIELD_SIZE,
    ETLHEAP_FIELD_ALLOC_TIME, ETLHEAP_FIELD_FREE_TIME, ETLHEAP_FIELD_LIFETIME,
    ETLHEAP_FIELD_THREAD,     ETLHEAP_FIELD_STACK,     ETLHEAP_FIELD_FREE_THREAD,
    ETLHEAP_FIELD_FREE_STACK,
};

static void write_head(const etlheap_table *by_keys, const etlheap_layout *layout,
                       etlheap_sink *sink);
static void write_columns(const etlheap_lifetime *lifetime, etlheap_sink *sink);
static void write_time(i64 ns, etlheap_sink *sink);
static void write_stack(const etlheap_table *table, u32 stack, etlheap_frame_texts *texts,
                        etlheap_text *scratch, etlheap_sink *sink);

etl_status etlheap_write_allocations_csv(etlheap_lifetimes *walk, const etlheap_layout *given,
                                         etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_table by_keys = { .group_by = etlheap_allocation_keys,
                                    .group_by_count = ETLHEAP_ALLOCATION_KEYS };
    etlheap_frame_texts texts = { 0 };
    etlheap_text scratch = { 0 };
    etlheap_lifetime lifetime;
    write_head(&by_keys, layout, sink);
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        etlheap_csv_keys(&by_keys, &row, &scratch, sink);
        write_columns(&lifetime, sink);
        write_stack(etlheap_lifetimes_table(walk), row.stack, &texts, &scratch, sink);
        etlheap_sink_text(sink, ",");
        if (row.free_thread != ETL_NO_ID)
            etlheap_sink_unsigned(sink, row.free_thread);
        etlheap_sink_text(sink, ",");
        write_stack(etlheap_lifetimes_table(walk), row.free_stack, &texts, &scratch, sink);
        etlheap_sink_text(sink, "\n");
    }
    const bool failed = texts.failed || scratch.failed;
    etlheap_frame_texts_free(&texts);
    etlheap_text_free(&scratch);
    return failed ? ETL_ERR_MEMORY : etlheap_lifetimes_status(walk, NULL);
}

static void write_head(const etlheap_table *by_keys, const etlheap_layout *layout,
                       etlheap_sink *sink)
{
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    etlheap_csv_head_keys(&head, by_keys);
    for (size_t i = 0; i < ETL_COUNT_OF(own_fields); i++)
        etlheap_csv_head_field(&head, own_fields[i]);
    etlheap_csv_head_end(&head);
}

static void write_columns(const etlheap_lifetime *lifetime, etlheap_sink *sink)
{
    etlheap_sink_text(sink, lifetime->is_realloc ? "1,0x" : "0,0x");
    etlheap_sink_hex(sink, lifetime->address, 1);
    etlheap_sink_text(sink, ",");
    etlheap_sink_unsigned(sink, lifetime->size_bytes);
    etlheap_sink_text(sink, ",");
    write_time(lifetime->alloc_ns, sink);
    write_time(lifetime->free_ns, sink);
    write_time(lifetime->lifetime_ns, sink);
    if (lifetime->thread != ETL_NO_ID)
        etlheap_sink_unsigned(sink, lifetime->thread);
    etlheap_sink_text(sink, ",");
}

static void write_time(i64 ns, etlheap_sink *sink)
{
    if (ns != INT64_MIN && ns != INT64_MAX)
        etlheap_sink_signed(sink, ns);
    etlheap_sink_text(sink, ",");
}

static void write_stack(const etlheap_table *table, u32 stack, etlheap_frame_texts *texts,
                        etlheap_text *scratch, etlheap_sink *sink)
{
    const etlheap_indices frames = etlheap_stack_members(table, stack);
    etlheap_text_clear(scratch);
    for (u32 i = 0; i < frames.count; i++) {
        const etl_bytes frame = etlheap_frame_texts_of(texts, table, frames.at[i]);
        etlheap_text_add(scratch, " < ", i > 0 ? 3 : 0);
        etlheap_text_add(scratch, (const char *)frame.at, frame.size);
    }
    etlheap_csv_cell(sink, etlheap_text_of(scratch));
}
