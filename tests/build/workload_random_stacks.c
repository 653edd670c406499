/*
 * workload_random_stacks.c - plausible stacks: the allocator innermost, the
 * thread's start outermost, the program and its libraries between, now and then
 * an address no module covers (generated code).
 */
#include "workload_random.h"

#define DEPTH_COMMON_MAX 24u
#define DEPTH_DEEP_MAX   70u
#define KERNEL_DEPTH_MAX 9u
#define GENERATED_BASE   0x20000000u

static u32 make_stack(maker *m, const runner *r, bool kernel, bool common);
static u32 add_kernel_frames(maker *m, u64 *frames);
static u32 add_user_frames(maker *m, u32 process, u64 *frames, bool common);
static u64 frame_in(maker *m, u32 image);

void maker_stack_pools(maker *m, runner *r)
{
    const u32 wanted = m->options.stacks;
    const u32 count = wanted < RUNNER_POOL_MAX ? wanted : RUNNER_POOL_MAX;
    r->heap_stack_count = 0;
    r->memory_stack_count = 0;
    for (u32 i = 0; i < count; i++)
        r->heap_stacks[r->heap_stack_count++] = make_stack(m, r, false, false);
    for (u32 i = 0; i < count / 3 + 1; i++)
        r->memory_stacks[r->memory_stack_count++] = make_stack(m, r, true, false);
}

/* Valid at any time: its images stay for as long as the process does. */
static u32 make_stack(maker *m, const runner *r, bool kernel, bool common)
{
    u64 frames[WORKLOAD_FRAMES_MAX];
    const u32 kernel_count = kernel ? add_kernel_frames(m, frames) : 0;
    const u32 user_count = add_user_frames(m, r->process, frames + kernel_count, common);
    return workload_add_stack(m->w, r->process, INT64_MAX - 1, frames,
                              (u32[2]){ kernel_count, user_count });
}

static u32 add_kernel_frames(maker *m, u64 *frames)
{
    const u32 kernel = workload_find_image(m->w, WORKLOAD_KERNEL, "ntoskrnl.exe");
    const u32 count = 1 + (u32)below(m, KERNEL_DEPTH_MAX);
    for (u32 i = 0; i < count; i++)
        frames[i] = frame_in(m, kernel);
    return count;
}

/* Mostly short, some deep; some of fewer than four frames, which are not cached. */
static u32 add_user_frames(maker *m, u32 process, u64 *frames, bool common)
{
    static const char *const libraries[3] = { "ntdll.dll", "kernel32.dll", "ucrtbase.dll" };
    const u32 deepest = chance(m, 15) ? DEPTH_DEEP_MAX : DEPTH_COMMON_MAX;
    const u32 count = 2 + (u32)below(m, deepest - 1);
    char program[64];
    workload_image_name(&m->w->images[m->w->image_count - 1], program);
    for (u32 i = 0; i < m->w->image_count; i++) {
        if (m->w->images[i].process == process && strstr(m->w->images[i].path, "Programs"))
            workload_image_name(&m->w->images[i], program);
    }
    for (u32 i = 0; i < count; i++) {
        const char *name = libraries[i == 0 ? 0 : below(m, 3)];
        if (!common && i > 1 && chance(m, 45))
            name = program;
        if (!common && chance(m, 1))
            frames[i] = GENERATED_BASE + below(m, 0x10000000);
        else
            frames[i] = frame_in(m, workload_find_image(m->w, process, name));
    }
    return count;
}

static u64 frame_in(maker *m, u32 image)
{
    const workload_image *const i = &m->w->images[image];
    return i->base + 0x1000 + below(m, i->size - 0x1000);
}

u32 maker_image_stack(maker *m, const runner *r, u32 image)
{
    /* The same addresses whichever image lies there. */
    const u64 base = m->w->images[image].base;
    u64 frames[8];
    frames[0] = frame_in(m, workload_find_image(m->w, r->process, "ntdll.dll"));
    for (u32 i = 1; i < 6; i++)
        frames[i] = base + 0x1000 + (u64)i * 0x111;
    return workload_add_stack(m->w, r->process, m->now, frames, (u32[2]){ 0, 6 });
}

u32 maker_joined_stack(maker *m, u32 kernel_of, u32 user_of)
{
    u64 frames[WORKLOAD_FRAMES_MAX];
    const workload_stack k = m->w->stacks[kernel_of];
    const workload_stack u = m->w->stacks[user_of];
    memcpy(frames, k.frames, k.kernel_count * sizeof *frames);
    memcpy(frames + k.kernel_count, u.frames + u.kernel_count, u.user_count * sizeof *frames);
    return workload_add_stack(m->w, u.process, u.ticks, frames,
                              (u32[2]){ k.kernel_count, u.user_count });
}

u32 maker_kernel_stack(maker *m, u32 process)
{
    u64 frames[WORKLOAD_FRAMES_MAX];
    const u32 count = add_kernel_frames(m, frames);
    return workload_add_stack(m->w, process, INT64_MAX - 1, frames, (u32[2]){ count, 0 });
}

u32 maker_common_stack(maker *m, u32 process)
{
    const runner r = { .process = process };
    return make_stack(m, &r, true, true);
}
