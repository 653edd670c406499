/*
 * diff_lifetimes.c - the lifetimes of a diff: mean, median and percentiles of each group and of
 * each kind on both sides, and how many blocks lived how long.
 *
 *     rows of a table ──▶ lists of their groups ──▶ lists by identity, or by kind ──▶ ranks
 *
 * A median does not add up over rows, and one group of a diff may be several rows of a table: two
 * processes of one name, or two addresses in one function. So lifetimes are listed anew by what the
 * rows are in the diff, and ranked there. The lists are dropped at once: a side at a time takes up
 * to as much memory again as its table's lifetimes.
 */
#include <stdlib.h>

#include "diff_inside.h"
#include "engine/core/size_class.h"
#include "engine/core/workers.h"
#include "engine/fold/lifetime_ranks.h"
#include "engine/table/table.h"

/* How many blocks of each kind lived how long, by side. */
typedef struct class_counts {
    i64 of[ETLHEAP_KIND_COUNT][SIZE_CLASSES][2];
} class_counts;

/* Lists the lifetimes of each row of a table under numbers[row]. False if memory runs out. */
static bool list_rows(const etlheap_table *table, const u32 *numbers, lifetime_lists *out)
{
    const etlheap_row_lifetimes *const kept = table->row_lifetimes;
    for (u32 i = 0; i < table->row_count; i++) {
        lifetime_reader reader = lifetime_reader_open(&kept->lists, kept->groups.at[i]);
        for (i64 ns; lifetime_reader_next(&reader, &ns);) {
            if (!lifetime_lists_add(out, numbers[i], ns))
                return false;
        }
    }
    return true;
}

static void rank(const diff_maker *maker, const lifetime_lists *lists, u32 count,
                 lifetime_ranks *ranks)
{
    const u32 jobs = maker->options.jobs;
    for (u32 i = 0; i < count; i++)
        ranks[i] = LIFETIME_RANKS_UNKNOWN;
    lifetime_ranks_compute(lists, count, jobs == 0 ? etlheap_workers_default_jobs() : jobs, ranks);
}

static bool rank_groups(diff_maker *maker, bool is_new, lifetime_ranks *ranks)
{
    const etlheap_table *const table = is_new ? maker->now : maker->base;
    const u32 *const ids = maker->ids + (is_new ? maker->base->row_count : 0);
    const u32 count = (u32)maker->identities.keys.count;
    lifetime_lists lists = { .lists = { 0 } };
    const bool ok = list_rows(table, ids, &lists);
    if (ok)
        rank(maker, &lists, count + 1, ranks); /* identities count from 1 */
    for (u32 i = 0; ok && i < count; i++) {
        diff_group *const group = &maker->groups[i];
        lifetime_ranks_put(&ranks[i + 1], is_new ? group->now : group->base);
    }
    lifetime_lists_free(&lists);
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

static void count_classes(const lifetime_lists *lists, bool is_new, class_counts *counts)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        lifetime_reader reader = lifetime_reader_open(lists, kind);
        for (i64 ns; lifetime_reader_next(&reader, &ns);)
            counts->of[kind][size_class_of((u64)ns)][is_new]++;
    }
}

static bool rank_kinds(diff_maker *maker, bool is_new, class_counts *counts)
{
    const etlheap_table *const table = is_new ? maker->now : maker->base;
    u32 *const kinds = kinds_of_rows(table);
    lifetime_ranks ranks[ETLHEAP_KIND_COUNT];
    lifetime_lists lists = { .lists = { 0 } };
    const bool ok = kinds != NULL && list_rows(table, kinds, &lists);
    if (ok) {
        rank(maker, &lists, ETLHEAP_KIND_COUNT, ranks);
        count_classes(&lists, is_new, counts);
    }
    for (u32 kind = 0; ok && kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_change *const change = &maker->out->diff.totals[kind];
        lifetime_ranks_put(&ranks[kind], is_new ? change->now : change->base);
    }
    lifetime_lists_free(&lists);
    free(kinds);
    return ok;
}

static bool put_classes(const class_counts *counts, u32 kind, owned_diff *out)
{
    const i64(*const of)[2] = counts->of[kind];
    u32 first = 0, end = SIZE_CLASSES;
    while (first < end && of[first][0] + of[first][1] == 0)
        first++;
    while (end > first && of[end - 1][0] + of[end - 1][1] == 0)
        end--;
    for (u32 c = first; c < end; c++) {
        const etlheap_lifetime_class lifetimes = { (u8)kind, size_class_first(c), size_class_end(c),
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
