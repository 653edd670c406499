/*
 * fuzz_ehs.c - any bytes as a store: its facts, a report of a window by walking its
 * events, and the same report from lifetimes. Where all succeed the two agree.
 */
#include "fuzz.h"

#include "engine/engine.h"

#define MEMORY_BYTES_MAX ((u64)256 << 20)

/* The report's totals; false when it failed. */
static bool ask(const char *path, bool by_walking, etlheap_total totals[ETLHEAP_KIND_COUNT])
{
    etlheap_query query = etlheap_query_default();
    query.from_ns = 1000000;
    query.jobs = 1;
    const etlheap_options options = { .size = sizeof options,
                                      .memory_bytes_max = MEMORY_BYTES_MAX,
                                      .report = by_walking ? &query : NULL };
    etlheap_result *result = NULL;
    const etlheap_table *table = NULL;
    etl_error err;
    bool ok = etlheap_open_store(path, &options, &result, &err) == ETL_OK &&
              etlheap_aggregate(result, &query, &table, &err) == ETL_OK;
    if (ok)
        memcpy(totals, table->totals, sizeof table->totals);
    etlheap_table_free(table);
    etlheap_result_free(result);
    return ok;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const char *const path = fuzz_file(data, size);
    etlheap_total walked[ETLHEAP_KIND_COUNT], counted[ETLHEAP_KIND_COUNT];
    if (!ask(path, true, walked) || !ask(path, false, counted))
        return 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (memcmp(walked[kind].measures, counted[kind].measures, sizeof counted[kind].measures) !=
            0)
            __builtin_trap();
    }
    return 0;
}
