/*
 * growth_walk.c - growth of groups whose lifetimes stay in a store.
 *
 * What is outstanding at a sample is what the time before it leaves. So the store is
 * walked once more, as for windows that are cut at the samples, and no lifetime is
 * kept for it.
 */
#include "growth.h"
#include "windows_walk.h"

static etl_status walk(aggregator *a, const log_groups *groups, const growth_moments *moments,
                       window_cells *cells, etl_error *err);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

/* Rows are in the order of the groups; groups without lifetimes have none. */
static void rate_rows(aggregator *a, size_t first, const log_groups *groups,
                      const growth_moments *moments, const window_cells *cells)
{
    size_t at = first;
    for (u32 group = 0; group < groups->count && at < a->groups.count; group++) {
        const group_key key = log_groups_key(groups, group);
        i64 sizes[GROWTH_SAMPLES];
        if (memcmp(&a->groups.at[at].key, &key, sizeof key) != 0)
            continue;
        for (u32 i = 0; i < GROWTH_SAMPLES; i++)
            sizes[i] = windows_cells_start(cells, group, i + 1).outstanding_size;
        growth_set(&a->groups.at[at++], growth_rate(moments->times_ns, sizes));
    }
    assert(at == a->groups.count);
}

etl_status growth_walk(aggregator *a, const log_groups *groups, size_t first, etl_error *err)
{
    const growth_moments moments = growth_moments_of(&a->plan);
    window_cells cells = { NULL, NULL };
    const etl_status status = walk(a, groups, &moments, &cells, err);
    if (status == ETL_OK)
        rate_rows(a, first, groups, &moments, &cells);
    windows_cells_free(&cells);
    return status;
}

static etl_status walk(aggregator *a, const log_groups *groups, const growth_moments *moments,
                       window_cells *cells, etl_error *err)
{
    window_cell_list walked = { 0 };
    window_pass pass = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < GROWTH_SAMPLES; i++)
        ok = ETLHEAP_PUSH(&pass.bounds, moments->ticks[i]);
    etl_status status = ok ? windows_walk_run(a, groups, &pass, &walked, err) : no_memory(err);
    if (status == ETL_OK && !windows_cells_make(cells, &walked, groups->count))
        status = no_memory(err);
    ETLHEAP_VECTOR_FREE(&walked);
    ETLHEAP_VECTOR_FREE(&pass.bounds);
    return status;
}
