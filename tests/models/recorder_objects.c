/*
 * recorder_objects.c - what programs do with pool blocks and handles; recorder.h says what for.
 *
 * In: the world. Out: events. A pool block belongs to nobody: any program frees it, and it stays
 * when programs end. A handle belongs to a program, and goes with it. Addresses and values of
 * handles are used again as soon as they are free. Sessions list both when they start and stop.
 */
#include "recorder_inside.h"

#define POOL_BASE UINT64_C(0xffffa70000100000)

const char *recorder_tag(u32 tag)
{
    static const char *const tags[RECORDER_TAGS] = { "Aaaa", "Bbbb", "Cccc" };
    return tags[tag];
}

static const live_object *find(const world *w, recorder_object kind, u32 program, u64 key)
{
    for (u32 i = 0; i < w->object_count[kind]; i++) {
        const live_object *const one = &w->objects[kind][i];
        if (one->key == key && (kind == RECORDER_POOL || one->program == program))
            return one;
    }
    return NULL;
}

/* The lowest key that is free. */
static live_object *add(world *w, recorder_object kind, u32 program)
{
    const u64 base = kind == RECORDER_POOL ? POOL_BASE : 4,
              step = kind == RECORDER_POOL ? 0x200 : 4;
    u64 key = base;
    if (w->object_count[kind] == LIVE_OBJECTS_MAX)
        return NULL;
    while (find(w, kind, program, key) != NULL)
        key += step;
    live_object *const out = &w->objects[kind][w->object_count[kind]++];
    *out = (live_object){ .key = key,
                          .size = kind == RECORDER_POOL ? 32 + recorder_below(&w->random, 400) : 0,
                          .program = (u8)program,
                          .tag = (u8)recorder_below(&w->random, RECORDER_TAGS) };
    return out;
}

static recorder_event *tell(world *w, recorder_op op, u32 program, const live_object *object)
{
    recorder_event *const out = recorder_happen(w, op, program, object->key);
    out->size = object->size;
    out->tag = object->tag;
    return out;
}

void recorder_begin_objects(world *w)
{
    if (!w->r->setup.has_objects)
        return;
    for (u32 i = 0; i < LIVE_OBJECTS_MAX / 3; i++) {
        const u32 program = recorder_below(&w->random, w->r->setup.programs);
        (void)add(w, RECORDER_POOL, RECORDER_SYSTEM);
        if (w->starts_ns[program] < 0)
            (void)add(w, RECORDER_HANDLE, program);
    }
    recorder_list_objects(w, RECORDER_POOL_LISTED, RECORDER_OPEN_LISTED);
}

void recorder_list_objects(world *w, recorder_op pool, recorder_op handle)
{
    for (u32 i = 0; i < w->object_count[RECORDER_POOL]; i++)
        tell(w, pool, RECORDER_SYSTEM, &w->objects[RECORDER_POOL][i]);
    for (u32 i = 0; i < w->object_count[RECORDER_HANDLE]; i++)
        tell(w, handle, w->objects[RECORDER_HANDLE][i].program, &w->objects[RECORDER_HANDLE][i]);
}

void recorder_forget_handles(world *w, u32 program)
{
    for (u32 i = w->object_count[RECORDER_HANDLE]; i-- > 0;) {
        live_object *const one = &w->objects[RECORDER_HANDLE][i];
        if (one->program == program)
            *one = w->objects[RECORDER_HANDLE][--w->object_count[RECORDER_HANDLE]];
    }
}

static void set_site(world *w, recorder_event *event)
{
    if (w->r->setup.has_stacks)
        event->site = (u8)recorder_below(&w->random, RECORDER_SITES);
}

/* Opens a handle for itself, or for another program that runs. */
static void open_handle(world *w, u32 program)
{
    const u32 other = recorder_below(&w->random, w->r->setup.programs);
    const u32 owner = recorder_chance(&w->random, 25) && recorder_runs(w, other) ? other : program;
    const live_object *const handle = add(w, RECORDER_HANDLE, owner);
    if (handle == NULL)
        return;
    recorder_event *const event =
        tell(w, owner == program ? RECORDER_OPEN : RECORDER_COPY, owner, handle);
    event->actor = (u8)program;
    event->tid = recorder_pid(program) * 10 + event->tid % 10;
    set_site(w, event);
}

static void allocate(world *w, u32 program)
{
    const live_object *const block = add(w, RECORDER_POOL, program);
    if (block != NULL)
        set_site(w, tell(w, RECORDER_POOL_ALLOC, program, block));
}

/* Frees any pool block, or closes a handle of the program. */
static void release(world *w, recorder_object kind, u32 program)
{
    const u32 count = w->object_count[kind];
    const u32 from = count == 0 ? 0 : recorder_below(&w->random, count);
    for (u32 i = 0; i < count; i++) {
        live_object *const at = &w->objects[kind][(from + i) % count];
        const live_object object = *at;
        if (kind == RECORDER_HANDLE && object.program != program)
            continue;
        *at = w->objects[kind][--w->object_count[kind]];
        tell(w, kind == RECORDER_POOL ? RECORDER_POOL_FREE : RECORDER_SHUT, program, &object);
        return;
    }
}

void recorder_use_object(world *w, u32 program)
{
    const recorder_object kind = recorder_chance(&w->random, 50) ? RECORDER_POOL : RECORDER_HANDLE;
    if (recorder_chance(&w->random, 45))
        release(w, kind, program);
    else if (kind == RECORDER_POOL)
        allocate(w, program);
    else
        open_handle(w, program);
}
