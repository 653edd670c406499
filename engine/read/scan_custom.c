/*
 * scan_custom.c - allocations and frees of allocators that are not Windows' own.
 *
 * They are events of providers with a manifest. Where their session asked for stacks, each
 * has its own inside, as an extended item: frames, or the key of a stack that another
 * record defines. So nothing is searched for, and no stack record is of them.
 */
#include "scan_inside.h"

/*
 * The stack that an event has inside: whole, as all of it ran in the process. Of two parts
 * with a match id this is the first.
 */
static bool take_item_stack(scanner *s, u32 event, bool is_unasked)
{
    scan_output *const out = s->out;
    etl_bytes items = s->record->items;
    etl_item item;
    while (etl_item_next(&items, &item)) {
        etl_item_stack stack;
        frame_view frames;
        if (!etl_item_stack_of(&item, &stack))
            continue;
        out->inventory.stack_items += !is_unasked;
        if (s->input->inventory_only)
            return true;
        if (stack.is_key) {
            out->events.at[event].stack = STACK_TAG_LOCAL; /* taken */
            const key_use use = { s->ticks, stack.key, event, is_unasked };
            return ETLHEAP_PUSH(&out->key_uses, use);
        }
        const u32 count = is_unasked && stack.frame_count > STACK_FRAMES_MAX ? STACK_FRAMES_MAX
                                                                             : stack.frame_count;
        if (!scan_view_frames(s, stack.frames, stack.frame_bytes, count, &frames))
            return false;
        if (frames.count > 0)
            out->events.at[event].stack = STACK_TAG_LOCAL;
        return scan_request_stack(s, &frames, TARGET_EVENT, event);
    }
    return true;
}

/* Counts the stack that the free has inside, which is read only if a question asks for it. */
static void count_item_stack(scanner *s)
{
    etl_bytes items = s->record->items;
    etl_item item;
    etl_item_stack stack;
    bool found = false;
    while (!found && etl_item_next(&items, &item))
        found = etl_item_stack_of(&item, &stack);
    s->out->item_free_stacks += found;
}

bool scan_custom(scanner *s, const etl_event *event)
{
    const etl_custom_event *const custom = &event->as.custom;
    const bool is_alloc = event->kind == ETL_EVENT_CUSTOM_ALLOC;
    const u64 *const heap = custom->has_heap ? &custom->heap : NULL;
    const memory_event row = { .op = is_alloc ? OP_CUSTOM_ALLOC : OP_CUSTOM_FREE,
                               .address = custom->address,
                               .size = custom->size_bytes,
                               .heap =
                                   etlheap_custom_heap((const char *)custom->allocator.at, heap),
                               .pid = s->record->pid,
                               .tid = s->record->tid };
    if (!scan_push_event(s, row))
        return false;
    if (!is_alloc && s->input->keeps_targets)
        count_item_stack(s);
    const bool is_wanted = is_alloc || s->input->wants_frees;
    return !is_wanted || take_item_stack(s, (u32)(s->out->events.count - 1), !is_alloc);
}
