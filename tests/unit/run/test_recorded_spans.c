/*
 * Goal: a session that goes on in further files is one session, in whatever order its files are
 * given: each kind of memory was recorded from its first event to its last one, and what any of the
 * files has, all of it recorded.
 * Method: four small files of one session, heap memory in the first and ranges in the last, given
 * in each of their 24 orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/run_check.h"

#define NEWFILE  0x8u
#define FILES    4u
#define FILE_NS  INT64_C(1000000000)
#define FILE_LEN INT64_C(10000000) /* ticks */

/* The time of a file's beginning or, with an event's number, of the event. */
static etl_build_at at(u32 file, u32 event)
{
    return (etl_build_at){ .ticks = FILE_LEN * (i64)(file + 1) + 1000 * (i64)event, .pid = 8 };
}

static void open_file(check_traces *traces, u32 file)
{
    etl_build *const b = etl_build_new(&(etl_build_options){
        .log_file_mode = NEWFILE,
        .session_name = "heap",
        .clock_hz = (u64)FILE_LEN,
        .start_ticks = at(file, 0).ticks,
        .start_filetime = 132400000000000000 + FILE_NS / 100 * (i64)file,
        .first_sequence = 2 + file,
    });
    if (file == 0)
        etl_build_heap_alloc(b, at(file, 1), 0x1f0000, 0x90000, 24);
    else if (file + 1 == FILES)
        etl_build_virtual_alloc(b, at(file, 1), 0x900000, 0x1000,
                                ETL_BUILD_COMMIT | ETL_BUILD_RESERVE);
    else
        etl_build_mark(b, at(file, 1), "event");
    check_open(traces, b);
}

/* The n-th order of the files. */
static void order_of(u32 n, u32 *files)
{
    u32 left[FILES] = { 0, 1, 2, 3 };
    for (u32 i = 0, count = FILES; i < FILES; i++, count--) {
        const u32 pick = n % count;
        n /= count;
        files[i] = left[pick];
        for (u32 k = pick; k + 1 < count; k++)
            left[k] = left[k + 1];
    }
}

static void files_of_a_session_are_one_recording(void **state)
{
    (void)state;
    for (u32 n = 0; n < 24; n++) {
        check_traces traces = { .count = 0 };
        u32 files[FILES];
        order_of(n, files);
        for (u32 i = 0; i < FILES; i++)
            open_file(&traces, files[i]);
        etlheap_result *const result = check_analyze(&traces, NULL);
        const etlheap_trace_info *const info = etlheap_result_trace(result);
        const etlheap_recorded *const heap = &info->recorded[ETLHEAP_KIND_HEAP];
        const etlheap_recorded *const ranges = &info->recorded[ETLHEAP_KIND_VIRTUALALLOC];
        assert_true(heap->is_known && ranges->is_known);
        assert_true(heap->to_ns - heap->from_ns >= (FILES - 1) * FILE_NS);
        assert_true(ranges->from_ns == heap->from_ns && ranges->to_ns == heap->to_ns);
        etlheap_result_free(result);
        check_close(&traces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_session_are_one_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
