/*
 * pair.c - merges a shard's events by time and gives each to its rule.
 *
 * Every stream (CPU) is in order by itself, so a shard's events are as many
 * sorted lanes as streams. A binary heap over the lanes' next events merges
 * them; ties go by stream, then by position, so the order is the same for any
 * number of threads. While one lane stays in front, restoring the heap costs two
 * comparisons: a busy CPU makes long runs.
 */
#include "pair.h"

#include <stdlib.h>

#define RACE_NS    ((i64)1000 * 1000)
#define LOOK_AHEAD 3 /* events of a lane: a block's slot is fetched so much before it is used */

/* The rest of one stream's events: task by task. */
typedef struct lane {
    const memory_event *at, *end;
    u32 task;      /* index of the task `at` points into */
    u32 task_last; /* last task of the stream */
} lane;

typedef struct lane_heap {
    lane *lanes; /* a heap by (ticks, task): smallest first */
    u32 count;
} lane_heap;

static bool open_lanes(const pair_input *input, u32 shard, lane_heap *heap);
static bool next_task(const pair_input *input, u32 shard, lane *from);
static void sink(lane_heap *heap);
static u32 apply(const pair_input *input, pair_shard *shard, const memory_event *event);

i64 pair_race_ticks(const timebase *base)
{
    return timebase_span(base, RACE_NS);
}

static bool lane_before(const lane *a, const lane *b)
{
    if (a->at->ticks != b->at->ticks)
        return a->at->ticks < b->at->ticks;
    return a->task < b->task;
}

void pair_slice(const pair_input *input, u32 index, pair_shard *shard)
{
    lane_heap heap = { 0 };
    if (!open_lanes(input, index, &heap)) {
        shard->out.out_of_memory = true;
        free(heap.lanes);
        return;
    }
    if (shard->out.journal != NULL)
        shard->out.journal->epoch_process = 0; /* its end may be known better now */
    while (heap.count > 0) {
        lane *const front = &heap.lanes[0];
        const u32 process = apply(input, shard, front->at);
        if (front->end - front->at > LOOK_AHEAD)
            blocks_prefetch(&shard->blocks, process, front->at[LOOK_AHEAD].heap,
                            front->at[LOOK_AHEAD].address);
        front->at++;
        if (front->at == front->end && !next_task(input, index, front))
            heap.lanes[0] = heap.lanes[--heap.count];
        sink(&heap);
    }
    free(heap.lanes);
    const block_rules rules = { input->context, input->race_ticks };
    if (!input->count_only)
        blocks_settle(&shard->blocks, &rules, input->end_ticks, &shard->out);
    if (!input->sweep || input->count_only)
        return;
    blocks_sweep(&shard->blocks, &rules, input->end_ticks, &shard->out);
    ranges_sweep(&shard->ranges, input->context, input->end_ticks, &shard->out);
}

/* Takes the events of the shard in the lane's task; false when there are none. */
static bool enter_task(const pair_input *input, u32 shard, lane *entered)
{
    const scan_output *const task = &input->tasks[entered->task];
    const u32 start = task->shard_starts[shard], end = task->shard_starts[shard + 1];
    if (start == end)
        return false;
    entered->at = task->events.at + start;
    entered->end = task->events.at + end;
    return true;
}

/* Moves a lane to its next task that has events of the shard. */
static bool next_task(const pair_input *input, u32 shard, lane *from)
{
    while (from->task < from->task_last) {
        from->task++;
        if (enter_task(input, shard, from))
            return true;
    }
    return false;
}

static bool open_lanes(const pair_input *input, u32 shard, lane_heap *heap)
{
    if (input->task_count == 0)
        return true;
    heap->lanes = malloc(input->task_count * sizeof *heap->lanes);
    if (heap->lanes == NULL)
        return false;
    for (u32 first = 0; first < input->task_count;) {
        u32 last = first;
        while (last + 1 < input->task_count &&
               input->tasks[last + 1].stream == input->tasks[first].stream)
            last++;
        lane opened = { .task = first, .task_last = last };
        if (enter_task(input, shard, &opened) || next_task(input, shard, &opened)) {
            /* Sift the newcomer up. */
            u32 at = heap->count++;
            while (at > 0 && lane_before(&opened, &heap->lanes[(at - 1) / 2])) {
                heap->lanes[at] = heap->lanes[(at - 1) / 2];
                at = (at - 1) / 2;
            }
            heap->lanes[at] = opened;
        }
        first = last + 1;
    }
    return true;
}

/* Restores the heap after its front moved on. */
static void sink(lane_heap *heap)
{
    if (heap->count == 0)
        return;
    const lane moved = heap->lanes[0];
    u32 at = 0;
    for (;;) {
        u32 child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && lane_before(&heap->lanes[child + 1], &heap->lanes[child]))
            child++;
        if (!lane_before(&heap->lanes[child], &moved))
            break;
        heap->lanes[at] = heap->lanes[child];
        at = child;
    }
    heap->lanes[at] = moved;
}

static void count_event(shard_output *out, u32 process, const memory_event *event)
{
    const u8 op = event->op;
    process_counts *const counts = shard_counts(out, process);
    if (counts == NULL)
        return;
    const bool is_heap = op <= OP_REALLOC_SAME || op == OP_EXPAND || op == OP_CONTRACT;
    /* A moving realloc is two rows here; a reserving commit too, with heap 1. */
    if (is_heap)
        counts->heap_events += event->op != OP_REALLOC_OLD;
    else
        counts->virtualalloc_events += event->op != OP_RESERVE || event->heap == 0;
}

/* Returns the process, which is likely that of the events to come. */
static u32 apply(const pair_input *input, pair_shard *shard, const memory_event *event)
{
    const u32 process = context_process_at(input->context, event->pid, event->ticks);
    const memory_op op = (memory_op)event->op;
    assert(process != 0);
    count_event(&shard->out, process, event);
    if (input->count_only || op == OP_COUNT_HEAP)
        return process;
    if (op >= OP_COMMIT) {
        ranges_apply(&shard->ranges, input->context, event, process, &shard->out);
        return process;
    }
    const block_rules rules = { input->context, input->race_ticks };
    blocks_apply(&shard->blocks, &rules, event, process, &shard->out);
    return process;
}

void pair_finish(const pair_input *input, pair_shard *shard)
{
    const block_rules rules = { input->context, input->race_ticks };
    blocks_finish(&shard->blocks, &rules, &shard->out);
    ranges_finish(&shard->ranges, input->context, &shard->out);
}

void pair_free(pair_shard *shard)
{
    blocks_free(&shard->blocks);
    ranges_free(&shard->ranges);
    shard_output_free(&shard->out);
}
