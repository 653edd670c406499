/*
 * diff.c - computes what changed between two tables.
 *
 * In: a table for each side, grouped by the same keys. Out: an etlheap_diff: groups with their
 * amounts on both sides, new ones, gone ones and changed ones.
 *
 *     row ──row_identity.c──▶ id ──▶ groups[id] += the row's measures, on its side
 *                                         │
 *                                         └──▶ changed groups, by size of the change
 *
 * A group is an element of an array by identity, so only what changed has to be sorted. Invariant:
 * both tables must have the measure and compare the same keys (diff_check_tables); keys that mean
 * nothing in another run, such as handles and thread ids, must not be part of an identity.
 */
#include <stdlib.h>

#include "diff_inside.h"
#include "parser/sized.h"

static etl_status check(const diff_maker *maker, etl_error *err);
static bool make(diff_maker *maker);
static bool sum_groups(diff_maker *maker);
static void add_row(const diff_maker *maker, diff_group *group, u32 index, bool is_new);
static bool place_groups(diff_maker *maker);
static u64 order_of(const etlheap_diff_options *options, i64 delta);
static int compare_places(const void *a, const void *b);

void etlheap_diff_options_init(etlheap_diff_options *options, size_t size)
{
    static const etlheap_diff_options own = { .size = sizeof own,
                                              .measure = ETLHEAP_MEASURE_OUTSTANDING_SIZE };
    etl_init_sized(options, size, &own, sizeof own);
}

const char *etlheap_diff_state_word(etlheap_diff_state state)
{
    static const char *const words[] = {
#define STATE_WORD(name, word) word,
        ETLHEAP_DIFF_STATES(STATE_WORD)
#undef STATE_WORD
    };
    return (u32)state < ETL_COUNT_OF(words) ? words[state] : "";
}

etl_status etlheap_diff_tables(const etlheap_table *base, const etlheap_table *now,
                               const etlheap_diff_options *options, etlheap_diff **out,
                               etl_error *err)
{
    diff_maker maker = { .base = base, .now = now, .options = etlheap_diff_options_default() };
    *out = NULL;
    etl_status status =
        etl_read_sized(options, "etlheap_diff_options", &maker.options, sizeof maker.options, err);
    if (status != ETL_OK)
        return status;
    for (u32 i = 0; i < DIFF_PAIRS; i++)
        maker.measures |=
            (etlheap_measure_set)1 << diff_comparable[i].measure & base->measures & now->measures;
    maker.has_lifetimes = base->row_lifetimes != NULL && now->row_lifetimes != NULL;
    status = check(&maker, err);
    if (status != ETL_OK)
        return status;
    for (u32 m = 0; maker.has_lifetimes && m < ETLHEAP_MEASURES_COUNT; m++) {
        if (etlheap_diff_compares_lifetimes((etlheap_measure)m))
            maker.measures |= (etlheap_measure_set)1 << m;
    }
    maker.out = calloc(1, sizeof *maker.out);
    if (maker.out == NULL || !make(&maker))
        status = etl_no_memory(err);
    row_identities_free(&maker.identities);
    free(maker.ids);
    free(maker.next);
    free(maker.groups);
    free(maker.places);
    if (status == ETL_OK)
        *out = &maker.out->diff;
    else if (maker.out != NULL)
        etlheap_diff_free(&maker.out->diff);
    return status;
}

static etl_status check(const diff_maker *maker, etl_error *err)
{
    const etlheap_table *const tables[] = { maker->base, maker->now };
    const etlheap_measure measure = maker->options.measure;
    const bool by_lifetime = maker->has_lifetimes && etlheap_diff_compares_lifetimes(measure);
    if (maker->has_lifetimes && maker->options.per_second)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "lifetimes cannot be compared per second: they do not grow with the "
                             "window");
    return diff_check_tables(tables, (u32)ETL_COUNT_OF(tables),
                             by_lifetime ? ETLHEAP_MEASURE_COUNT : measure, err);
}

/* Checks each table against the first one. */
etl_status diff_check_tables(const etlheap_table *const *tables, u32 count, etlheap_measure measure,
                             etl_error *err)
{
    const etlheap_table *const first = tables[0];
    if (etlheap_diff_compares_lifetimes(measure))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s cannot be compared: the tables do not keep lifetimes",
                             etlheap_measure_word(measure));
    if (!etlheap_diff_compares(measure))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s does not add up over rows and cannot be compared",
                             etlheap_measure_word(measure));
    for (u32 i = 0; i < count; i++) {
        if ((tables[i]->measures >> measure & 1) == 0)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the tables have no %s",
                                 etlheap_measure_word(measure));
        if (first->group_by_count != tables[i]->group_by_count ||
            memcmp(first->group_by, tables[i]->group_by,
                   first->group_by_count * sizeof *first->group_by) != 0)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the tables are grouped differently");
        if (first->key_check != tables[i]->key_check)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "names cannot be compared: one store is anonymised, and the other "
                                 "is not, or with another key; anonymise all with the same key");
    }
    for (u32 i = 0; i < first->group_by_count; i++) {
        const etlheap_key key = first->group_by[i];
        if (!etlheap_diff_compares_key(key))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "rows grouped by %s cannot be compared: its values differ "
                                 "from run to run",
                                 etlheap_key_word(key));
    }
    return ETL_OK;
}

/* The length of the recorded part of a side's window. Summaries, and tables that do not know it,
 * have the length of the window. */
static i64 side_ns(const etlheap_table *table, const etlheap_result *result)
{
    const bool is_summary = result != NULL && etlheap_result_is_summary(result);
    const i64 window_ns = etl_span_i64(table->from_ns, table->to_ns);
    if (table->rates_ns > 0 && !is_summary)
        return table->rates_ns;
    return window_ns > 0 ? window_ns : 1;
}

static bool make(diff_maker *maker)
{
    etlheap_diff *const diff = &maker->out->diff;
    const etlheap_diff_options *const options = &maker->options;
    row_identities *const identities = &maker->identities;
    diff->base_ns = side_ns(maker->base, options->base_result);
    diff->new_ns = side_ns(maker->now, options->new_result);
    diff->per_second = options->per_second;
    diff->measure = options->measure;
    const etlheap_result *const results[] = { options->base_result, options->new_result };
    if (results[0] != NULL && results[1] != NULL &&
        !row_identities_open(identities, results, (u32)ETL_COUNT_OF(results)))
        return false;
    return sum_groups(maker) && (!maker->has_lifetimes || diff_lifetimes_of_groups(maker)) &&
           place_groups(maker) && diff_put(maker);
}

/* Adds the rows of both sides to their groups. The first row of a group is the one that is
 * shown. */
static bool sum_groups(diff_maker *maker)
{
    const size_t base_count = maker->base->row_count, count = base_count + maker->now->row_count;
    u32 *const ids = calloc(count + 1, sizeof *ids);
    maker->ids = ids;
    maker->next = calloc(count + 1, sizeof *maker->next);
    bool ok = ids != NULL && maker->next != NULL &&
              row_identities_add(&maker->identities, maker->base, 0, ids) &&
              row_identities_add(&maker->identities, maker->now, 1, ids + base_count);
    if (ok)
        maker->groups = calloc(maker->identities.keys.count + 1, sizeof *maker->groups);
    ok = ok && maker->groups != NULL;
    for (size_t i = 0; ok && i < maker->identities.keys.count; i++)
        maker->groups[i].base_row = maker->groups[i].new_row = ETLHEAP_NO_INDEX;
    for (u32 i = maker->base->row_count; ok && i-- > 0;)
        add_row(maker, &maker->groups[ids[i] - 1], i, false);
    for (u32 i = maker->now->row_count; ok && i-- > 0;)
        add_row(maker, &maker->groups[ids[base_count + i] - 1], i, true);
    for (size_t i = 0; ok && i < maker->identities.keys.count; i++) {
        i64 *const ns = maker->groups[i].ns;
        ns[0] = diff_ns_of(maker, ns[0], false);
        ns[1] = diff_ns_of(maker, ns[1], true);
    }
    return ok;
}

/* Rows come from the last to the first. */
static void add_row(const diff_maker *maker, diff_group *group, u32 index, bool is_new)
{
    const etlheap_row *const row = is_new ? &maker->now->rows[index] : &maker->base->rows[index];
    i64 *const sums = is_new ? group->now : group->base;
    u32 *const first = is_new ? &group->new_row : &group->base_row;
    maker->next[is_new ? (size_t)maker->base->row_count + index : index] = *first;
    *first = index;
    group->ns[is_new] = row->rates_ns > group->ns[is_new] ? row->rates_ns : group->ns[is_new];
    for (u32 i = 0; i < DIFF_PAIRS; i++) {
        const etlheap_measure m = diff_comparable[i].measure;
        if ((maker->measures >> m & 1) != 0)
            sums[m] = etl_sat_add_i64(sums[m], row->measures[m]);
    }
    const bool is_single =
        maker->next[is_new ? (size_t)maker->base->row_count + index : index] == ETLHEAP_NO_INDEX;
    for (u32 m = ETLHEAP_MEASURE_PEAK_COUNT; m <= ETLHEAP_MEASURE_PEAK_SIZE; m++)
        sums[m] = is_single ? row->measures[m] : ETLHEAP_NOT_KNOWN;
}

/* Collects what changed with numbers to sort by, so that sorting looks at nothing else. */
static bool place_groups(diff_maker *maker)
{
    const size_t count = maker->identities.keys.count;
    const etlheap_measure measure = maker->options.measure;
    u32 *const ranks = calloc(count + 1, sizeof *ranks);
    maker->places = calloc(count + 1, sizeof *maker->places);
    const bool ok =
        ranks != NULL && maker->places != NULL && row_identities_rank(&maker->identities, ranks);
    for (u32 i = 0; ok && i < count; i++) {
        const diff_group *const group = &maker->groups[i];
        const etlheap_diff_state state = diff_state_of(maker, group->base, group->now, group->ns);
        const i64 before = diff_amount_of(maker, group->base[measure], group->ns[0]);
        const i64 after = diff_amount_of(maker, group->now[measure], group->ns[1]);
        maker->out->diff.unchanged_count += state == ETLHEAP_DIFF_UNCHANGED;
        maker->out->diff.matched_count +=
            group->base_row != ETLHEAP_NO_INDEX && group->new_row != ETLHEAP_NO_INDEX;
        if (state == ETLHEAP_DIFF_UNCHANGED && !maker->options.keep_unchanged)
            continue;
        maker->places[maker->place_count++] = (diff_place){
            .unknown = (u8)(diff_is_unknown(measure, before) + diff_is_unknown(measure, after)),
            .state = (u8)state,
            .order = order_of(&maker->options, diff_change_of(measure, before, after)),
            .rank = ranks[i],
            .group = i
        };
    }
    free(ranks);
    if (ok)
        qsort(maker->places, maker->place_count, sizeof *maker->places, compare_places);
    return ok;
}

/* A number that is smaller the earlier the change is to be listed. */
static u64 order_of(const etlheap_diff_options *options, i64 delta)
{
    const u64 magnitude = delta < 0 ? 0 - (u64)delta : (u64)delta;
    const u64 from_least = (u64)delta ^ (u64)1 << 63;
    const u64 order = options->by_direction ? from_least : magnitude;
    return options->ascending ? order : UINT64_MAX - order;
}

static int compare_places(const void *a, const void *b)
{
    const diff_place *const x = a, *const y = b;
    if (x->unknown != y->unknown)
        return x->unknown < y->unknown ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}
