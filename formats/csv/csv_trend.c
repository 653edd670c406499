/*
 * csv_trend.c - the rows of a trend as comma-separated values: a line for each group and run.
 */
#include "formats/parts/layout_read.h"
#include "formats/parts/trend_parts.h"
#include "formats/writers.h"
#include "csv_rows.h"

static void write_head(const etlheap_trend *trend, const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    const etlheap_measure partner = etlheap_diff_partner(trend->measure);
    for (u32 k = 0; k < trend->table.group_by_count; k++) {
        const etlheap_key key = trend->table.group_by[k];
        etlheap_csv_head_field(&head, etlheap_key_field(key));
        if (key == ETLHEAP_KEY_TYPE)
            etlheap_csv_head_field(&head, ETLHEAP_FIELD_IMPACTING_TYPE);
    }
    etlheap_csv_head_name(&head, head.titles ? "Pattern" : "pattern");
    etlheap_csv_head_name(&head, head.titles ? "Slope" : "slope");
    etlheap_csv_head_name(&head, head.titles ? "Change" : "change");
    etlheap_csv_head_name(&head, head.titles ? "First Run" : "first_run");
    etlheap_csv_head_name(&head, head.titles ? "Turn Run" : "turn_run");
    etlheap_csv_head_name(&head, head.titles ? "Run" : "run");
    etlheap_csv_head_name(&head, head.titles ? "File" : "file");
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_START_TIME);
    etlheap_csv_head_field(&head, etlheap_measure_field(trend->measure));
    if (partner != trend->measure)
        etlheap_csv_head_field(&head, etlheap_measure_field(partner));
    etlheap_csv_head_end(&head);
}

static void write_number(u32 run, etlheap_sink *sink)
{
    if (run != ETLHEAP_NO_INDEX)
        etlheap_sink_unsigned(sink, (u64)run + 1);
    etlheap_sink_text(sink, ",");
}

static void write_curve(const etlheap_trend_curve *curve, etlheap_sink *sink)
{
    etlheap_sink_text(sink, etlheap_trend_pattern_word((etlheap_trend_pattern)curve->pattern));
    etlheap_sink_text(sink, ",");
    etlheap_sink_signed(sink, curve->slope);
    etlheap_sink_text(sink, ",");
    etlheap_sink_signed(sink, curve->change);
    etlheap_sink_text(sink, ",");
    write_number(curve->first_run, sink);
    write_number(curve->turn_run, sink);
}

static void write_run(const etlheap_trend_answer *answer, u32 row, u32 run, etlheap_text *text,
                      etlheap_sink *sink)
{
    const etlheap_trend *const trend = answer->trend;
    const size_t at = (size_t)row * trend->run_count + run;
    char start[ETLHEAP_UNITS_SIZE];
    etlheap_csv_compared_keys(&trend->table, &trend->table.rows[row], text, sink);
    write_curve(&trend->curves[row], sink);
    write_number(run, sink);
    etlheap_csv_cell(sink, answer->runs[run].name);
    etlheap_sink_text(sink, ",");
    trend_start(&answer->runs[run], start);
    etlheap_csv_cell(sink, start);
    etlheap_sink_text(sink, ",");
    etlheap_sink_signed(sink, trend->values[at]);
    if (etlheap_diff_partner(trend->measure) != trend->measure) {
        etlheap_sink_text(sink, ",");
        etlheap_sink_signed(sink, trend->partners[at]);
    }
    etlheap_sink_text(sink, "\n");
}

etl_status etlheap_write_trend_csv(const etlheap_trend_answer *answer, const etlheap_layout *given,
                                   etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_trend *const trend = answer->trend;
    etlheap_text text = { 0 };
    write_head(trend, &layout, sink);
    for (u32 i = 0; i < trend->table.row_count && etlheap_sink_ok(sink); i++) {
        for (u32 run = 0; run < trend->run_count; run++)
            write_run(answer, i, run, &text, sink);
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
