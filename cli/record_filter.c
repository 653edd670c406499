/*
 * record_filter.c - decides which records `dump` lists.
 *
 * In: the options that choose processes, events and times; for names of processes also a pass over
 * the traces. Out: yes or no for each record.
 *
 * A record belongs to a process if its header says so, or if its payload is about that process:
 * kernel events are often logged by another process, and some headers name none. Invariant: a name
 * selects lifetimes of processes, not ids: an id may have belonged to another program before, so
 * each wanted process has a time span.
 */
#include "record_filter.h"

#include "analysis.h"
#include "report_query.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

static etl_status add_processes(const cli_options *options, const cli_inputs *inputs,
                                const cli_guard *guard, cli_record_filter *out, etl_error *err);
static etl_status add_named(const cli_words *names, const etlheap_result *result,
                            cli_record_filter *out, etl_error *err);
static etl_status add_process(cli_record_filter *out, cli_wanted_process process, etl_error *err);
static bool passes_events(const cli_words *events, const etlheap_stream_record *stream,
                          etlheap_text *scratch);
static bool matches_event(const char *word, const etlheap_stream_record *stream,
                          etlheap_text *scratch);
static bool passes_process(const cli_record_filter *filter, u32 pid, i64 ticks);
static u32 payload_pid(const etl_event *event);

etl_status cli_record_filter_build(const cli_options *options, const cli_inputs *inputs,
                                   const cli_guard *guard, cli_record_filter *out, etl_error *err)
{
    *out = (cli_record_filter){ .events = options->events,
                                .any_process = options->processes.count == 0 };
    const etl_status status = cli_window(options, &inputs->clock, &out->from_ns, &out->to_ns, err);
    if (status != ETL_OK)
        return status;
    return add_processes(options, inputs, guard, out, err);
}

void cli_record_filter_free(cli_record_filter *filter)
{
    free(filter->processes);
    *filter = (cli_record_filter){ 0 };
}

bool cli_record_passes(const cli_record_filter *filter, const etlheap_stream_record *record,
                       const etl_event *event, etlheap_text *scratch)
{
    if (record->time_ns < filter->from_ns || record->time_ns >= filter->to_ns)
        return false;
    if (!passes_events(&filter->events, record, scratch))
        return false;
    return filter->any_process || passes_process(filter, record->record.pid, record->ticks) ||
           passes_process(filter, payload_pid(event), record->ticks);
}

/* Adds the wanted processes. Ids cost nothing; only names need the pass over the traces. */
static etl_status add_processes(const cli_options *options, const cli_inputs *inputs,
                                const cli_guard *guard, cli_record_filter *out, etl_error *err)
{
    etlheap_result *result = NULL;
    bool named = false;
    for (u32 i = 0; i < options->processes.count; i++) {
        u64 pid;
        if (!cli_parse_count(options->processes.at[i], UINT32_MAX - 1, &pid)) {
            named = true;
            continue;
        }
        const cli_wanted_process process = { (u32)pid, INT64_MIN, INT64_MAX };
        const etl_status status = add_process(out, process, err);
        if (status != ETL_OK)
            return status;
    }
    if (!named)
        return ETL_OK;
    etl_status status = cli_analyze(options, inputs, guard, NULL, 0, &result, err);
    if (status == ETL_OK)
        status = add_named(&options->processes, result, out, err);
    etlheap_result_free(result);
    return status;
}

/* A name means the lifetimes of processes with that name, not their ids: an id may have belonged to
 * another program before. */
static etl_status add_named(const cli_words *names, const etlheap_result *result,
                            cli_record_filter *out, etl_error *err)
{
    const u32 count = etlheap_process_count(result);
    for (u32 i = 0; i < count; i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        bool wanted = false;
        for (u32 k = 0; k < names->count && !wanted; k++)
            wanted = etlheap_word_names_process(names->at[k], process);
        if (!wanted)
            continue;
        const cli_wanted_process row = { process->pid, process->start_ticks, process->end_ticks };
        const etl_status status = add_process(out, row, err);
        if (status != ETL_OK)
            return status;
    }
    return ETL_OK;
}

static etl_status add_process(cli_record_filter *out, cli_wanted_process process, etl_error *err)
{
    const size_t count = (size_t)out->process_count + 1;
    cli_wanted_process *const processes = realloc(out->processes, count * sizeof *processes);
    if (!processes)
        return etl_no_memory(err);
    processes[out->process_count] = process;
    out->processes = processes;
    out->process_count++;
    return ETL_OK;
}

/* Each word of the option may be a list. */
static bool passes_events(const cli_words *events, const etlheap_stream_record *stream,
                          etlheap_text *scratch)
{
    for (u32 i = 0; i < events->count; i++) {
        const char *list = events->at[i];
        char word[CLI_WORD_SIZE];
        while (*list != '\0' && cli_next_word(&list, word)) {
            if (matches_event(word, stream, scratch))
                return true;
        }
    }
    return events->count == 0;
}

/* Does the word match the full name that the trace gives the event, or its provider alone? */
static bool matches_title(const char *word, const etlheap_stream_record *stream,
                          etlheap_text *scratch)
{
    if (!etlheap_record_title(stream, scratch) || scratch->bytes == NULL)
        return false;
    if (etl_name_glob(word, scratch->bytes))
        return true;
    char *const slash = strchr(scratch->bytes, '/');
    if (slash != NULL)
        *slash = '\0';
    return etl_name_glob(word, scratch->bytes);
}

/* Does the word match: a hook id, a name with wildcards, or a provider's GUID or name? */
static bool matches_event(const char *word, const etlheap_stream_record *stream,
                          etlheap_text *scratch)
{
    const etl_record *const record = &stream->record;
    const char *const name = etl_record_name(record);
    u64 number;
    if (record->has_hook)
        return cli_word_names_hook(word, record->hook, name);
    if (name && !cli_parse_handle(word, &number) && etl_name_glob(word, name))
        return true;
    return (record->provider && cli_word_names_provider(word, record->provider)) ||
           matches_title(word, stream, scratch);
}

bool cli_word_names_hook(const char *word, u16 hook, const char *name)
{
    u64 number;
    if (cli_parse_handle(word, &number))
        return hook == number;
    return name && etl_name_glob(word, name);
}

bool cli_word_names_provider(const char *word, const u8 *guid)
{
    const char *const name = etl_provider_name(guid);
    char text[ETL_GUID_TEXT_SIZE];
    etl_guid_format(guid, text);
    return etl_name_glob(word, text) || (name && etl_name_glob(word, name));
}

static bool passes_process(const cli_record_filter *filter, u32 pid, i64 ticks)
{
    if (pid == ETL_NO_ID)
        return false;
    for (u32 i = 0; i < filter->process_count; i++) {
        const cli_wanted_process *const process = &filter->processes[i];
        if (process->pid == pid && ticks >= process->from_ticks && ticks <= process->to_ticks)
            return true;
    }
    return false;
}

/* The process that an event is about, by its field of that name. */
static u32 payload_pid(const etl_event *event)
{
    if (event->kind == ETL_EVENT_NONE)
        return ETL_NO_ID;
    const etl_event_info *const info = etl_event_describe(event->kind);
    for (size_t i = 0; i < info->field_count; i++) {
        u32 pid;
        if (info->fields[i].type != ETL_FIELD_U32 ||
            strcmp(info->fields[i].name, "process_id") != 0)
            continue;
        memcpy(&pid, (const char *)event + info->fields[i].offset, sizeof pid);
        return pid;
    }
    return ETL_NO_ID;
}
