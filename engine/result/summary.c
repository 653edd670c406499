/*
 * summary.c - what a summary says about its recordings as a whole. summary.h explains entries,
 * cells and peaks.
 *
 * In: summary_data, with one summary_trace for each recording. Out: the trace information,
 * abilities and diagnostics of the result, and the getters of the public interface.
 *
 * Descriptions are combined so that the order of recordings does not matter: amounts are added,
 * durations take the maximum, and a text or number that differs between recordings becomes empty or
 * 0. The clock of a summary counts nanoseconds from the start of each recording. Invariant:
 * whatever is added here must be combined by such an operation.
 */
#include "summary.h"

#include <stdlib.h>

static void add_stacks(etlheap_stack_counts *to, const etlheap_stack_counts *from);
static void add_abilities(etlheap_abilities *to, const etlheap_abilities *from);
static void merge_info(etlheap_trace_info *to, const etlheap_trace_info *from);

void summary_data_free(summary_data *data)
{
    if (data == NULL)
        return;
    ETLHEAP_VECTOR_FREE(&data->traces);
    ETLHEAP_VECTOR_FREE(&data->files);
    ETLHEAP_VECTOR_FREE(&data->entries);
    ETLHEAP_VECTOR_FREE(&data->rows);
    ETLHEAP_VECTOR_FREE(&data->cells);
    free(data);
}

bool etlheap_result_is_summary(const etlheap_result *result)
{
    return result->summary != NULL;
}

u32 etlheap_summary_trace_count(const etlheap_result *result)
{
    return result->summary == NULL ? 0 : (u32)result->summary->traces.count;
}

etlheap_summary_trace etlheap_summary_trace_of(const etlheap_result *result, u32 index)
{
    if (index >= etlheap_summary_trace_count(result))
        return (etlheap_summary_trace){ .file_count = 0 };
    const summary_trace *const trace = &result->summary->traces.at[index];
    return (etlheap_summary_trace){ .files = result->summary->files.at + trace->first_file,
                                    .file_count = trace->file_count,
                                    .info = trace->info,
                                    .diagnostics = &trace->diag };
}

i64 etlheap_summary_every_ns(const etlheap_result *result)
{
    return result->summary == NULL ? 0 : result->summary->every_ns;
}

/* There is a gap after each module, so that its end address is not in the next one. */
u64 summary_module_after(const etlheap_module_info *module)
{
    const u64 bytes = etl_min_u64(module->size_bytes, SUMMARY_MODULE_BYTES_MAX);
    return module->base + (bytes / SUMMARY_MODULE_ALIGNMENT + 1) * SUMMARY_MODULE_ALIGNMENT;
}

/* Ticks of a summary are nanoseconds. */
bool summary_set_clock(etlheap_result *result)
{
    etl_session *const session =
        etlheap_arena_alloc(&result->context.strings.arena, sizeof *session);
    if (session == NULL)
        return false;
    *session = (etl_session){ .start_time_filetime = result->info.start_time_filetime,
                              .clock_hz = SUMMARY_CLOCK_HZ,
                              .clock = ETL_CLOCK_QPC };
    result->base.base = session;
    return true;
}

bool summary_describe(etlheap_result *result)
{
    const summary_data *const data = result->summary;
    i64 from_ns = 0;
    result->info = (etlheap_trace_info){ .session = "", .computer = "", .clock = "" };
    for (size_t i = 0; i < data->traces.count; i++) {
        const summary_trace *const trace = &data->traces.at[i];
        if (i == 0)
            result->info = trace->info;
        else
            merge_info(&result->info, &trace->info);
        from_ns = trace->from_ns < from_ns ? trace->from_ns : from_ns;
        add_stacks(&result->stack_counts, &trace->stacks);
        add_abilities(&result->abilities, &trace->can);
        etl_diag_merge(&result->diag, &trace->diag);
        etl_diag_merge(&result->inventory_diag, &trace->inventory_diag);
    }
    if (result->info.clock_hz == 0)
        result->info.clock_hz = SUMMARY_CLOCK_HZ;
    result->first_ticks = from_ns;
    result->last_ticks = result->info.duration_ns;
    return summary_set_clock(result);
}

static void add_stacks(etlheap_stack_counts *to, const etlheap_stack_counts *from)
{
    to->records = etl_sat_add_u64(to->records, from->records);
    to->matched = etl_sat_add_u64(to->matched, from->matched);
    to->unmatched = etl_sat_add_u64(to->unmatched, from->unmatched);
    to->keys_referenced = etl_sat_add_u64(to->keys_referenced, from->keys_referenced);
    to->keys_resolved = etl_sat_add_u64(to->keys_resolved, from->keys_resolved);
}

/* The summary has an ability if one of its recordings has it. */
static void add_abilities(etlheap_abilities *to, const etlheap_abilities *from)
{
    to->kinds |= from->kinds;
    to->stacks |= from->stacks;
    to->modules |= from->modules;
    to->symbols |= from->symbols;
    to->memory |= from->memory;
    to->methods |= from->methods;
    to->methods_missing |= from->methods_missing;
    to->thread_names |= from->thread_names;
    to->threads_missing |= from->threads_missing;
}

static const char *same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0 ? a : "";
}

static u32 same_number(u32 a, u32 b)
{
    return a == b ? a : 0;
}

/* A value that differs becomes unknown; amounts are added up. */
static void merge_info(etlheap_trace_info *to, const etlheap_trace_info *from)
{
    const bool same_clock = strcmp(to->clock, from->clock) == 0 && to->clock_hz == from->clock_hz;
    to->session = same_text(to->session, from->session);
    to->computer = same_text(to->computer, from->computer);
    to->os_build = same_number(to->os_build, from->os_build);
    to->pointer_bits = same_number(to->pointer_bits, from->pointer_bits);
    to->cpus = same_number(to->cpus, from->cpus);
    to->clock = same_clock ? to->clock : "mixed";
    to->clock_hz = same_clock ? to->clock_hz : SUMMARY_CLOCK_HZ;
    if (from->start_time_filetime < to->start_time_filetime)
        to->start_time_filetime = from->start_time_filetime;
    to->duration_ns = from->duration_ns > to->duration_ns ? from->duration_ns : to->duration_ns;
    to->end_ns = from->end_ns > to->end_ns ? from->end_ns : to->end_ns;
    to->buffers = etl_sat_add_u64(to->buffers, from->buffers);
    to->events = etl_sat_add_u64(to->events, from->events);
    to->events_lost = etl_sat_add_u64(to->events_lost, from->events_lost);
    to->buffers_lost = etl_sat_add_u64(to->buffers_lost, from->buffers_lost);
    to->bytes = etl_sat_add_u64(to->bytes, from->bytes);
}
