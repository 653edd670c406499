/*
 * fuzz_ehs.c - any bytes as a store: its facts, a report of a window by walking its
 * events, and the same report from lifetimes. Where all succeed the two agree.
 * Lifetimes are walked by time and by size; every stack is one of the table.
 * Summaries are merged with nothing, and what comes out is merged again: the same.
 */
#include "fuzz.h"

#include <stdlib.h>

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

/* A file in memory. */
typedef struct kept_bytes {
    u8 *at;
    size_t size;
} kept_bytes;

static bool keep(void *user, const void *bytes, size_t size)
{
    kept_bytes *const kept = user;
    u8 *const grown = realloc(kept->at, kept->size + size);
    if (grown == NULL)
        return false;
    memcpy(grown + kept->size, bytes, size);
    kept->at = grown;
    kept->size += size;
    return true;
}

/* The file merged alone; false when it is none that can be. */
static bool merge(const char *path, kept_bytes *out)
{
    const etlheap_summary_options options = { .size = sizeof options,
                                              .jobs = 1,
                                              .memory_bytes_max = MEMORY_BYTES_MAX };
    const etlheap_store_options store = { .size = sizeof store, .write = keep, .user = out };
    etlheap_summary *summary = NULL;
    etl_error err;
    *out = (kept_bytes){ NULL, 0 };
    const bool ok = etlheap_summary_open(&options, &summary, &err) == ETL_OK &&
                    etlheap_summary_add_stores(summary, &path, 1, NULL, NULL, &err) == ETL_OK &&
                    etlheap_summary_write(summary, &store, &err) == ETL_OK;
    etlheap_summary_free(summary);
    return ok;
}

static void merge_twice(const char *path)
{
    kept_bytes once, twice;
    if (merge(path, &once)) {
        const bool again = merge(fuzz_file(once.at, once.size), &twice);
        if (!again || once.size != twice.size || memcmp(once.at, twice.at, once.size) != 0)
            __builtin_trap();
        free(twice.at);
    }
    free(once.at);
}

static void compare_answers(const char *path)
{
    etlheap_total walked[ETLHEAP_KIND_COUNT], counted[ETLHEAP_KIND_COUNT];
    if (!ask(path, true, walked) || !ask(path, false, counted))
        return;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (memcmp(walked[kind].measures, counted[kind].measures, sizeof counted[kind].measures) !=
            0)
            __builtin_trap();
    }
}

/* Every lifetime of a late window, by time and by size. */
static void walk_lifetimes(const char *path)
{
    const etlheap_options options = { .size = sizeof options,
                                      .memory_bytes_max = MEMORY_BYTES_MAX };
    etlheap_query query = etlheap_query_default();
    query.from_ns = 1000000;
    etlheap_result *result = NULL;
    etl_error err;
    const bool is_open = etlheap_lifetimes_open_store(path, &options, &result, &err) == ETL_OK;
    for (u64 top = 0; is_open && top < 2; top++) {
        const etlheap_lifetimes_options by = { .size = sizeof by,
                                               .sort = top == 0 ? ETLHEAP_LIFETIME_ALLOC_TIME
                                                                : ETLHEAP_LIFETIME_SIZE,
                                               .top = 100 * top,
                                               .memory_bytes_max = MEMORY_BYTES_MAX };
        etlheap_lifetimes *walk = NULL;
        etlheap_lifetime row;
        if (etlheap_lifetimes_open(result, &query, &by, &walk, &err) != ETL_OK)
            continue;
        while (etlheap_lifetimes_next(walk, &row)) {
            const u32 stacks = etlheap_lifetimes_table(walk)->stack_count;
            if (row.stack != ETLHEAP_NO_INDEX && row.stack >= stacks)
                __builtin_trap();
        }
        etlheap_lifetimes_close(walk);
    }
    etlheap_result_free(result);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const char *const path = fuzz_file(data, size);
    compare_answers(path);
    walk_lifetimes(path);
    merge_twice(path);
    return 0;
}
