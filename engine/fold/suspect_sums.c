/*
 * suspect_sums.c - sums over the blocks of a group, of fixed size, from which its score as a
 * suspect is made. suspect_sums.h draws how blocks are counted.
 *
 * In: the blocks that a query selects, each with its type. Out: suspect_sums: births by part of the
 * run, the same for blocks that are never freed, lifetimes by half octaves, and outstanding size at
 * each moment.
 *
 * Sizes at the moments are kept as differences: a block adds its size at the first moment after its
 * allocation and subtracts it at the first one after its free; suspect_sizes adds them up.
 * Invariant: no sum depends on the order of blocks or tasks. Whatever is added here must be a sum,
 * a minimum or a maximum, or keep the lowest values of a set (note_thread).
 */
#include "suspect_sums.h"

#include "engine/core/type_rule.h"

#define STEP_BITS_MIN 6u /* lifetimes below 2^6 ns are one step */

/* The first moment later than `ticks`; GROWTH_SAMPLES if there is none. A binary search without
 * branches. */
static u32 first_after(const suspect_time *time, i64 ticks)
{
    u32 at = 0;
    for (u32 half = 16; half > 0; half /= 2)
        at += time->ticks[at + half - 1] <= ticks ? half : 0;
    at += time->ticks[at] <= ticks;
    return at < GROWTH_SAMPLES - 1 ? at : at + (time->ticks[at] <= ticks);
}

suspect_time suspect_time_of(const query_plan *plan, etlheap_time_range span, u32 kinds)
{
    const etl_session *const session = plan->result->base.base;
    const etlheap_time_range window = { plan->from_ns, plan->to_ns };
    const etlheap_time_range part = etlheap_recorded_part(&plan->result->info, kinds, window);
    suspect_time out = { .from_ns = span.from_ns, .to_ns = span.to_ns };
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        out.ticks[i] = etl_time_ticks(session, sample_time_ns(out.from_ns, out.to_ns, i));
    out.recorded_ticks = etl_time_ticks(session, part.from_ns);
    return out;
}

/* Keeps the lowest ids, whatever the order in which they come. */
static void note_thread(suspect_sums *sums, u32 thread)
{
    u32 at = 0;
    if (thread == ETL_NO_ID)
        return;
    while (at < sums->thread_count && sums->threads[at] < thread)
        at++;
    if (at < sums->thread_count && sums->threads[at] == thread)
        return;
    if (sums->thread_count == ETLHEAP_SUSPECT_THREADS_MAX)
        sums->has_more_threads = true;
    if (at == ETLHEAP_SUSPECT_THREADS_MAX)
        return;
    const u32 last = sums->thread_count < ETLHEAP_SUSPECT_THREADS_MAX ? sums->thread_count++
                                                                      : sums->thread_count - 1;
    for (u32 i = last; i > at; i--)
        sums->threads[i] = sums->threads[i - 1];
    sums->threads[at] = thread;
}

static void note_times(suspect_sums *sums, i64 first_ticks, i64 last_ticks)
{
    const bool is_first = sums->kept_count == 0;
    if (is_first || first_ticks < sums->first_ticks)
        sums->first_ticks = first_ticks;
    if (is_first || last_ticks > sums->last_ticks)
        sums->last_ticks = last_ticks;
}

static void add_kept(suspect_sums *sums, const suspect_block *block, i64 size, u32 part)
{
    note_times(sums, block->row.alloc_ticks, block->row.alloc_ticks);
    note_thread(sums, block->thread);
    sums->kept_count++;
    sums->kept_size = etl_sat_add_i64(sums->kept_size, size);
    sums->kept[part]++;
}

/* The step that a lifetime falls into: the lower or the upper half of an octave. */
static u32 step_of(i64 lifetime_ns)
{
    const u64 ns = lifetime_ns < 0 ? 0 : (u64)lifetime_ns;
    if (ns >> STEP_BITS_MIN == 0)
        return 0;
    const u32 bit = 63 - (u32)__builtin_clzll(ns);
    const u32 step = 1 + 2 * (bit - STEP_BITS_MIN) + (u32)(ns >> (bit - 1) & 1);
    return step < SUSPECT_LIFETIMES ? step : SUSPECT_LIFETIMES - 1;
}

suspect_step suspect_step_of(u32 step)
{
    if (step == 0)
        return (suspect_step){ 0, (i64)1 << STEP_BITS_MIN };
    const u32 bit = STEP_BITS_MIN + (step - 1) / 2;
    const i64 half = (i64)1 << (bit - 1);
    const i64 from_ns = 2 * half + ((step - 1) % 2 == 0 ? 0 : half);
    return (suspect_step){ from_ns, step == SUSPECT_LIFETIMES - 1 ? INT64_MAX : from_ns + half };
}

i64 suspect_step_middle(u32 step)
{
    const suspect_step of = suspect_step_of(step);
    return step == SUSPECT_LIFETIMES - 1 ? of.from_ns : of.from_ns + (of.to_ns - of.from_ns) / 2;
}

u32 suspect_step_at(const suspect_sums *sums, i64 rank)
{
    i64 before = 0;
    u32 step = 0;
    for (; step < SUSPECT_LIFETIMES - 1; step++) {
        before += sums->lifetimes[step];
        if (before >= rank)
            break;
    }
    return step;
}

/* Blocks allocated before the window count only in the outstanding size. */
static bool counts_as_born(const query_row *row)
{
    return row->type == ETLHEAP_TYPE_AIFO || row->type == ETLHEAP_TYPE_AIFI;
}

suspect_places suspect_places_of(const query_plan *plan, const suspect_time *time,
                                 const suspect_block *block)
{
    const query_row *const row = &block->row;
    const u32 first = first_after(time, row->alloc_ticks);
    const u32 part = first == 0 ? 0 : first > SUSPECT_PARTS ? SUSPECT_PARTS - 1 : first - 1;
    suspect_places places = { first, first_after(time, row->free_ticks), part, SUSPECT_LIFETIMES,
                              row->alloc_ticks < time->recorded_ticks };
    i64 lifetime_ns = 0;
    if (counts_as_born(row) && query_lifetime_ns(plan, row, &lifetime_ns))
        places.step = step_of(lifetime_ns);
    return places;
}

void suspect_add(suspect_sums *sums, const suspect_block *block, const suspect_places *places)
{
    const query_row *const row = &block->row;
    const i64 size = (i64)etl_min_u64(block->size_bytes, INT64_MAX);
    if (places->first < GROWTH_SAMPLES)
        sums->steps[places->first] += (u64)size;
    if (places->end < GROWTH_SAMPLES)
        sums->steps[places->end] -= (u64)size;
    if (type_is_outstanding(row->type)) {
        sums->outstanding_count++;
        sums->outstanding_size = etl_sat_add_i64(sums->outstanding_size, size);
    }
    if (!counts_as_born(row) || places->is_unsure)
        return;
    sums->alloc_count++;
    sums->born[places->part]++;
    if (row->free_ticks == ETLHEAP_TICKS_NEVER)
        add_kept(sums, block, size, places->part);
    else if (places->step < SUSPECT_LIFETIMES)
        sums->lifetimes[places->step]++;
}

void suspect_join(suspect_sums *to, const suspect_sums *from)
{
    if (from->kept_count > 0)
        note_times(to, from->first_ticks, from->last_ticks);
    for (u32 i = 0; i < from->thread_count; i++)
        note_thread(to, from->threads[i]);
    to->has_more_threads |= from->has_more_threads;
    to->alloc_count += from->alloc_count;
    to->kept_count += from->kept_count;
    to->kept_size = etl_sat_add_i64(to->kept_size, from->kept_size);
    to->outstanding_count += from->outstanding_count;
    to->outstanding_size = etl_sat_add_i64(to->outstanding_size, from->outstanding_size);
    for (u32 i = 0; i < SUSPECT_PARTS; i++) {
        to->born[i] += from->born[i];
        to->kept[i] += from->kept[i];
    }
    for (u32 i = 0; i < SUSPECT_LIFETIMES; i++)
        to->lifetimes[i] += from->lifetimes[i];
    for (u32 i = 0; i < GROWTH_SAMPLES; i++)
        to->steps[i] += from->steps[i];
}

void suspect_sizes(const suspect_sums *sums, i64 sizes[GROWTH_SAMPLES])
{
    u64 size = 0;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        size += sums->steps[i];
        sizes[i] = (i64)etl_min_u64(size, INT64_MAX);
    }
}
