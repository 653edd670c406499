/*
 * diff_lifetimes.c - the lifetimes of a diff: mean, median and percentiles of each group and of
 * each kind on both sides, and how many blocks lived how long.
 *
 * In: both tables, with the lifetimes of their rows, and the groups of the diff. Out: the measures
 * LIFETIME_* of groups and kinds, and classes of lifetimes.
 *
 *     rows of a table ──▶ sets of rows that are one in the diff, or of one kind ──▶ ranks
 *                    └──▶ classes of each kind
 *
 * A median does not add up over rows, and one group of a diff may be several rows of a table: two
 * processes of one name, or two addresses in one function. Their lifetimes are ranked together.
 * Nearly all groups are one row, whose ranks the table has. Invariant: a side without blocks has no
 * lifetime (ETLHEAP_NOT_KNOWN), which is not 0.
 */
#include <stdlib.h>

#include "diff_inside.h"
#include "engine/core/time_class.h"
#include "engine/core/workers.h"
#include "engine/fold/lifetime_ranks.h"
#include "engine/table/table.h"

#define ROWS_PER_TASK 512u

/* How many blocks of each kind lived how long, by side. */
typedef struct class_counts {
    i64 of[ETLHEAP_KIND_COUNT][TIME_CLASSES][2];
} class_counts;

/* A side whose lifetimes are counted by class. Tasks add to the counts atomically. */
typedef struct class_work {
    const etlheap_table *table;
    const u32 *kinds; /* of the rows */
    bool is_new;
    class_counts *counts;
} class_work;

static lifetime_ranks ranks_of_row(const etlheap_row *row)
{
    return (lifetime_ranks){ .mean_ns = row->measures[ETLHEAP_MEASURE_LIFETIME_MEAN],
                             .median_ns = row->measures[ETLHEAP_MEASURE_LIFETIME_MEDIAN],
                             .p90_ns = row->measures[ETLHEAP_MEASURE_LIFETIME_P90],
                             .p99_ns = row->measures[ETLHEAP_MEASURE_LIFETIME_P99] };
}

/* Fills starts[0..count] and `groups` with the groups of rows that share a number. A row that is
 * alone has its ranks, and is in no set. `rows_of` has `count` elements that are 0. */
static void fill_sets(const etlheap_table *table, const u32 *numbers, u32 count, u32 *rows_of,
                      u32 *starts, u32 *groups, lifetime_ranks *ranks)
{
    for (u32 i = 0; i < table->row_count; i++)
        rows_of[numbers[i]]++;
    starts[0] = 0;
    for (u32 n = 0; n < count; n++) {
        starts[n + 1] = starts[n] + (rows_of[n] > 1 ? rows_of[n] : 0);
        ranks[n] = LIFETIME_RANKS_UNKNOWN;
    }
    for (u32 i = 0; i < table->row_count; i++) {
        const u32 n = numbers[i];
        if (starts[n] == starts[n + 1])
            ranks[n] = ranks_of_row(&table->rows[i]);
        else
            groups[starts[n] + --rows_of[n]] = table->row_lifetimes->groups.at[i];
    }
}

/* Ranks the lifetimes of all rows that have the same of `count` numbers. False if memory runs
 * out. */
static bool rank_rows(const diff_maker *maker, const etlheap_table *table, const u32 *numbers,
                      u32 count, lifetime_ranks *ranks)
{
    u32 *const rows_of = calloc(count + (size_t)1, sizeof *rows_of);
    u32 *const starts = malloc((count + (size_t)1) * sizeof *starts);
    u32 *const groups = malloc(((size_t)table->row_count + 1) * sizeof *groups);
    const bool ok = rows_of != NULL && starts != NULL && groups != NULL;
    if (ok) {
        const lifetime_sets sets = { starts, groups, count };
        fill_sets(table, numbers, count, rows_of, starts, groups, ranks);
        lifetime_ranks_compute(&table->row_lifetimes->lists, &sets,
                               etlheap_workers_jobs(maker->options.jobs), ranks);
    }
    free(rows_of);
    free(starts);
    free(groups);
    return ok;
}

static bool rank_groups(diff_maker *maker, bool is_new, lifetime_ranks *ranks)
{
    const etlheap_table *const table = is_new ? maker->now : maker->base;
    const u32 *const ids = maker->ids + (is_new ? maker->base->row_count : 0);
    const u32 count = (u32)maker->identities.keys.count;
    const bool ok = rank_rows(maker, table, ids, count + 1, ranks); /* identities count from 1 */
    for (u32 i = 0; ok && i < count; i++) {
        diff_group *const group = &maker->groups[i];
        lifetime_ranks_put(&ranks[i + 1], is_new ? group->now : group->base);
    }
    return ok;
}

bool diff_lifetimes_of_groups(diff_maker *maker)
{
    lifetime_ranks *const ranks = malloc((maker->identities.keys.count + 1) * sizeof *ranks);
    const bool ok =
        ranks != NULL && rank_groups(maker, false, ranks) && rank_groups(maker, true, ranks);
    free(ranks);
    return ok;
}

/* The kind of each row. Rows that are not told apart by kind are all of the one that is there. */
static u32 *kinds_of_rows(const etlheap_table *table)
{
    u32 *const kinds = calloc((size_t)table->row_count + 1, sizeof *kinds);
    bool by_kind = false;
    u32 only = 0;
    for (u32 k = 0; k < table->group_by_count; k++)
        by_kind |= table->group_by[k] == ETLHEAP_KEY_KIND;
    while (only + 1 < ETLHEAP_KIND_COUNT && !table->totals[only].present)
        only++;
    for (u32 i = 0; kinds != NULL && i < table->row_count; i++)
        kinds[i] = by_kind ? table->rows[i].kind : only;
    return kinds;
}

static void count_row(const class_work *work, u32 row, i64 *counts)
{
    const etlheap_row_lifetimes *const kept = work->table->row_lifetimes;
    lifetime_reader reader = lifetime_reader_open(&kept->lists, kept->groups.at[row]);
    for (i64 ns; lifetime_reader_next(&reader, &ns);)
        counts[time_class_of((u64)ns)]++;
}

static void count_task(void *context, u32 task)
{
    const class_work *const work = context;
    const u32 first = task * ROWS_PER_TASK, end = work->table->row_count;
    i64 counts[ETLHEAP_KIND_COUNT][TIME_CLASSES] = { { 0 } };
    for (u32 i = first; i < end && i - first < ROWS_PER_TASK; i++)
        count_row(work, i, counts[work->kinds[i]]);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        for (u32 c = 0; c < TIME_CLASSES; c++)
            __atomic_fetch_add(&work->counts->of[kind][c][work->is_new], counts[kind][c],
                               __ATOMIC_RELAXED);
    }
}

static bool rank_kinds(diff_maker *maker, bool is_new, class_counts *counts)
{
    const etlheap_table *const table = is_new ? maker->now : maker->base;
    u32 *const kinds = kinds_of_rows(table);
    class_work work = { table, kinds, is_new, counts };
    lifetime_ranks ranks[ETLHEAP_KIND_COUNT];
    const bool ok = kinds != NULL && rank_rows(maker, table, kinds, ETLHEAP_KIND_COUNT, ranks);
    if (ok)
        etlheap_workers_run(etlheap_workers_jobs(maker->options.jobs),
                            table->row_count / ROWS_PER_TASK + 1, count_task, &work);
    for (u32 kind = 0; ok && kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_change *const change = &maker->out->diff.totals[kind];
        lifetime_ranks_put(&ranks[kind], is_new ? change->now : change->base);
    }
    free(kinds);
    return ok;
}

static bool put_classes(const class_counts *counts, u32 kind, owned_diff *out)
{
    const i64(*const of)[2] = counts->of[kind];
    u32 first = 0, end = TIME_CLASSES;
    while (first < end && of[first][0] + of[first][1] == 0)
        first++;
    while (end > first && of[end - 1][0] + of[end - 1][1] == 0)
        end--;
    for (u32 c = first; c < end; c++) {
        const etlheap_lifetime_class lifetimes = { (u8)kind, time_class_first(c), time_class_end(c),
                                                   of[c][0], of[c][1] };
        if (!ETLHEAP_PUSH(&out->lifetimes, lifetimes))
            return false;
    }
    return true;
}

bool diff_lifetimes_of_kinds(diff_maker *maker)
{
    owned_diff *const out = maker->out;
    class_counts counts = { .of = { { { 0 } } } };
    bool ok = rank_kinds(maker, false, &counts) && rank_kinds(maker, true, &counts);
    for (u32 kind = 0; ok && kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_change *const change = &out->diff.totals[kind];
        i64 *const deltas = out->diff.table.totals[kind].measures;
        for (u32 m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
            if (etlheap_diff_compares_lifetimes((etlheap_measure)m))
                deltas[m] = diff_change_of((etlheap_measure)m, change->base[m], change->now[m]);
        }
        ok = put_classes(&counts, kind, out);
    }
    out->diff.has_lifetimes = true;
    return ok;
}
