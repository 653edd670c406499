/* hand_windows.c - see hand_windows.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/hand_result.h"
#include "hand_windows.h"

#include <stdlib.h>

#define MS_TICKS  (HAND_MS_NS / HAND_TICK_NS)
#define TENTHS(n) (HAND_START_TICKS + (n)*MS_TICKS / 10)
#define NEVER     ETLHEAP_TICKS_NEVER

static void add(hand_windows *w, u32 process, u32 stack, i64 from, i64 to, u64 size)
{
    const lifetime row = { .alloc_ticks = from,
                           .free_ticks = to,
                           .size = size,
                           .heap = 0x10,
                           .process = process,
                           .stack = stack,
                           .kind = size < ETL_MIB ? ETLHEAP_KIND_HEAP : ETLHEAP_KIND_VIRTUALALLOC,
                           .free_type = to == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
    hand_lifetime(w->result, &row);
}

int hand_windows_set_up(void **state)
{
    static const u64 frames[] = { 0x1010, 0x3030, 0x2020, 0x3030 };
    hand_windows *const w = calloc(1, sizeof *w);
    if (!w)
        return -1;
    w->result = hand_result_new();
    const u32 app = hand_process(w->result, 10, "app.exe");
    const u32 quiet = hand_process(w->result, 20, "quiet.exe");
    const u32 a = hand_stack(w->result, frames, 2);
    const u32 b = hand_stack(w->result, frames + 2, 2);
    add(w, app, a, TENTHS(10), NEVER, 4096);
    add(w, app, b, TENTHS(10), TENTHS(25), 1000);
    add(w, app, b, TENTHS(30), TENTHS(35), 500);
    add(w, quiet, 0, ETLHEAP_TICKS_BEFORE, NEVER, 100);
    add(w, app, a, TENTHS(20), NEVER, ETL_MIB);
    w->result->abilities.kinds = 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_VIRTUALALLOC;
    w->result->info.session = w->result->info.computer = "";
    w->result->info.clock = "qpc";
    hand_ready(w->result, TENTHS(60) - 1);
    w->query = etlheap_query_default();
    w->query.group_by_count = 2;
    w->query.sort = ETLHEAP_MEASURE_PEAK_SIZE;
    w->query.jobs = 1;
    w->layout = etlheap_layout_default();
    *state = w;
    return 0;
}

int hand_windows_tear_down(void **state)
{
    hand_windows *const w = *state;
    etlheap_windows_free(w->stacks);
    etlheap_windows_free(w->windows);
    etlheap_result_free(w->result);
    free(w);
    return 0;
}

void hand_windows_make(hand_windows *w, const etlheap_windows_options *options)
{
    etlheap_windows_free(w->windows);
    assert_int_equal(etlheap_windows_make(w->result, &w->query, options, &w->windows, NULL),
                     ETL_OK);
    w->answer = (etlheap_windows_answer){ .windows = w->windows };
}

void hand_windows_every(hand_windows *w, i64 every_ns)
{
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = every_ns };
    hand_windows_make(w, &options);
}

void hand_windows_growth(hand_windows *w)
{
    etlheap_windows_options options = { .size = sizeof options, .every_ns = HAND_MS_NS / 5 };
    hand_windows_make(w, &options);
    assert_true(etlheap_windows_find_growth(w->windows, ETLHEAP_NO_INDEX, &w->growth));
    etlheap_query query = w->query;
    etlheap_windows_free(w->stacks);
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    options.measured_first = w->growth.first_window;
    options.measured_count = w->growth.window_count;
    assert_int_equal(etlheap_windows_make(w->result, &query, &options, &w->stacks, NULL), ETL_OK);
    w->answer = (etlheap_windows_answer){ .windows = w->windows,
                                          .growth_wanted = true,
                                          .growth = &w->growth,
                                          .stacks = w->stacks,
                                          .explains = w->explains };
    assert_true(w->stacks->table->row_count <= HAND_EXPLAIN);
    w->answer.unexplained = etlheap_windows_explain(&w->answer, &w->layout, w->explains);
}

void hand_windows_memory(hand_windows *w)
{
    static const etlheap_memory_sample system[] = {
        { .is_known = false },
        { .is_known = true,
          .has_commit = true,
          .time_ns = 7,
          .commit_bytes = 8 * ETL_MIB,
          .available_bytes = 4 * ETL_MIB },
        { .is_known = true, .time_ns = 9, .available_bytes = 2 * ETL_MIB },
    };
    static const etlheap_memory_sample app[] = {
        { .is_known = false },
        { .is_known = true,
          .has_commit = true,
          .time_ns = 7,
          .commit_bytes = 3000,
          .working_set_bytes = 2000,
          .private_working_set_bytes = 1000 },
        { .is_known = true,
          .has_commit = true,
          .time_ns = 9,
          .commit_bytes = 6000,
          .working_set_bytes = 1000,
          .private_working_set_bytes = 500 },
    };
    static const etlheap_memory_sample gone[] = {
        { .is_known = true, .time_ns = 2, .working_set_bytes = 9000 },
        { .is_known = false },
        { .is_known = false },
    };
    static const etlheap_process_memory processes[] = {
        { .name = "app.exe", .pid = 10, .at = app },
        { .name = "gone.exe", .pid = 30, .at = gone },
    };
    assert_int_equal(w->windows->window_count, ETL_COUNT_OF(system));
    w->windows->memory = system;
    w->windows->process_memory = processes;
    w->windows->process_memory_count = ETL_COUNT_OF(processes);
}
