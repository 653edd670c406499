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
static etl_status add_events(const cli_words *events, cli_record_filter *out, etl_error *err);
static bool passes_events(const cli_record_filter *filter, const etlheap_stream_record *stream,
                          etlheap_text *scratch);
static bool passes_process(cli_record_filter *filter, u32 pid, i64 ticks);
static u32 payload_pid(const etl_event *event);

static int by_pid(const void *a, const void *b)
{
    const cli_wanted_process *const x = a, *const y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

etl_status cli_record_filter_build(const cli_options *options, const cli_inputs *inputs,
                                   const cli_guard *guard, cli_record_filter *out, etl_error *err)
{
    *out = (cli_record_filter){ .any_process = options->processes.count == 0 };
    etl_status status = cli_window(options, &inputs->clock, &out->from_ns, &out->to_ns, err);
    if (status == ETL_OK && options->events.count > 0)
        status = add_events(&options->events, out, err);
    if (status == ETL_OK)
        status = add_processes(options, inputs, guard, out, err);
    if (out->processes.count > 1)
        qsort(out->processes.at, out->processes.count, sizeof *out->processes.at, by_pid);
    return status;
}

void cli_record_filter_free(cli_record_filter *filter)
{
    etlheap_globs_free(filter->globs);
    etlheap_globs_free(filter->names);
    for (u32 i = 0; i < filter->words.count; i++)
        free((void *)(uintptr_t)filter->words.at[i]);
    free((void *)filter->words.at);
    free((void *)filter->texts.at);
    free(filter->hooks.at);
    free(filter->processes.at);
    *filter = (cli_record_filter){ 0 };
}

bool cli_record_passes(cli_record_filter *filter, const etlheap_stream_record *record,
                       const etl_event *event, etlheap_text *scratch)
{
    if (record->time_ns < filter->from_ns || record->time_ns >= filter->to_ns)
        return false;
    if (!passes_events(filter, record, scratch))
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
    bool *const named = calloc((size_t)count + 1, sizeof *named);
    etl_status status = ETL_OK;
    if (!named || !etlheap_words_select(result, names->at, names->count, named))
        status = etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        const cli_wanted_process row = { process->pid, process->start_ticks, process->end_ticks };
        if (named[i])
            status = add_process(out, row, err);
    }
    free(named);
    return status;
}

static etl_status add_process(cli_record_filter *out, cli_wanted_process process, etl_error *err)
{
    return CLI_APPEND(&out->processes, process) ? ETL_OK : etl_no_memory(err);
}

static int by_number(const void *a, const void *b)
{
    const u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

static bool add_word(cli_record_filter *out, const char *word)
{
    u64 number;
    char *const own = strdup(word);
    if (!own || !CLI_APPEND(&out->words, own)) {
        free(own);
        return false;
    }
    return cli_parse_handle(word, &number) ? CLI_APPEND(&out->hooks, number)
                                           : CLI_APPEND(&out->texts, own);
}

/* Each word of the option may be a list. */
static etl_status add_events(const cli_words *events, cli_record_filter *out, etl_error *err)
{
    bool ok = true;
    for (u32 i = 0; i < events->count; i++) {
        const char *list = events->at[i];
        char word[CLI_WORD_SIZE];
        while (ok && *list != '\0' && cli_next_word(&list, word))
            ok = add_word(out, word);
    }
    if (out->hooks.count > 1)
        qsort(out->hooks.at, out->hooks.count, sizeof *out->hooks.at, by_number);
    out->globs = ok ? etlheap_globs_open(out->words.at, out->words.count) : NULL;
    out->names = ok ? etlheap_globs_open(out->texts.at, out->texts.count) : NULL;
    return out->globs && out->names ? ETL_OK : etl_no_memory(err);
}

/* Does a word match the full name that the trace gives the event, or its provider alone? */
static bool matches_title(etlheap_globs *globs, const etlheap_stream_record *stream,
                          etlheap_text *scratch)
{
    if (!etlheap_record_title(stream, scratch) || scratch->bytes == NULL)
        return false;
    if (etlheap_globs_match(globs, scratch->bytes))
        return true;
    char *const slash = strchr(scratch->bytes, '/');
    if (slash != NULL)
        *slash = '\0';
    return etlheap_globs_match(globs, scratch->bytes);
}

static bool matches_provider(etlheap_globs *globs, const u8 *guid)
{
    const char *const name = etl_provider_name(guid);
    char text[ETL_GUID_TEXT_SIZE];
    etl_guid_format(guid, text);
    return etlheap_globs_match(globs, text) || (name && etlheap_globs_match(globs, name));
}

/* Does a word match: a hook id, a name with wildcards, or a provider's GUID or name? */
static bool passes_events(const cli_record_filter *filter, const etlheap_stream_record *stream,
                          etlheap_text *scratch)
{
    const etl_record *const record = &stream->record;
    const char *const name = etl_record_name(record);
    const u64 hook = record->hook;
    if (!filter->globs || (name && etlheap_globs_match(filter->names, name)))
        return true;
    if (record->has_hook)
        return filter->hooks.count > 0 && bsearch(&hook, filter->hooks.at, filter->hooks.count,
                                                  sizeof hook, by_number) != NULL;
    return (record->provider && matches_provider(filter->globs, record->provider)) ||
           matches_title(filter->globs, stream, scratch);
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

static bool passes_process(cli_record_filter *filter, u32 pid, i64 ticks)
{
    const cli_wanted_process *const wanted = filter->processes.at;
    u32 at;
    if (pid == ETL_NO_ID)
        return false;
    ETL_BISECT(at, 0, filter->processes.count, wanted[at].pid < pid);
    for (; at < filter->processes.count && wanted[at].pid == pid; at++) {
        filter->tried++;
        if (ticks >= wanted[at].from_ticks && ticks <= wanted[at].to_ticks)
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
