/*
 * summary_answer.c - makes reports from a summary.
 *
 * In: the entries of a summary and their rows of sums. Out: groups of an aggregator.
 *
 * An entry adds up many lifetimes that share a process and a stack. Each of its sums goes to the
 * group that any one of those lifetimes would go to. The peak of a group is known in three cases:
 *
 *     the group is one whole entry       the entry's peak
 *     only one row of an entry counts    that row's peak
 *     nothing was freed                  the peak is what is outstanding at the end
 *
 * Otherwise it is unknown: the peaks of several entries were at different moments and cannot be
 * combined. Invariant: rows of an entry are neighbours, in the order of entries (checked on
 * loading).
 */
#include "summary_answer.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "engine/query/keys.h"

static bool add_entry(aggregator *a, u32 index, const summary_row *rows, size_t count);
static summary_peak peak_of(const aggregator *a, const summary_entry *entry,
                            const summary_row *rows, size_t count);
static bool is_wanted(const aggregator *a, const summary_row *row);
static void add_sum(aggregator *a, u32 group, u32 kind, const summary_sum *sum, etlheap_type type);
static void keep_peak(i64 *measures, const summary_peak *most);
static void derive_peaks(aggregator *a);

bool summary_selects(const aggregator *a, const summary_entry *entry)
{
    return (entry->stack != SUMMARY_ALL_STACKS) == a->wants_stack &&
           query_select_owner(&a->plan, (etlheap_kind)entry->kind, entry->process, 0);
}

/* Resolves all stacks that will be needed. */
static bool resolve_stacks(aggregator *a)
{
    const summary_data *const data = a->result->summary;
    stack_place *const places = malloc((data->entries.count + 1) * sizeof *places);
    size_t count = 0;
    for (size_t i = 0; places != NULL && i < data->entries.count; i++) {
        const summary_entry *const entry = &data->entries.at[i];
        if (summary_selects(a, entry))
            places[count++] = (stack_place){ 0, entry->process, entry->stack };
    }
    const bool ok = places != NULL && frames_resolve_all(&a->frames, places, count);
    free(places);
    return ok;
}

bool summary_rows(aggregator *a)
{
    const summary_data *const data = a->result->summary;
    size_t first = 0;
    bool ok = !a->wants_stack || resolve_stacks(a);
    if (!a->is_collecting)
        ETLHEAP_EXPECT(&a->groups, data->rows.count);
    for (u32 i = 0; ok && i < data->entries.count; i++) {
        size_t end = first;
        while (end < data->rows.count && data->rows.at[end].entry == i)
            end++;
        const summary_entry *const entry = &data->entries.at[i];
        if (summary_selects(a, entry))
            ok = add_entry(a, i, data->rows.at + first, end - first);
        first = end;
    }
    if (ok)
        derive_peaks(a);
    return ok;
}

/* Adds an entry. Rows of one group are neighbours: without types all belong to one group, and their
 * peak is known; with types each has its own peak. */
static bool add_entry(aggregator *a, u32 index, const summary_row *rows, size_t count)
{
    const summary_entry *const entry = &a->result->summary->entries.at[index];
    const bool by_type = query_reads(a->query, KEY_READS(TYPE));
    const summary_peak together = peak_of(a, entry, rows, count);
    u32 last = GROUP_UNWANTED;
    for (size_t i = 0; i < count; i++) {
        const summary_row *const row = &rows[i];
        const etlheap_type type = (etlheap_type)(row->part % ETLHEAP_TYPE_COUNT);
        u32 number;
        if (!is_wanted(a, row))
            continue;
        if (!summary_group(a, entry, type, &number))
            return false;
        if (number == GROUP_UNWANTED)
            continue;
        if (number != last || by_type)
            keep_peak(aggregate_measures(a, number), by_type ? &row->sum.peak : &together);
        last = number;
        add_sum(a, number, entry->kind, &row->sum, type);
    }
    return true;
}

static bool is_of_rule(const aggregator *a, const summary_row *row)
{
    return (row->part >= ETLHEAP_TYPE_COUNT) == a->query->at_exit_freed;
}

static bool is_wanted(const aggregator *a, const summary_row *row)
{
    return is_of_rule(a, row) && (a->plan.types >> row->part % ETLHEAP_TYPE_COUNT & 1) != 0;
}

/* The peak of the wanted rows, taken as one curve. */
static summary_peak peak_of(const aggregator *a, const summary_entry *entry,
                            const summary_row *rows, size_t count)
{
    const summary_row *one = NULL;
    u32 wanted = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        all += is_of_rule(a, &rows[i]);
        wanted += is_wanted(a, &rows[i]);
        one = is_wanted(a, &rows[i]) ? &rows[i] : one;
    }
    if (wanted == all)
        return entry->peaks[a->query->at_exit_freed];
    return wanted == 1 ? one->sum.peak : summary_peak_unknown;
}

bool summary_group(aggregator *a, const summary_entry *entry, etlheap_type type, u32 *group)
{
    const block_source of = { .process = entry->process,
                              .stack = entry->stack,
                              .kind = (u8)entry->kind };
    group_key key;
    *group = GROUP_UNWANTED;
    if (!aggregate_key(a, &of, type, &key))
        return false;
    return key.unwanted || aggregate_group(a, &key, group);
}

static i64 signed_of(u64 value)
{
    return value > INT64_MAX ? INT64_MAX : (i64)value;
}

static void add_sum(aggregator *a, u32 group, u32 kind, const summary_sum *sum, etlheap_type type)
{
    const type_sums sums = { signed_of(sum->count), signed_of(sum->size_bytes),
                             signed_of(sum->realloc_count) };
    type_add_measures(aggregate_measures(a, group), a->measure_count, type, &sums);
    type_add_measures(a->totals[kind], ETLHEAP_MEASURES_COUNT, type, &sums);
}

/* Keeps or drops a group's peak. Call it before add_sum: a count of 0 shows that this is the
 * group's first entry. */
static void keep_peak(i64 *measures, const summary_peak *most)
{
    i64 *const m = measures;
    const bool is_known = m[ETLHEAP_MEASURE_COUNT] == 0 && summary_peak_is_known(most);
    m[ETLHEAP_MEASURE_PEAK_COUNT] = is_known ? signed_of(most->count) : ETLHEAP_NOT_KNOWN;
    m[ETLHEAP_MEASURE_PEAK_SIZE] = is_known ? signed_of(most->size_bytes) : ETLHEAP_NOT_KNOWN;
}

/* Sets peaks that follow from sums. If all of a group's lifetimes are outstanding, its peak is its
 * total. Freed blocks of 0 bytes change the peak of the count but not of the size, so both are
 * checked separately. */
static void derive_peaks(aggregator *a)
{
    for (size_t i = 0; i < a->groups.count; i++) {
        i64 *const m = aggregate_measures(a, i);
        if (m[ETLHEAP_MEASURE_PEAK_COUNT] == ETLHEAP_NOT_KNOWN &&
            m[ETLHEAP_MEASURE_OUTSTANDING_COUNT] == m[ETLHEAP_MEASURE_COUNT])
            m[ETLHEAP_MEASURE_PEAK_COUNT] = m[ETLHEAP_MEASURE_COUNT];
        if (m[ETLHEAP_MEASURE_PEAK_SIZE] == ETLHEAP_NOT_KNOWN &&
            m[ETLHEAP_MEASURE_OUTSTANDING_SIZE] == m[ETLHEAP_MEASURE_SIZE])
            m[ETLHEAP_MEASURE_PEAK_SIZE] = m[ETLHEAP_MEASURE_SIZE];
    }
}
