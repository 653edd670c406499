/*
 * json_info.c - writes the `etlheap-info-1` document.
 *
 * In: a result, usually of an inventory. Out: JSON: the recording, processes, marks, counts of
 * records by hook and provider, stacks, and what can be analysed. Invariant: keys are part of the
 * interface; a fact that a store lacks is absent, not 0.
 */
#include "formats/parts/abilities.h"
#include "formats/parts/info_rank.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/provider_events.h"
#include "formats/writers.h"
#include "json.h"
#include "summary_traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENTS_KEY_SIZE 32 /* "virtualalloc_events" */

static etl_status write_processes(etlheap_json *json, const etlheap_result *result, u32 most);
static void write_services(etlheap_json *json, const char *names);
static void write_time(etlheap_json *json, const char *key, const etlheap_result *result,
                       i64 ticks);
static void write_events(etlheap_json *json, const etlheap_result *result);
static void write_providers(etlheap_json *json, const etlheap_result *result);
static void write_provider(etlheap_json *json, const etlheap_result *result,
                           const etlheap_provider_count *provider);
static void write_provider_events(etlheap_json *json, const etlheap_result *result, const u8 *guid);
static void write_stacks(etlheap_json *json, const etlheap_result *result);
static void write_abilities(etlheap_json *json, const etlheap_result *result);
static void write_questions(etlheap_json *json, const etlheap_result *result);
static void write_marks(etlheap_json *json, const etlheap_result *result);
static void write_part(etlheap_json *json, const etlheap_result *result);

/* Only for anonymised stores. */
static void write_key(etlheap_json *json, const etlheap_result *result)
{
    u64 key_check;
    char text[20];
    if (!etlheap_result_is_anonymised(result, &key_check))
        return;
    snprintf(text, sizeof text, "%016" PRIx64, key_check);
    etlheap_json_object(json, "anonymised");
    etlheap_json_string(json, "key_check", text);
    etlheap_json_object_close(json);
}

etl_status etlheap_write_info_json(const etlheap_result *result, const etlheap_layout *given,
                                   etlheap_sink *sink)
{
    etlheap_json json;
    etlheap_layout layout;
    etl_status status = etlheap_layout_read(given, &layout);
    if (status == ETL_OK)
        status = etlheap_json_document(&json, "etlheap-info-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, result);
    write_part(&json, result);
    etlheap_json_traces(&json, result);
    write_key(&json, result);
    status = write_processes(&json, result, etlheap_layout_most(&layout));
    etlheap_json_u64(&json, "modules", etlheap_module_count(result));
    etlheap_json_u64(&json, "methods", etlheap_method_count(result));
    write_marks(&json, result);
    write_events(&json, result);
    write_providers(&json, result);
    write_stacks(&json, result);
    write_abilities(&json, result);
    write_questions(&json, result);
    etlheap_json_diagnostics(&json, etlheap_result_diagnostics(result));
    etlheap_json_document_end(&json);
    return status;
}

/* Kinds that few traces have are left out if the process has none of their events. */
static void write_event_counts(etlheap_json *json, const etlheap_process_info *process)
{
    char key[EVENTS_KEY_SIZE];
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
        snprintf(key, sizeof key, "%s_events", row->word);
        if (row->recorded_with == kind &&
            (etlheap_kind_has(kind, ETLHEAP_KIND_COMMON) || process->events[kind] > 0))
            etlheap_json_u64(json, key, process->events[kind]);
    }
}

static void write_process(etlheap_json *json, const etlheap_result *result,
                          const etlheap_process_info *process)
{
    etlheap_json_object(json, NULL);
    if (process->pid == ETL_NO_ID)
        etlheap_json_null(json, "pid");
    else
        etlheap_json_u64(json, "pid", process->pid);
    if (process->parent_pid == ETL_NO_ID)
        etlheap_json_null(json, "parent_pid");
    else
        etlheap_json_u64(json, "parent_pid", process->parent_pid);
    etlheap_json_process(json, "name", process->name);
    etlheap_json_string(json, "command_line", process->command_line);
    write_time(json, "start_ns", result, process->start_ticks);
    write_time(json, "end_ns", result, process->end_ticks);
    if (process->pointer_bits == 0)
        etlheap_json_null(json, "pointer_bits");
    else
        etlheap_json_u64(json, "pointer_bits", process->pointer_bits);
    write_event_counts(json, process);
    if (process->package)
        etlheap_json_string(json, "package", process->package);
    if (process->services)
        write_services(json, process->services);
    etlheap_json_object_close(json);
}

/* One object for each lifetime of a process id, in order of id and start. */
static etl_status write_processes(etlheap_json *json, const etlheap_result *result, u32 most)
{
    const u32 count = etlheap_process_count(result);
    bool *const chosen = info_choose_processes(result, most);
    u32 left_out = 0;
    etlheap_json_array(json, "processes");
    for (u32 i = 0; chosen && i < count; i++) {
        left_out += !chosen[i];
        if (chosen[i])
            write_process(json, result, etlheap_process_of(result, (etlheap_process){ i + 1 }));
    }
    etlheap_json_array_close(json);
    if (left_out > 0)
        etlheap_json_u64(json, "processes_left_out_count", left_out);
    free(chosen);
    return chosen ? ETL_OK : ETL_ERR_MEMORY;
}

static void write_services(etlheap_json *json, const char *names)
{
    etlheap_json_array(json, "services");
    for (const char *at = names; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        etlheap_json_string_bytes(json, NULL, at, size);
        at += size + (at[size] == ',');
    }
    etlheap_json_array_close(json);
}

/* Null when it is before or after the trace. */
static void write_time(etlheap_json *json, const char *key, const etlheap_result *result, i64 ticks)
{
    if (ticks == ETLHEAP_TICKS_BEFORE || ticks == ETLHEAP_TICKS_NEVER)
        etlheap_json_null(json, key);
    else
        etlheap_json_i64(json, key, etlheap_time_ns(result, ticks));
}

static void write_end(etlheap_json *json, const char *key, i64 ns, i64 open_ns)
{
    if (ns == open_ns)
        etlheap_json_null(json, key);
    else
        etlheap_json_i64(json, key, ns);
}

static void write_kinds(etlheap_json *json, u32 kinds)
{
    if (kinds == 0) {
        etlheap_json_null(json, "kinds");
        return;
    }
    etlheap_json_array(json, "kinds");
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if ((kinds >> kind & 1) != 0)
            etlheap_json_string(json, NULL, etlheap_kind_name((etlheap_kind)kind));
    }
    etlheap_json_array_close(json);
}

/* Only of a store that was cut; null for what the cut left whole. */
static void write_part(etlheap_json *json, const etlheap_result *result)
{
    const etlheap_part *const part = etlheap_result_part(result);
    if (part == NULL)
        return;
    etlheap_json_object(json, "part");
    write_end(json, "from_ns", part->from_ns, INT64_MIN);
    write_end(json, "to_ns", part->to_ns, INT64_MAX);
    write_kinds(json, part->kinds);
    if (part->process_count == 0) {
        etlheap_json_null(json, "processes");
    } else {
        etlheap_json_array(json, "processes");
        for (u32 i = 0; i < part->process_count; i++)
            etlheap_json_string(json, NULL, part->processes[i]);
        etlheap_json_array_close(json);
    }
    etlheap_json_object_close(json);
}

/* In order of time. */
static void write_marks(etlheap_json *json, const etlheap_result *result)
{
    const etlheap_marks *const marks = etlheap_result_marks(result);
    etlheap_json_array(json, "marks");
    for (u32 i = 0; i < marks->count; i++) {
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", marks->at[i].name);
        etlheap_json_u64(json, "number", marks->at[i].number);
        etlheap_json_i64(json, "time_ns", marks->at[i].time_ns);
        if (marks->at[i].is_end)
            etlheap_json_bool(json, "is_end", true);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Writes every kind of record with a hook id, also those that are only counted. */
static void write_events(etlheap_json *json, const etlheap_result *result)
{
    const etlheap_hook_count *rows = NULL;
    const u32 count = etlheap_hook_counts(result, &rows);
    etlheap_json_array(json, "events");
    for (u32 i = 0; i < count; i++) {
        etlheap_json_object(json, NULL);
        etlheap_json_hex(json, "hook", rows[i].hook, 4);
        etlheap_json_string(json, "name", rows[i].name);
        etlheap_json_u64(json, "count", rows[i].count);
        etlheap_json_u64(json, "bytes", rows[i].bytes);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Writes providers. WPP messages carry ids of source files, hundreds in one trace, so they share
 * one row, "message". */
static void write_providers(etlheap_json *json, const etlheap_result *result)
{
    const etlheap_provider_count *rows = NULL;
    const u32 count = etlheap_provider_counts(result, &rows);
    etlheap_provider_count messages = { 0 };
    etlheap_json_array(json, "providers");
    for (u32 i = 0; i < count; i++) {
        if (rows[i].is_message) {
            messages.is_message = true;
            messages.count = etl_sat_add_u64(messages.count, rows[i].count);
            messages.bytes = etl_sat_add_u64(messages.bytes, rows[i].bytes);
            continue;
        }
        write_provider(json, result, &rows[i]);
    }
    if (messages.count > 0)
        write_provider(json, result, &messages);
    etlheap_json_array_close(json);
}

static void write_provider(etlheap_json *json, const etlheap_result *result,
                           const etlheap_provider_count *provider)
{
    char guid[ETL_GUID_TEXT_SIZE];
    etl_guid_format(provider->guid.bytes, guid);
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "guid", provider->is_message ? "message" : guid);
    etlheap_json_string(
        json, "name",
        provider->is_message ? NULL : etlheap_provider_title(result, provider->guid.bytes));
    etlheap_json_u64(json, "count", provider->count);
    etlheap_json_u64(json, "bytes", provider->bytes);
    if (!provider->is_message)
        write_provider_events(json, result, provider->guid.bytes);
    etlheap_json_object_close(json);
}

/* Writes the events of a provider, which stores and summaries may lack. */
static void write_provider_events(etlheap_json *json, const etlheap_result *result, const u8 *guid)
{
    const etlheap_event_count *rows;
    u32 count;
    etlheap_provider_events(result, guid, &rows, &count);
    if (count == 0)
        return;
    etlheap_json_array(json, "events");
    for (u32 i = 0; i < count; i++) {
        etlheap_json_object(json, NULL);
        etlheap_json_u64(json, rows[i].is_class ? "opcode" : "id",
                         rows[i].is_class ? rows[i].opcode : rows[i].id);
        etlheap_json_u64(json, "version", rows[i].version);
        etlheap_json_string(json, "name", rows[i].name[0] != '\0' ? rows[i].name : NULL);
        etlheap_json_u64(json, "count", rows[i].count);
        etlheap_json_u64(json, "bytes", rows[i].bytes);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Matching is counted by inventory runs, which is what `info` makes. */
static void write_stacks(etlheap_json *json, const etlheap_result *result)
{
    const etlheap_stack_counts *const stacks = etlheap_result_stacks(result);
    etlheap_json_object(json, "stacks");
    etlheap_json_u64(json, "records", stacks->records);
    etlheap_json_u64(json, "matched", stacks->matched);
    etlheap_json_u64(json, "unmatched", stacks->unmatched);
    etlheap_json_u64(json, "keys_referenced", stacks->keys_referenced);
    etlheap_json_u64(json, "keys_resolved", stacks->keys_resolved);
    etlheap_json_object_close(json);
}

/* The words of abilities.c, in its order: what the recording has. */
static void write_abilities(etlheap_json *json, const etlheap_result *result)
{
    etlheap_json_array(json, "can");
    for (u32 i = 0; i < etlheap_ability_count(); i++) {
        etlheap_ability ability;
        etlheap_ability_of(result, i, &ability);
        if (ability.is_listed && ability.has_data)
            etlheap_json_string(json, NULL, ability.word);
    }
    etlheap_json_array_close(json);
}

/* All questions, also those that cannot be answered. */
static void write_questions(etlheap_json *json, const etlheap_result *result)
{
    etlheap_json_array(json, "questions");
    for (u32 i = 0; i < etlheap_ability_count(); i++) {
        etlheap_ability ability;
        etlheap_ability_of(result, i, &ability);
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", ability.word);
        etlheap_json_bool(json, "can", ability.can);
        etlheap_json_string(json, "why", ability.why);
        etlheap_json_string(json, "record", ability.record);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
