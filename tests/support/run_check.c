/* run_check.c - see run_check.h. */
#include "run_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void require(bool made, const char *why)
{
    if (made)
        return;
    fprintf(stderr, "# the test's own preparation failed: %s\n", why == NULL ? "?" : why);
    abort();
}

void check_open(check_traces *traces, etl_build *b)
{
    static const char *const names[CHECK_TRACES_MAX] = { "a.etl", "b.etl", "c.etl", "d.etl" };
    require(traces->count < CHECK_TRACES_MAX, "too many traces");
    require(etl_build_finish(b), etl_build_error(b));
    etl_bytes file = { 0 };
    file.at = etl_build_data(b, &file.size);
    etl_error err;
    const etl_status status = etl_open_memory(file, NULL, &traces->at[traces->count], &err);
    require(status == ETL_OK, err.message);
    traces->names[traces->count] = names[traces->count];
    traces->builders[traces->count] = b;
    traces->count++;
}

void check_close(check_traces *traces)
{
    for (u32 i = 0; i < traces->count; i++) {
        etl_close(traces->at[i]);
        etl_build_free(traces->builders[i]);
    }
    traces->count = 0;
}

etlheap_result *check_analyze(const check_traces *traces, const etlheap_options *options)
{
    etlheap_result *result;
    etl_error err;
    const etl_status status =
        etlheap_analyze(traces->at, traces->names, traces->count, options, &result, &err);
    require(status == ETL_OK, err.message);
    return result;
}

/* A text being written. */
typedef struct text_sink {
    FILE *out;
    char *text;
    size_t size;
} text_sink;

static void open_text(text_sink *sink)
{
    *sink = (text_sink){ 0 };
    sink->out = open_memstream(&sink->text, &sink->size);
    require(sink->out != NULL, "no memory");
}

static char *close_text(text_sink *sink)
{
    require(fclose(sink->out) == 0, "no memory");
    return sink->text;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines of a text and frees it. */
static char *sort_lines(char *text)
{
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at++)
        count += *at == '\n';
    char **const lines = calloc(count + 1, sizeof *lines);
    char *const sorted = malloc(strlen(text) + 1);
    require(lines != NULL && sorted != NULL, "no memory");
    char *at = text;
    for (size_t i = 0; i < count; i++) {
        lines[i] = at;
        at = strchr(at, '\n');
        *at++ = '\0';
    }
    qsort(lines, count, sizeof *lines, by_text);
    char *to = sorted;
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(lines[i]);
        memcpy(to, lines[i], size);
        to[size] = '\n';
        to += size + 1;
    }
    *to = '\0';
    free(lines);
    free(text);
    return sorted;
}

static void put_lifetime(FILE *out, const etlheap_result *result, const etlheap_segment *rows,
                         u32 at)
{
    const etlheap_process_info *const process =
        etlheap_process_of(result, (etlheap_process){ rows->process[at] });
    fprintf(out, "%s pid %u from %" PRId64 " heap %" PRIx64 " at %" PRIx64 " size %" PRIu64,
            etlheap_kind_name(rows->kind[at]), process->pid, process->start_ticks,
            rows->heap_handle[at], rows->address[at], rows->size_bytes[at]);
    fprintf(out, " %" PRId64 "..%" PRId64 " %s%s thread %u stack", rows->alloc_ticks[at],
            rows->free_ticks[at], etlheap_free_type_name(rows->free_type[at]),
            rows->is_realloc[at] ? " realloc" : "", rows->thread[at]);
    if (rows->stack[at] != 0) {
        const etlheap_frames frames =
            etlheap_stack_frames(result, (etlheap_stack){ rows->stack[at] });
        for (u32 i = 0; i < frames.count; i++)
            fprintf(out, " %" PRIx64, frames.addresses[i]);
    }
    fprintf(out, "\n");
}

char *check_lifetimes_text(const etlheap_result *result)
{
    text_sink sink;
    open_text(&sink);
    for (u32 s = 0; s < etlheap_segment_count(result); s++) {
        const etlheap_segment rows = etlheap_segment_of(result, s);
        for (u32 at = 0; at < rows.rows; at++)
            put_lifetime(sink.out, result, &rows, at);
    }
    return sort_lines(close_text(&sink));
}

static void put_trace(FILE *out, const etlheap_trace_info *info)
{
    fprintf(out, "files %u session %s computer %s build %u bits %u cpus %u clock %s %" PRIu64 "\n",
            info->file_count, info->session, info->computer, info->os_build, info->pointer_bits,
            info->cpus, info->clock, info->clock_hz);
    fprintf(out, "start %" PRId64 " duration %" PRId64 " end %" PRId64 "\n",
            info->start_time_filetime, info->duration_ns, info->end_ns);
    fprintf(out, "buffers %" PRIu64 " events %" PRIu64 " lost %" PRIu64 " %" PRIu64, info->buffers,
            info->events, info->events_lost, info->buffers_lost);
    fprintf(out, " bytes %" PRIu64 "\n", info->bytes);
}

static void put_processes(FILE *out, const etlheap_result *result)
{
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        const etlheap_process_info *const row =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        fprintf(out, "process %u parent %u %s [%s] %" PRId64 "..%" PRId64 " bits %u", row->pid,
                row->parent_pid, row->name, row->command_line, row->start_ticks, row->end_ticks,
                row->pointer_bits);
        fprintf(out, " events %" PRIu64 " %" PRIu64, row->events[ETLHEAP_KIND_HEAP],
                row->events[ETLHEAP_KIND_VIRTUALALLOC]);
        for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
            fprintf(out, " %" PRIu64, row->free_without_alloc[kind]);
        fprintf(out, "\n");
    }
}

static void put_modules(FILE *out, const etlheap_result *result)
{
    for (u32 i = 0; i < etlheap_module_count(result); i++) {
        const etlheap_module_info *const row = etlheap_module_of(result, i);
        char guid[ETL_GUID_TEXT_SIZE];
        etl_guid_format(row->guid.bytes, guid);
        fprintf(out, "module %u %" PRIx64 "+%" PRIx64 " %s %s %x %x %d %s %u %s", row->pid,
                row->base, row->size_bytes, row->path, row->name, row->time_date_stamp,
                row->checksum, row->has_rsds, guid, row->age, row->pdb_name);
        fprintf(out, " %" PRId64 "..%" PRId64 "\n", row->load_ticks, row->unload_ticks);
    }
}

static void put_counts(FILE *out, const etlheap_result *result)
{
    const etlheap_hook_count *hooks;
    const u32 hook_count = etlheap_hook_counts(result, &hooks);
    for (u32 i = 0; i < hook_count; i++)
        fprintf(out, "hook %04x %s %" PRIu64 " %" PRIu64 "\n", hooks[i].hook,
                hooks[i].name == NULL ? "?" : hooks[i].name, hooks[i].count, hooks[i].bytes);
    const etlheap_provider_count *providers;
    const u32 provider_count = etlheap_provider_counts(result, &providers);
    for (u32 i = 0; i < provider_count; i++) {
        char guid[ETL_GUID_TEXT_SIZE];
        etl_guid_format(providers[i].guid.bytes, guid);
        fprintf(out, "provider %s %d %" PRIu64 " %" PRIu64 "\n", guid, providers[i].is_message,
                providers[i].count, providers[i].bytes);
    }
}

/* Those of lifetimes, not those of frees. */
static u32 count_stacks(const etlheap_result *result)
{
    bool *const is_counted = calloc((size_t)etlheap_stack_count(result) + 1, sizeof *is_counted);
    u32 count = 0;
    require(is_counted != NULL, "no memory");
    is_counted[0] = true; /* no stack */
    for (u32 s = 0; s < etlheap_segment_count(result); s++) {
        const etlheap_segment rows = etlheap_segment_of(result, s);
        for (u32 at = 0; at < rows.rows; at++) {
            count += !is_counted[rows.stack[at]];
            is_counted[rows.stack[at]] = true;
        }
    }
    free(is_counted);
    return count;
}

static void put_findings(FILE *out, const etlheap_result *result)
{
    const etlheap_stack_counts *const stacks = etlheap_result_stacks(result);
    fprintf(out, "stacks %" PRIu64 " %" PRIu64 " %" PRIu64, stacks->records, stacks->matched,
            stacks->unmatched);
    fprintf(out, " keys %" PRIu64 " %" PRIu64 " distinct %u\n", stacks->keys_referenced,
            stacks->keys_resolved, count_stacks(result));
    const etlheap_abilities can = etlheap_result_abilities(result);
    fprintf(out, "can %#x %d %d %d\n", can.kinds, can.stacks, can.modules, can.symbols);
    for (u32 i = 0; i < ETL_DIAG_COUNT; i++)
        fprintf(out, "diagnostic %s %" PRIu64 "\n", etl_diag_describe((etl_diag)i)->name,
                etlheap_result_diagnostics(result)->of[i]);
}

static void put_marks(FILE *out, const etlheap_result *result)
{
    const etlheap_marks *const marks = etlheap_result_marks(result);
    for (u32 i = 0; i < marks->count; i++)
        fprintf(out, "mark %" PRId64 " %" PRId64 " %s #%u %d\n", marks->at[i].ticks,
                marks->at[i].time_ns, marks->at[i].name, marks->at[i].number, marks->at[i].is_end);
}

char *check_result_text(const etlheap_result *result)
{
    char *const lifetimes = check_lifetimes_text(result);
    text_sink sink;
    open_text(&sink);
    put_trace(sink.out, etlheap_result_trace(result));
    put_processes(sink.out, result);
    put_modules(sink.out, result);
    put_counts(sink.out, result);
    put_marks(sink.out, result);
    put_findings(sink.out, result);
    fprintf(sink.out, "%s", lifetimes);
    free(lifetimes);
    return close_text(&sink);
}

static void put_row(FILE *out, const etlheap_row *row)
{
    fprintf(out, "row %s %s %s", etlheap_kind_name(row->kind), etlheap_type_name(row->type),
            etlheap_free_type_name(row->free_type));
    fprintf(out, " process %s %u thread %u heap %d %" PRIx64,
            row->process == NULL ? "-" : row->process, row->pid, row->thread, row->has_heap,
            row->heap_handle);
    fprintf(out, " stack %u frame %u module %s class %" PRIu64, row->stack, row->frame,
            row->module == NULL ? "-" : row->module, row->size_class_bytes);
    fprintf(out, " freed by %u %u %u:", row->free_stack, row->free_frame, row->free_thread);
    for (u32 i = 0; i < ETLHEAP_MEASURES_COUNT; i++)
        fprintf(out, " %" PRId64, row->measures[i]);
    fprintf(out, "\n");
}

static void put_stacks(FILE *out, const etlheap_table *table)
{
    for (u32 i = 0; i < table->frame_count; i++) {
        const etlheap_frame *const frame = &table->frames[i];
        fprintf(out, "frame %s+%" PRIx64 " %" PRIx64 "\n",
                frame->module == NULL ? "-" : frame->module, frame->offset, frame->address);
    }
    for (u32 i = 0; i < table->stack_count; i++) {
        fprintf(out, "stack");
        for (u32 k = table->stack_starts[i]; k < table->stack_starts[i + 1]; k++)
            fprintf(out, " %u", table->frame_indices[k]);
        fprintf(out, "\n");
    }
}

char *check_table_text(const etlheap_table *table)
{
    text_sink sink;
    open_text(&sink);
    fprintf(sink.out, "window %" PRId64 " %" PRId64 "\n", table->from_ns, table->to_ns);
    put_stacks(sink.out, table);
    for (u32 i = 0; i < table->row_count; i++)
        put_row(sink.out, &table->rows[i]);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &table->totals[kind];
        fprintf(sink.out, "total %s %d %" PRIu64, etlheap_kind_name((etlheap_kind)kind),
                total->present, total->free_without_alloc);
        for (u32 i = 0; i < ETLHEAP_MEASURES_COUNT; i++)
            fprintf(sink.out, " %" PRId64, total->measures[i]);
        fprintf(sink.out, "\n");
    }
    return close_text(&sink);
}

char *check_aggregate_text(const etlheap_result *result, const etlheap_query *query)
{
    etlheap_table *table;
    etl_error err;
    const etl_status status = etlheap_aggregate(result, query, &table, &err);
    require(status == ETL_OK, err.message);
    char *const text = check_table_text(table);
    etlheap_table_free(table);
    return text;
}

bool check_same_text(const char *a, const char *b)
{
    for (u32 line = 1; *a != '\0' || *b != '\0'; line++) {
        const size_t size_a = strcspn(a, "\n"), size_b = strcspn(b, "\n");
        if (size_a != size_b || memcmp(a, b, size_a) != 0) {
            fprintf(stderr, "# line %u differs:\n#   %.*s\n#   %.*s\n", line, (int)size_a, a,
                    (int)size_b, b);
            return false;
        }
        a += size_a + (a[size_a] == '\n');
        b += size_b + (b[size_b] == '\n');
    }
    return true;
}
