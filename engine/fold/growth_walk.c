/*
 * growth_walk.c - growth of groups whose lifetimes stay in a store.
 *
 * What is outstanding at a sample is what the time before it leaves. So the store is
 * walked once more, as for windows that are cut at the samples, and no lifetime is
 * kept for it.
 */
#include "growth.h"
#include "windows_walk.h"

static etl_status walk(aggregator *a, const slot_groups *slots, const growth_moments *moments,
                       window_cells *cells, etl_error *err);

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

/* Rows are in the order of the slots' keys; keys without lifetimes have none. */
static void rate_rows(aggregator *a, size_t first, const slot_groups *slots,
                      const growth_moments *moments, const window_cells *cells)
{
    size_t at = first;
    for (u32 key = 0; key < slots->keys.count && at < a->groups.count; key++) {
        i64 sizes[GROWTH_SAMPLES];
        if (memcmp(&a->groups.at[at].key, &slots->keys.at[key], sizeof(group_key)) != 0)
            continue;
        for (u32 i = 0; i < GROWTH_SAMPLES; i++)
            sizes[i] = windows_cells_start(cells, key, i + 1).outstanding_size;
        growth_set(&a->groups.at[at++], growth_rate(moments->times_ns, sizes));
    }
    assert(at == a->groups.count);
}

etl_status growth_walk(aggregator *a, size_t first, etl_error *err)
{
    const growth_moments moments = growth_moments_of(&a->plan);
    window_cells cells = { NULL, NULL };
    slot_groups slots;
    const bool ok = slot_groups_open(&slots, a);
    const etl_status status = ok ? walk(a, &slots, &moments, &cells, err) : no_memory(err);
    if (status == ETL_OK)
        rate_rows(a, first, &slots, &moments, &cells);
    windows_cells_free(&cells);
    slot_groups_close(&slots);
    return status;
}

static etl_status walk(aggregator *a, const slot_groups *slots, const growth_moments *moments,
                       window_cells *cells, etl_error *err)
{
    window_cell_list walked = { 0 };
    window_pass pass = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < GROWTH_SAMPLES; i++)
        ok = ETLHEAP_PUSH(&pass.bounds, moments->ticks[i]);
    etl_status status = ok ? windows_walk_run(a, slots, &pass, &walked, err) : no_memory(err);
    if (status == ETL_OK && !windows_cells_make(cells, &walked, (u32)slots->keys.count))
        status = no_memory(err);
    ETLHEAP_VECTOR_FREE(&walked);
    ETLHEAP_VECTOR_FREE(&pass.bounds);
    return status;
}
