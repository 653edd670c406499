/*
 * csv_trend.c - the rows of a trend as comma-separated values: a line for each group and run.
 */
#include "csv_rows.h"
#include "formats/parts/field_units.h"
#include "formats/parts/trend_parts.h"
#include "formats/writers.h"

static void write_head(etlheap_csv *csv, const etlheap_trend *trend)
{
    static const char *const keys[] = { "pattern",  "slope", "change", "first_run",
                                        "turn_run", "run",   "file" };
    static const char *const titles[] = { "Pattern",  "Slope", "Change", "First Run",
                                          "Turn Run", "Run",   "File" };
    const etlheap_measure partner = etlheap_diff_partner(trend->measure);
    for (u32 k = 0; k < trend->table.group_by_count; k++)
        etlheap_csv_compared_name(csv, etlheap_key_field(trend->table.group_by[k]));
    for (size_t i = 0; i < ETL_COUNT_OF(keys); i++)
        etlheap_csv_text(csv, csv->layout.titles ? titles[i] : keys[i]);
    etlheap_csv_field(csv, ETLHEAP_FIELD_START_TIME);
    etlheap_csv_field(csv, etlheap_measure_field(trend->measure));
    if (partner != trend->measure)
        etlheap_csv_field(csv, etlheap_measure_field(partner));
    etlheap_csv_line(csv);
}

static void write_number(etlheap_csv *csv, u32 run)
{
    etlheap_csv_number(csv, run != ETLHEAP_NO_INDEX ? (i64)run + 1 : ETLHEAP_NOT_KNOWN);
}

static void write_curve(etlheap_csv *csv, const etlheap_trend_curve *curve)
{
    etlheap_csv_text(csv, etlheap_trend_pattern_word((etlheap_trend_pattern)curve->pattern));
    etlheap_csv_number(csv, curve->slope);
    etlheap_csv_number(csv, curve->change);
    write_number(csv, curve->first_run);
    write_number(csv, curve->turn_run);
}

static void write_run(etlheap_csv *csv, const etlheap_trend_answer *answer, u32 row, u32 run)
{
    const etlheap_trend *const trend = answer->trend;
    const size_t at = (size_t)row * trend->run_count + run;
    char start[ETLHEAP_UNITS_SIZE];
    trend_start(&answer->runs[run], start);
    etlheap_csv_compared_keys(csv, &trend->table, &trend->table.rows[row]);
    write_curve(csv, &trend->curves[row]);
    write_number(csv, run);
    etlheap_csv_text(csv, answer->runs[run].name);
    etlheap_csv_text(csv, start);
    etlheap_csv_number(csv, trend->values[at]);
    if (etlheap_diff_partner(trend->measure) != trend->measure)
        etlheap_csv_number(csv, etlheap_shown_measure(trend->table.rows[row].kind,
                                                      etlheap_diff_partner(trend->measure),
                                                      trend->partners[at]));
    etlheap_csv_line(csv);
}

etl_status etlheap_write_trend_csv(const etlheap_trend_answer *answer, const etlheap_layout *given,
                                   etlheap_sink *sink)
{
    const etlheap_trend *const trend = answer->trend;
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    write_head(&csv, trend);
    for (u32 i = 0; i < trend->table.row_count && etlheap_sink_ok(sink); i++) {
        for (u32 run = 0; run < trend->run_count; run++)
            write_run(&csv, answer, i, run);
    }
    return etlheap_csv_end(&csv);
}
