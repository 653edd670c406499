/*
 * lifetime_ranks.c - see lifetime_ranks.h.
 *
 * In: lists of lifetimes by group, and sets of groups. Out: mean, median and percentiles of each
 * set.
 *
 * Nearly all sets have few enough lifetimes to be unpacked at once. The others are read several
 * times, for their three ranks together: each time counts how many lifetimes lie in each of 1024
 * equal parts of a rank's range, and only the part that has the rank is looked at after that, until
 * few enough are left to be unpacked.
 *
 * Invariant: a rank is a lifetime that is in the set; it does not depend on how the set was read.
 *
 *     sets   small ── unpacked, many sets a task
 *            large ── counted, several sets a task
 *            huge  ── counted, one after the other, each by all threads: pieces of its lists
 */
#include "lifetime_ranks.h"

#include "engine/core/select_rank.h"
#include "engine/core/workers.h"

#define SETS_PER_TASK 64u
#define SMALL_MAX     4096u      /* lifetimes that are unpacked; 32 KiB of the stack */
#define LARGE_MAX     (1u << 17) /* that one thread reads several times */
#define PIECES_MAX    32u
#define LEFT_MAX      1024u /* lifetimes of a range that are unpacked */
#define LISTS_AHEAD   4u
#define DIGIT_BITS    10u
#define DIGITS        (1u << DIGIT_BITS)

__extension__ typedef __int128 i128;

enum { MEDIAN, P90, P99, RANKS };

typedef struct rank_work {
    const lifetime_lists *lifetimes;
    const lifetime_sets *sets;
    i64 least; /* of all lifetimes, and 0 */
    u32 bits;  /* that a lifetime has above the least */
    u32 jobs;
    lifetime_ranks *ranks;
} rank_work;

/* A range of lifetimes: those whose bits above the lowest `shift` are `prefix`. */
typedef struct rank_range {
    u64 prefix;
    u32 shift;
    u64 count; /* in the range */
    u64 rank;  /* in it */
} rank_range;

/* A set that is read several times. Its pieces share all but the sums, and add atomically. */
typedef struct set_ranks {
    const rank_work *work;
    u32 set;
    u32 piece_count;
    rank_range ranges[RANKS];
    u32 counts_of[RANKS]; /* the first range that is equal: its counts serve both */
    u32 open[RANKS], open_count;
    u64 counts[RANKS][DIGITS]; /* by range and the digit after its prefix */
    i128 sums[PIECES_MAX];
    u32 left_count[RANKS];
    i64 left[RANKS][LEFT_MAX];
} set_ranks;

static void rank_task(void *context, u32 task);
static void rank_small(const rank_work *work, u32 set, u32 count);
static void rank_large(const rank_work *work, u32 set, u64 count, u32 pieces);

static u32 groups_of(const lifetime_sets *sets, u32 set)
{
    return sets->starts == NULL ? 1 : sets->starts[set + 1] - sets->starts[set];
}

static u32 group_at(const lifetime_sets *sets, u32 set, u32 at)
{
    return sets->starts == NULL ? set : sets->groups[sets->starts[set] + at];
}

static u64 count_of(const rank_work *work, u32 set)
{
    u64 count = 0;
    for (u32 i = 0; i < groups_of(work->sets, set); i++)
        count += lifetime_lists_count(work->lifetimes, group_at(work->sets, set, i));
    return count;
}

void lifetime_ranks_compute(const lifetime_lists *lifetimes, const lifetime_sets *sets, u32 jobs,
                            lifetime_ranks *ranks)
{
    rank_work work = { .lifetimes = lifetimes, .sets = sets, .jobs = jobs, .ranks = ranks };
    i64 most = 0;
    for (size_t i = 0; i < lifetimes->lists.count; i++) {
        const lifetime_list *const list = &lifetimes->lists.at[i];
        work.least = list->least < work.least ? list->least : work.least;
        most = list->most > most ? list->most : most;
    }
    work.bits = 64 - (u32)__builtin_clzll(((u64)most - (u64)work.least) | 1);
    etlheap_workers_run(jobs, sets->count / SETS_PER_TASK + 1, rank_task, &work);
    for (u32 set = 0; set < sets->count; set++) {
        const u64 count = count_of(&work, set);
        if (count > LARGE_MAX)
            rank_large(&work, set, count, PIECES_MAX);
    }
}

static void rank_task(void *context, u32 task)
{
    const rank_work *const work = context;
    const u32 first = task * SETS_PER_TASK;
    for (u32 set = first; set < work->sets->count && set - first < SETS_PER_TASK; set++) {
        const u64 count = count_of(work, set);
        if (count > SMALL_MAX && count <= LARGE_MAX)
            rank_large(work, set, count, 1);
        else if (count > 0 && count <= SMALL_MAX)
            rank_small(work, set, (u32)count);
    }
}

static u64 median_rank(u64 count)
{
    return (count - 1) / 2;
}

/* The rank of the 99th percentile is count * 99 / 100, rounded up; the 90th is alike. */
static u64 p99_rank(u64 count)
{
    return count - 1 - count / 100;
}

static u64 p90_rank(u64 count)
{
    return count - 1 - count / 10;
}

/* Half a nanosecond is rounded away from zero. A lifetime is below zero if a trace's times go
 * back. */
static i64 mean_of(i128 sum, u64 count)
{
    const i128 half = sum < 0 ? -(i128)(count / 2) : (i128)(count / 2);
    return (i64)((sum + half) / (i128)count);
}

/* What is before the 99th percentile has the 90th, and what is before that has the median. */
static void rank_small(const rank_work *work, u32 set, u32 count)
{
    lifetime_ranks *const ranks = &work->ranks[set];
    const u32 p99 = (u32)p99_rank(count), p90 = (u32)p90_rank(count);
    i64 values[SMALL_MAX];
    u32 at = 0;
    i128 sum = 0;
    for (u32 i = 0; i < groups_of(work->sets, set); i++) {
        const u32 group = group_at(work->sets, set, i);
        lifetime_reader reader = lifetime_reader_open(work->lifetimes, group);
        for (; at < count && lifetime_reader_next(&reader, &values[at]); at++)
            sum += values[at];
    }
    ranks->mean_ns = mean_of(sum, count);
    ranks->p99_ns = select_rank(values, count, p99);
    ranks->p90_ns = select_rank(values, p99 + 1, p90);
    ranks->median_ns = select_rank(values, p90 + 1, (u32)median_rank(count));
}

/* --- sets that are counted ------------------------------------------------------------ */

static inline bool is_inside(const rank_range *range, u64 key)
{
    return range->shift == 64 || key >> range->shift == range->prefix;
}

static bool is_open(const rank_range *range)
{
    return range->count > LEFT_MAX && range->shift > 0;
}

/* A piece has a part of all pairs of a group and a list. */
typedef struct piece_lists {
    u64 at, end;
} piece_lists;

static piece_lists lists_of_piece(const set_ranks *own, u32 piece)
{
    const u64 all = groups_of(own->work->sets, own->set) * (u64)own->work->lifetimes->lists.count;
    return (piece_lists){ all * piece / own->piece_count, all * (piece + 1) / own->piece_count };
}

/* The list at a place of a piece. The lists that come soon are fetched: they are all over the
 * memory. */
static lifetime_reader open_list(const set_ranks *own, u64 at)
{
    const lifetime_lists *const lifetimes = own->work->lifetimes;
    const lifetime_sets *const sets = own->work->sets;
    const u64 count = lifetimes->lists.count;
    const u32 group = (u32)(at / count);
    const lifetime_list *const list = &lifetimes->lists.at[at % count];
    if (groups_of(sets, own->set) - group > 2 * LISTS_AHEAD) {
        lifetime_list_fetch(list, group_at(sets, own->set, group + 2 * LISTS_AHEAD));
        lifetime_list_fetch_newest(list, group_at(sets, own->set, group + LISTS_AHEAD));
    }
    return lifetime_reader_open_one(lifetimes, group_at(sets, own->set, group), at % count);
}

/* The part of a key that follows the prefix of a range. */
typedef struct rank_digit {
    rank_range range;
    u32 shift;
    u64 mask;
} rank_digit;

static rank_digit digit_of(const rank_range *range)
{
    const u32 bits = range->shift < DIGIT_BITS ? range->shift : DIGIT_BITS;
    return (rank_digit){ *range, range->shift - bits, ((u64)1 << bits) - 1 };
}

/* Counts the lifetimes of a piece for each open range, by the digit that follows its prefix. */
static void count_piece(void *context, u32 piece)
{
    set_ranks *const own = context;
    const u64 least = (u64)own->work->least;
    const u32 count = own->open_count;
    u64 counts[RANKS][DIGITS] = { { 0 } };
    rank_digit digits[RANKS];
    i128 sum = 0;
    for (u32 k = 0; k < count; k++)
        digits[k] = digit_of(&own->ranges[own->open[k]]);
    for (piece_lists lists = lists_of_piece(own, piece); lists.at < lists.end; lists.at++) {
        lifetime_reader reader = open_list(own, lists.at);
        for (i64 ns; lifetime_reader_next(&reader, &ns);) {
            const u64 key = (u64)ns - least;
            sum += ns;
            for (u32 k = 0; k < count; k++)
                counts[k][key >> digits[k].shift & digits[k].mask] +=
                    is_inside(&digits[k].range, key);
        }
    }
    own->sums[piece] = sum;
    for (u32 k = 0; k < count; k++) {
        for (u32 digit = 0; digit < DIGITS; digit++) {
            if (counts[k][digit] != 0)
                __atomic_fetch_add(&own->counts[own->open[k]][digit], counts[k][digit],
                                   __ATOMIC_RELAXED);
        }
    }
}

/* Finds the open ranges that differ: those that are equal share their counts. False: none is
 * open. */
static bool find_open(set_ranks *own)
{
    own->open_count = 0;
    for (u32 r = 0; r < RANKS; r++) {
        const rank_range *const range = &own->ranges[r];
        u32 k = 0;
        while (k < own->open_count && (own->ranges[own->open[k]].prefix != range->prefix ||
                                       own->ranges[own->open[k]].shift != range->shift))
            k++;
        own->counts_of[r] = k < own->open_count ? own->open[k] : r;
        if (k == own->open_count && is_open(range))
            own->open[own->open_count++] = r;
    }
    return own->open_count > 0;
}

/* Goes on to the part of the range that has the rank. */
static void narrow(rank_range *range, const u64 *counts)
{
    const u32 shift = digit_of(range).shift;
    u32 digit = 0;
    while (range->rank >= counts[digit])
        range->rank -= counts[digit++];
    range->prefix = range->prefix << (range->shift - shift) | digit;
    range->shift = shift;
    range->count = counts[digit];
}

/* Unpacks the lifetimes that are left in the ranges, in any order. */
static void unpack_piece(void *context, u32 piece)
{
    set_ranks *const own = context;
    for (piece_lists lists = lists_of_piece(own, piece); lists.at < lists.end; lists.at++) {
        lifetime_reader reader = open_list(own, lists.at);
        for (i64 ns; lifetime_reader_next(&reader, &ns);) {
            const u64 key = (u64)ns - (u64)own->work->least;
            for (u32 r = 0; r < RANKS; r++) {
                if (own->ranges[r].shift > 0 && is_inside(&own->ranges[r], key))
                    own->left[r][__atomic_fetch_add(&own->left_count[r], 1, __ATOMIC_RELAXED)] = ns;
            }
        }
    }
}

static i64 value_of(set_ranks *own, u32 r)
{
    const rank_range *const range = &own->ranges[r];
    return range->shift == 0 ? (i64)(range->prefix + (u64)own->work->least)
                             : select_rank(own->left[r], own->left_count[r], (u32)range->rank);
}

static void rank_large(const rank_work *work, u32 set, u64 count, u32 pieces)
{
    const u32 jobs = pieces > 1 ? work->jobs : 1;
    set_ranks own = { .work = work, .set = set, .piece_count = pieces };
    const u64 ranks[RANKS] = {
        [MEDIAN] = median_rank(count), [P90] = p90_rank(count), [P99] = p99_rank(count)
    };
    for (u32 r = 0; r < RANKS; r++)
        own.ranges[r] = (rank_range){ .shift = work->bits, .count = count, .rank = ranks[r] };
    while (find_open(&own)) {
        memset(own.counts, 0, sizeof own.counts);
        etlheap_workers_run(jobs, pieces, count_piece, &own);
        for (u32 r = 0; r < RANKS; r++) {
            if (is_open(&own.ranges[r]))
                narrow(&own.ranges[r], own.counts[own.counts_of[r]]);
        }
    }
    etlheap_workers_run(jobs, pieces, unpack_piece, &own);
    i128 sum = 0;
    for (u32 piece = 0; piece < pieces; piece++)
        sum += own.sums[piece];
    work->ranks[set] = (lifetime_ranks){ .mean_ns = mean_of(sum, count),
                                         .median_ns = value_of(&own, MEDIAN),
                                         .p90_ns = value_of(&own, P90),
                                         .p99_ns = value_of(&own, P99) };
}
