/*
 * fuzz_ehs.c - fuzzes the reader of stores with any bytes.
 *
 * In: bytes as a store or summary. Out: nothing, or a crash: it reads facts, makes a report of a
 * window by walking events and the same report from lifetimes, walks lifetimes by time and by size,
 * makes windows, and cuts a part out of it. A summary is merged with nothing, and the result is
 * merged again: both must be equal.
 *
 * Invariants that it checks: every stack of a lifetime is in the table, no window has fewer than
 * zero blocks, and merging twice changes nothing.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "engine/engine.h"
#include "engine/result/result.h"
#include "engine/result/summary.h"
#include "tests/support/asked.h"

#define MEMORY_BYTES_MAX ((u64)256 << 20)
#define ROWS_MAX         50u
#define WINDOWS_MAX      500u

/* The report's totals; false when it failed. */
static bool ask(const char *path, bool by_walking, etlheap_total totals[ETLHEAP_KIND_CAPACITY])
{
    etlheap_query query = etlheap_query_default();
    query.from_ns = 1000000;
    query.jobs = 1;
    const etlheap_options options = { .size = sizeof options,
                                      .memory_bytes_max = MEMORY_BYTES_MAX,
                                      ASKED_IF(by_walking, ETLHEAP_ASK_TABLE, &query, NULL) };
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
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

/* Merges the file by itself; false if it cannot be merged. */
static bool merge(const char *path, kept_bytes *out)
{
    const etlheap_summary_options options = { .size = sizeof options,
                                              .jobs = 1,
                                              .memory_bytes_max = MEMORY_BYTES_MAX };
    const etlheap_store_options store = { .size = sizeof store, .write = keep, .user = out };
    etlheap_summary *summary = NULL;
    etl_error err;
    *out = (kept_bytes){ NULL, 0 };
    const bool ok =
        etlheap_summary_open(&options, &summary, &err) == ETL_OK &&
        etlheap_summary_add_stores(summary, &path, NULL, 1, NULL, NULL, &err) == ETL_OK &&
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

/* Asks in both ways. Columns of a made-up store may contradict each other, so the two answers may
 * differ; each must make sense by itself. */
static void ask_both_ways(const char *path)
{
    for (int by_walking = 0; by_walking < 2; by_walking++) {
        etlheap_total totals[ETLHEAP_KIND_CAPACITY];
        if (!ask(path, by_walking != 0, totals))
            continue;
        for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            const i64 *const of = totals[kind].measures;
            if (of[ETLHEAP_MEASURE_COUNT] < of[ETLHEAP_MEASURE_OUTSTANDING_COUNT] ||
                of[ETLHEAP_MEASURE_OUTSTANDING_COUNT] < 0 ||
                of[ETLHEAP_MEASURE_OUTSTANDING_SIZE] < 0)
                __builtin_trap();
        }
    }
}

/* Every lifetime of a late window, by time and by size. */
static void walk_lifetimes(const char *path)
{
    etlheap_query query = etlheap_query_default();
    query.from_ns = 1000000;
    const etlheap_options options = { .size = sizeof options,
                                      ASKED_EVENTS(&query),
                                      .memory_bytes_max = MEMORY_BYTES_MAX };
    etlheap_result *result = NULL;
    etl_error err;
    const bool is_open = etlheap_open_store(path, &options, &result, &err) == ETL_OK;
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

/* What could be cut out of a file must open again, and answer or refuse. */
static void cut_part(const char *path)
{
    static const char *const word = "*";
    const etlheap_part part = { sizeof part, 1000000, 2000000000, 0, &word, 1 };
    const etlheap_options opening = { .size = sizeof opening,
                                      ASKED_EVENTS(NULL),
                                      .memory_bytes_max = MEMORY_BYTES_MAX };
    etlheap_result *whole = NULL, *cut = NULL;
    kept_bytes out = { NULL, 0 };
    etl_error err;
    if (etlheap_open_store(path, &opening, &whole, &err) != ETL_OK)
        return;
    const etlheap_store_options store = { sizeof store, keep, &out, false, false, false, &part };
    const etlheap_options cutting = {
        .size = sizeof cutting, .jobs = 1, .memory_bytes_max = MEMORY_BYTES_MAX, .store = &store
    };
    const bool is_cut = etlheap_store_part(whole, &cutting, &err) == ETL_OK;
    etlheap_result_free(whole); /* the next file takes the place of its own */
    if (is_cut) {
        etlheap_table *table = NULL;
        const char *const again = fuzz_file(out.at, out.size);
        const etl_status status = etlheap_open_store(again, &opening, &cut, &err);
        if (status != ETL_OK && status != ETL_ERR_LIMIT && status != ETL_ERR_MEMORY)
            __builtin_trap();
        if (status == ETL_OK && etlheap_aggregate(cut, NULL, &table, &err) == ETL_OK)
            etlheap_table_free(table);
        etlheap_result_free(cut);
    }
    free(out.at);
}

static void look_at_windows(const etlheap_windows *windows)
{
    const u32 rows = windows->table->row_count;
    etlheap_growth growth;
    for (u32 row = 0; row < rows && row < ROWS_MAX; row++) {
        for (u32 window = 0; window < windows->window_count && window < WINDOWS_MAX; window++) {
            etlheap_cell cell;
            if (etlheap_windows_cell(windows, row, window, &cell) && cell.outstanding_count < 0)
                __builtin_trap();
            (void)etlheap_windows_start_size(windows, row, window);
        }
    }
    if (etlheap_windows_find_growth(windows, ETLHEAP_NO_INDEX, &growth) && growth.row >= rows)
        __builtin_trap();
}

/* The whole of it, and its windows: those that a summary has, else seconds. */
static void ask_windows(const char *path)
{
    const etlheap_options options = { .size = sizeof options,
                                      .memory_bytes_max = MEMORY_BYTES_MAX };
    etlheap_query query = etlheap_query_default();
    query.at_exit_freed = true;
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
    etlheap_windows *windows = NULL;
    etl_error err;
    if (etlheap_open_store(path, &options, &result, &err) != ETL_OK)
        return;
    if (etlheap_aggregate(result, &query, &table, &err) != ETL_OK)
        table = NULL;
    etlheap_table_free(table);
    const etlheap_windows_options every = { .size = sizeof every,
                                            .every_ns = result->summary != NULL
                                                            ? result->summary->every_ns
                                                            : 1000000000 };
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_PROCESS;
    query.group_by_count = 2;
    if (etlheap_windows_make(result, &query, &every, &windows, &err) == ETL_OK) {
        look_at_windows(windows);
        etlheap_windows_free(windows);
    }
    etlheap_result_free(result);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const char *const path = fuzz_file(data, size);
    ask_both_ways(path);
    walk_lifetimes(path);
    ask_windows(path);
    merge_twice(path);
    cut_part(path);
    return 0;
}
