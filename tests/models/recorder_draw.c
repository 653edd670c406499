/*
 * recorder_draw.c - draws what a recording is like; recorder.h says what for.
 *
 * In: a seed. Out: a setup. What files cannot tell apart is left out here: addresses are used again
 * only if no free is missing, since a block that was freed unseen and a block of the same address
 * look alike.
 */
#include "recorder.h"

#include <stdio.h>

#define SECOND_NS INT64_C(1000000000)
#define HOUR_NS   (3600 * SECOND_NS)

u64 recorder_random(u64 *state)
{
    u64 x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

u32 recorder_below(u64 *state, u32 limit)
{
    return (u32)(recorder_random(state) % limit);
}

bool recorder_chance(u64 *state, u32 percent)
{
    return recorder_below(state, 100) < percent;
}

bool recorder_is_coarse(const recorder_setup *setup)
{
    return setup->clock_step_ns > 0 || setup->clock_hz < 10000000;
}

bool recorder_is_mixed(const recorder_setup *setup)
{
    const bool is_set =
        setup->wall_shift_ns > 2 * SECOND_NS || setup->wall_shift_ns < -2 * SECOND_NS;
    return setup->mixes_clocks ||
           (is_set && setup->merge == RECORDER_UNMERGED && setup->given != RECORDER_HEAP_ONLY &&
            setup->given != RECORDER_KERNEL_ONLY);
}

static bool is_ring(const recorder_setup *s)
{
    return s->mode == RECORDER_RING || s->mode == RECORDER_BUFFERING;
}

static void draw_clock(recorder_setup *out, u64 *random)
{
    static const i64 steps[] = { 500000, 1000000, 15625000 };
    static const u64 counters[] = { 10000000, 10000000, 24000000, 3117777 };
    static const u64 cycles[] = { 1000000000, 2995000000 };
    out->clock = recorder_chance(random, 60) ? 1 : 2 + recorder_below(random, 2);
    if (out->clock == 1)
        out->clock_hz = counters[recorder_below(random, ETL_COUNT_OF(counters))];
    else if (out->clock == 3)
        out->clock_hz = cycles[recorder_below(random, ETL_COUNT_OF(cycles))];
    else
        out->clock_hz = 10000000;
    if (out->clock == 2)
        out->clock_step_ns = steps[recorder_below(random, ETL_COUNT_OF(steps))];
    if (recorder_chance(random, 10))
        out->sleep_ns = 8 * HOUR_NS;
}

static void draw_sessions(recorder_setup *out, u64 *random)
{
    static const u32 idle[] = { 20, 20, 60, 80, 90, 95 }; /* per cent of the time */
    out->mode = (recorder_mode)recorder_below(random, RECORDER_MODES);
    out->ring_buffers = out->cpus + 1 + recorder_below(random, 4);
    out->two_files = recorder_chance(random, 40);
    out->heap_stop_ns = INT64_MAX;
    out->heap_programs = UINT32_MAX;
    if (recorder_chance(random, 40))
        out->heap_start_ns = out->length_ns / 10 * (1 + recorder_below(random, 7));
    if (recorder_chance(random, 20))
        out->heap_stop_ns = out->length_ns / 20 * (16 + recorder_below(random, 3));
    if (recorder_chance(random, 20))
        out->heap_programs = 1 + recorder_below(random, 7);
    if (recorder_chance(random, 25))
        out->flush_ns = out->length_ns / (10 + recorder_below(random, 30));
    out->idle_from_ns = out->length_ns / 100 * idle[recorder_below(random, ETL_COUNT_OF(idle))];
    if (out->cpus > 1 && recorder_chance(random, 50))
        out->idle_cpu = out->cpus - 1;
    else if (out->cpus > 1 && recorder_chance(random, 50))
        out->late_cpu = out->cpus - 1;
}

/* What goes wrong, in recordings that are not strange already. */
static void draw_trouble(recorder_setup *out, u64 *random)
{
    const bool is_plain = out->mode == RECORDER_FILE;
    if (is_plain && recorder_chance(random, 20))
        out->lost_buffers = 1 + recorder_below(random, 2);
    if (!is_ring(out) && recorder_chance(random, 12))
        out->lost_events = 1 + recorder_below(random, 20);
    if (out->clock == 2 && is_plain && out->length_ns > 3 * SECOND_NS &&
        recorder_chance(random, 40))
        out->clock_shift_ns = recorder_chance(random, 60) ? -2 * SECOND_NS : HOUR_NS;
    if (recorder_chance(random, 15))
        out->ending =
            recorder_chance(random, 50) && !is_ring(out) ? RECORDER_CUT : RECORDER_GROWING;
    if (out->two_files && recorder_chance(random, 10))
        out->mixes_clocks = out->clock != 1;
}

static void draw_files(recorder_setup *out, u64 *random)
{
    const bool may_merge = out->clock_shift_ns == 0 && !out->mixes_clocks;
    if (may_merge && recorder_chance(random, 30))
        out->merge = recorder_chance(random, 50) ? RECORDER_MERGED : RECORDER_COMPRESSED;
    else if (out->mode == RECORDER_NEWFILE && recorder_chance(random, 25))
        out->given = RECORDER_LAST_ONLY;
    else if (out->two_files && recorder_chance(random, 30))
        out->given = recorder_chance(random, 80) ? RECORDER_HEAP_ONLY : RECORDER_KERNEL_ONLY;
}

/* The performance counter and the cycles go on when the wall clock is set. */
static void draw_later(recorder_setup *out, u64 *random)
{
    static const i64 shifts[] = { SECOND_NS, -SECOND_NS * 3 / 2, HOUR_NS, -HOUR_NS };
    const bool is_set = recorder_chance(random, 30);
    const i64 shift_ns = shifts[recorder_below(random, ETL_COUNT_OF(shifts))];
    if (is_set && out->two_files && out->clock != 2 && !out->mixes_clocks)
        out->wall_shift_ns = shift_ns;
    out->package = (recorder_package)recorder_below(random, 3);
}

recorder_setup recorder_draw(u64 seed)
{
    static const i64 lengths[] = { SECOND_NS / 20, 2 * SECOND_NS, 60 * SECOND_NS, HOUR_NS };
    u64 random = seed * 2654435761u + 1;
    recorder_setup out = { .seed = seed, .idle_cpu = UINT32_MAX, .late_cpu = UINT32_MAX };
    out.cpus = 1 + recorder_below(&random, 4);
    out.programs = 1 + recorder_below(&random, RECORDER_PROGRAMS);
    out.events = 60 + recorder_below(&random, 700);
    out.length_ns = lengths[recorder_below(&random, ETL_COUNT_OF(lengths))];
    draw_clock(&out, &random);
    draw_sessions(&out, &random);
    draw_trouble(&out, &random);
    draw_files(&out, &random);
    out.has_stacks = recorder_chance(&random, 60);
    out.destroys_heaps = !recorder_is_coarse(&out) && recorder_chance(&random, 30);
    out.reuses_addresses = !is_ring(&out) && out.lost_buffers == 0 && out.lost_events == 0 &&
                           out.ending == RECORDER_STOPPED && out.mode != RECORDER_APPEND &&
                           recorder_chance(&random, 70);
    draw_later(&out, &random);
    out.has_objects = recorder_chance(&random, 50);
    return out;
}

void recorder_describe(const recorder_setup *s, char *out, size_t size)
{
    static const char *const modes[] = { "file", "ring", "buffering", "append", "new files" };
    static const char *const merges[] = { "unmerged", "merged", "compressed" };
    static const char *const endings[] = { "stopped", "growing", "cut" };
    static const char *const given[] = { "all", "kernel only", "heap only", "last only" };
    static const char *const packages[] = { "loose", "zip", "diagsession" };
    const int used =
        snprintf(out, size,
                 "seed %llu: %u cpus, %u programs (heaps %x), %u events in %.3f s, clock %u of "
                 "%llu Hz step %lld ns shift %lld ns%s, sleeps %.0f s",
                 (unsigned long long)s->seed, s->cpus, s->programs, s->heap_programs & 7, s->events,
                 (double)s->length_ns / 1e9, s->clock, (unsigned long long)s->clock_hz,
                 (long long)s->clock_step_ns, (long long)s->clock_shift_ns,
                 s->mixes_clocks ? " mixed" : "", (double)s->sleep_ns / 1e9);
    if (used < 0 || (size_t)used >= size)
        return;
    snprintf(out + used, size - (size_t)used,
             ", %s of %u, %s, heap from %.3f s to %.3f s, flush %.3f s, idle %d after %.3f s, late "
             "%d, lost %u "
             "buffers %u events%s%s%s, %s, %s, %s, %s, wall clock set by %.1f s",
             modes[s->mode], s->ring_buffers, s->two_files ? "two files" : "one file",
             (double)s->heap_start_ns / 1e9,
             s->heap_stop_ns == INT64_MAX ? -1 : (double)s->heap_stop_ns / 1e9,
             (double)s->flush_ns / 1e9, (int)s->idle_cpu, (double)s->idle_from_ns / 1e9,
             (int)s->late_cpu, s->lost_buffers, s->lost_events,
             s->reuses_addresses ? ", reuse" : "", s->has_stacks ? ", stacks" : "",
             s->destroys_heaps ? ", destroys" : "", merges[s->merge], endings[s->ending],
             given[s->given], packages[s->package], (double)s->wall_shift_ns / 1e9);
}
