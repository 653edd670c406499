/*
 * engine.c - runs the stages slice by slice: scan, join, order, pair. stages.h has them.
 *
 * In: traces, options, maybe one question. Out: a result. `run` has all that outlives a slice: open
 * blocks and ranges, stacks, waiting events, facts. Invariant: nothing depends on slices or
 * threads.
 */
#include "engine_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/context/stack_numbering.h"
#include "engine/core/cancel.h"
#include "engine/core/workers.h"
#include "engine/query/cuts_plan.h"
#include "engine/query/needs.h"
#include "engine/pair/pair_workers.h"
#include "engine/read/inventory_match.h"
#include "engine/read/join.h"
#include "engine/read/realloc_trail.h"
#include "engine/read/release.h"
#include "engine/read/slice_source.h"
#include "engine/result/result.h"
#include "run_counts.h"
#include "recorded_spans.h"
#include "run_frees.h"
#include "store_run.h"
#include "task_merge.h"
#include "parser/sized.h"

#define SLICE_BYTES_DEFAULT ((u64)32 << 20)
#define SLICES_IN_MEMORY    32             /* a slice's share of the memory allowed */
#define NUMBERED_FRAMES     ((u32)1 << 20) /* at once: more than a slice usually brings */

typedef struct run {
    etl_trace *const *traces;
    const char *const *names;
    u32 trace_count;
    etlheap_options options;
    const etlheap_question *question; /* an event list is kept for it; NULL: none is */
    etlheap_result *result;           /* context, stacks and store grow in place */
    slice_source source;
    bool is_input_bad; /* the source said so, in words */
    plan_slice slice;
    scan_output *tasks; /* one per task of the slice; used again by the next */
    u32 task_count, task_capacity;
    etlheap_crew *crew;
    slice_order order;
    release_list release;
    u64 next_rank; /* of the slice's first event, in the run */
    keyed_stacks keyed;
    trail_tails tails;
    stack_join join;
    inventory_matcher matcher;
    record_inventory inventory;
    pair_workers workers;
    merged_tasks merged;
    stack_numbering numbering;
    bool is_done_beside; /* what is done while the slice is put in order; false: no memory */
    run_counts counts;
    late_stacks late_stacks;
    run_frees frees;
    u64 done_bytes, total_bytes;
    i64 earliest_ticks;    /* no record can be from before that */
    i64 sweep_until_ticks; /* slices sweep dead blocks until one ends after it */
    store_run *store;      /* NULL: lifetimes or an event list are kept */
    bool keeps_inventory;  /* what `info` says is found out */
    mark_events mark_events;
    recorded_sessions sessions;
} run;

static bool keeps_inventory(const etlheap_options *options);
static bool open_run(run *state);
static bool open_event_list(run *state);
static etl_status open_store(run *state, const log_extra *log);
static void close_run(run *state);
static etl_status run_slices(run *state, etl_error *err);
static etl_status run_slice(run *state);
static etl_status finish(run *state);

etl_status engine_run_once(const traces_named *traces, const etlheap_options *options,
                           const etlheap_question *question, const log_extra *log,
                           etlheap_result **out, bool *is_too_early, etl_error *err)
{
    run *const state = calloc(1, sizeof *state);
    *out = NULL;
    if (state == NULL)
        return etl_no_memory(err);
    state->traces = traces->traces;
    state->names = traces->names;
    state->trace_count = traces->count;
    state->options = *options;
    state->question = question;
    state->keeps_inventory = keeps_inventory(&state->options);
    state->frees.is_wanted = options->store != NULL && !options->store->is_without_frees;
    state->tails.wants_frees = state->frees.is_wanted;
    etl_status status = open_run(state) ? open_store(state, log) : ETL_ERR_MEMORY;
    if (status == ETL_OK)
        status = run_slices(state, err);
    *is_too_early = state->source.steps.is_order_broken;
    if (status == ETL_OK && !*is_too_early)
        status = recorded_spans_find(&state->sessions, state->traces, state->trace_count,
                                     &state->source.plan, state->result)
                     ? finish(state)
                     : ETL_ERR_MEMORY;
    if (status == ETL_OK && !*is_too_early) {
        *out = state->result;
        state->result = NULL;
    }
    const bool is_store = state->store != NULL, is_input_bad = state->is_input_bad;
    close_run(state);
    free(state);
    if (is_input_bad)
        return status;
    if (status == ETL_ERR_IO)
        return etl_fail_with(err, status, 0,
                             is_store ? "the store cannot be written"
                                      : "the temporary file cannot be written or read back");
    return status == ETL_ERR_MEMORY ? etl_fail_with(err, status, 0, "out of memory") : status;
}

/* A store keeps what `info` would say of its traces. */
static bool keeps_inventory(const etlheap_options *options)
{
    return options->store == NULL ? options->inventory_only : !options->store->is_without_info;
}

/* Do sessions say that they lost events? */
static bool lost_events(const run *state)
{
    for (u32 i = 0; i < state->trace_count; i++) {
        const etl_trace *const trace = state->traces[i];
        for (u32 k = 0; k < etl_session_count(trace); k++) {
            const etl_session *const session = etl_session_of(trace, k);
            if (session->events_lost > 0 || session->buffers_lost > 0)
                return true;
        }
    }
    return false;
}

/* The mode of the result, once the event list is open. */
static result_mode mode_of(const run *state)
{
    const event_list *const list = &state->result->event_list;
    if (state->options.inventory_only || state->options.store != NULL)
        return RESULT_FACTS;
    if (list->is_tallied)
        return RESULT_SUMS;
    return list->is_kept ? RESULT_EVENT_LIST : RESULT_LIFETIMES;
}

/* Numbers blocks, so that lifetimes in memory get the stacks of their blocks. */
static void number_blocks(run *state)
{
    const bool is_noted = state->result->mode != RESULT_LIFETIMES;
    state->join.numbers_blocks = state->order.numbers_blocks = is_noted;
    state->late_stacks = (late_stacks){
        &state->result->origin_table, &state->result->event_list, &state->workers, NULL, NULL, { 0 }
    };
    run_frees_open(&state->frees, &state->result->base, &state->join, &state->order,
                   &state->late_stacks);
}

static bool open_run(run *state)
{
    state->options.jobs = etlheap_workers_jobs(state->options.jobs);
    if (state->options.slice_bytes == 0)
        state->options.slice_bytes = SLICE_BYTES_DEFAULT;
    if (state->options.memory_bytes_max != 0)
        state->options.slice_bytes = etl_min_u64(
            state->options.slice_bytes, state->options.memory_bytes_max / SLICES_IN_MEMORY + 1);
    state->result = calloc(1, sizeof *state->result);
    if (state->result == NULL)
        return false;
    state->result->last_ticks = INT64_MIN;
    state->sweep_until_ticks = INT64_MIN;
    if (!timebase_open(&state->result->base, state->traces, state->trace_count) ||
        !recorded_sessions_open(&state->sessions, &state->result->base, &state->order.steps_back))
        return false;
    const timebase *const base = &state->result->base;
    state->result->first_ticks = base->base->header_ticks;
    state->earliest_ticks = timebase_earliest(base);
    context_open(&state->result->context, base);
    join_open(&state->join, base);
    state->keyed.context = &state->result->context;
    state->keyed.counts_passed = state->keeps_inventory;
    inventory_match_open(&state->matcher, base);
    state->order = (slice_order){ .context = &state->result->context,
                                  .origins = &state->result->origin_table,
                                  .from_ticks = INT64_MIN,
                                  .count_only = state->options.inventory_only };
    state->workers.input = (pair_input){ .rules = { .context = &state->result->context,
                                                    .origins = &state->result->origin_table,
                                                    .is_lossy = lost_events(state) },
                                         .order = &state->order };
    pair_set_limits(&state->workers.input.rules, base);
    state->crew = etlheap_crew_open(state->options.jobs);
    if (state->crew == NULL)
        return false;
    for (u32 i = 0; i < state->trace_count; i++)
        state->total_bytes += etl_file_size(state->traces[i]);
    if (!mark_events_open(&state->mark_events, state->options.mark_events,
                          state->options.mark_event_count, state->traces, state->trace_count) ||
        !open_event_list(state))
        return false;
    state->result->mode = mode_of(state);
    number_blocks(state);
    state->result->keeps_named_kinds = state->options.named_kinds;
    for (u32 i = HEAP_SHARDS; i < SHARDS; i++)
        state->workers.shards[i].out.keeps_named_kinds = state->options.named_kinds;
    const bool counts_blocks = state->options.store != NULL || state->result->event_list.is_tallied;
    return pair_workers_open(&state->workers, state->options.jobs, counts_blocks) &&
           slice_source_open(&state->source, state->traces, state->trace_count, base,
                             state->options.slice_bytes);
}

/* Opens the event list. A window may begin before time zero, with the first event, which is known
 * only later; so an open start takes in everything. A log answers what the list cannot. */
static bool open_event_list(run *state)
{
    const etlheap_question *const question = state->question;
    const timebase *const base = &state->result->base;
    if (question == NULL || state->options.inventory_only)
        return true;
    const etlheap_query *const query = question->query;
    const bool in_windows = question->kind == ETLHEAP_ASK_WINDOWS;
    window_cuts cuts;
    if (!window_cuts_open(&cuts, base->base, query, in_windows ? question->windows : NULL))
        return false;
    assert(cuts.session != NULL && !query_needs(query, NEEDS_BLOCKS));
    event_list *const list = &state->result->event_list;
    event_list_open(list, base, cuts.from_ticks, cuts.to_ticks, query->at_exit_freed);
    list->keeps_clock = query_needs(query, NEEDS_TIMES);
    if (in_windows)
        event_list_cut(list, &cuts);
    else if (query_asks_sums(query))
        event_list_reduce(list);
    if (state->options.memory_bytes_max != 0)
        list->resident_bytes_max =
            etl_min_u64(list->resident_bytes_max, state->options.memory_bytes_max / 4);
    if (state->options.temporary_folder != NULL) {
        list->spill_folder = strdup(state->options.temporary_folder);
        if (list->spill_folder == NULL)
            return false;
    }
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        state->workers.shards[i].out.events = &list->shards[i];
    return true;
}

/* A store takes everything, whatever is asked of it later; a log what its questions need. */
static etl_status open_store(run *state, const log_extra *log)
{
    if (state->options.store == NULL)
        return ETL_OK;
    state->store = calloc(1, sizeof *state->store);
    if (state->store == NULL || !store_run_record(state->result, state->names, state->trace_count))
        return ETL_ERR_MEMORY;
    event_list *const list = &state->result->event_list;
    event_list_open(list, &state->result->base, INT64_MIN, INT64_MAX, true);
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        state->workers.shards[i].out.events = &list->shards[i];
    const store_run_options how = { state->options.store, log, state->options.memory_bytes_max };
    return store_run_open(state->store, &how, state->crew, list);
}

/* Empty tasks for the slice, in the memory of the last one's. */
static bool reset_tasks(run *state, u32 count)
{
    if (count > state->task_capacity) {
        scan_output *const tasks = realloc(state->tasks, count * sizeof *tasks);
        if (tasks == NULL)
            return false;
        memset(tasks + state->task_capacity, 0, (count - state->task_capacity) * sizeof *tasks);
        state->tasks = tasks;
        state->task_capacity = count;
    }
    for (u32 i = 0; i < count; i++)
        scan_output_reset(&state->tasks[i]);
    state->task_count = count;
    return true;
}

static void close_run(run *state)
{
    for (u32 i = 0; i < state->task_capacity; i++)
        scan_output_free(&state->tasks[i]);
    free(state->tasks);
    if (state->store != NULL)
        store_run_free(state->store);
    free(state->store);
    etlheap_crew_close(state->crew);
    order_free(&state->order);
    release_free(&state->release);
    plan_slice_free(&state->slice);
    slice_source_close(&state->source);
    keyed_free(&state->keyed);
    join_close(&state->join);
    realloc_trail_free(&state->tails);
    inventory_match_close(&state->matcher);
    inventory_free(&state->inventory);
    pair_workers_close(&state->workers);
    merged_tasks_free(&state->merged);
    stack_numbering_free(&state->numbering);
    run_counts_free(&state->counts);
    late_stacks_free(&state->late_stacks);
    mark_events_close(&state->mark_events);
    run_frees_close(&state->frees);
    recorded_sessions_close(&state->sessions);
    etlheap_result_free(state->result);
}

static bool report_progress(run *state)
{
    for (size_t i = 0; i < state->slice.buffers.count; i++) {
        const plan_buffer *const buffer = &state->slice.buffers.at[i];
        const etl_trace *const trace = state->traces[plan_trace(buffer->stream)];
        if (buffer->resume == PLAN_DONE)
            state->done_bytes += etl_buffer_info_of(trace, buffer->buffer)->stored_size;
    }
    return state->options.progress == NULL ||
           state->options.progress(state->options.progress_user, state->done_bytes,
                                   state->total_bytes);
}

/* The memory that the run keeps between slices: the large parts, by their capacity. */
static u64 held_bytes(const run *state)
{
    const etlheap_result *const result = state->result;
    u64 bytes = result->stacks.arena.total_bytes + result->context.strings.arena.total_bytes;
    bytes += result->stacks.list.capacity * sizeof *result->stacks.list.at;
    bytes += state->source.plan.count * sizeof *state->source.plan.buffers;
    bytes += join_bytes(&state->join) + state->tails.at.capacity * sizeof *state->tails.at.at;
    bytes += state->keyed.nodes.capacity * sizeof *state->keyed.nodes.at;
    bytes += result->store.rows * sizeof(lifetime) + event_list_bytes(&result->event_list);
    bytes += origins_bytes(&result->origin_table) + pair_workers_bytes(&state->workers);
    bytes += stack_numbering_bytes(&state->numbering) + inventory_match_bytes(&state->matcher);
    bytes += state->merged.heap_notes.capacity * sizeof *state->merged.heap_notes.at;
    bytes += state->merged.memory_notes.capacity * sizeof *state->merged.memory_notes.at;
    bytes += state->store == NULL ? 0 : store_run_bytes(state->store);
    bytes += run_counts_bytes(&state->counts) + run_frees_bytes(&state->frees);
    return bytes;
}

/* An estimate, if the rest of the traces adds as much memory as what was read. */
static u64 bytes_at_end(const run *state, u64 held)
{
    const double share = (double)state->done_bytes / (double)etl_max_u64(state->total_bytes, 1);
    return share <= 0 || share >= 1 ? held : (u64)((double)held / share);
}

static etl_status run_slices(run *state, etl_error *err)
{
    for (;;) {
        bool more;
        etl_status status = slice_source_next(&state->source, &state->slice, &more, err);
        state->is_input_bad = status != ETL_OK;
        if (state->is_input_bad || !more)
            return status;
        status = run_slice(state);
        if (status == ETL_ERR_LIMIT)
            return etl_fail_with(err, status, 0, "more memory events than can be numbered");
        if (status != ETL_OK)
            return status;
        if (cancel_is_set(state->options.cancel) || !report_progress(state))
            return cancelled(err);
        const u64 held = held_bytes(state);
        if (state->options.memory_bytes_max != 0 && held > state->options.memory_bytes_max)
            return etl_fail_hint(err, ETL_ERR_LIMIT, ETL_HINT_NARROWER_WINDOW,
                                 "reading needs up to %" PRIu64 " MiB of memory, more than allowed",
                                 bytes_at_end(state, held) / ETL_MIB + 1);
    }
}

static void scan_one(void *context, u32 task)
{
    run *const state = context;
    const plan_task *const planned = &state->slice.tasks.at[task];
    const scan_input input = { .traces = state->traces,
                               .base = &state->result->base,
                               .stacks = &state->result->stacks,
                               .buffers = &state->slice.buffers.at[planned->first],
                               .buffer_count = planned->count,
                               .end_ticks = state->slice.end_ticks,
                               .inventory_only = state->options.inventory_only,
                               .keeps_targets = state->keeps_inventory,
                               .wants_frees = state->frees.is_wanted,
                               .wants_files = state->result->keeps_named_kinds,
                               .custom_allocators = state->options.custom_allocators,
                               .custom_allocator_count = state->options.custom_allocator_count,
                               .mark_events =
                                   state->mark_events.count > 0 ? &state->mark_events : NULL };
    etl_scratch scratch = { 0 };
    scan_task(&input, &scratch, &state->tasks[task]);
    etl_scratch_free(&scratch);
}

/* Must addresses be numbered? Reports look up frames, also those on a log; an inventory and a store
 * do not. */
static bool wants_numbers(const run *state)
{
    return !state->options.inventory_only && (state->store == NULL || state->store->is_log);
}

static bool work_beside(run *state)
{
    if (state->keeps_inventory)
        return inventory_match_slice(&state->matcher, state->tasks, state->task_count,
                                     state->slice.end_ticks);
    return !wants_numbers(state) ||
           stack_numbering_step(&state->numbering, &state->result->stacks, NUMBERED_FRAMES);
}

/* A task of ordering. Beside it, stacks get numbers, or are matched with events for `info`, which
 * takes longest and so comes first; and pages of scanned buffers are released. */
static void order_one(void *context, u32 task)
{
    run *const state = context;
    const u32 bucket_count = state->order.bucket_count;
    if (task == 0)
        state->is_done_beside = work_beside(state);
    else if (task <= bucket_count)
        order_fill(&state->order, task - 1);
    else
        release_run(&state->release, state->traces, task - 1 - bucket_count);
}

static void note_one(void *context, u32 bucket)
{
    run *const state = context;
    order_note(&state->order, bucket);
}

static bool join_stacks(run *state)
{
    if (!keyed_define(&state->keyed, state->merged.definitions.at, state->merged.definitions.count))
        return false;
    if (state->options.inventory_only)
        return inventory_count_keys(&state->keyed, state->tasks, state->task_count);
    const i64 end_ticks = state->slice.end_ticks;
    return join_slice(&state->join, &state->keyed, state->tasks, state->task_count, end_ticks) &&
           run_frees_join(&state->frees, &state->join, &state->keyed, state->tasks,
                          state->task_count, end_ticks) &&
           late_stacks_apply(&state->late_stacks, &state->join);
}

/* Collects the rows and counts of the shards, in shard order. */
static bool drain_shards(run *state)
{
    for (u32 i = 0; i < SHARDS; i++) {
        shard_output *const out = &state->workers.shards[i].out;
        if (out->out_of_memory ||
            !store_append(&state->result->store, out->rows.at, out->rows.count))
            return false;
        out->rows.count = 0;
    }
    return run_counts_take_shards(&state->counts, &state->workers);
}

static etl_status order_slice(run *state)
{
    slice_order *const order = &state->order;
    event_list *const list = &state->result->event_list;
    if (!order_plan(order, state->tasks, state->task_count))
        return ETL_ERR_MEMORY;
    if (order->count >= ENTRY_NO_RANK - state->next_rank)
        return ETL_ERR_LIMIT;
    if (list->is_kept) {
        const etl_status status = event_list_begin_slice(list, order->count);
        if (status != ETL_OK)
            return status;
        const event_chunk *const chunk = &list->chunks.at[list->chunks.count - 1];
        order->ticks = chunk->ticks;
        order->entries = chunk->entries;
        order->wide = chunk->wide;
    }
    /* An inventory may be followed by a pass that reads all of it again. */
    if (!state->options.inventory_only &&
        !release_plan(&state->release, state->traces, &state->slice))
        return ETL_ERR_MEMORY;
    etlheap_crew_run(state->crew, 1 + order->bucket_count + (u32)state->release.pieces.count,
                     order_one, state);
    /* A time that was mended may be later than the slice. */
    const i64 end_ticks = state->slice.end_ticks;
    order->from_ticks = order->last_ticks > end_ticks ? order->last_ticks : end_ticks;
    const bool ok = state->is_done_beside && order_number(order, &state->result->origin_table) &&
                    run_frees_resolve(&state->frees, order, (u32)state->next_rank) &&
                    run_counts_take_order(&state->counts, order);
    return ok ? ETL_OK : ETL_ERR_MEMORY;
}

/* The time from which words of the list may still change, because blocks wait for their stacks. */
static i64 open_from(const run *state)
{
    const i64 end_ticks = state->slice.end_ticks, frees_from = run_frees_waits_from(&state->frees);
    const i64 blocks_from = state->join.waits_from_ticks;
    const i64 waits_from = blocks_from < frees_from ? blocks_from : frees_from;
    return waits_from < end_ticks ? waits_from : end_ticks;
}

static etl_status pair_events(run *state)
{
    tasks_note_ends(&state->merged, &state->result->context, &state->sweep_until_ticks);
    state->workers.input.rules.first_rank = (u32)state->next_rank;
    state->next_rank += state->order.count;
    state->workers.input.end_ticks = state->slice.end_ticks;
    state->workers.input.sweep = state->sweep_until_ticks != INT64_MIN;
    if (state->slice.end_ticks > state->sweep_until_ticks)
        state->sweep_until_ticks = INT64_MIN;
    if (!state->options.inventory_only)
        pair_workers_run(&state->workers, state->crew);
    run_frees_move(&state->frees, &state->workers);
    if (state->result->event_list.is_kept)
        etlheap_crew_run(state->crew, state->order.bucket_count, note_one, state);
    etl_status status = drain_shards(state) ? ETL_OK : ETL_ERR_MEMORY;
    if (status == ETL_OK && state->store != NULL)
        status = store_run_slice(state->store, state->result, false);
    if (status == ETL_OK && state->result->event_list.is_kept)
        status = event_list_end_slice(&state->result->event_list, open_from(state));
    return status;
}

static etl_status run_slice(run *state)
{
    merged_tasks *const merged = &state->merged;
    if (!reset_tasks(state, (u32)state->slice.tasks.count))
        return ETL_ERR_MEMORY;
    etlheap_crew_run(state->crew, state->task_count, scan_one, state);
    state->result->context.from_ticks = state->order.from_ticks;
    tasks_mend_times(state->tasks, state->task_count, state->earliest_ticks, state->result);
    if (!tasks_merge(merged, state->tasks, state->task_count, state->result) ||
        !tasks_apply_context(merged, state->tasks, state->task_count, state->result) ||
        !realloc_trail_end(&state->tails, state->tasks, state->task_count) || !join_stacks(state))
        return ETL_ERR_MEMORY;
    recorded_sessions_note(&state->sessions, state->tasks, state->task_count);
    const etl_status status = order_slice(state);
    return status == ETL_OK ? pair_events(state) : status;
}

static etl_status finish(run *state)
{
    etlheap_result *const result = state->result;
    u64 unresolved = 0;
    for (u32 i = 0; i < state->task_capacity; i++) {
        if (!inventory_merge(&state->inventory, &state->tasks[i].inventory))
            return ETL_ERR_MEMORY;
    }
    pair_workers_finish(&state->workers, state->crew);
    if (!drain_shards(state) ||
        !keyed_finish(&state->keyed, &result->stacks, &result->keyed_ids, &unresolved) ||
        (wants_numbers(state) && !stack_numbering_finish(&state->numbering, &result->stacks)))
        return ETL_ERR_MEMORY;
    memcpy(&result->foreign, &state->keyed.foreign, sizeof result->foreign); /* handed over */
    memset(&state->keyed.foreign, 0, sizeof state->keyed.foreign);
    etl_status status = ETL_OK;
    if (state->store != NULL)
        status = store_run_slice(state->store, result, true);
    if (status == ETL_OK && result->event_list.is_kept)
        status = event_list_close(&result->event_list);
    const u32 origin_count = (u32)result->origin_table.origins.count;
    if (status == ETL_OK && state->workers.tallies != NULL &&
        !pair_workers_sum(&state->workers, origin_count, &result->event_list))
        status = ETL_ERR_MEMORY;
    if (status != ETL_OK)
        return status;
    for (u32 i = 0; i < SHARDS; i++)
        etl_diag_merge(&result->diag, &state->workers.shards[i].out.diag);
    etl_diag_merge(&result->diag, &result->context.diag);
    etl_diag_add(&result->diag, ETL_DIAG_stack_key_unresolved, unresolved);
    result->stack_counts.matched = state->matcher.matched;
    result->stack_counts.unmatched = state->matcher.unmatched;
    result->stack_counts.keys_referenced =
        state->keyed.keys_referenced + state->keyed.passed.referenced;
    result->stack_counts.keys_resolved = state->keyed.keys_resolved + state->keyed.passed.resolved;
    result->origins = state->join.own_origins.at; /* handed over */
    memset(&state->join.own_origins, 0, sizeof state->join.own_origins);
    result->freers = run_frees_take_freers(&state->frees);
    etl_diag_add(&result->diag, ETL_DIAG_alloc_without_stack,
                 run_counts_bare(&state->counts, result));
    if (state->inventory.stack_records > 0)
        etl_diag_add(&result->diag, ETL_DIAG_stack_wait_limited, state->join.limited);
    const result_parts parts = { .traces = state->traces,
                                 .names = state->names,
                                 .trace_count = state->trace_count,
                                 .inventory = &state->inventory,
                                 .heap_notes = &state->merged.heap_notes,
                                 .memory_notes = &state->merged.memory_notes,
                                 .free_stacks = state->matcher.of_frees,
                                 .counts = state->counts.processes.at,
                                 .count_count = state->counts.processes.count };
    status = result_complete(result, &parts);
    const etl_diag_counts inventory = inventory_diagnostics(&result->diag, &result->stack_counts);
    if (state->keeps_inventory)
        *(state->options.inventory_only ? &result->diag : &result->inventory_diag) = inventory;
    return status == ETL_OK && state->store != NULL
               ? store_run_finish(state->store, result, state->traces)
               : status;
}
