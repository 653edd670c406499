/*
 * store_run.c - runs an analysis whose result is a store: writes events while the trace is read,
 * and facts at the end.
 *
 * In: chunks of the event list and rows of other kinds from each slice. Out: the complete .ehs
 * file.
 *
 * Rows and origins leave with the run's numbers; what these become is known only at the end, so
 * tables that translate them are written last. Invariant: memory does not grow with the number of
 * events, apart from some bits for each.
 */
#include "store_run.h"

#include <stdlib.h>

#include "engine/log/ehs_stacks.h"
#include "engine/read/trace_identity.h"
#include "engine/result/ehs_facts.h"

/* Rows of this many segments leave together. */
#define ROW_SEGMENTS STORE_BATCH_SEGMENTS

#define PROVISIONAL_MIN ((size_t)EHS_PART_ROWS)

static void forget_survivors(event_list *list);
static etl_status flush_rows(store_run *run, lifetime_table *store);
static void merge_provisional(store_run *run);
static void encode_rows(void *context, u32 task);
static void count_bare(const store_run *run, etlheap_result *result);
static void save_one(void *context, u32 task);
static bool save_small(ehs_saver *saver, const store_run *run, const etlheap_result *result);
static bool save_origins(ehs_saver *saver, const etlheap_result *result);
static bool save_remap(ehs_saver *saver, const store_run *run, const etlheap_result *result);

bool store_run_record(etlheap_result *result, const char *const *names, u32 trace_count)
{
    etlheap_strings *const strings = &result->context.strings;
    bool ok = true;
    for (u32 i = 0; ok && i < trace_count; i++) {
        u32 name;
        etlheap_summary_file file = { .id = { 0 } };
        ok = etlheap_strings_add(strings, names[i], strlen(names[i]), &name);
        file.name = etlheap_strings_get(strings, name);
        ok = ok && ETLHEAP_PUSH(&result->recorded, file);
    }
    return ok;
}

/* Which columns the file has. Those that the event list keeps for it are as many, or more, because
 * a free whose block is unknown has an address and a thread of its own. */
static void choose_columns(store_run *run, const store_run_options *how, event_list *list)
{
    store_batch *const batch = &run->batch;
    batch->has_freers = !how->store->is_without_frees;
    batch->lacks_addresses = how->log != NULL && how->log->lacks_addresses;
    batch->lacks_threads = how->log != NULL && how->log->lacks_threads;
    batch->lacks_freer_threads = how->log != NULL && how->log->lacks_freer_threads;
    list->has_freers = batch->has_freers;
    list->lacks_addresses = batch->lacks_addresses && !batch->has_freers;
    list->lacks_threads = batch->lacks_threads && !batch->has_freers;
}

etl_status store_run_open(store_run *run, const store_run_options *how, etlheap_crew *crew,
                          event_list *list)
{
    const etlheap_store_options *const options = how->store;
    *run = (store_run){ .crew = crew, .is_log = how->log != NULL };
    choose_columns(run, how, list);
    run->batch.is_temporary = options->is_temporary;
    run->batch.segments_max = store_batch_segments_for(how->memory_bytes_max);
    run->batch.writer = &run->writer;
    run->batch.crew = crew;
    run->batch.taken_ticks = run->batch.encoded_ticks = INT64_MIN;
    list->take = store_batch_take;
    list->take_user = &run->batch;
    return ehs_writer_open(&run->writer, options->write, options->user, EHS_CONTENT_STORE);
}

etl_status store_run_slice(store_run *run, etlheap_result *result, bool is_last)
{
    forget_survivors(&result->event_list);
    const bool is_time = is_last || result->store.segments.count >= ROW_SEGMENTS;
    return is_time ? flush_rows(run, &result->store) : ETL_OK;
}

/* Drops what the shards note only for reports: reallocs and survivors of the window. */
static void forget_survivors(event_list *list)
{
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        list->shards[s].reallocs.count = 0;
        list->shards[s].survivors.count = 0;
    }
}

/* Rows to be written. */
typedef struct row_task {
    const store_segment *rows;
    u32 part;
    bool is_quick, has_frees;
    ehs_codec codec;
    ehs_blocks blocks;
    bool failed;
} row_task;

/* Notes the stack of a row. Reservations are not allocations, so a missing stack is not counted. */
static bool note_stack(store_run *run, stack_ref stack, bool began_inside)
{
    if ((stack & STACK_TAG_MASK) == 0) {
        run->bare_rows += stack == STACK_NONE && began_inside;
        return true;
    }
    const size_t limit =
        run->provisional_kept < PROVISIONAL_MIN ? 2 * PROVISIONAL_MIN : 2 * run->provisional_kept;
    if (run->provisional.count >= limit)
        merge_provisional(run);
    return ETLHEAP_PUSH(&run->provisional, (provisional_stack){ stack, began_inside });
}

static bool note_stacks(store_run *run, const store_segment *segment)
{
    for (u32 i = 0; i < segment->rows; i++) {
        const bool began_inside = segment->alloc_ticks[i] != ETLHEAP_TICKS_BEFORE &&
                                  etlheap_kind_has(segment->kind[i], ETLHEAP_KIND_IS_ALLOCATED);
        if (!note_stack(run, segment->stack[i], began_inside) ||
            !note_stack(run, segment->free_stack[i], false))
            return false;
    }
    return true;
}

static etl_status flush_rows(store_run *run, lifetime_table *store)
{
    const u32 count = (u32)store->segments.count;
    row_task *const tasks = calloc((size_t)count + 1, sizeof *tasks);
    etl_status status = tasks == NULL ? ETL_ERR_MEMORY : ETL_OK;
    for (u32 i = 0; i < count && status == ETL_OK; i++) {
        tasks[i].rows = &store->segments.at[i];
        tasks[i].part = run->row_parts + i;
        tasks[i].is_quick = run->batch.is_temporary;
        tasks[i].has_frees = run->batch.has_freers;
        if (!note_stacks(run, tasks[i].rows))
            status = ETL_ERR_MEMORY;
    }
    if (status == ETL_OK)
        etlheap_crew_run(run->crew, count, encode_rows, tasks);
    for (u32 i = 0; i < count && tasks != NULL; i++) {
        if (status == ETL_OK)
            status =
                tasks[i].failed ? ETL_ERR_MEMORY : ehs_writer_put(&run->writer, &tasks[i].blocks);
        ehs_codec_free(&tasks[i].codec);
        ehs_blocks_free(&tasks[i].blocks);
    }
    free(tasks);
    run->row_parts += count;
    store_free(store);
    return status;
}

static void encode_rows(void *context, u32 task)
{
    row_task *const it = (row_task *)context + task;
    etlheap_segment rows = store_view(it->rows);
    rows.free_stack = it->has_frees ? rows.free_stack : NULL;
    it->codec.is_quick = it->is_quick;
    it->failed = !ehs_rows_encode(&it->blocks, &it->codec, it->part, &rows);
}

static int by_stack(const void *a, const void *b)
{
    const provisional_stack *const x = a, *const y = b;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static void merge_provisional(store_run *run)
{
    provisional_stack *const list = run->provisional.at;
    if (run->provisional.count == 0)
        return;
    qsort(list, run->provisional.count, sizeof *list, by_stack);
    size_t kept = 1;
    for (size_t i = 1; i < run->provisional.count; i++) {
        if (list[i].stack == list[kept - 1].stack)
            list[kept - 1].allocs += list[i].allocs;
        else
            list[kept++] = list[i];
    }
    run->provisional.count = run->provisional_kept = kept;
}

/* The end of a file, made in independent parts. */
typedef struct ending {
    const store_run *run;
    const etlheap_result *result;
    ehs_saver savers[2];
    bool failed[2];
} ending;

/* That takes the whole index of each, which there may not have been in the beginning. */
static etl_status identify(etlheap_result *result, etl_trace *const *traces)
{
    etl_status status = ETL_OK;
    for (size_t i = 0; i < result->recorded.count && status == ETL_OK; i++)
        status = trace_identify(traces[i], result->recorded.at[i].id);
    return status;
}

etl_status store_run_finish(store_run *run, etlheap_result *result, etl_trace *const *traces)
{
    merge_provisional(run);
    count_bare(run, result);
    etl_status status = identify(result, traces);
    if (status == ETL_OK)
        status = store_batch_finish(&run->batch);
    if (status != ETL_OK)
        return status;
    ending end = { .run = run, .result = result };
    etlheap_crew_run(run->crew, ETL_COUNT_OF(end.savers), save_one, &end);
    for (size_t i = 0; i < ETL_COUNT_OF(end.savers); i++) {
        if (status == ETL_OK)
            status = end.failed[i] ? ETL_ERR_MEMORY
                                   : ehs_writer_put(&run->writer, &end.savers[i].blocks);
        ehs_saver_free(&end.savers[i]);
    }
    if (status != ETL_OK)
        return status;
    event_list_free(&result->event_list);
    return ehs_writer_close(&run->writer);
}

/* Counts what result_complete counts for lifetimes in memory. */
static void count_bare(const store_run *run, etlheap_result *result)
{
    u64 bare = run->bare_rows;
    for (size_t i = 0; i < run->provisional.count; i++) {
        const provisional_stack *const row = &run->provisional.at[i];
        if (result_final_stack(result, row->stack) == 0)
            bare += row->allocs;
    }
    etl_diag_add(&result->diag, ETL_DIAG_alloc_without_stack, bare);
}

static void save_one(void *context, u32 task)
{
    ending *const end = context;
    ehs_saver *const saver = &end->savers[task];
    saver->codec.is_quick = end->run->batch.is_temporary;
    if (task > 0)
        end->failed[task] = !save_small(saver, end->run, end->result);
    else
        end->failed[task] = !end->run->is_log && !ehs_stacks_save(saver, &end->result->stacks);
}

static bool save_small(ehs_saver *saver, const store_run *run, const etlheap_result *result)
{
    return ehs_segment_index_save(saver, &run->batch.index) &&
           ehs_checkpoints_save(saver, &run->batch.checkpoints) && save_origins(saver, result) &&
           save_remap(saver, run, result) && ehs_facts_save(saver, result) &&
           ehs_strings_save(saver);
}

/* The thread that came with a late piece of the stack. */
static u32 thread_of(const etlheap_result *result, stack_ref stack)
{
    const bool is_late = (stack & STACK_TAG_MASK) == STACK_TAG_WAITING;
    return is_late ? result->origins[stack & STACK_NUMBER_MAX].tid : ETL_NO_ID;
}

static bool save_origins(ehs_saver *saver, const etlheap_result *result)
{
    const origin_table *const table = &result->origin_table;
    ehs_origins out = { 0 };
    bool ok = ETLHEAP_RESERVE(&out.origins, table->origins.count) &&
              ETLHEAP_RESERVE(&out.sums, table->origins.count) &&
              ETLHEAP_RESERVE(&out.owners, table->owners.count) &&
              ETLHEAP_RESERVE(&out.heaps, table->heaps.count) &&
              ETLHEAP_RESERVE(&out.freers, result->freers.origins.count);
    for (size_t i = 0; ok && i < table->origins.count; i++) {
        const origin_row *const row = &table->origins.at[i];
        out.origins.at[out.origins.count++] =
            (ehs_origin){ result_final_stack(result, row->stack), row->owner,
                          thread_of(result, row->stack) };
        ehs_origin_sums *const sums = &out.sums.at[out.sums.count++];
        for (u32 end = 0; end <= TALLY_IN_USE; end++)
            sums->of[end] = result->event_list.sums[(i + 1) * TALLY_BINS + end];
    }
    for (size_t i = 0; ok && i < table->owners.count; i++) {
        const owner_row *const row = &table->owners.at[i];
        out.owners.at[out.owners.count++] = (ehs_owner){ row->first_ticks, row->heap, row->epoch };
    }
    for (size_t i = 0; ok && i < table->heaps.count; i++) {
        const heap_row *const row = &table->heaps.at[i];
        out.heaps.at[out.heaps.count++] =
            (ehs_heap){ row->handle, result->process_ids[row->process] };
    }
    for (size_t i = 0; ok && i < result->freers.origins.count; i++) {
        const origin_row *const row = &result->freers.origins.at[i];
        out.freers.at[out.freers.count++] =
            (ehs_freer){ result_final_stack(result, row->stack), row->owner };
    }
    ok = ok && ehs_origins_save(saver, &out);
    ehs_origins_free(&out);
    return ok;
}

static bool save_remap(ehs_saver *saver, const store_run *run, const etlheap_result *result)
{
    ehs_remap out = { 0 };
    const size_t processes = run->row_parts == 0 ? 0 : result->processes.count;
    bool ok = ETLHEAP_RESERVE(&out.refs, run->provisional.count) &&
              ETLHEAP_RESERVE(&out.processes, processes);
    for (size_t i = 0; ok && i < run->provisional.count; i++) {
        const stack_ref stack = run->provisional.at[i].stack;
        out.refs.at[out.refs.count++] =
            (ehs_ref){ stack, result_final_stack(result, stack), thread_of(result, stack) };
    }
    for (size_t i = 0; ok && i < processes; i++)
        out.processes.at[out.processes.count++] = result->process_ids[i + 1];
    ok = ok && ehs_remap_save(saver, &out);
    ehs_remap_free(&out);
    return ok;
}

u64 store_run_bytes(const store_run *run)
{
    return store_batch_bytes(&run->batch) + run->provisional.capacity * sizeof *run->provisional.at;
}

void store_run_free(store_run *run)
{
    store_batch_free(&run->batch);
    ETLHEAP_VECTOR_FREE(&run->provisional);
    ETLHEAP_VECTOR_FREE(&run->writer.rows);
}
