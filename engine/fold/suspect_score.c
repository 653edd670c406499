/*
 * suspect_score.c - scores how likely a group of blocks leaks.
 *
 * In: the sums of a group (suspect_sums.h) and the time in which its process ran. Out: a score of 0
 * to 100; suspects.c keeps groups from SUSPECT_SCORE_MIN on.
 *
 * A leak is memory that nobody will free. A trace cannot show that; it shows blocks that are still
 * there when it ends. Most of these are harmless: every program has tables that it makes once,
 * caches that fill up, and unfinished work. Sorting by size finds these first. Leaks differ in how
 * their blocks are spread over time and over ages:
 *
 *     part of the run      0  . . . . . . . . . . . . . . .  31    born where    too old
 *     leak                 x  x  xx x  x x  xx x  x x x  xx x      everywhere    yes
 *     made at the start    xxx                                     early         yes
 *     cache that fills     xxxxxxx xx x  x                         mostly early  yes
 *     loaded once          .         xxx                           in one place  yes
 *     sessions, queue      .                              x xx     late          no
 *
 * A block counts as lost if it is older than an age that almost no freed block of the group
 * reached. The score is a product of four factors of 0 to 1 over the lost blocks:
 *
 *     outlived   Of all blocks that became that old, the share that is lost. If many of them are
 *                freed after all, the group has long lifetimes and does not leak. If nothing is
 *                ever freed, every block is lost.
 *     spread     The number of parts of the run in which lost blocks were born, relative to as
 *                many blocks thrown at random. Blocks made in one place of the run are not a
 *                leak. If a group frees most of its blocks, these show in which parts it works
 *                at all, and only those parts count.
 *     lasting    How far back the births of lost blocks lie, in octaves of the run. About 1.4 if
 *                they are lost all the time; 3 and more if births become rarer with time, as in
 *                everything that fills up or grows in ever larger steps.
 *     certain    In how many parts lost blocks were born: two or three prove nothing.
 *
 * The age begins at twice the 98th percentile of lifetimes. It is raised in steps while enough of
 * the run is left, and the best score counts, because a few long lifetimes more or less are chance.
 *
 * "spread" and "lasting" look only at the time in which blocks could have become that old. If
 * lifetimes are long, that is the beginning of the run, and says nothing about the rest of it. So a
 * group that lost no blocks in the second half, or that does not grow, has a limited score. The
 * share of lost blocks does not count: one in a hundred is as much of a leak as all of them.
 * Neither does size, which says how bad a leak is, not whether it is one; it orders equal scores.
 *
 * The ideas come from heap profilers with generations (Instruments, those of .NET and Java), which
 * look for objects that survive and whose siblings of every age survive too; from bytehound's
 * filters, which ask when blocks were born, how long they live and whether a group still grows; and
 * from survival analysis, which compares what has no end yet with what became at least as old.
 *
 * Invariant: all arithmetic is in integers, so that every machine computes the same score.
 */
#include "suspect_score.h"

#define ONE           1000u /* a factor of 1 */
#define USUAL_PERCENT 98    /* of the freed blocks: nearly all */
#define AGE_STEPS     3u /* from the one that reaches up to a lifetime to that of twice as much */
#define LOST_MIN      3
#define PARTS_MIN     6u /* a shorter time shows no spread */

/* A ramp from 0 at `low` to ONE at `high`. */
static u32 ramp(i64 value, i64 low, i64 high)
{
    if (value <= low)
        return 0;
    return value >= high ? ONE : (u32)((value - low) * ONE / (high - low));
}

/* What is known about the blocks that reached an age. */
typedef struct lost_blocks {
    u32 parts; /* from the first one on: blocks born in them could have become so old */
    i64 count, freed;
    u32 parts_with;   /* parts in which lost blocks were born */
    u32 parts_active; /* and in which the group is known to work */
    i64 octaves;      /* the mean of how far back they were born, in thousandths */
} lost_blocks;

/* log2 in thousandths, rounded down, of 1 to 2^16. */
static i64 octaves_of(u32 value)
{
    const u32 bit = 31 - (u32)__builtin_clz(value);
    u64 mantissa = ((u64)value << 30) >> bit; /* 1 to 2, as a multiple of 2^-30 */
    i64 out = (i64)bit << 12;
    for (i64 half = 1 << 11; half > 0; half /= 2) {
        mantissa = mantissa * mantissa >> 30;
        out += mantissa >> 31 != 0 ? half : 0;
        mantissa >>= mantissa >> 31;
    }
    return out * ONE >> 12;
}

/* The number of parts that end at least this long before the end of the time. */
static u32 parts_before(const suspect_time *time, i64 age_ns)
{
    u32 parts = 0;
    while (parts < SUSPECT_PARTS &&
           (u64)time->to_ns - (u64)sample_time_ns(time->from_ns, time->to_ns, parts + 1) >=
               (u64)age_ns)
        parts++;
    return parts;
}

static lost_blocks find_lost(const suspect_sums *sums, const suspect_time *time, i64 age_ns,
                             i64 freed)
{
    lost_blocks lost = { .parts = parts_before(time, age_ns), .freed = freed };
    const bool frees_most = sums->alloc_count >= 2 * sums->kept_count;
    i64 octaves = 0;
    for (u32 i = 0; i < lost.parts; i++) {
        const bool has = sums->kept[i] > 0;
        lost.count += sums->kept[i];
        lost.parts_with += has;
        lost.parts_active += has || !frees_most || sums->born[i] > 0;
        octaves += sums->kept[i] * (octaves_of(2 * lost.parts) - octaves_of(2 * i + 1));
    }
    lost.octaves = lost.count == 0 ? 0 : octaves / lost.count;
    return lost;
}

/* The expected number of parts with a birth if `count` blocks are thrown at random, in
 * thousandths. */
static i64 expected_parts(u32 parts, i64 count)
{
    const u64 one = (u64)1 << 30;
    u64 missed = one, factor = one / parts * (parts - 1); /* 1 - 1/parts */
    for (u64 left = (u64)count; left > 0; left /= 2) {
        missed = left % 2 != 0 ? missed * factor >> 30 : missed;
        factor = factor * factor >> 30;
    }
    return (i64)((one - missed) * parts * ONE >> 30);
}

static u32 score_of(const lost_blocks *lost)
{
    if (lost->count < LOST_MIN)
        return 0;
    const i64 outlived = lost->count * ONE / (lost->count + lost->freed);
    const i64 spread =
        (i64)lost->parts_with * ONE * ONE / expected_parts(lost->parts_active, lost->count);
    const u32 factors[] = { ramp(outlived, 300, 800), ramp(spread, 100, 300),
                            ONE - ramp(lost->octaves, 2150, 3000), ramp(lost->parts_with, 1, 6) };
    u64 score = 100;
    for (u32 i = 0; i < ETL_COUNT_OF(factors); i++)
        score *= factors[i];
    for (u32 i = 0; i < ETL_COUNT_OF(factors); i++)
        score /= ONE;
    return (u32)score;
}

u32 suspect_score(const suspect_sums *sums, const suspect_time *time)
{
    const i64 freed_count = sums->alloc_count - sums->kept_count;
    lost_blocks lost = find_lost(sums, time, 0, 0);
    u32 best = 0;
    if (freed_count == 0)
        return score_of(&lost);
    i64 freed = 0; /* that lived longer than the step */
    u32 step = suspect_step_at(sums, (freed_count * USUAL_PERCENT + 99) / 100);
    for (u32 i = step + 1; i < SUSPECT_LIFETIMES; i++)
        freed += sums->lifetimes[i];
    for (; step < SUSPECT_LIFETIMES - AGE_STEPS; step++) {
        i64 older = freed;
        for (u32 i = step + 1; i < step + AGE_STEPS; i++)
            older -= sums->lifetimes[i];
        lost = find_lost(sums, time, suspect_step_of(step + AGE_STEPS).from_ns, older);
        if (lost.parts < PARTS_MIN)
            break;
        const u32 score = score_of(&lost);
        best = score > best ? score : best;
        freed -= sums->lifetimes[step + 1];
    }
    return best;
}

bool suspect_has_stopped(const suspect_sums *sums)
{
    for (u32 i = SUSPECT_PARTS / 2; i < SUSPECT_PARTS; i++) {
        if (sums->kept[i] > 0)
            return false;
    }
    return true;
}

u32 suspect_cap(u32 score, const suspect_sums *sums, i64 growth_rate)
{
    const bool is_doubtful = growth_rate <= 0 || suspect_has_stopped(sums);
    return is_doubtful && score > SUSPECT_SCORE_DOUBT ? SUSPECT_SCORE_DOUBT : score;
}
