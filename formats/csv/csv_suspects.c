/*
 * csv_suspects.c - suspects as comma-separated values, a line each.
 */
#include "csv_rows.h"
#include "formats/parts/suspect_parts.h"
#include "formats/writers.h"

static void write_suspect(etlheap_csv *csv, const etlheap_row *row, const etlheap_suspect *suspect)
{
    etlheap_value values[SUSPECT_COLUMN_COUNT];
    suspect_values(row, suspect, values);
    etlheap_csv_values(csv, &suspect_columns, values);
    etlheap_text_clear(&csv->text);
    suspect_add_threads(suspect, " ", &csv->text);
    etlheap_csv_text(csv, etlheap_text_of(&csv->text));
    etlheap_text_clear(&csv->text);
    suspect_add_reason(row, suspect, &csv->text);
    etlheap_csv_text(csv, etlheap_text_of(&csv->text));
    etlheap_csv_line(csv);
}

etl_status etlheap_write_suspects_csv(const etlheap_result *result,
                                      const etlheap_suspects *suspects, const etlheap_layout *given,
                                      etlheap_sink *sink)
{
    const etlheap_table *const table = suspects->table;
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    etlheap_csv_key_names(&csv, table);
    etlheap_csv_fields(&csv, &suspect_columns);
    etlheap_csv_field(&csv, ETLHEAP_FIELD_THREADS);
    etlheap_csv_field(&csv, ETLHEAP_FIELD_REASON);
    etlheap_csv_line(&csv);
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(sink); i++) {
        etlheap_csv_keys(&csv, table, &table->rows[i]);
        write_suspect(&csv, &table->rows[i], &suspects->rows[i]);
    }
    return etlheap_csv_end(&csv);
}
