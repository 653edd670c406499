/*
 * spikes.c - which memory came and went, when, and with which call stacks.
 *
 * In: a result with all events, and a query. Out: the spikes of its groups, the highest first.
 *
 *     windows by group       ──▶ spikes (spikes_find.c), as windows
 *     peaks of their windows ──▶ the moment of each spike, to the tick (spikes_moment.c)
 *     windows by stack       ──▶ what each stack rose by up to the moment, and fell by after it
 *
 * All spikes share the readings. Invariant: a spike whose stacks do not explain at least half of it
 * is dropped: then other memory came than went, each of which lasted, and only their sum has a
 * peak.
 */
#include "spikes_moment.h"

#include <stdlib.h>

#include "engine/core/arena.h"
#include "engine/query/query.h"
#include "parser/sized.h"

#define WINDOWS    4000u /* of the first reading */
#define NOISE_PART 30    /* of the peak: lower ones are not listed */
#define SMALL_PART 100   /* of the spike: smaller parts are not listed */

typedef struct owned_spikes {
    etlheap_spikes spikes;
    etlheap_windows *groups, *stacks;
    ETLHEAP_VECTOR(etlheap_spike) list;
    ETLHEAP_VECTOR(etlheap_spike_part) parts;
} owned_spikes;

typedef struct spikes_maker {
    const etlheap_result *result;
    etlheap_query query; /* with STACK as its last key */
    u32 count_max;
    found_spikes found;
    etlheap_time_range *ranges; /* two for each spike: up to its moment, and after it */
    owned_spikes *out;
} spikes_maker;

static bool is_key_allowed(etlheap_key key)
{
    return key == ETLHEAP_KEY_KIND || key == ETLHEAP_KEY_PROCESS || key == ETLHEAP_KEY_HEAP ||
           key == ETLHEAP_KEY_STACK;
}

static etl_status read_query(const etlheap_result *result, const etlheap_query *given,
                             etlheap_query *query, etl_error *err)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS };
    const etl_status status = query_read_for(result, given, query, err);
    u32 count = 0;
    if (status != ETL_OK)
        return status;
    if (given == NULL) {
        memcpy(query->group_by, keys, sizeof keys);
        query->group_by_count = (u32)ETL_COUNT_OF(keys);
    }
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (!is_key_allowed(query->group_by[i]))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "spikes are those of a kind, a process or a heap, not of a %s",
                                 etlheap_key_word(query->group_by[i]));
        if (query->group_by[i] != ETLHEAP_KEY_STACK)
            query->group_by[count++] = query->group_by[i];
    }
    query->group_by[count] = ETLHEAP_KEY_STACK;
    query->group_by_count = count + 1;
    query->sort = ETLHEAP_MEASURE_PEAK_SIZE;
    query->sort_ascending = query->churn = false;
    query->whole_rows_max = 0;
    return ETL_OK;
}

/* --- when --------------------------------------------------------------------------------- */

static etl_status make_groups(spikes_maker *maker, etl_error *err)
{
    etlheap_query query = maker->query;
    const i64 end_ns = etlheap_result_trace(maker->result)->end_ns;
    const i64 from_ns = query.from_ns == INT64_MIN ? 0 : query.from_ns;
    const i64 to_ns = query.to_ns == INT64_MAX ? end_ns : query.to_ns;
    const i64 span_ns = etl_span_i64(from_ns, to_ns);
    const etlheap_windows_options windows = { .size = sizeof windows,
                                              .every_ns = span_ns / WINDOWS + 1 };
    query.group_by_count--;
    return etlheap_windows_make(maker->result, &query, &windows, &maker->out->groups, err);
}

static int by_height(const void *a, const void *b)
{
    const found_spike *const x = a, *const y = b;
    if (x->height_size != y->height_size)
        return x->height_size > y->height_size ? -1 : 1;
    return x->top != y->top ? (x->top > y->top) - (x->top < y->top)
                            : (x->row > y->row) - (x->row < y->row);
}

/* Drops the noise of a row, whose spikes are those from `first` on. */
static void drop_noise(found_spikes *found, size_t first)
{
    i64 peak = 0;
    size_t left = first;
    for (size_t i = first; i < found->count; i++)
        peak = found->at[i].peak_size > peak ? found->at[i].peak_size : peak;
    for (size_t i = first; i < found->count; i++) {
        if (found->at[i].height_size > peak / NOISE_PART)
            found->at[left++] = found->at[i];
    }
    found->count = left;
}

static etl_status find_all(spikes_maker *maker, etl_error *err)
{
    const etlheap_windows *const groups = maker->out->groups;
    for (u32 row = 0; row < groups->table->row_count; row++) {
        const size_t first = maker->found.count;
        if (!spikes_find(groups, row, &maker->found))
            return etl_no_memory(err);
        drop_noise(&maker->found, first);
    }
    if (maker->found.count > 0)
        qsort(maker->found.at, maker->found.count, sizeof *maker->found.at, by_height);
    if (maker->found.count > ETLHEAP_SPIKES_MAX) {
        maker->out->spikes.left_out_count = (u32)(maker->found.count - ETLHEAP_SPIKES_MAX);
        maker->found.count = ETLHEAP_SPIKES_MAX;
    }
    return ETL_OK;
}

static void add_spike(spikes_maker *maker, const found_spike *found, i64 at_ns)
{
    const etlheap_time_range *const windows = maker->out->groups->windows;
    etlheap_time_range *const ranges = &maker->ranges[2 * maker->out->list.count];
    const etlheap_spike spike = { .row = found->row,
                                  .from_ns = windows[found->first].from_ns,
                                  .to_ns = windows[found->end - 1].to_ns,
                                  .at_ns = at_ns,
                                  .height_size = found->height_size,
                                  .peak_size = found->peak_size };
    const i64 middle_ns = spike.at_ns < spike.to_ns ? spike.at_ns : spike.to_ns;
    ranges[0] = (etlheap_time_range){ spike.from_ns, middle_ns };
    ranges[1] = (etlheap_time_range){ middle_ns, spike.to_ns };
    (void)ETLHEAP_PUSH(&maker->out->list, spike);
}

static etl_status find_moments(spikes_maker *maker, etl_error *err)
{
    const size_t count = maker->found.count;
    etlheap_query query = maker->query;
    i64 *const at_ns = calloc(count + 1, sizeof *at_ns);
    maker->ranges = calloc(2 * (count + 1), sizeof *maker->ranges);
    const bool has_memory =
        at_ns != NULL && maker->ranges != NULL && ETLHEAP_RESERVE(&maker->out->list, count + 1);
    etl_status status = has_memory ? ETL_OK : etl_no_memory(err);
    query.group_by_count--;
    if (status == ETL_OK)
        status = spikes_find_moments(maker->result, &query, maker->out->groups, &maker->found,
                                     at_ns, err);
    for (size_t i = 0; status == ETL_OK && i < count; i++)
        add_spike(maker, &maker->found.at[i], at_ns[i]);
    free(at_ns);
    return status;
}

/* --- with which stacks -------------------------------------------------------------------- */

static etl_status make_stacks(spikes_maker *maker, etl_error *err)
{
    const etlheap_windows_options windows = { .size = sizeof windows,
                                              .ranges = maker->ranges,
                                              .range_count = 2 * (u32)maker->out->list.count };
    etlheap_query query = maker->query;
    if (windows.range_count == 0) { /* a table without rows that matter */
        query.group_by_count--;
        return etlheap_windows_make(maker->result, &query, NULL, &maker->out->stacks, err);
    }
    return etlheap_windows_make(maker->result, &query, &windows, &maker->out->stacks, err);
}

static int by_size(const void *a, const void *b)
{
    const etlheap_spike_part *const x = a, *const y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Adds what came and went with each stack in spike `at`. */
static bool add_parts(spikes_maker *maker, u32 at)
{
    owned_spikes *const out = maker->out;
    etlheap_spike *const spike = &out->list.at[at];
    const etlheap_table *const groups = out->groups->table;
    const etlheap_table *const stacks = out->stacks->table;
    const size_t first = out->parts.count;
    for (u32 row = 0; row < stacks->row_count; row++) {
        etlheap_cell up, down;
        if (!spikes_is_of_group(groups, spike->row, &stacks->rows[row]) ||
            !etlheap_windows_cell(out->stacks, row, 2 * at, &up) ||
            !etlheap_windows_cell(out->stacks, row, 2 * at + 1, &down) || up.impacting_size <= 0 ||
            down.impacting_size >= 0)
            continue;
        etlheap_spike_part part = { .row = row,
                                    .came_size = up.impacting_size,
                                    .went_size = -down.impacting_size };
        part.size = part.came_size < part.went_size ? part.came_size : part.went_size;
        spike->spiked_size = etl_sat_add_i64(spike->spiked_size, part.size);
        if (!ETLHEAP_PUSH(&out->parts, part))
            return false;
    }
    if (out->parts.count > first)
        qsort(&out->parts.at[first], out->parts.count - first, sizeof *out->parts.at, by_size);
    while (out->parts.count > first &&
           out->parts.at[out->parts.count - 1].size < spike->spiked_size / SMALL_PART)
        out->parts.count--;
    spike->first_part = (u32)first;
    spike->part_count = (u32)(out->parts.count - first);
    return true;
}

static etl_status explain(spikes_maker *maker, etl_error *err)
{
    owned_spikes *const out = maker->out;
    size_t left = 0;
    for (u32 i = 0; i < out->list.count; i++) {
        if (!add_parts(maker, i))
            return etl_no_memory(err);
        const etlheap_spike *const spike = &out->list.at[i];
        const bool is_explained = spike->spiked_size >= spike->height_size / 2;
        if (is_explained && left < maker->count_max) {
            out->list.at[left++] = *spike;
        } else {
            out->parts.count = spike->first_part;
            out->spikes.left_out_count += is_explained;
        }
    }
    out->list.count = left;
    return ETL_OK;
}

/* Rows behind the last one of a part, and their frames, would only make documents large. */
static etl_status drop_unused_rows(owned_spikes *out, etl_error *err)
{
    u32 used = 0;
    for (size_t i = 0; i < out->parts.count; i++)
        used = (u32)etl_max_u64(used, (u64)out->parts.at[i].row + 1);
    return etlheap_table_keep_top(out->stacks->table, used, err);
}

static etl_status make(spikes_maker *maker, etl_error *err)
{
    etl_status status = make_groups(maker, err);
    if (status == ETL_OK)
        status = find_all(maker, err);
    if (status == ETL_OK)
        status = find_moments(maker, err);
    if (status == ETL_OK)
        status = make_stacks(maker, err);
    if (status == ETL_OK)
        status = explain(maker, err);
    return status == ETL_OK ? drop_unused_rows(maker->out, err) : status;
}

static void publish(owned_spikes *out)
{
    const etlheap_time_range *const windows = out->groups->windows;
    out->spikes.groups = out->groups->table;
    out->spikes.stacks = out->stacks->table;
    out->spikes.spikes = out->list.at;
    out->spikes.count = (u32)out->list.count;
    out->spikes.parts = out->parts.at;
    if (out->groups->window_count > 0)
        out->spikes.span_ns = (i64)spikes_level_windows(out->groups) *
                              etl_span_i64(windows[0].from_ns, windows[0].to_ns);
}

etl_status etlheap_spikes_make(const etlheap_result *result, const etlheap_query *query,
                               const etlheap_spikes_options *options, etlheap_spikes **out,
                               etl_error *err)
{
    etlheap_spikes_options own = { .size = sizeof own };
    spikes_maker maker = { .result = result };
    *out = NULL;
    etl_status status = etl_read_sized(options, "etlheap_spikes_options", &own, sizeof own, err);
    if (status == ETL_OK)
        status = read_query(result, query, &maker.query, err);
    if (status != ETL_OK)
        return status;
    maker.count_max = own.count_max == 0 ? ETLHEAP_SPIKES_MAX
                                         : (u32)etl_min_u64(own.count_max, ETLHEAP_SPIKES_MAX);
    maker.out = calloc(1, sizeof *maker.out);
    if (maker.out == NULL)
        return etl_no_memory(err);
    status = make(&maker, err);
    if (status == ETL_OK) {
        publish(maker.out);
        *out = &maker.out->spikes;
    } else {
        etlheap_spikes_free(&maker.out->spikes);
    }
    ETLHEAP_VECTOR_FREE(&maker.found);
    free(maker.ranges);
    return status;
}

void etlheap_spikes_free(etlheap_spikes *spikes)
{
    owned_spikes *const owned = (owned_spikes *)spikes;
    if (owned == NULL)
        return;
    etlheap_windows_free(owned->groups);
    etlheap_windows_free(owned->stacks);
    ETLHEAP_VECTOR_FREE(&owned->list);
    ETLHEAP_VECTOR_FREE(&owned->parts);
    free(owned);
}

/* With a symbol server each name may be a download, so only the rows of parts are named. */
etl_status etlheap_spikes_name(etlheap_spikes *spikes, etlheap_symbols *symbols, etl_error *err)
{
    const owned_spikes *const owned = (const owned_spikes *)spikes;
    bool *const listed = calloc((size_t)spikes->stacks->row_count + 1, sizeof *listed);
    if (listed == NULL)
        return etl_no_memory(err);
    for (size_t i = 0; i < owned->parts.count; i++)
        listed[owned->parts.at[i].row] = true;
    const etl_status status = etlheap_table_name(spikes->stacks, symbols, listed, err);
    free(listed);
    return status;
}
