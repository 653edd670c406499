/*
 * recorder_object_sums.c - what the files of a recording say about pool blocks, handles and views;
 * recorder.h says what for.
 *
 * In: the events that are in the files, in their true order. Out: sums for each program, and what
 * contradicts. Everything follows from a replay of these events:
 *
 *     opened at a key in use       the old one's end is missing: over
 *     listed at the start          from before, unless it is open
 *     listed at the end            the same; unseen, if there was a list at the start
 *     not listed at the end        missing, if it was open when the list began
 *
 * Handles and views that a program had when it ended count as outstanding, as its blocks do, but
 * are neither closed nor missing.
 */
#include "recorder.h"

#include <stdlib.h>

/* What an event does. */
typedef enum object_step { STEP_NONE, STEP_OPEN, STEP_CLOSE, STEP_LIST, STEP_LIST_END } object_step;

typedef struct open_object {
    u64 key, size;
    u32 place; /* of the event that opened it; UINT32_MAX: it is from before */
    u8 program, tag, site;
    bool is_open, is_listed;
    bool is_swept; /* its program ended: nobody closed it, but it is not open either */
} open_object;

typedef struct replay {
    recorder *r;
    recorder_object kind;
    open_object *at;
    u32 count;
    bool was_listed;
    u32 end; /* place of the first event of a list at the end; UINT32_MAX: none */
} replay;

static object_step step_of(recorder_object kind, u8 op)
{
    static const u8 steps[RECORDER_OBJECTS][RECORDER_OPS] = {
        [RECORDER_POOL] = { [RECORDER_POOL_ALLOC] = STEP_OPEN,
                            [RECORDER_POOL_FREE] = STEP_CLOSE,
                            [RECORDER_POOL_LISTED] = STEP_LIST,
                            [RECORDER_POOL_STILL] = STEP_LIST_END },
        [RECORDER_HANDLE] = { [RECORDER_OPEN] = STEP_OPEN,
                              [RECORDER_COPY] = STEP_OPEN,
                              [RECORDER_SHUT] = STEP_CLOSE,
                              [RECORDER_OPEN_LISTED] = STEP_LIST,
                              [RECORDER_OPEN_STILL] = STEP_LIST_END },
        [RECORDER_VIEW] = { [RECORDER_MAP] = STEP_OPEN,
                            [RECORDER_UNMAP] = STEP_CLOSE,
                            [RECORDER_MAPPED] = STEP_LIST,
                            [RECORDER_STILL_MAPPED] = STEP_LIST_END },
    };
    return (object_step)steps[kind][op];
}

static open_object *find(const replay *all, const recorder_event *event)
{
    for (u32 i = 0; i < all->count; i++) {
        open_object *const one = &all->at[i];
        if (one->is_open && !one->is_swept && one->key == event->address &&
            (all->kind == RECORDER_POOL || one->program == event->program))
            return one;
    }
    return NULL;
}

static open_object *add(replay *all, const recorder_event *event)
{
    open_object *const out = &all->at[all->count++];
    *out = (open_object){ .key = event->address,
                          .size = event->size,
                          .place = UINT32_MAX,
                          .program = event->program,
                          .tag = event->tag,
                          .site = RECORDER_NO_STACK,
                          .is_open = true };
    all->r->objects[all->kind].count[event->program]++;
    return out;
}

static void open(replay *all, u32 place)
{
    const recorder_event *const event = &all->r->events[place];
    open_object *const old = find(all, event);
    all->r->objects[all->kind].over += old != NULL;
    if (old != NULL)
        old->is_open = false;
    open_object *const fresh = add(all, event);
    fresh->place = place;
    fresh->site = event->has_stack ? event->site : RECORDER_NO_STACK;
}

static void list(replay *all, u32 place, bool is_end)
{
    const recorder_event *const event = &all->r->events[place];
    open_object *object = find(all, event);
    if (is_end && all->end == UINT32_MAX)
        all->end = place;
    all->r->objects[all->kind].unseen += is_end && object == NULL;
    all->was_listed |= !is_end;
    if (object == NULL)
        object = add(all, event);
    object->is_listed |= is_end;
}

static void apply(replay *all, u32 place)
{
    const recorder_event *const event = &all->r->events[place];
    open_object *object;
    switch (step_of(all->kind, event->op)) {
    case STEP_OPEN:
        open(all, place);
        break;
    case STEP_CLOSE:
        object = find(all, event);
        if (object != NULL)
            object->is_open = false;
        else
            all->r->objects[all->kind].unknown_frees[event->program]++;
        break;
    case STEP_LIST:
    case STEP_LIST_END:
        list(all, place, step_of(all->kind, event->op) == STEP_LIST_END);
        break;
    case STEP_NONE:
        for (u32 i = 0; event->op == RECORDER_EXIT && i < all->count; i++)
            all->at[i].is_swept |=
                all->kind != RECORDER_POOL && all->at[i].program == event->program;
        break;
    }
}

static void add_up(replay *all)
{
    recorder_object_sums *const sums = &all->r->objects[all->kind];
    sums->unseen = all->was_listed ? sums->unseen : 0;
    for (u32 i = 0; i < all->count; i++) {
        const open_object *const one = &all->at[i];
        if (!one->is_open)
            continue;
        sums->outstanding_count[one->program]++;
        sums->outstanding_size[one->program] += (i64)one->size;
        sums->of_tag[one->tag]++;
        sums->of_site[one->site]++;
        const bool was_there = one->place == UINT32_MAX || one->place < all->end;
        sums->missing += all->end != UINT32_MAX && !one->is_listed && was_there && !one->is_swept;
    }
}

void recorder_find_objects(recorder *r)
{
    for (u32 kind = 0; kind < RECORDER_OBJECTS; kind++) {
        replay all = { .r = r, .kind = (recorder_object)kind, .end = UINT32_MAX };
        all.at = calloc(r->count + (size_t)1, sizeof *all.at);
        if (all.at == NULL)
            abort();
        for (u32 i = 0; i < r->count; i++) {
            if (r->events[i].is_kept)
                apply(&all, i);
        }
        add_up(&all);
        free(all.at);
    }
}
