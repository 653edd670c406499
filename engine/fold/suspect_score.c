/*
 * suspect_score.c - how likely a group of blocks leaks.
 *
 * A leak is memory that nobody will free. A trace cannot show that; it shows blocks that are
 * still there when it ends. Most of these are harmless: every program has tables that it makes
 * once, caches that fill up, and work that is not finished. Sorting by size finds these first.
 * What sets leaks apart is how their blocks are spread over time and over ages:
 *
 *     part of the run      0  . . . . . . . . . . . . . . .  31    born where    too old
 *     leak                 x  x  xx x  x x  xx x  x x x  xx x      everywhere    yes
 *     made at the start    xxx                                     early         yes
 *     cache that fills     xxxxxxx xx x  x                         mostly early  yes
 *     loaded once          .         xxx                           in one place  yes
 *     sessions, queue      .                              x xx     late          no
 *
 * The score is a product of four factors of 0 to 1:
 *
 *     outlived   Blocks count as lost if they are at least twice as old as nearly all freed blocks
 *                of the group became. Of all blocks that became so old, the share that is lost:
 *                if many of them are freed after all, the group has long lifetimes and no leak.
 *                If nothing is ever freed, every block is lost.
 *     spread     In how many parts of the run lost blocks were born, in proportion to as many blocks
 *                thrown at random. What is made in one place of the run, whenever that is, is no leak.
 *     lasting    The mean time of birth of lost blocks. About the middle if they are lost all the
 *                time; early if the group levels off.
 *     certain    In how many parts lost blocks were born: two or three prove nothing.
 *
 * "Spread" and "lasting" look only at the time in which blocks could have become too old. The share
 * of blocks that is lost is no factor: one in a hundred is as much of a leak as all of them. Neither
 * is size, which says how bad a leak is, not whether it is one; it orders what has the same score.
 *
 * Where the ideas come from: heap profilers with generations (Instruments, the .NET and Java ones) look
 * for objects that survive and whose siblings of every age survive too; bytehound's filters ask when blocks
 * were born, how long they live and whether a group still grows; survival analysis says that what
 * has no end yet is compared with what became at least as old.
 *
 * All of it is arithmetic of integers, so that every machine comes to the same score.
 */
#include "suspect_score.h"

#define ONE           1000u /* a factor of 1 */
#define USUAL_PERCENT 98    /* of the freed blocks: nearly all */
#define TIMES_AS_OLD  2
#define LOST_MIN      3
#define PARTS_MIN     6u /* a shorter time shows no spread */

/* From 0 at `low` to ONE at `high`. */
static u32 ramp(i64 value, i64 low, i64 high)
{
    if (value <= low)
        return 0;
    return value >= high ? ONE : (u32)((value - low) * ONE / (high - low));
}

/* What is known of blocks that are too old to be freed any more. */
typedef struct lost_blocks {
    u32 parts; /* from the first one on: blocks born in them could have become so old */
    i64 count, freed;
    u32 parts_with; /* parts in which lost blocks were born */
    i64 mean_birth; /* in thousandths of these parts */
} lost_blocks;

/* From this age on: twice as old as nearly all that was freed; 0 if nothing was. */
static i64 lost_age_ns(const suspect_sums *sums, i64 freed_count)
{
    if (freed_count == 0)
        return 0;
    const i64 rank = (freed_count * USUAL_PERCENT + 99) / 100;
    const i64 usual_ns = suspect_step_of(suspect_step_at(sums, rank)).to_ns;
    return usual_ns > INT64_MAX / TIMES_AS_OLD ? INT64_MAX : usual_ns * TIMES_AS_OLD;
}

/* How many parts end so long before the time does. */
static u32 parts_before(const suspect_time *time, i64 age_ns)
{
    u32 parts = 0;
    while (parts < SUSPECT_PARTS &&
           (u64)time->to_ns - (u64)growth_moment_ns(time->from_ns, time->to_ns, parts + 1) >=
               (u64)age_ns)
        parts++;
    return parts;
}

static lost_blocks find_lost(const suspect_sums *sums, const suspect_time *time)
{
    const i64 freed_count = sums->alloc_count - sums->kept_count;
    const i64 age_ns = lost_age_ns(sums, freed_count);
    lost_blocks lost = { .parts = parts_before(time, age_ns) };
    u64 births = 0;
    for (u32 i = 0; i < lost.parts; i++) {
        lost.count += sums->kept[i];
        lost.parts_with += sums->kept[i] > 0;
        births += (u64)sums->kept[i] * (2 * i + 1);
    }
    for (u32 step = 0; step < SUSPECT_LIFETIMES; step++)
        lost.freed +=
            suspect_step_of(step).from_ns >= age_ns && freed_count > 0 ? sums->lifetimes[step] : 0;
    if (lost.count > 0)
        lost.mean_birth = (i64)(births * (ONE / 2) / ((u64)lost.count * lost.parts));
    return lost;
}

/* In how many of the parts so many blocks are born if they are thrown at random, in thousandths. */
static i64 expected_parts(u32 parts, i64 count)
{
    u64 missed = (u64)1 << 30, factor = missed / parts * (parts - 1); /* 1 and 1 - 1/parts */
    for (u64 left = (u64)count; left > 0; left /= 2) {
        missed = left % 2 != 0 ? missed * factor >> 30 : missed;
        factor = factor * factor >> 30;
    }
    return (i64)((((u64)1 << 30) - missed) * parts * ONE >> 30);
}

u32 suspect_score(const suspect_sums *sums, const suspect_time *time)
{
    const lost_blocks lost = find_lost(sums, time);
    if (lost.parts < PARTS_MIN || lost.count < LOST_MIN)
        return 0;
    const i64 outlived = lost.count * ONE / (lost.count + lost.freed);
    const i64 spread = (i64)lost.parts_with * ONE * ONE / expected_parts(lost.parts, lost.count);
    const u64 factors[] = { ramp(outlived, 300, 800), ramp(spread, 100, 300),
                            ramp(lost.mean_birth, 180, 330), ramp(lost.parts_with, 1, 6) };
    u64 score = 100;
    for (u32 i = 0; i < ETL_COUNT_OF(factors); i++)
        score *= factors[i];
    for (u32 i = 0; i < ETL_COUNT_OF(factors); i++)
        score /= ONE;
    return (u32)score;
}
