/*
 * json_diff.c - writes the `etlheap-diff-1` document.
 *
 * In: the answer to a diff. Out: JSON.
 *
 * A row has its state, its keys, and each measure three times: base_X, new_X and delta_X, which is
 * new less base. With amounts per second, each is there per 1000 seconds too (base_X_per_1000s), an
 * integer that keeps three digits after the point. A diff of two UMDH logs has `log` objects in
 * place of `trace` and `backtrace` in place of the key. Invariant: keys are part of the interface;
 * new ones are only added.
 */
#include "formats/parts/field_units.h"
#include "formats/parts/diff_parts.h"
#include "formats/writers.h"
#include "json_diff.h"
#include "json_rows.h"

static void write_side(etlheap_json *json, const char *key, const etlheap_diff_side *side);
static void write_log(etlheap_json *json, const etlheap_umdh_info *info);
static void write_rows(etlheap_json *json, const etlheap_diff_answer *answer);
static void write_totals(etlheap_json *json, const etlheap_diff *diff);
static void write_change(etlheap_json *json, const etlheap_diff *diff, u32 kind,
                         const etlheap_change *change, const i64 *deltas);
static void write_amounts(etlheap_json *json, u32 kind, etlheap_measure measure, bool is_rate,
                          const i64 values[ETLHEAP_DIFF_COLUMN_COUNT]);
static void write_lifetimes(etlheap_json *json, const etlheap_diff *diff);
static void write_hints(etlheap_json *json, const etlheap_diff_answer *answer, etlheap_text *text);

etl_status etlheap_write_diff_json(const etlheap_diff_answer *answer, const etlheap_layout *given,
                                   etlheap_sink *sink)
{
    const etlheap_diff *const diff = answer->diff;
    etlheap_json json;
    etlheap_text text = { 0 };
    const etl_status status = etlheap_json_document(&json, "etlheap-diff-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    write_side(&json, "base", &answer->base);
    write_side(&json, "new", &answer->now);
    etlheap_json_string(&json, "measure", etlheap_measure_word(diff->measure));
    etlheap_json_bool(&json, "per_second", diff->per_second);
    etlheap_json_array(&json, "group_by");
    for (u32 i = 0; i < diff->table.group_by_count; i++) {
        const etlheap_field field = etlheap_diff_field(answer, diff->table.group_by[i]);
        etlheap_json_string(&json, NULL, etlheap_field_key(field));
    }
    etlheap_json_array_close(&json);
    etlheap_json_frames(&json, &diff->table);
    etlheap_json_stacks(&json, &diff->table);
    write_rows(&json, answer);
    etlheap_json_u64(&json, "unchanged_count", diff->unchanged_count);
    write_totals(&json, diff);
    if (diff->has_lifetimes)
        write_lifetimes(&json, diff);
    write_hints(&json, answer, &text);
    etlheap_json_document_end(&json);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

static void write_side(etlheap_json *json, const char *key, const etlheap_diff_side *side)
{
    etlheap_json_object(json, key);
    if (side->log) {
        etlheap_json_string(json, "file", side->name);
        write_log(json, etlheap_umdh_info_of(side->log));
    } else {
        etlheap_json_trace(json, etlheap_result_trace(side->result));
        etlheap_json_recorded(json, side->result);
        etlheap_json_window_open(json, side->result, side->table->from_ns, side->table->to_ns);
        etlheap_json_object_close(json);
        etlheap_json_diagnostics(json, &side->table->diagnostics);
    }
    etlheap_json_object_close(json);
}

static void write_log(etlheap_json *json, const etlheap_umdh_info *info)
{
    etlheap_json_object(json, "log");
    etlheap_json_string(json, "umdh", info->version);
    etlheap_json_string(json, "time", info->time);
    etlheap_json_string(json, "computer", info->machine);
    etlheap_json_process(json, "process", info->process);
    if (info->pid == ETL_NO_ID)
        etlheap_json_null(json, "pid");
    else
        etlheap_json_u64(json, "pid", info->pid);
    etlheap_json_u64(json, "heaps", info->heap_count);
    etlheap_json_u64(json, "blocks", info->block_count);
    etlheap_json_object_close(json);
}

/* Writes the rows; stops if nobody reads any more, because there may be millions. */
static void write_rows(etlheap_json *json, const etlheap_diff_answer *answer)
{
    const etlheap_diff *const diff = answer->diff;
    const etlheap_table *const table = &diff->table;
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(json->sink); i++) {
        const etlheap_change *const change = &diff->changes[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_STATE),
                            etlheap_diff_state_word((etlheap_diff_state)change->state));
        for (u32 k = 0; k < table->group_by_count; k++)
            json_compared_key(json, &table->rows[i], table->group_by[k],
                              etlheap_diff_field(answer, table->group_by[k]));
        write_change(json, diff, table->rows[i].kind, change, table->rows[i].measures);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

void json_compared_key(etlheap_json *json, const etlheap_row *row, etlheap_key key,
                       etlheap_field field)
{
    if (key == ETLHEAP_KEY_PROCESS) {
        etlheap_json_process(json, etlheap_field_key(field), row->process);
        if (row->pid != ETL_NO_ID) /* it has no name */
            etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_PID), row->pid);
    } else if (key == ETLHEAP_KEY_TYPE_NAME) {
        etlheap_json_string(json, etlheap_field_key(field), row->type_name);
    } else if (key == ETLHEAP_KEY_THREAD_NAME) { /* ids are not compared: no key has written it */
        etlheap_json_string(json, etlheap_field_key(field), row->thread_name);
    } else {
        etlheap_json_key(json, row, key);
    }
}

static void write_totals(etlheap_json *json, const etlheap_diff *diff)
{
    etlheap_json_array(json, "totals");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &diff->table.totals[kind];
        if (!total->present)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        write_change(json, diff, (u32)kind, &diff->totals[kind], total->measures);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_change(etlheap_json *json, const etlheap_diff *diff, u32 kind,
                         const etlheap_change *change, const i64 *deltas)
{
    etlheap_measure measures[ETLHEAP_MEASURES_COUNT];
    const u32 count = etlheap_diff_measures(diff, measures);
    for (u32 i = 0; i < count; i++) {
        const etlheap_measure m = measures[i];
        const i64 amounts[] = { change->base[m], change->now[m], deltas[m] };
        write_amounts(json, kind, m, false, amounts);
        if (!diff->per_second)
            continue;
        const i64 base = etlheap_diff_rate(change->base[m], change->base_ns);
        const i64 now = etlheap_diff_rate(change->now[m], change->new_ns);
        const i64 rates[] = { base, now, etlheap_diff_subtract(base, now) };
        write_amounts(json, kind, m, true, rates);
    }
}

static void write_amounts(etlheap_json *json, u32 kind, etlheap_measure measure, bool is_rate,
                          const i64 values[ETLHEAP_DIFF_COLUMN_COUNT])
{
    for (int c = 0; c < ETLHEAP_DIFF_COLUMN_COUNT; c++) {
        char key[ETLHEAP_DIFF_NAME_SIZE];
        etlheap_diff_key((etlheap_diff_column)c, measure, is_rate, key);
        const bool is_hidden = etlheap_field_is_hidden(kind, etlheap_measure_field(measure));
        if (is_hidden ||
            (values[c] == ETLHEAP_NOT_KNOWN && etlheap_diff_compares_lifetimes(measure)))
            etlheap_json_null(json, key);
        else
            etlheap_json_i64(json, key, values[c]);
    }
}

/* In the form of a report's histogram, with a count of each side. */
static void write_lifetimes(etlheap_json *json, const etlheap_diff *diff)
{
    char base[ETLHEAP_DIFF_NAME_SIZE];
    char now[ETLHEAP_DIFF_NAME_SIZE];
    etlheap_diff_key(ETLHEAP_DIFF_BASE, ETLHEAP_MEASURE_COUNT, false, base);
    etlheap_diff_key(ETLHEAP_DIFF_NEW, ETLHEAP_MEASURE_COUNT, false, now);
    etlheap_json_object(json, "histogram");
    etlheap_json_string(json, "by", etlheap_histogram_word(ETLHEAP_HISTOGRAM_LIFETIME));
    etlheap_json_array(json, "buckets");
    for (u32 i = 0; i < diff->lifetime_count; i++) {
        const etlheap_lifetime_class *const lifetimes = &diff->lifetimes[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_KIND),
                            etlheap_kind_name((etlheap_kind)lifetimes->kind));
        etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_FROM), lifetimes->from_ns);
        if (lifetimes->to_ns == UINT64_MAX)
            etlheap_json_null(json, etlheap_field_key(ETLHEAP_FIELD_TO));
        else
            etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_TO), lifetimes->to_ns);
        etlheap_json_i64(json, base, lifetimes->base_count);
        etlheap_json_i64(json, now, lifetimes->new_count);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}

static void write_hints(etlheap_json *json, const etlheap_diff_answer *answer, etlheap_text *text)
{
    const char *name;
    etlheap_json_array(json, "hints");
    for (u32 i = 0; i < etlheap_diff_hint_count(); i++) {
        if (!etlheap_diff_hint(answer, i, json->hint, text, &name))
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", name);
        etlheap_json_string(json, "text", etlheap_text_of(text));
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
