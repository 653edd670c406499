/*
 * Goal: the rest that windows of equal length leave at the end of a trace is a part of the last one
 * if it is short and the question allows it.
 * Method: blocks by hand around the ends; each window against a report of the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/models/group_model.h"
#include "tests/support/windows_check.h"

#define NS(ticks) ((i64)(ticks)*HAND_TICK_NS)

/* A rest of a hundredth of a window is part of the last one, a longer one is a window. */
static void a_short_rest_joins_the_last_window(void **state)
{
    (void)state;
    static const struct {
        i64 last;
        bool joins;
        u32 count;
    } rows[] = {
        { 1004, true, 2 }, { 1004, false, 3 }, { 1005, true, 3 }, { 999, true, 2 }, { 3, true, 1 }
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_result *const result = hand_result_new();
        const u32 process = hand_process(result, 10, "a.exe");
        for (i64 tick = 0; tick <= rows[i].last; tick += 3)
            hand_lifetime(result, &(lifetime){ .alloc_ticks = HAND_START_TICKS + tick,
                                               .free_ticks = HAND_START_TICKS + tick + tick % 7,
                                               .size = 100 + (u64)tick,
                                               .process = process,
                                               .free_type = ETLHEAP_FREE_FREE });
        hand_ready(result, HAND_START_TICKS + rows[i].last);
        etlheap_query query = etlheap_query_default();
        query.group_by_count = 2; /* kind, process */
        query.at_exit_freed = true;
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .every_ns = NS(500),
                                                  .join_rest = rows[i].joins };
        etlheap_windows *const windows = windows_check_make(result, &query, &options);
        assert_int_equal(windows->window_count, rows[i].count);
        windows_check_reports(result, &query, windows);
        etlheap_windows_free(windows);
        etlheap_result_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_rest_joins_the_last_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
