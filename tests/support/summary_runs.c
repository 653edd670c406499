/* summary_runs.c - see summary_runs.h. */
#include "summary_runs.h"
#include "temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAP 0x1F0000u

const summary_run summary_first_run = { 0x7FF600010000, 1, 0x1000, 42, 5, 2, false, 0 };
const summary_run summary_second_run = { 0x7FF7A0000000, 1, 0x2000, 1042, 9, 4, false, 0 };

int summary_fixture_open(void **state)
{
    summary_fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    for (u32 i = 0; i < SUMMARY_PATHS; i++) {
        const int file = temporary_file(f->paths[i], "test-summary");
        if (file < 0)
            return 1;
        close(file);
    }
    *state = f;
    return 0;
}

int summary_fixture_close(void **state)
{
    summary_fixture *const f = *state;
    for (u32 i = 0; i < SUMMARY_PATHS; i++)
        unlink(f->paths[i]);
    free(f);
    return 0;
}

static etl_build_at at_ticks(const summary_run *r, i64 ticks)
{
    return (etl_build_at){ .ticks = 1001000 + r->start_ticks + ticks, .pid = r->pid, .tid = 7 };
}

static void load_program(etl_build *b, const summary_run *r)
{
    const etl_build_image_spec image = { .pid = r->pid,
                                         .base = r->base,
                                         .size = 0x20000,
                                         .time_date_stamp = 1000u + r->build,
                                         .path = "\\Device\\HarddiskVolume3\\app.exe" };
    const etl_build_pdb_spec pdb = { .guid = { r->build, 2, 3 }, .age = 1, .name = "app.pdb" };
    if (r->build != 0)
        etl_build_image_id(b, at_ticks(r, 1), &image, &pdb);
    etl_build_image(b, at_ticks(r, 1), ETL_BUILD_START, &image);
}

etl_build *summary_build_run(const summary_run *r)
{
    etl_build *const b = etl_build_new(NULL);
    const etl_build_process_spec process = { .pid = r->pid, .name = "app.exe" };
    const u64 frames[] = { r->base + 0x1234, r->base + 0x1FF0, r->jit_address };
    etl_build_process(b, at_ticks(r, 0), ETL_BUILD_START, &process);
    load_program(b, r);
    for (u32 i = 0; i < r->allocs; i++) {
        const etl_build_at now = at_ticks(r, 100 + 1000 * (i64)i);
        etl_build_heap_alloc(b, now, HEAP, 0x10000 + i * 0x100, 100);
        etl_build_stack_walk(
            b, now, &(etl_build_stack){ .user = frames, .user_count = (u32)ETL_COUNT_OF(frames) });
    }
    for (u32 i = 0; i < r->frees; i++)
        etl_build_heap_free(b, at_ticks(r, 100000 + 1000 * (i64)i), HEAP, 0x10000 + i * 0x100);
    if (r->ends)
        etl_build_process(b, at_ticks(r, 200000), ETL_BUILD_END, &process);
    return b;
}

bool summary_put(void *user, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, user) == size;
}

void summary_end(etlheap_summary *summary, const char *path)
{
    FILE *const file = fopen(path, "wb");
    etl_error err = { .message = "" };
    assert_non_null(file);
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = summary_put,
                                          .user = file };
    if (etlheap_summary_write(summary, &store, &err) != ETL_OK)
        fail_msg("%s", err.message);
    assert_int_equal(fclose(file), 0);
    etlheap_summary_free(summary);
}

etl_status summary_add_run(etlheap_summary *summary, const summary_run *r, const char *name,
                           etl_error *err)
{
    check_traces traces = { 0 };
    const etlheap_options options = { .size = sizeof options, .jobs = 2 };
    check_open(&traces, summary_build_run(r));
    traces.names[0] = name;
    const etl_status status =
        etlheap_summary_add_traces(summary, traces.at, traces.names, 1, &options, err);
    check_close(&traces);
    return status;
}

etlheap_summary *summary_begin(i64 every_ns)
{
    const etlheap_summary_options options = { .size = sizeof options, .every_ns = every_ns };
    etlheap_summary *summary;
    etl_error err;
    assert_int_equal(etlheap_summary_open(&options, &summary, &err), ETL_OK);
    return summary;
}

void summary_of_runs(const summary_run *runs, u32 count, i64 every_ns, const char *path)
{
    etlheap_summary *const summary = summary_begin(every_ns);
    etl_error err = { .message = "" };
    for (u32 i = 0; i < count; i++) {
        if (summary_add_run(summary, &runs[i], "a.etl", &err) != ETL_OK)
            fail_msg("%s", err.message);
    }
    summary_end(summary, path);
}

etlheap_result *summary_read(const char *path)
{
    etlheap_result *result;
    etl_error err = { .message = "" };
    if (etlheap_open_store(path, NULL, &result, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return result;
}

etlheap_query summary_query(void)
{
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_PROCESS;
    query.group_by[2] = ETLHEAP_KEY_TYPE;
    query.group_by[3] = ETLHEAP_KEY_STACK;
    query.group_by_count = 4;
    return query;
}
