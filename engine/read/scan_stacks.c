/*
 * scan_stacks.c - the ring and the queue by which the scan gives stacks to events. scan_stacks.h
 * explains both.
 *
 * In: stacks as they are read. Out: references in events and pieces; new stacks in the task's
 * table. Invariant: stacks finish in the order in which they were pushed, so ids do not depend on
 * when the queue is flushed.
 */
#include "scan_inside.h"

#include <stdlib.h>

#define MERGED_AHEAD 8u /* stacks whose slots are fetched before they are merged */

static inline void fetch_next(stack_queue *queue);
static inline bool finish_next(stack_queue *queue);
static bool find_or_add(stack_queue *queue, const pending_stack *pending, stack_ref *ref);

bool stack_queue_push(stack_queue *queue, const void *frames, u32 count, stack_target target,
                      size_t index)
{
    assert(count > 0);
    const u64 hash = stack_hash(frames, count);
    stack_prefetch_group(queue->stacks, hash);
    queue->at[queue->pushed++ % STACK_QUEUE_SIZE] = (pending_stack){
        .hash = hash, .frames = frames, .count = count, .index = (u32)index, .target = target
    };
    if (queue->pushed - queue->fetched > STACKS_TO_FETCH)
        fetch_next(queue);
    return queue->fetched - queue->finished <= STACKS_TO_FINISH || finish_next(queue);
}

bool stack_queue_flush(stack_queue *queue)
{
    while (queue->fetched != queue->pushed)
        fetch_next(queue);
    while (queue->finished != queue->pushed) {
        if (!finish_next(queue))
            return false;
    }
    return true;
}

static inline void fetch_next(stack_queue *queue)
{
    pending_stack *const pending = &queue->at[queue->fetched++ % STACK_QUEUE_SIZE];
    pending->candidate = stack_candidate(queue->stacks, pending->hash);
    if (pending->candidate != NULL)
        stack_prefetch_block(pending->candidate, pending->count);
}

static inline bool finish_next(stack_queue *queue)
{
    const pending_stack *const pending = &queue->at[queue->finished++ % STACK_QUEUE_SIZE];
    const stack_block *const candidate = pending->candidate;
    scan_output *const out = queue->out;
    stack_ref ref;
    if (candidate != NULL &&
        stack_block_is(candidate, pending->hash, pending->frames, pending->count))
        ref = candidate->id;
    else if (!find_or_add(queue, pending, &ref))
        return false;
    switch (pending->target) {
    case TARGET_EVENT:
        out->events.at[pending->index].stack = ref;
        break;
    case TARGET_PIECE:
        out->pieces.at[pending->index].stack = ref;
        break;
    case TARGET_DEFINITION:
        out->definitions.at[pending->index].stack = ref;
        break;
    }
    return true;
}

/* A stack that the first candidate is not: mostly a new one. */
static bool find_or_add(stack_queue *queue, const pending_stack *pending, stack_ref *ref)
{
    *ref = stack_find(queue->stacks, pending->hash, pending->frames, pending->count);
    if (*ref != STACK_NONE)
        return true;
    if (!stack_add(&queue->out->new_stacks, pending->hash, pending->frames, pending->count, ref))
        return false;
    *ref |= STACK_TAG_LOCAL;
    return pending->target != TARGET_EVENT ||
           ETLHEAP_PUSH(&queue->out->local_events, pending->index);
}

stack_ring_entry *scan_find_event(scanner *s, const part_name *name, event_sort *sort)
{
    const scan_output *const out = s->out;
    stack_learn_thread(out->events.at, out->events.count, name);
    stack_ring_entry *const entry = stack_ring_find(
        &s->ring, out->events.at, (u32)out->events.count, name->event_ticks, name->tid, sort);
    const bool is_kernels = *sort == SORT_COMMIT || *sort == SORT_UNWANTED;
    if (*sort == SORT_UNKNOWN || (name->part != PART_USER && !is_kernels)) {
        const event_sort recent =
            stack_recent_sort(out->events.at, out->events.count, name, SORT_UNKNOWN);
        if (*sort == SORT_UNKNOWN || recent == SORT_UNSURE)
            *sort = recent;
    }
    if (!stack_ring_is_unresolved(entry, out->events.at) || *sort == SORT_UNSURE)
        *sort = half_walks_sort(&s->walks, name, *sort);
    if (*sort != SORT_UNSURE)
        return entry;
    if (entry != NULL && name->part == PART_KERNEL)
        entry->has_kernel_part = true; /* else the user part would resolve it */
    return NULL;
}

static void renumber(stack_ref *ref, const u32 *ids)
{
    if ((*ref & STACK_TAG_MASK) == STACK_TAG_LOCAL)
        *ref = ids[*ref & STACK_NUMBER_MAX];
}

bool scan_merge_stacks(scan_output *task, stack_table *stacks)
{
    const size_t count = task->new_stacks.list.count;
    u32 *const ids = calloc(count + 1, sizeof *ids);
    bool ok = ids != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        const stack_entry *const entry = &task->new_stacks.list.at[i];
        const u64 hash = stack_entry_hash(entry);
        if (i + MERGED_AHEAD < count)
            stack_prefetch_group(stacks, stack_entry_hash(entry + MERGED_AHEAD));
        ok = stack_add(stacks, hash, entry->frames, entry->count, &ids[i + 1]);
    }
    for (size_t i = 0; ok && i < task->local_events.count; i++)
        renumber(&task->events.at[task->local_events.at[i]].stack, ids);
    for (size_t i = 0; ok && count > 0 && i < task->pieces.count; i++)
        renumber(&task->pieces.at[i].stack, ids);
    for (size_t i = 0; ok && count > 0 && i < task->definitions.count; i++)
        renumber(&task->definitions.at[i].stack, ids);
    free(ids);
    return ok;
}
