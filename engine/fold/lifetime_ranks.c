/*
 * lifetime_ranks.c - see lifetime_ranks.h.
 *
 * Nearly all groups have few enough lifetimes to be unpacked at once. The others are read
 * several times: each time counts how many lie in each of 1024 equal ranges, and only the range
 * that has the rank is looked at after that, until what lies in it can be unpacked.
 */
#include "lifetime_ranks.h"

#include "engine/core/select_rank.h"
#include "engine/core/workers.h"

#define GROUPS_PER_TASK 64u
#define VALUES_MAX      4096u /* that are unpacked; 32 KiB of the stack */
#define DIGIT_BITS      10u
#define DIGITS          (1u << DIGIT_BITS)

__extension__ typedef unsigned __int128 u128;

typedef struct rank_work {
    const lifetime_lists *lifetimes;
    i64 least; /* of all lifetimes, and 0 */
    u32 bits;  /* that a lifetime has above the least */
    u32 group_count;
    lifetime_ranks *ranks;
} rank_work;

static void rank_task(void *context, u32 task);
static void rank_few(const rank_work *work, u32 group, u32 count);
static i64 rank_of_many(const rank_work *work, u32 group, u64 rank);

void lifetime_ranks_compute(const lifetime_lists *lifetimes, u32 group_count, u32 jobs,
                            lifetime_ranks *ranks)
{
    rank_work work = { .lifetimes = lifetimes, .group_count = group_count, .ranks = ranks };
    i64 most = 0;
    for (size_t i = 0; i < lifetimes->lists.count; i++) {
        const lifetime_list *const list = &lifetimes->lists.at[i];
        work.least = list->least < work.least ? list->least : work.least;
        most = list->most > most ? list->most : most;
    }
    work.bits = 64 - (u32)__builtin_clzll(((u64)most - (u64)work.least) | 1);
    etlheap_workers_run(jobs, group_count / GROUPS_PER_TASK + 1, rank_task, &work);
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

/* Of the sum of lifetimes of which none is below zero; half a nanosecond is rounded up. */
static i64 mean_of_sum(u128 sum, u64 count)
{
    return (i64)((sum + count / 2) / count);
}

/* A lifetime may be below zero if a trace's times go back. Quotients and remainders are added
 * apart, so that no sum overflows, and each rounds toward zero. */
static i64 mean_with_sign(const rank_work *work, u32 group, u64 count)
{
    const i64 whole = (i64)count;
    lifetime_reader reader = lifetime_reader_open(work->lifetimes, group);
    i64 quotients = 0, remainders = 0;
    for (i64 ns; lifetime_reader_next(&reader, &ns);) {
        quotients += ns / whole;
        remainders += ns % whole;
    }
    const i64 half = remainders < 0 ? -(whole / 2) : whole / 2;
    return quotients + (remainders + half) / whole;
}

static i64 mean_of_many(const rank_work *work, u32 group, u64 count)
{
    if (work->least < 0)
        return mean_with_sign(work, group, count);
    lifetime_reader reader = lifetime_reader_open(work->lifetimes, group);
    u128 sum = 0;
    for (i64 ns; lifetime_reader_next(&reader, &ns);)
        sum += (u64)ns;
    return mean_of_sum(sum, count);
}

static void rank_task(void *context, u32 task)
{
    const rank_work *const work = context;
    const u32 first = task * GROUPS_PER_TASK;
    for (u32 g = first; g < work->group_count && g - first < GROUPS_PER_TASK; g++) {
        const u64 count = lifetime_lists_count(work->lifetimes, g);
        if (count > VALUES_MAX)
            work->ranks[g] =
                (lifetime_ranks){ .median_ns = rank_of_many(work, g, median_rank(count)),
                                  .p90_ns = rank_of_many(work, g, p90_rank(count)),
                                  .p99_ns = rank_of_many(work, g, p99_rank(count)),
                                  .mean_ns = mean_of_many(work, g, count) };
        else if (count > 0)
            rank_few(work, g, (u32)count);
    }
}

/* What is before the 99th percentile has the 90th, and what is before that has the median. */
static void rank_few(const rank_work *work, u32 group, u32 count)
{
    lifetime_reader reader = lifetime_reader_open(work->lifetimes, group);
    lifetime_ranks *const ranks = &work->ranks[group];
    const u32 p99 = (u32)p99_rank(count), p90 = (u32)p90_rank(count);
    i64 values[VALUES_MAX];
    u128 sum = 0;
    for (u32 i = 0; lifetime_reader_next(&reader, &values[i]); i++)
        sum += (u64)values[i];
    ranks->mean_ns = work->least < 0 ? mean_with_sign(work, group, count) : mean_of_sum(sum, count);
    ranks->p99_ns = select_rank(values, count, p99);
    ranks->p90_ns = select_rank(values, p99 + 1, p90);
    ranks->median_ns = select_rank(values, p90 + 1, (u32)median_rank(count));
}

/* A range of lifetimes: those whose bits above the lowest `shift` are `prefix`. */
typedef struct rank_range {
    u64 prefix;
    u32 shift;
    u64 count; /* in the range */
    u64 rank;  /* in it */
} rank_range;

static inline bool is_inside(const rank_range *range, u64 key)
{
    return range->shift == 64 || key >> range->shift == range->prefix;
}

/* Goes on to the part of the range that has the rank. */
static void narrow(const rank_work *work, u32 group, rank_range *range)
{
    const u32 shift = range->shift > DIGIT_BITS ? range->shift - DIGIT_BITS : 0;
    const u32 digits = 1u << (range->shift - shift);
    u64 counts[DIGITS] = { 0 };
    lifetime_reader reader = lifetime_reader_open(work->lifetimes, group);
    for (i64 ns; lifetime_reader_next(&reader, &ns);) {
        const u64 key = (u64)ns - (u64)work->least;
        counts[key >> shift & (digits - 1)] += is_inside(range, key);
    }
    u32 digit = 0;
    while (range->rank >= counts[digit])
        range->rank -= counts[digit++];
    range->prefix = range->prefix << (range->shift - shift) | digit;
    range->shift = shift;
    range->count = counts[digit];
}

static i64 select_in(const rank_work *work, u32 group, const rank_range *range)
{
    lifetime_reader reader = lifetime_reader_open(work->lifetimes, group);
    i64 values[VALUES_MAX];
    u32 count = 0;
    for (i64 ns; lifetime_reader_next(&reader, &ns);) {
        if (is_inside(range, (u64)ns - (u64)work->least))
            values[count++] = ns;
    }
    return select_rank(values, count, (u32)range->rank);
}

static i64 rank_of_many(const rank_work *work, u32 group, u64 rank)
{
    rank_range range = { .shift = work->bits, .count = UINT64_MAX, .rank = rank };
    while (range.count > VALUES_MAX && range.shift > 0)
        narrow(work, group, &range);
    return range.shift == 0 ? (i64)(range.prefix + (u64)work->least)
                            : select_in(work, group, &range);
}
