/*
 * csv_suspects.c - suspects as comma-separated values, a line each.
 */
#include "formats/io/text_buffer.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/suspect_parts.h"
#include "formats/writers.h"
#include "csv_rows.h"

static const etlheap_field fields[] = {
    ETLHEAP_FIELD_SCORE,
    ETLHEAP_FIELD_ALLOC_COUNT,
    ETLHEAP_FIELD_NEVER_FREED_COUNT,
    ETLHEAP_FIELD_NEVER_FREED_SIZE,
    ETLHEAP_FIELD_OUTSTANDING_SIZE,
    ETLHEAP_FIELD_OUTSTANDING_COUNT,
    ETLHEAP_FIELD_GROWTH_RATE,
    ETLHEAP_FIELD_STEADINESS,
    ETLHEAP_FIELD_FIRST,
    ETLHEAP_FIELD_LAST,
    ETLHEAP_FIELD_OLDEST,
    ETLHEAP_FIELD_TYPICAL_LIFETIME,
    ETLHEAP_FIELD_THREADS,
    ETLHEAP_FIELD_REASON,
};

static void write_suspect(const etlheap_row *row, const etlheap_suspect *suspect,
                          etlheap_text *text, etlheap_sink *sink)
{
    const i64 numbers[] = {
        suspect->score,
        suspect->alloc_count,
        suspect->never_freed_count,
        suspect->never_freed_size,
        row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE],
        row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT],
        row->measures[ETLHEAP_MEASURE_GROWTH_RATE],
        row->measures[ETLHEAP_MEASURE_STEADINESS],
        suspect->first_ns,
        suspect->last_ns,
        suspect->oldest_ns,
        suspect->typical_lifetime_ns,
    };
    for (u32 i = 0; i < ETL_COUNT_OF(numbers); i++) {
        if (numbers[i] != ETLHEAP_NOT_KNOWN)
            etlheap_sink_signed(sink, numbers[i]);
        etlheap_sink_text(sink, ",");
    }
    etlheap_text_clear(text);
    suspect_add_threads(suspect, " ", text);
    etlheap_csv_cell(sink, etlheap_text_of(text));
    etlheap_sink_text(sink, ",");
    etlheap_text_clear(text);
    suspect_add_reason(suspect, text);
    etlheap_csv_cell(sink, etlheap_text_of(text));
    etlheap_sink_text(sink, "\n");
}

etl_status etlheap_write_suspects_csv(const etlheap_result *result,
                                      const etlheap_suspects *suspects, const etlheap_layout *given,
                                      etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_table *const table = suspects->table;
    etlheap_text text = { 0 };
    (void)result;
    etlheap_csv_head head = etlheap_csv_head_begin(&layout, sink);
    etlheap_csv_head_keys(&head, table);
    for (u32 i = 0; i < ETL_COUNT_OF(fields); i++)
        etlheap_csv_head_field(&head, fields[i]);
    etlheap_csv_head_end(&head);
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(sink); i++) {
        etlheap_csv_keys(table, &table->rows[i], &text, sink);
        write_suspect(&table->rows[i], &suspects->rows[i], &text, sink);
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
