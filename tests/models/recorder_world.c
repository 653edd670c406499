/*
 * recorder_world.c - what happens, in its true order, and when sessions run; recorder.h says what
 * for.
 *
 * In: a setup. Out: events, and the pieces that sessions write.
 *
 * Events happen one after the other, at least 100 ns apart, so their order is known. Programs start
 * and end, load images, create heaps, take blocks and ranges and give most of them back. Sessions
 * say which programs run when they start and when they stop.
 */
#include "recorder_inside.h"

#include <stdlib.h>

#define TICK_NS 100
#define HEAP    ((u64)0x1f0000)

u32 recorder_pid(u32 program)
{
    return program == RECORDER_SYSTEM ? 4 : 1000 + 4 * program;
}

u64 recorder_image(u32 image)
{
    return image == 0 ? 0x140000000 : 0x7ffa10000000;
}

const char *recorder_image_name(u32 program, u32 image)
{
    static const char *const names[] = { "one.exe", "two.exe", "three.exe" };
    return image == 0 ? names[program] : "shared.dll";
}

u32 recorder_site_image(u32 site)
{
    return site < RECORDER_SITES / 2 ? 0 : 1;
}

u64 recorder_site_address(u32 site)
{
    return recorder_image(recorder_site_image(site)) + 0x1000 + (u64)site * 0x100;
}

/* --- sessions -------------------------------------------------------------------------- */

static void add_piece(recorder *r, i64 start_ns, i64 stop_ns, u32 file)
{
    const recorder_setup *const s = &r->setup;
    const bool is_only_kernel = s->two_files && file == 0;
    r->pieces[r->piece_count++] = (recorder_piece){
        .start_ns = start_ns,
        .stop_ns = stop_ns,
        .file = file,
        .is_kernel = is_only_kernel || !s->two_files,
        .is_heap = !is_only_kernel,
        .is_ring = !is_only_kernel && (s->mode == RECORDER_RING || s->mode == RECORDER_BUFFERING),
    };
}

/* Begins another piece after the last one. */
static void cut_piece(recorder *r, i64 at_ns, i64 pause_ns, bool goes_on)
{
    recorder_piece *const last = &r->pieces[r->piece_count - 1];
    const i64 stop_ns = last->stop_ns;
    if (at_ns + pause_ns >= stop_ns)
        return;
    last->stop_ns = at_ns;
    add_piece(r, at_ns + pause_ns, stop_ns, last->file + goes_on);
    r->pieces[r->piece_count - 1].goes_on = goes_on;
}

static void lay_pieces(recorder *r)
{
    const recorder_setup *const s = &r->setup;
    const i64 left_ns = s->length_ns - s->heap_start_ns;
    if (s->two_files)
        add_piece(r, 0, INT64_MAX, 0);
    add_piece(r, s->heap_start_ns, s->heap_stop_ns, s->two_files);
    if (s->mode == RECORDER_APPEND)
        cut_piece(r, s->heap_start_ns + left_ns / 2, s->length_ns / 10, false);
    for (u32 i = 1; s->mode == RECORDER_NEWFILE && i < 3; i++)
        cut_piece(r, s->heap_start_ns + left_ns / 3 * i, 0, true);
    r->file_count = r->pieces[r->piece_count - 1].file + 1;
}

/* --- events ---------------------------------------------------------------------------- */

static u32 pick_cpu(world *w)
{
    const recorder_setup *const s = &w->r->setup;
    u32 cpu = recorder_below(&w->random, s->cpus);
    if ((cpu == s->idle_cpu && w->now_ns > s->idle_from_ns) ||
        (cpu == s->late_cpu && w->now_ns < s->length_ns / 10 * 9))
        cpu = 0;
    return cpu;
}

recorder_event *recorder_happen(world *w, recorder_op op, u32 program, u64 address)
{
    recorder *const r = w->r;
    if (r->count == RECORDER_EVENTS)
        abort();
    recorder_event *const out = &r->events[r->count++];
    *out = (recorder_event){
        .ns = w->now_ns,
        .op = (u8)op,
        .program = (u8)program,
        .actor = (u8)program,
        .piece = RECORDER_NOWHERE,
        .site = RECORDER_NO_STACK,
        .cpu = pick_cpu(w),
        .tid = recorder_pid(program) * 10 + recorder_below(&w->random, 3),
        .address = address,
    };
    w->now_ns += TICK_NS;
    return out;
}

bool recorder_runs(const world *w, u32 program)
{
    return w->now_ns >= w->starts_ns[program] && w->now_ns < w->ends_ns[program];
}

static void allocate(world *w, u32 program)
{
    const bool is_range = recorder_chance(&w->random, 15);
    const bool again = !is_range && w->r->setup.reuses_addresses && w->freed_count > 0 &&
                       recorder_chance(&w->random, 70);
    const u64 address = again ? w->freed[--w->freed_count] : w->next_address;
    const u64 size = is_range ? 0x10000 : 16 + recorder_below(&w->random, 4000);
    const u64 heap = HEAP + (u64)0x100000 * recorder_below(&w->random, RECORDER_HEAPS);
    if (w->live_count == LIVE_MAX)
        return;
    w->next_address += again ? 0 : 0x20000;
    w->live[w->live_count++] = (live_block){ address, size, heap, (u8)program, is_range };
    recorder_event *const event =
        recorder_happen(w, is_range ? RECORDER_COMMIT : RECORDER_ALLOC, program, address);
    event->size = size;
    event->heap = heap;
    if (w->r->setup.has_stacks)
        event->site = (u8)recorder_below(&w->random, RECORDER_SITES);
}

/* Frees a block of the program, sooner a young one. */
static void release(world *w, u32 program)
{
    for (u32 turn = 0; turn < 8 && w->live_count > 0; turn++) {
        const u32 young = w->live_count < 8 ? w->live_count : 8;
        const u32 at = recorder_chance(&w->random, 70)
                           ? w->live_count - 1 - recorder_below(&w->random, young)
                           : recorder_below(&w->random, w->live_count);
        const live_block block = w->live[at];
        if (block.program != program)
            continue;
        w->live[at] = w->live[--w->live_count];
        if (!block.is_range && w->freed_count < ETL_COUNT_OF(w->freed))
            w->freed[w->freed_count++] = block.address;
        recorder_event *const event = recorder_happen(
            w, block.is_range ? RECORDER_RELEASE : RECORDER_FREE, program, block.address);
        event->size = block.size;
        event->heap = block.heap;
        return;
    }
}

/* Forgets the blocks of a program, or (heap != 0) of one of its heaps. */
static void forget_blocks(world *w, u32 program, u64 heap)
{
    for (u32 i = w->live_count; i-- > 0;) {
        const live_block *const block = &w->live[i];
        if (block->program == program && (heap == 0 || (block->heap == heap && !block->is_range)))
            w->live[i] = w->live[--w->live_count];
    }
}

/* Destroys a heap, and creates one that gets its handle. */
static void renew_heap(world *w, u32 program)
{
    const u64 heap = HEAP + 0x100000;
    recorder_happen(w, RECORDER_DESTROY, program, 0)->heap = heap;
    forget_blocks(w, program, heap);
    recorder_happen(w, RECORDER_CREATE, program, 0)->heap = heap;
}

static void tell_program(world *w, u32 program, recorder_op process, recorder_op image)
{
    recorder_happen(w, process, program, 0);
    for (u32 i = 0; i < RECORDER_IMAGES; i++)
        recorder_happen(w, image, program, recorder_image(i));
}

/* A session that starts or stops says which programs run, since before a moment. */
static void run_down(world *w, i64 before_ns, recorder_op process, recorder_op image)
{
    for (u32 p = 0; p < w->r->setup.programs; p++) {
        if (w->starts_ns[p] <= before_ns && recorder_runs(w, p))
            tell_program(w, p, process, image);
    }
}

/* Sessions that start or stop now. One that goes on in another file says nothing. */
static void turn_sessions(world *w, i64 before_ns)
{
    recorder *const r = w->r;
    for (u32 i = 0; i < r->piece_count; i++) {
        recorder_piece *const piece = &r->pieces[i];
        const bool is_last = i + 1 == r->piece_count || !r->pieces[i + 1].goes_on;
        if (piece->stop_ns > before_ns && piece->stop_ns <= w->now_ns && piece->is_kernel &&
            is_last) {
            run_down(w, before_ns, RECORDER_STILL, RECORDER_STILL_LOADED);
            recorder_list_objects(w, true);
            piece->stop_ns = w->now_ns;
        }
        if (piece->start_ns > before_ns && piece->start_ns <= w->now_ns && piece->is_kernel &&
            !piece->goes_on) {
            run_down(w, before_ns, RECORDER_RUNNING, RECORDER_LOADED);
            recorder_list_objects(w, false);
        }
    }
}

static void turn_programs(world *w, i64 before_ns)
{
    for (u32 p = 0; p < w->r->setup.programs; p++) {
        if (w->starts_ns[p] > before_ns && w->starts_ns[p] <= w->now_ns) {
            w->starts_ns[p] = w->now_ns;
            tell_program(w, p, RECORDER_START, RECORDER_LOAD);
        }
        if (w->ends_ns[p] > before_ns && w->ends_ns[p] <= w->now_ns) {
            w->ends_ns[p] = w->now_ns;
            recorder_happen(w, RECORDER_EXIT, p, 0);
            forget_blocks(w, p, 0);
            recorder_forget_objects(w, p);
        }
    }
}

static void begin_world(world *w)
{
    const recorder_setup *const s = &w->r->setup;
    for (u32 p = 0; p < s->programs; p++) {
        w->starts_ns[p] = recorder_chance(&w->random, 50)
                              ? -1
                              : s->length_ns / 100 * recorder_below(&w->random, 60);
        w->ends_ns[p] =
            p > 0 && recorder_chance(&w->random, 50)
                ? w->starts_ns[p] + s->length_ns / 100 * (5 + recorder_below(&w->random, 30))
                : INT64_MAX;
        if (w->starts_ns[p] < 0)
            tell_program(w, p, RECORDER_RUNNING, RECORDER_LOADED);
    }
    recorder_begin_objects(w);
}

static void do_something(world *w, u32 program)
{
    if (w->r->setup.has_objects && recorder_chance(&w->random, 50))
        recorder_use_object(w, program);
    else if (w->r->setup.destroys_heaps && recorder_chance(&w->random, 1))
        renew_heap(w, program);
    else if (recorder_chance(&w->random, 55))
        allocate(w, program);
    else
        release(w, program);
}

void recorder_live(recorder *r)
{
    const recorder_setup *const s = &r->setup;
    world *const w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    w->r = r;
    w->random = s->seed;
    w->next_address = 0x20000000000;
    w->now_ns = 1000;
    lay_pieces(r);
    begin_world(w);
    for (u32 i = 0; i < s->events; i++) {
        const i64 before_ns = w->now_ns;
        const i64 gap_ns = (i64)(recorder_random(&w->random) % (u64)(2 * s->length_ns / s->events));
        w->now_ns += (gap_ns / TICK_NS + 1) * TICK_NS;
        turn_sessions(w, before_ns);
        turn_programs(w, before_ns);
        const u32 program = recorder_below(&w->random, s->programs);
        if (recorder_runs(w, program))
            do_something(w, program);
    }
    if (s->ending == RECORDER_STOPPED) {
        run_down(w, w->now_ns, RECORDER_STILL, RECORDER_STILL_LOADED);
        recorder_list_objects(w, true);
    }
    free(w);
}
