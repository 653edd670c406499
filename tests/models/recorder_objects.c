/*
 * recorder_objects.c - what programs do with pool blocks, handles and views; recorder.h says what
 * for.
 *
 * In: the world. Out: events. A pool block belongs to nobody: any program frees it, and it stays
 * when programs end. A handle or a view belongs to a program, and goes with it. Addresses and
 * values of handles are used again as soon as they are free. Sessions list all when they start and
 * stop.
 */
#include "recorder_inside.h"

/* The first key of each kind, the distance to the next one, and the sizes. */
static const struct {
    u64 base, step;
    u32 size_min, size_step, sizes;
} forms[RECORDER_OBJECTS] = {
    [RECORDER_POOL] = { UINT64_C(0xffffa70000100000), 0x200, 32, 1, 400 },
    [RECORDER_HANDLE] = { 4, 4, 0, 0, 1 },
    [RECORDER_VIEW] = { UINT64_C(0x1c0b0000000), 0x100000, 4096, 4096, 200 },
};

/* What tells of an object: that it began, that it ended, and that it is there. */
static const u8 ops[RECORDER_OBJECTS][4] = {
    { RECORDER_POOL_ALLOC, RECORDER_POOL_FREE, RECORDER_POOL_LISTED, RECORDER_POOL_STILL },
    { RECORDER_OPEN, RECORDER_SHUT, RECORDER_OPEN_LISTED, RECORDER_OPEN_STILL },
    { RECORDER_MAP, RECORDER_UNMAP, RECORDER_MAPPED, RECORDER_STILL_MAPPED },
};
enum { BEGINS, ENDS, IS_LISTED, IS_STILL };

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
    u64 key = forms[kind].base;
    if (w->object_count[kind] == LIVE_OBJECTS_MAX)
        return NULL;
    while (find(w, kind, program, key) != NULL)
        key += forms[kind].step;
    live_object *const out = &w->objects[kind][w->object_count[kind]++];
    *out = (live_object){ .key = key,
                          .size = forms[kind].size_min +
                                  (u64)forms[kind].size_step *
                                      recorder_below(&w->random, forms[kind].sizes),
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
        for (u32 kind = RECORDER_HANDLE; kind < RECORDER_OBJECTS && w->starts_ns[program] < 0;
             kind++)
            (void)add(w, (recorder_object)kind, program);
    }
    recorder_list_objects(w, false);
}

void recorder_list_objects(world *w, bool at_end)
{
    for (u32 kind = 0; kind < RECORDER_OBJECTS; kind++) {
        for (u32 i = 0; i < w->object_count[kind]; i++) {
            const live_object *const one = &w->objects[kind][i];
            tell(w, (recorder_op)ops[kind][at_end ? IS_STILL : IS_LISTED],
                 kind == RECORDER_POOL ? RECORDER_SYSTEM : one->program, one);
        }
    }
}

void recorder_forget_objects(world *w, u32 program)
{
    for (u32 kind = RECORDER_HANDLE; kind < RECORDER_OBJECTS; kind++) {
        for (u32 i = w->object_count[kind]; i-- > 0;) {
            live_object *const one = &w->objects[kind][i];
            if (one->program == program)
                *one = w->objects[kind][--w->object_count[kind]];
        }
    }
}

static void set_site(world *w, recorder_event *event)
{
    if (w->r->setup.has_stacks)
        event->site = (u8)recorder_below(&w->random, RECORDER_SITES);
}

/* Opens a handle or maps a view for itself, or for another program that runs. */
static void open_own(world *w, recorder_object kind, u32 program)
{
    const u32 other = recorder_below(&w->random, w->r->setup.programs);
    const u32 owner = recorder_chance(&w->random, 25) && recorder_runs(w, other) ? other : program;
    const live_object *const object = add(w, kind, owner);
    const bool is_copy = kind == RECORDER_HANDLE && owner != program;
    if (object == NULL)
        return;
    recorder_event *const event =
        tell(w, is_copy ? RECORDER_COPY : (recorder_op)ops[kind][BEGINS], owner, object);
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

/* Frees any pool block, closes a handle or unmaps a view of the program. */
static void release(world *w, recorder_object kind, u32 program)
{
    const u32 count = w->object_count[kind];
    const u32 from = count == 0 ? 0 : recorder_below(&w->random, count);
    for (u32 i = 0; i < count; i++) {
        live_object *const at = &w->objects[kind][(from + i) % count];
        const live_object object = *at;
        if (kind != RECORDER_POOL && object.program != program)
            continue;
        *at = w->objects[kind][--w->object_count[kind]];
        tell(w, (recorder_op)ops[kind][ENDS], program, &object);
        return;
    }
}

void recorder_use_object(world *w, u32 program)
{
    const recorder_object kind = (recorder_object)recorder_below(&w->random, RECORDER_OBJECTS);
    if (recorder_chance(&w->random, 45))
        release(w, kind, program);
    else if (kind == RECORDER_POOL)
        allocate(w, program);
    else
        open_own(w, kind, program);
}
