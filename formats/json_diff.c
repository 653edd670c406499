/*
 * json_diff.c - the `etlheap-diff-1` document.
 *
 * A row has its state, the keys it was grouped by, and each measure three times:
 * base_X, new_X and delta_X, which is new less base. With --per-second each is there
 * as an amount per 1000 seconds too (base_X_per_1000s), an integer that keeps three
 * digits after the point. A diff of two logs has `log` objects in place of `trace`
 * and `backtrace` in place of the key.
 */
#include "diff_parts.h"
#include "json_rows.h"
#include "writers.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_SIZE 64

static void write_side(etlheap_json *json, const char *key, const etlheap_diff_side *side);
static void write_log(etlheap_json *json, const etlheap_umdh_info *info);
static void write_rows(etlheap_json *json, const etlheap_diff *diff, bool is_log);
static void write_key(etlheap_json *json, const etlheap_row *row, etlheap_key key, bool is_log);
static void write_totals(etlheap_json *json, const etlheap_diff *diff);
static void write_change(etlheap_json *json, const etlheap_diff *diff, const etlheap_change *change,
                         const i64 *deltas);
static void write_amount(etlheap_json *json, const char *side, etlheap_measure measure, i64 value);
static void write_rates(etlheap_json *json, const etlheap_diff *diff, const etlheap_change *change,
                        etlheap_measure measure);
static void write_hints(etlheap_json *json, const etlheap_diff_answer *answer, etlheap_text *text);

etl_status etlheap_write_diff_json(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink)
{
    const etlheap_diff *const diff = answer->diff;
    const bool is_log = answer->base.log != NULL;
    etlheap_json json = etlheap_json_begin(sink, 2);
    etlheap_text text = { 0 };
    (void)layout;
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "etlheap-diff-1");
    write_side(&json, "base", &answer->base);
    write_side(&json, "new", &answer->now);
    etlheap_json_string(&json, "measure", etlheap_measure_word(diff->measure));
    etlheap_json_bool(&json, "per_second", diff->per_second);
    etlheap_json_array(&json, "group_by");
    for (u32 i = 0; i < diff->table.group_by_count; i++) {
        const bool is_backtrace = is_log && diff->table.group_by[i] == ETLHEAP_KEY_TYPE_NAME;
        etlheap_json_string(&json, NULL,
                            is_backtrace ? "backtrace" : etlheap_key_word(diff->table.group_by[i]));
    }
    etlheap_json_array_close(&json);
    etlheap_json_frames(&json, &diff->table);
    etlheap_json_stacks(&json, &diff->table);
    write_rows(&json, diff, is_log);
    etlheap_json_u64(&json, "unchanged_count", diff->unchanged_count);
    write_totals(&json, diff);
    write_hints(&json, answer, &text);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
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
        etlheap_json_object(json, "window");
        etlheap_json_i64(json, "from_ns", side->table->from_ns);
        etlheap_json_i64(json, "to_ns", side->table->to_ns);
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
    etlheap_json_string(json, "process", info->process);
    if (info->pid == ETL_NO_ID)
        etlheap_json_null(json, "pid");
    else
        etlheap_json_u64(json, "pid", info->pid);
    etlheap_json_u64(json, "heaps", info->heap_count);
    etlheap_json_u64(json, "blocks", info->block_count);
    etlheap_json_object_close(json);
}

/* Stops when nobody reads any more: there may be millions. */
static void write_rows(etlheap_json *json, const etlheap_diff *diff, bool is_log)
{
    const etlheap_table *const table = &diff->table;
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(json->sink); i++) {
        const etlheap_change *const change = &diff->changes[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "state",
                            etlheap_diff_state_word((etlheap_diff_state)change->state));
        for (u32 k = 0; k < table->group_by_count; k++)
            write_key(json, &table->rows[i], table->group_by[k], is_log);
        write_change(json, diff, change, table->rows[i].measures);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* A process is a name here: ids are of one run. */
static void write_key(etlheap_json *json, const etlheap_row *row, etlheap_key key, bool is_log)
{
    if (key == ETLHEAP_KEY_PROCESS)
        etlheap_json_string(json, "process", row->process);
    else if (key == ETLHEAP_KEY_TYPE_NAME && is_log)
        etlheap_json_string(json, "backtrace", row->type_name);
    else
        etlheap_json_key(json, row, key);
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
        write_change(json, diff, &diff->totals[kind], total->measures);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_change(etlheap_json *json, const etlheap_diff *diff, const etlheap_change *change,
                         const i64 *deltas)
{
    etlheap_measure measures[ETLHEAP_MEASURES_COUNT];
    const u32 count = etlheap_diff_measures(diff, measures);
    for (u32 i = 0; i < count; i++) {
        const etlheap_measure m = measures[i];
        write_amount(json, "base", m, change->base[m]);
        write_amount(json, "new", m, change->now[m]);
        write_amount(json, "delta", m, deltas[m]);
        if (diff->per_second)
            write_rates(json, diff, change, m);
    }
}

static void write_amount(etlheap_json *json, const char *side, etlheap_measure measure, i64 value)
{
    char key[KEY_SIZE];
    snprintf(key, sizeof key, "%s_%s", side, etlheap_measure_word(measure));
    etlheap_json_i64(json, key, value);
}

static void write_rates(etlheap_json *json, const etlheap_diff *diff, const etlheap_change *change,
                        etlheap_measure measure)
{
    const char *const word = etlheap_measure_word(measure);
    const i64 base = etlheap_diff_rate(change->base[measure], diff->base_ns);
    const i64 now = etlheap_diff_rate(change->now[measure], diff->new_ns);
    char key[KEY_SIZE];
    snprintf(key, sizeof key, "base_%s_per_1000s", word);
    etlheap_json_i64(json, key, base);
    snprintf(key, sizeof key, "new_%s_per_1000s", word);
    etlheap_json_i64(json, key, now);
    snprintf(key, sizeof key, "delta_%s_per_1000s", word);
    etlheap_json_i64(json, key, etlheap_diff_subtract(base, now));
}

static void write_hints(etlheap_json *json, const etlheap_diff_answer *answer, etlheap_text *text)
{
    const char *name;
    etlheap_json_array(json, "hints");
    for (u32 i = 0; i < etlheap_diff_hint_count(); i++) {
        if (!etlheap_diff_hint(answer, i, text, &name))
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", name);
        etlheap_json_string(json, "text", etlheap_text_of(text));
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
