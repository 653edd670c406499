/*
 * trend.c - compares the groups of several runs: each group gets a value for each run, and a curve.
 *
 * In: a table for each run, in the order of the runs. Out: an etlheap_trend: rows with their
 * values, slope and pattern.
 *
 * Rows are numbered by identity (row_identity.c), so the values of a group are a line of an array:
 *
 *                 run 0   1   2
 *     identity 1      5   7   9    ──▶ trend_curve_of ──▶ place ──▶ row
 *              2      0   0   4
 *
 * A group that a run does not have is 0 there. Invariant: rows are ordered by measures and content,
 * never by identity, which depends on the order of rows.
 */
#include <stdlib.h>

#include "diff_inside.h"
#include "parser/sized.h"
#include "trend_curve.h"

/* The first row of a group in the last run that has it. */
typedef struct trend_source {
    u32 run, row;
    u32 first;       /* the run where it was seen first */
    const u32 *next; /* as in picked_group; NULL: not seen yet */
} trend_source;

/* A group with its sort keys. */
typedef struct trend_place {
    u64 order, moved; /* ascending */
    u32 rank, group;
} trend_place;

typedef struct owned_trend {
    etlheap_trend trend;
    picked_rows rows;
    i64 *values, *partners, *total_values, *total_partners;
    etlheap_trend_curve *curves;
    name_spellings rebuilt;
} owned_trend;

/* A trend under construction. Arrays have one line for each group, by identity - 1. */
typedef struct trend_maker {
    const etlheap_table *const *tables;
    const etlheap_result *const *results;
    u32 count;
    etlheap_trend_options options;
    etlheap_measure partner;
    row_identities identities;
    u32 group_count;
    i64 *values, *partners, *scratch;
    etlheap_trend_curve *curves;
    trend_source *sources;
    u32 *next; /* by row of all runs: the next row of its group and run */
    trend_place *places;
    u32 place_count;
    owned_trend *out;
} trend_maker;

static bool make(trend_maker *maker);
static bool sum_groups(trend_maker *maker);
static void add_rows(const trend_maker *maker, u32 run, const u32 *ids, u32 *next);
static bool place_groups(trend_maker *maker);
static int compare_places(const void *a, const void *b);
static bool put_rows(trend_maker *maker);
static bool put_totals(trend_maker *maker);
static void publish(owned_trend *out);

void etlheap_trend_options_init(etlheap_trend_options *options, size_t size)
{
    static const etlheap_trend_options own = { .size = sizeof own,
                                               .measure = ETLHEAP_MEASURE_OUTSTANDING_SIZE };
    etl_init_sized(options, size, &own, sizeof own);
}

const char *etlheap_trend_pattern_word(etlheap_trend_pattern pattern)
{
    static const char *const words[] = {
#define PATTERN_WORD(name, word) word,
        ETLHEAP_TREND_PATTERNS(PATTERN_WORD)
#undef PATTERN_WORD
    };
    return (u32)pattern < ETL_COUNT_OF(words) ? words[pattern] : "";
}

etl_status etlheap_trend_tables(const etlheap_table *const *tables,
                                const etlheap_result *const *results, u32 count,
                                const etlheap_trend_options *options, etlheap_trend **out,
                                etl_error *err)
{
    trend_maker maker = { .tables = tables,
                          .results = results,
                          .count = count,
                          .options = etlheap_trend_options_default() };
    *out = NULL;
    etl_status status =
        etl_read_sized(options, "etlheap_trend_options", &maker.options, sizeof maker.options, err);
    if (status == ETL_OK && (count < 2 || count > ETLHEAP_TREND_RUNS_MAX))
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a trend takes 2 to %u runs",
                               ETLHEAP_TREND_RUNS_MAX);
    if (status == ETL_OK)
        status = diff_check_tables(tables, count, maker.options.measure, err);
    if (status != ETL_OK)
        return status;
    maker.partner = etlheap_diff_partner(maker.options.measure);
    maker.out = calloc(1, sizeof *maker.out);
    if (maker.out == NULL || !make(&maker))
        status = etl_no_memory(err);
    row_identities_free(&maker.identities);
    free(maker.values);
    free(maker.partners);
    free(maker.scratch);
    free(maker.curves);
    free(maker.sources);
    free(maker.next);
    free(maker.places);
    if (status == ETL_OK)
        *out = &maker.out->trend;
    else if (maker.out != NULL)
        etlheap_trend_free(&maker.out->trend);
    return status;
}

/* The trend is the first member of what was allocated. */
void etlheap_trend_free(etlheap_trend *trend)
{
    static_assert(offsetof(owned_trend, trend) == 0, "a trend is where its owner is");
    owned_trend *const owned = (owned_trend *)trend;
    if (owned == NULL)
        return;
    picked_rows_free(&owned->rows);
    ETLHEAP_VECTOR_FREE(&owned->rebuilt);
    free(owned->values);
    free(owned->partners);
    free(owned->total_values);
    free(owned->total_partners);
    free(owned->curves);
    free(owned);
}

void etlheap_trend_keep_top(etlheap_trend *trend, u32 rows)
{
    owned_trend *const owned = (owned_trend *)trend;
    picked_rows_keep(&owned->rows, rows);
    publish(owned);
}

static bool make(trend_maker *maker)
{
    row_identities *const identities = &maker->identities;
    if (maker->results != NULL && !row_identities_open(identities, maker->results, maker->count))
        return false;
    maker->out->trend.run_count = maker->count;
    maker->out->trend.measure = maker->options.measure;
    maker->scratch = calloc(2 * (size_t)maker->count, sizeof *maker->scratch);
    if (maker->scratch == NULL || !sum_groups(maker) || !place_groups(maker) || !put_rows(maker) ||
        !put_totals(maker) || !row_identities_rebuilt(identities, &maker->out->rebuilt))
        return false;
    maker->out->trend.merged_count = identities->merged_count;
    publish(maker->out);
    return true;
}

/* Identifies all rows first, because the number of lines must be known before they are filled. */
static bool sum_groups(trend_maker *maker)
{
    size_t row_count = 0, at = 0;
    for (u32 run = 0; run < maker->count; run++)
        row_count += maker->tables[run]->row_count;
    u32 *const ids = calloc(row_count + 1, sizeof *ids);
    bool ok = ids != NULL;
    for (u32 run = 0; ok && run < maker->count; at += maker->tables[run++]->row_count)
        ok = row_identities_add(&maker->identities, maker->tables[run], run, ids + at);
    const size_t groups = maker->identities.keys.count;
    maker->group_count = (u32)groups;
    if (ok) {
        maker->values = calloc((groups + 1) * maker->count, sizeof *maker->values);
        maker->partners = calloc((groups + 1) * maker->count, sizeof *maker->partners);
        maker->sources = calloc(groups + 1, sizeof *maker->sources);
        maker->next = calloc(row_count + 1, sizeof *maker->next);
        ok = maker->values != NULL && maker->partners != NULL && maker->sources != NULL &&
             maker->next != NULL;
    }
    at = 0;
    for (u32 run = 0; ok && run < maker->count; at += maker->tables[run++]->row_count)
        add_rows(maker, run, ids + at, maker->next + at);
    free(ids);
    return ok;
}

/* Adds the rows of a run. The first row of a group is the one that is shown. */
static void add_rows(const trend_maker *maker, u32 run, const u32 *ids, u32 *next)
{
    const etlheap_table *const table = maker->tables[run];
    for (u32 i = table->row_count; i-- > 0;) {
        const i64 *const measures = table->rows[i].measures;
        const size_t group = ids[i] - 1, cell = group * maker->count + run;
        i64 *const value = &maker->values[cell], *const partner = &maker->partners[cell];
        *value = etl_sat_add_i64(*value, measures[maker->options.measure]);
        *partner = etl_sat_add_i64(*partner, measures[maker->partner]);
        trend_source *const source = &maker->sources[group];
        const bool is_seen = source->next != NULL;
        next[i] = is_seen && source->run == run ? source->row : ETLHEAP_NO_INDEX;
        *source = (trend_source){ run, i, is_seen ? source->first : run, next };
    }
}

static u64 magnitude(i64 value)
{
    return value < 0 ? 0 - (u64)value : (u64)value;
}

static bool place_groups(trend_maker *maker)
{
    const size_t count = maker->group_count;
    u32 *const ranks = calloc(count + 1, sizeof *ranks);
    maker->curves = calloc(count + 1, sizeof *maker->curves);
    maker->places = calloc(count + 1, sizeof *maker->places);
    const bool ok = ranks != NULL && maker->curves != NULL && maker->places != NULL &&
                    row_identities_rank(&maker->identities, ranks);
    for (u32 i = 0; ok && i < count; i++) {
        const i64 *const values = &maker->values[(size_t)i * maker->count];
        const i64 *const partners = &maker->partners[(size_t)i * maker->count];
        maker->curves[i] = trend_curve_of(values, partners, maker->count, maker->scratch);
        const bool is_steady = maker->curves[i].pattern == ETLHEAP_TREND_STEADY;
        maker->out->trend.steady_count += is_steady;
        if (is_steady && !maker->options.keep_steady)
            continue;
        const u64 order = magnitude(maker->curves[i].change);
        const u64 moved = magnitude(etlheap_diff_subtract(values[0], values[maker->count - 1]));
        const u64 flip = maker->options.ascending ? 0 : UINT64_MAX;
        maker->places[maker->place_count++] =
            (trend_place){ order ^ flip, moved ^ flip, ranks[i], i };
    }
    free(ranks);
    if (ok)
        qsort(maker->places, maker->place_count, sizeof *maker->places, compare_places);
    return ok;
}

static int compare_places(const void *a, const void *b)
{
    const trend_place *const x = a, *const y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->moved != y->moved)
        return x->moved < y->moved ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool put_rows(trend_maker *maker)
{
    owned_trend *const out = maker->out;
    const size_t line = maker->count, cells = ((size_t)maker->place_count + 1) * line;
    out->values = calloc(cells, sizeof *out->values);
    out->partners = calloc(cells, sizeof *out->partners);
    out->curves = calloc((size_t)maker->place_count + 1, sizeof *out->curves);
    bool ok = out->values != NULL && out->partners != NULL && out->curves != NULL &&
              picked_rows_open(&out->rows, &maker->identities, maker->tables, maker->count,
                               maker->place_count);
    for (u32 i = 0; ok && i < maker->place_count; i++) {
        const u32 group = maker->places[i].group;
        const trend_source *const source = &maker->sources[group];
        const picked_group picked = { source->run, source->row, source->next,
                                      source->first < source->run };
        etlheap_row *const row = picked_rows_add(&out->rows, &picked);
        ok = row != NULL;
        if (row != NULL)
            memset(row->measures, 0, sizeof row->measures);
        memcpy(&out->values[i * line], &maker->values[group * line], line * sizeof(i64));
        memcpy(&out->partners[i * line], &maker->partners[group * line], line * sizeof(i64));
        out->curves[i] = maker->curves[group];
    }
    picked_rows_close(&out->rows);
    return ok;
}

static bool put_totals(trend_maker *maker)
{
    owned_trend *const out = maker->out;
    const size_t line = maker->count;
    out->total_values = calloc(ETLHEAP_KIND_COUNT * line, sizeof *out->total_values);
    out->total_partners = calloc(ETLHEAP_KIND_COUNT * line, sizeof *out->total_partners);
    if (out->total_values == NULL || out->total_partners == NULL)
        return false;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        i64 *const values = &out->total_values[kind * line];
        i64 *const partners = &out->total_partners[kind * line];
        for (u32 run = 0; run < maker->count; run++) {
            const etlheap_total *const total = &maker->tables[run]->totals[kind];
            values[run] = total->measures[maker->options.measure];
            partners[run] = total->measures[maker->partner];
            out->trend.table.totals[kind].present |= total->present;
        }
        out->trend.totals[kind] = trend_curve_of(values, partners, maker->count, maker->scratch);
    }
    return true;
}

static void publish(owned_trend *out)
{
    etlheap_trend *const trend = &out->trend;
    picked_rows_publish(&out->rows, &trend->table);
    trend->values = out->values;
    trend->partners = out->partners;
    trend->curves = out->curves;
    trend->total_values = out->total_values;
    trend->total_partners = out->total_partners;
    trend->rebuilt = out->rebuilt.at;
    trend->rebuilt_count = (u32)out->rebuilt.count;
}
