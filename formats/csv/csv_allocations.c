/*
 * csv_allocations.c - lifetimes as comma-separated values.
 *
 * A line of names, then one line a lifetime, its columns in the order of JSON; times
 * are nanoseconds, what is not known is empty. Stacks come late: they are the cells
 * that are long.
 */
#include "csv_rows.h"
#include "formats/parts/allocation_rows.h"
#include "formats/writers.h"

static const u8 shown[] = {
    ETLHEAP_ALLOCATION_IS_REALLOC, ETLHEAP_ALLOCATION_ADDRESS,   ETLHEAP_ALLOCATION_SIZE,
    ETLHEAP_ALLOCATION_ALLOC_TIME, ETLHEAP_ALLOCATION_FREE_TIME, ETLHEAP_ALLOCATION_LIFETIME,
    ETLHEAP_ALLOCATION_THREAD,
};
static const etlheap_field_list columns = { etlheap_allocation_fields, shown, ETL_COUNT_OF(shown) };

static void write_stack(etlheap_csv *csv, const etlheap_table *table, u32 stack,
                        etlheap_frame_texts *texts)
{
    const etlheap_indices frames = etlheap_stack_members(table, stack);
    etlheap_text_clear(&csv->text);
    for (u32 i = 0; i < frames.count; i++) {
        const etl_bytes frame = etlheap_frame_texts_of(texts, table, frames.at[i]);
        etlheap_text_add(&csv->text, " < ", i > 0 ? 3 : 0);
        etlheap_text_add(&csv->text, (const char *)frame.at, frame.size);
    }
    etlheap_csv_text(csv, etlheap_text_of(&csv->text));
}

static void write_head(etlheap_csv *csv, const etlheap_table *by_keys)
{
    etlheap_csv_key_names(csv, by_keys);
    etlheap_csv_fields(csv, &columns);
    etlheap_csv_field(csv, ETLHEAP_FIELD_STACK);
    etlheap_csv_field(csv, ETLHEAP_FIELD_FREE_THREAD);
    etlheap_csv_field(csv, ETLHEAP_FIELD_FREE_STACK);
    etlheap_csv_line(csv);
}

etl_status etlheap_write_allocations_csv(etlheap_lifetimes *walk, const etlheap_layout *given,
                                         etlheap_sink *sink)
{
    const etlheap_table by_keys = { .group_by = etlheap_allocation_keys,
                                    .group_by_count = ETLHEAP_ALLOCATION_KEYS };
    const etlheap_table *const table = etlheap_lifetimes_table(walk);
    etlheap_value values[ETLHEAP_ALLOCATION_COLUMN_COUNT];
    etlheap_frame_texts texts = { 0 };
    etlheap_lifetime lifetime;
    etlheap_csv csv;
    etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    write_head(&csv, &by_keys);
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        etlheap_csv_keys(&csv, &by_keys, &row);
        etlheap_allocation_values(&lifetime, values);
        etlheap_csv_values(&csv, &columns, values);
        write_stack(&csv, table, row.stack, &texts);
        etlheap_csv_value(&csv, &values[ETLHEAP_ALLOCATION_FREE_THREAD]);
        write_stack(&csv, table, row.free_stack, &texts);
        etlheap_csv_line(&csv);
    }
    const bool failed = texts.failed;
    etlheap_frame_texts_free(&texts);
    status = etlheap_csv_end(&csv);
    return failed || status != ETL_OK ? ETL_ERR_MEMORY : etlheap_lifetimes_status(walk, NULL);
}
