/*
 * json_trend.c - writes the `etlheap-trend-1` document.
 *
 * In: the answer to a trend. Out: JSON.
 *
 * Runs are in the order of the trend and numbered from 1. A row has its keys, the values of each
 * run as `sizes` and `counts` (the chosen measure, and its partner if it has one), and what the
 * curve does. Invariant: keys are part of the interface; new ones are only added.
 */
#include "formats/parts/text_parts.h"
#include "formats/parts/trend_parts.h"
#include "formats/parts/field_units.h"
#include "formats/writers.h"
#include "json_diff.h"
#include "json_rows.h"

static void write_runs(etlheap_json *json, const etlheap_trend_answer *answer)
{
    etlheap_json_array(json, "runs");
    for (u32 i = 0; i < answer->trend->run_count; i++) {
        const etlheap_trend_run *const run = &answer->runs[i];
        etlheap_json_object(json, NULL);
        etlheap_json_u64(json, "run", i + 1);
        etlheap_json_string(json, "file", run->name);
        etlheap_json_start(json, etlheap_result_trace(run->result));
        etlheap_json_window_open(json, run->result, run->table->from_ns, run->table->to_ns);
        etlheap_json_object_close(json);
        etlheap_json_diagnostics(json, &run->table->diagnostics);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_run(etlheap_json *json, const char *key, u32 run)
{
    if (run == ETLHEAP_NO_INDEX)
        etlheap_json_null(json, key);
    else
        etlheap_json_u64(json, key, (u64)run + 1);
}

static void write_values(etlheap_json *json, u32 kind, etlheap_measure measure, const i64 *values,
                         u32 count)
{
    etlheap_json_array(json, etlheap_measure_style_of(measure).is_size ? "sizes" : "counts");
    for (u32 i = 0; i < count; i++)
        etlheap_json_known(json, NULL, etlheap_shown_measure(kind, measure, values[i]));
    etlheap_json_array_close(json);
}

static void write_curve(etlheap_json *json, const etlheap_trend *trend, u32 kind,
                        const etlheap_trend_curve *curve, const i64 *values, const i64 *partners)
{
    const etlheap_measure partner = etlheap_diff_partner(trend->measure);
    etlheap_json_string(json, "pattern",
                        etlheap_trend_pattern_word((etlheap_trend_pattern)curve->pattern));
    etlheap_json_i64(json, "slope", curve->slope);
    etlheap_json_i64(json, "change", curve->change);
    write_run(json, "first_run", curve->first_run);
    write_run(json, "last_run", curve->last_run);
    write_run(json, "turn_run", curve->turn_run);
    write_values(json, kind, trend->measure, values, trend->run_count);
    if (partner != trend->measure)
        write_values(json, kind, partner, partners, trend->run_count);
}

static void write_rows(etlheap_json *json, const etlheap_trend *trend)
{
    const etlheap_table *const table = &trend->table;
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(json->sink); i++) {
        const size_t at = (size_t)i * trend->run_count;
        etlheap_json_object(json, NULL);
        for (u32 k = 0; k < table->group_by_count; k++)
            json_compared_key(json, &table->rows[i], table->group_by[k],
                              etlheap_key_field(table->group_by[k]));
        write_curve(json, trend, table->rows[i].kind, &trend->curves[i], trend->values + at,
                    trend->partners + at);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_totals(etlheap_json *json, const etlheap_trend *trend)
{
    etlheap_json_array(json, "totals");
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const size_t at = (size_t)kind * trend->run_count;
        if (!trend->table.totals[kind].present)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        write_curve(json, trend, kind, &trend->totals[kind], trend->total_values + at,
                    trend->total_partners + at);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_hints(etlheap_json *json, const etlheap_trend_answer *answer, etlheap_text *text)
{
    const char *name;
    etlheap_json_array(json, "hints");
    for (u32 i = 0; i < TREND_HINTS; i++) {
        if (!trend_hint(answer, i, json->hint, text, &name))
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", name);
        etlheap_json_string(json, "text", etlheap_text_of(text));
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

etl_status etlheap_write_trend_json(const etlheap_trend_answer *answer, const etlheap_layout *given,
                                    etlheap_sink *sink)
{
    const etlheap_trend *const trend = answer->trend;
    etlheap_json json;
    etlheap_text text = { 0 };
    const etl_status status = etlheap_json_document(&json, "etlheap-trend-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    write_runs(&json, answer);
    etlheap_json_string(&json, "measure", etlheap_measure_word(trend->measure));
    etlheap_json_group_by(&json, &trend->table);
    etlheap_json_frames(&json, &trend->table);
    etlheap_json_stacks(&json, &trend->table);
    write_rows(&json, trend);
    etlheap_json_u64(&json, "steady_count", trend->steady_count);
    write_totals(&json, trend);
    write_hints(&json, answer, &text);
    etlheap_json_document_end(&json);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
