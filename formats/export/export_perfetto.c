/*
 * export_perfetto.c - writes a trace for Perfetto: heap dumps and counters over time.
 *
 * In: time windows grouped by process and call stack, and finer ones by process. Out: a trace as
 * heapprofd, Perfetto's own heap profiler, writes it:
 *
 *     clocks                                    all start at time zero of the recording
 *     strings, mappings, frames, call stacks    perfetto_stacks.h
 *     a heap dump at the end of each window     of each process and kind, as a heap of that name
 *     counters                                  outstanding by process and kind; commit and working
 *                                               set of MemInfo records
 *     marks                                     instant events
 *
 * A dump has only the call stacks that changed since the one before. Perfetto keeps the others as
 * they were, so nothing is lost, and the file grows with changes, not with dumps times stacks.
 * Dumps that are too large for one packet go on in the next one. Invariant: a packet refers only to
 * what packets before it define.
 * Source: google/perfetto, protos/perfetto/trace/profiling/profile_packet.proto.
 */
#include "export_samples.h"
#include "export_writers.h"
#include "perfetto_packets.h"
#include "perfetto_series.h"
#include "perfetto_stacks.h"

#define DUMPS_MAX  50u
#define COUNTS_MAX 1000u
#define PACKET_BYTES                                                                               \
    ((size_t)256 << 10) /* about the size of a full packet; readers want less than
                                            a megabyte */
#define STEPS 3         /* that progress tells of: events, names, dumps */

enum { DUMP_HEAP = 5, DUMP_GOES_ON, DUMP_INDEX };
enum { HEAP_PID = 1, HEAP_SAMPLE, HEAP_TIME = 9, HEAP_NAME = 11 };
enum { SAMPLE_STACK = 1, SAMPLE_ALLOCATED, SAMPLE_FREED, SAMPLE_ALLOCS = 5, SAMPLE_FREES };

typedef struct perfetto_writer {
    const etlheap_export_request *request;
    etlheap_answer dumps, counts; /* windows by stack, and by process */
    perfetto_packets packets;
    perfetto_stacks stacks;
    perfetto_series series;
    etlheap_text dump, heap, sample; /* being built */
    u64 index;                       /* of the next packet with a dump */
} perfetto_writer;

static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK };

static etl_status go_on(const perfetto_writer *w, u32 step, etl_error *err);
static etl_status ask(perfetto_writer *w, etl_error *err);
static etl_status write_trace(perfetto_writer *w, etl_error *err);
static void write_clocks(perfetto_writer *w);
static void write_processes(perfetto_writer *w);
static void write_marks(perfetto_writer *w);
static bool write_counts(perfetto_writer *w);
static void count_outstanding(perfetto_writer *w, i64 time_ns, bool at_start);
static void count_memory(perfetto_writer *w, u32 window);
static void count_sample(perfetto_writer *w, const u32 *pid, const etlheap_memory_sample *samples,
                         u32 window);
static bool write_dumps(perfetto_writer *w);
static void write_dump(perfetto_writer *w, i64 time_ns);
static void add_heap(perfetto_writer *w, u32 first, u32 end, i64 time_ns);
static void begin_heap(perfetto_writer *w, const perfetto_row *row, i64 time_ns);
static void end_heap(perfetto_writer *w);
static void put_dump(perfetto_writer *w, i64 time_ns, bool goes_on);
static void write_interned(perfetto_writer *w);
static u32 stack_of(void *user, const etlheap_row *row);
static bool is_ok(const perfetto_writer *w);
static void close_writer(perfetto_writer *w);

etl_status etlheap_export_perfetto(const etlheap_export_request *request, etlheap_sink *sink,
                                   etl_error *err)
{
    perfetto_writer w = { .request = request, .packets.sink = sink };
    if (etlheap_result_is_summary(request->result))
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, 0,
            "a Perfetto trace needs traces or one store; a summary has no times of single events");
    etl_status status = go_on(&w, 0, err);
    if (status == ETL_OK)
        status = ask(&w, err);
    if (status == ETL_OK)
        status = go_on(&w, 1, err);
    if (status == ETL_OK && request->query->symbols != NULL)
        status = etlheap_table_name(w.dumps.windows->table, request->query->symbols, NULL, err);
    if (status == ETL_OK)
        status = go_on(&w, 2, err);
    if (status == ETL_OK)
        status = write_trace(&w, err);
    close_writer(&w);
    return status;
}

/* Reports progress in bytes of the trace. */
static etl_status go_on(const perfetto_writer *w, u32 step, etl_error *err)
{
    const etlheap_export_request *const request = w->request;
    const u64 bytes = etlheap_result_trace(request->result)->bytes;
    if (!request->progress ||
        request->progress(request->progress_user, bytes / STEPS * step, bytes))
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
}

/* Asks both questions at once, so that the events are read once. */
static etl_status ask(perfetto_writer *w, etl_error *err)
{
    const u32 windows_max[] = { DUMPS_MAX, COUNTS_MAX };
    const u32 key_counts[] = { ETL_COUNT_OF(keys), ETL_COUNT_OF(keys) - 1 };
    etlheap_query queries[ETL_COUNT_OF(key_counts)];
    etlheap_windows_options windows[ETL_COUNT_OF(key_counts)];
    etlheap_question questions[ETL_COUNT_OF(key_counts)];
    etlheap_answer answers[ETL_COUNT_OF(key_counts)] = { 0 };
    for (u32 i = 0; i < ETL_COUNT_OF(key_counts); i++) {
        queries[i] = *w->request->query;
        memcpy(queries[i].group_by, keys, key_counts[i] * sizeof *keys);
        queries[i].group_by_count = key_counts[i];
        queries[i].sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
        queries[i].sort_ascending = false;
        windows[i] = (etlheap_windows_options){
            .size = sizeof windows[i],
            .every_ns = export_window_length(w->request, windows_max[i]),
        };
        questions[i] = (etlheap_question){ .size = sizeof questions[i],
                                           .kind = ETLHEAP_ASK_WINDOWS,
                                           .query = &queries[i],
                                           .windows = &windows[i] };
    }
    const etl_status status =
        etlheap_ask(w->request->result, questions, ETL_COUNT_OF(questions), answers, err);
    w->dumps = answers[0];
    w->counts = answers[1];
    return status;
}

static etl_status write_trace(perfetto_writer *w, etl_error *err)
{
    w->stacks.result = w->request->result;
    w->stacks.table = w->dumps.windows->table;
    write_clocks(w);
    write_processes(w);
    write_marks(w);
    return write_counts(w) && write_dumps(w) && is_ok(w) ? ETL_OK : etl_no_memory(err);
}

static void write_clocks(perfetto_writer *w)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(w->request->result);
    perfetto_clocks(&w->packets, trace->is_local_time ? 0 : trace->start_time_filetime);
}

static void write_processes(perfetto_writer *w)
{
    const etlheap_windows *const counts = w->counts.windows;
    for (u32 i = 0; i < counts->table->row_count; i++)
        perfetto_process(&w->packets, counts->table->rows[i].pid, counts->table->rows[i].process);
    for (u32 i = 0; i < counts->process_memory_count; i++)
        perfetto_process(&w->packets, counts->process_memory[i].pid,
                         counts->process_memory[i].name);
}

static void write_marks(perfetto_writer *w)
{
    const etlheap_marks *const marks = etlheap_result_marks(w->request->result);
    const etlheap_query *const query = w->request->query;
    for (u32 i = 0; i < marks->count; i++) {
        const etlheap_mark *const mark = &marks->at[i];
        if (mark->time_ns >= query->from_ns && mark->time_ns <= query->to_ns)
            perfetto_mark(&w->packets, mark->name, mark->time_ns);
    }
}

static bool write_counts(perfetto_writer *w)
{
    const etlheap_windows *const windows = w->counts.windows;
    if (!perfetto_series_open(windows, NULL, NULL, &w->series))
        return false;
    for (u32 i = 0; i < windows->window_count && etlheap_sink_ok(w->packets.sink); i++) {
        if (perfetto_series_step(&w->series, i)) {
            if (i == 0)
                count_outstanding(w, windows->windows[i].from_ns, true);
            count_outstanding(w, windows->windows[i].to_ns, false);
        }
        count_memory(w, i);
    }
    perfetto_series_close(&w->series);
    return true;
}

static void count_outstanding(perfetto_writer *w, i64 time_ns, bool at_start)
{
    for (u32 first = 0, end; first < w->series.count; first = end) {
        end = perfetto_series_end(&w->series, first, false);
        const perfetto_row sum = perfetto_series_sum(&w->series, first, end);
        i64 size = sum.allocated_size - sum.freed_size;
        if (at_start) {
            size = 0;
            for (u32 i = first; i < end; i++)
                size = etl_sat_add_i64(
                    size, etlheap_windows_start_size(w->series.windows, w->series.rows[i].row, 0));
        }
        etlheap_text_clear(&w->sample);
        etlheap_text_add_format(&w->sample, "%s outstanding",
                                etlheap_kind_name((etlheap_kind)sum.kind));
        if (sum.is_changed)
            perfetto_counter(&w->packets, &sum.pid, PERFETTO_KIND + sum.kind,
                             etlheap_text_of(&w->sample), time_ns, (u64)size);
    }
}

static void count_memory(perfetto_writer *w, u32 window)
{
    const etlheap_windows *const windows = w->counts.windows;
    if (windows->memory)
        count_sample(w, NULL, windows->memory, window);
    for (u32 i = 0; i < windows->process_memory_count; i++)
        count_sample(w, &windows->process_memory[i].pid, windows->process_memory[i].at, window);
}

/* Writes the records of a window; it may have no newer ones than the window before. */
static void count_sample(perfetto_writer *w, const u32 *pid, const etlheap_memory_sample *samples,
                         u32 window)
{
    const etlheap_memory_sample *const now = &samples[window];
    const etlheap_memory_sample *const before = window > 0 ? now - 1 : NULL;
    if (!now->is_known || (before && before->is_known && before->time_ns == now->time_ns))
        return;
    if (now->has_commit)
        perfetto_counter(&w->packets, pid, PERFETTO_COMMIT, pid ? "commit" : "system commit",
                         now->time_ns, now->commit_bytes);
    if (pid)
        perfetto_counter(&w->packets, pid, PERFETTO_WORKING_SET, "working set", now->time_ns,
                         now->working_set_bytes);
    else
        perfetto_counter(&w->packets, pid, PERFETTO_AVAILABLE, "system available", now->time_ns,
                         now->available_bytes);
}

static bool write_dumps(perfetto_writer *w)
{
    const etlheap_windows *const windows = w->dumps.windows;
    if (!perfetto_series_open(windows, stack_of, w, &w->series))
        return false;
    write_interned(w);
    for (u32 i = 0; i < windows->window_count && etlheap_sink_ok(w->packets.sink); i++) {
        if (perfetto_series_step(&w->series, i))
            write_dump(w, windows->windows[i].to_ns);
    }
    perfetto_series_close(&w->series);
    return true;
}

static u32 stack_of(void *user, const etlheap_row *row)
{
    perfetto_writer *const w = user;
    const u32 stack = perfetto_stack(&w->stacks, row);
    if (w->stacks.interned.size >= PACKET_BYTES)
        write_interned(w);
    return stack;
}

/* Writes what call stacks consist of. */
static void write_interned(perfetto_writer *w)
{
    perfetto_begin(&w->packets, PERFETTO_DUMPS);
    etlheap_protobuf_bytes(&w->packets.packet, PACKET_INTERNED,
                           etlheap_protobuf_of(&w->stacks.interned));
    perfetto_end(&w->packets);
    etlheap_text_clear(&w->stacks.interned);
}

static void write_dump(perfetto_writer *w, i64 time_ns)
{
    const u64 index = w->index;
    for (u32 first = 0, end; first < w->series.count; first = end) {
        end = perfetto_series_end(&w->series, first, false);
        add_heap(w, first, end, time_ns);
    }
    if (w->dump.size > 0 || w->index != index)
        put_dump(w, time_ns, false);
}

/* Adds the changed call stacks of one process and kind. */
static void add_heap(perfetto_writer *w, u32 first, u32 end, i64 time_ns)
{
    etlheap_text_clear(&w->heap);
    for (u32 row = first, next; row < end; row = next) {
        next = perfetto_series_end(&w->series, row, true);
        const perfetto_row sum = perfetto_series_sum(&w->series, row, next);
        if (!sum.is_changed || sum.allocated_count == 0)
            continue;
        if (w->heap.size == 0)
            begin_heap(w, &sum, time_ns);
        etlheap_text_clear(&w->sample);
        etlheap_protobuf_number(&w->sample, SAMPLE_STACK, sum.stack);
        etlheap_protobuf_number(&w->sample, SAMPLE_ALLOCATED, (u64)sum.allocated_size);
        etlheap_protobuf_number(&w->sample, SAMPLE_FREED, (u64)sum.freed_size);
        etlheap_protobuf_number(&w->sample, SAMPLE_ALLOCS, (u64)sum.allocated_count);
        etlheap_protobuf_number(&w->sample, SAMPLE_FREES, (u64)sum.freed_count);
        etlheap_protobuf_bytes(&w->heap, HEAP_SAMPLE, etlheap_protobuf_of(&w->sample));
        if (w->dump.size + w->heap.size >= PACKET_BYTES) {
            end_heap(w);
            put_dump(w, time_ns, true);
        }
    }
    end_heap(w);
}

static void begin_heap(perfetto_writer *w, const perfetto_row *row, i64 time_ns)
{
    const char *const kind = etlheap_kind_name((etlheap_kind)row->kind);
    etlheap_protobuf_present(&w->heap, HEAP_PID, row->pid);
    etlheap_protobuf_present(&w->heap, HEAP_TIME, perfetto_time(time_ns));
    perfetto_string(&w->packets, &w->heap, HEAP_NAME, kind);
}

/* Adds the heap to the dump, unless nothing in it has changed. */
static void end_heap(perfetto_writer *w)
{
    if (w->heap.size > 0)
        etlheap_protobuf_bytes(&w->dump, DUMP_HEAP, etlheap_protobuf_of(&w->heap));
    etlheap_text_clear(&w->heap);
}

static void put_dump(perfetto_writer *w, i64 time_ns, bool goes_on)
{
    etlheap_protobuf_number(&w->dump, DUMP_GOES_ON, goes_on);
    etlheap_protobuf_present(&w->dump, DUMP_INDEX, w->index++);
    perfetto_begin_at(&w->packets, PERFETTO_DUMPS, time_ns);
    etlheap_protobuf_bytes(&w->packets.packet, PACKET_DUMP, etlheap_protobuf_of(&w->dump));
    perfetto_end(&w->packets);
    etlheap_text_clear(&w->dump);
}

static bool is_ok(const perfetto_writer *w)
{
    return perfetto_packets_ok(&w->packets) && perfetto_stacks_ok(&w->stacks) && !w->dump.failed &&
           !w->heap.failed && !w->sample.failed;
}

static void close_writer(perfetto_writer *w)
{
    etlheap_windows_free(w->dumps.windows);
    etlheap_windows_free(w->counts.windows);
    perfetto_series_close(&w->series);
    perfetto_stacks_free(&w->stacks);
    perfetto_packets_free(&w->packets);
    etlheap_text_free(&w->dump);
    etlheap_text_free(&w->heap);
    etlheap_text_free(&w->sample);
}
