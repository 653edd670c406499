/*
 * Goal: a walk hands out the lifetimes that a query selects, each once and with
 * everything that is known of it, and the same whether they come from a trace, from
 * its store, from a store without a name, or in chunks of any size.
 * Method: random workloads. What is selected is worked out again from the
 * workload's own truth; what is the same is compared as text, table included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/run/log_run.h"
#include "engine/query/needs.h"
#include "tests/support/temporary.h"
#include "walk_world.h"

/* --- what is selected, from the truth ---------------------------------------------- */

static bool lists_u64(const u64 *list, u32 count, u64 value)
{
    bool found = count == 0;
    for (u32 i = 0; i < count; i++)
        found |= list[i] == value;
    return found;
}

/* By the definitions, in nanoseconds. *type is the lifetime's. */
static bool model_selects(const walk_world *f, const etlheap_query *query,
                          const workload_lifetime *life, const i64 times[2], etlheap_type *type)
{
    const i64 end_ns = etlheap_result_trace(f->rows)->end_ns;
    const i64 from = query->from_ns == INT64_MIN ? 0 : query->from_ns;
    const i64 to = query->to_ns == INT64_MAX ? (end_ns > from ? end_ns : from) : query->to_ns;
    const bool ends = times[1] != INT64_MAX;
    const i64 length = ends ? times[1] - times[0] : INT64_MAX;
    char pid[16];
    snprintf(pid, sizeof pid, "%u", workload_process_pid(f->work, life->process));
    *type = times[0] >= from ? (times[1] < to ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO)
                             : (times[1] < to ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AOFO);
    return times[0] < to && times[1] >= from &&
           (query->kinds == 0 || (query->kinds >> life->kind & 1) != 0) &&
           (query->types == 0 || (query->types >> *type & 1) != 0) &&
           (query->process_count == 0 || strcmp(query->processes[0], pid) == 0) &&
           life->size >= query->size_min_bytes && life->size <= query->size_max_bytes &&
           lists_u64(query->heaps, query->heap_count, life->heap) &&
           (query->thread_count == 0 || query->threads[0] == life->tid) &&
           length >= query->lifetime_min_ns && length <= query->lifetime_max_ns;
}

static bool is_of_module(const char *frame, const char *module)
{
    const size_t size = strlen(module);
    return strncmp(frame, module, size) == 0 && frame[size] == '+';
}

static bool has_frame_of(const walk_world *f, const workload_lifetime *life, const char *module)
{
    char text[64];
    bool found = false;
    for (u32 i = 0; !found && life->stack != WORKLOAD_NONE &&
                    workload_stack_text(f->work, life->stack, i, text);
         i++)
        found = is_of_module(text, module);
    return found;
}

static bool model_wants(const walk_world *f, const etlheap_query *query,
                        const workload_lifetime *life)
{
    const bool lacks =
        query->require_frame_count > 0 && !has_frame_of(f, life, query->require_frames[0].module);
    const bool is_excluded =
        query->exclude_frame_count > 0 && has_frame_of(f, life, query->exclude_frames[0].module);
    return !lacks && is_excluded == query->only_excluded;
}

static void put_stack(FILE *out, const walk_world *f, const etlheap_query *query, u32 stack)
{
    bool goes_on = false;
    char text[64];
    for (u32 i = 0; stack != WORKLOAD_NONE && workload_stack_text(f->work, stack, i, text); i++) {
        const bool folds =
            query->fold_module_count > 0 && is_of_module(text, query->fold_modules[0].module);
        if (folds && !goes_on)
            fprintf(out, " %s+0x%" PRIx64, query->fold_modules[0].module, ETLHEAP_NO_ADDRESS);
        else if (!folds)
            fprintf(out, " %s", text);
        goes_on = folds;
    }
}

static void put_truth(FILE *out, const walk_world *f, const etlheap_query *query,
                      const workload_lifetime *life)
{
    const bool ends = life->ft != WORKLOAD_FREE_NONE &&
                      (life->ft != WORKLOAD_FREE_PROCESS_EXIT || query->at_exit_freed);
    const i64 times[2] = { etlheap_time_ns(f->rows, life->a),
                           ends ? etlheap_time_ns(f->rows, life->f) : INT64_MAX };
    etlheap_type type;
    if (!model_selects(f, query, life, times, &type) || !model_wants(f, query, life))
        return;
    fprintf(out, "%s %s %u heap %" PRIx64 " at %" PRIx64 " size %" PRIu64,
            workload_kind_name(life->kind), workload_process_name(f->work, life->process),
            workload_process_pid(f->work, life->process), life->heap, life->address, life->size);
    fprintf(out, " %" PRId64 "..%" PRId64 " %s %s %d thread %u:", times[0], times[1],
            workload_free_type_name(life->ft), etlheap_type_name(type), life->is_realloc,
            life->tid);
    put_stack(out, f, query, life->stack);
    fputc('\n', out);
}

static char *model_text(const walk_world *f, const etlheap_query *query)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    for (u32 i = 0; i < f->truth.count; i++)
        put_truth(out, f, query, &f->truth.lifetimes[i]);
    assert_int_equal(fclose(out), 0);
    return walk_check_sorted(text);
}

static void rows_are_those_of_the_model_in_any_window(void **state)
{
    walk_world *const f = *state;
    for (u32 session = 0; session < WALK_SESSIONS; session++) {
        walk_world_make(f, session, 40 + session);
        for (u32 number = session; number < WALK_QUERIES; number += WALK_SESSIONS - 1) {
            walk_query q;
            walk_world_ask(f, number, &q);
            const walk_request request = { .query = &q.query };
            walk_check_same(model_text(f, &q.query),
                            walk_check_sorted(walk_check_text(f->rows, &request)));
        }
        walk_world_forget(f);
    }
}

/* Rows, their order, and the table are the same, byte for byte. */
static void a_store_is_walked_as_its_trace(void **state)
{
    walk_world *const f = *state;
    for (u32 session = 0; session < WALK_SESSIONS; session++) {
        walk_world_make(f, session, 60 + session);
        for (u32 number = session; number < WALK_QUERIES; number += WALK_SESSIONS - 1) {
            walk_query q;
            walk_world_ask(f, number, &q);
            walk_request request = { .query = &q.query };
            request.options.sort = (etlheap_lifetime_column)(number % 3 == 0 ? 0 : number % 12);
            request.options.sort_descending = number % 5 < 2;
            request.options.top = number % 4 == 1 ? 1 + number : 0;
            char *const expected = walk_check_document(f->rows, &request);
            request.ends_max = number % 7 == 0 ? 0 : 1;
            walk_check_same(expected, walk_check_document(f->store, &request));
        }
        walk_world_forget(f);
    }
}

static void jobs_and_slices_change_nothing(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 1, 70);
    const etlheap_query query = etlheap_query_default();
    const walk_request request = { .query = &query };
    static const u32 jobs[] = { 1, 2, 7 };
    for (size_t i = 0; i < ETL_COUNT_OF(jobs); i++) {
        const etlheap_options options = { .size = sizeof options,
                                          .jobs = jobs[i],
                                          .slice_bytes = 8192u << i };
        etlheap_result *const result = check_analyze(&f->traces, &options);
        walk_check_same(walk_check_document(f->rows, &request),
                        walk_check_document(result, &request));
        etlheap_result_free(result);
    }
}

/* Wherever the log is: in memory, in a file from the first byte on, or moved there. */
static void a_log_is_walked_as_its_trace(void **state)
{
    walk_world *const f = *state;
    const etlheap_query query = etlheap_query_default();
    const walk_request request = { .query = &query };
    static const u64 memory[] = { LOG_MEMORY_BYTES, 0, 40000 };
    walk_world_make(f, 0, 71);
    const traces_named traces = { f->traces.at, f->traces.names, f->traces.count };
    for (size_t i = 0; i < 2 * ETL_COUNT_OF(memory); i++) {
        const bool has_folder = i < ETL_COUNT_OF(memory);
        const etlheap_options options = { .size = sizeof options,
                                          .temporary_folder =
                                              has_folder ? temporary_folder() : NULL };
        const log_run_options how = { .memory_bytes_max = memory[i % ETL_COUNT_OF(memory)],
                                      .needs = NEEDS_ADDRESSES | NEEDS_THREADS };
        etlheap_result *log = NULL;
        etl_error err;
        assert_int_equal(log_run(&traces, &options, &how, &log, &err), ETL_OK);
        const bool is_in_file = has_folder && how.memory_bytes_max < LOG_MEMORY_BYTES;
        assert_int_equal(log->archive->map.is_mapped, is_in_file);
        walk_check_same(walk_check_document(f->rows, &request), walk_check_document(log, &request));
        assert_string_equal(etlheap_result_trace(log)->files[0], f->traces.names[0]);
        assert_int_equal(etlheap_result_trace(log)->file_count, f->traces.count);
        etlheap_result_free(log);
    }
}

static void a_folder_that_is_not_there_is_told_of(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 72);
    const traces_named traces = { f->traces.at, f->traces.names, f->traces.count };
    const etlheap_options options = { .size = sizeof options,
                                      .temporary_folder = "/there is no such folder" };
    const log_run_options how = { .needs = NEEDS_ADDRESSES | NEEDS_THREADS };
    etlheap_result *log = NULL;
    etl_error err;
    assert_int_equal(log_run(&traces, &options, &how, &log, &err), ETL_ERR_IO);
    assert_null(log);
    assert_non_null(strstr(err.message, "no such folder"));
}

/* --- addresses ---------------------------------------------------------------------------- */

/* A block of no bytes is where it begins, and the last address ends no range. */
static void addresses_select_what_has_a_byte_there(void **state)
{
    static const struct {
        u64 first, last;
        const char *found;
    } rows[] = {
        { 0x1000, 0x1000, "1000 " },
        { 0xfff, 0xfff, "" },
        { 0x100f, 0x100f, "1000 " },
        { 0x1010, 0x1010, "" },
        { 0x1010, 0x2000, "2000 " },
        { 0, 0x1fff, "1000 " },
        { 0x2000, 0x2000, "2000 " },
        { 0x2001, 0xffff, "" },
        { 0, UINT64_MAX, "1000 2000 fffffffffffffff0 " },
        { UINT64_MAX, UINT64_MAX, "fffffffffffffff0 " },
    };
    walk_world *const f = *state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    etl_build_at at = { .ticks = etl_build_start_ticks(b) + 10, .pid = 8, .tid = 16 };
    const etl_build_process_spec process = { .pid = 8, .name = "app.exe" };
    etl_build_process(b, at, ETL_BUILD_START, &process);
    etl_build_heap_alloc(b, at, 0x1f0000, 0x1000, 16);
    etl_build_heap_alloc(b, at, 0x1f0000, 0x2000, 0);
    etl_build_heap_alloc(b, at, 0x1f0000, 0xfffffffffffffff0, 100);
    check_open(&f->traces, b);
    walk_world_analyze(f);
    const etlheap_query query = etlheap_query_default();
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_lifetimes_options options = { .size = sizeof options,
                                                    .sort = ETLHEAP_LIFETIME_ADDRESS,
                                                    .by_address = true,
                                                    .address_first = rows[i].first,
                                                    .address_last = rows[i].last };
        for (u32 round = 0; round < 2; round++) {
            char found[80] = "";
            walk_rows walk = walk_check_rows(round == 0 ? f->rows : f->store, &query, &options);
            for (size_t k = 0; k < walk.count; k++)
                snprintf(found + strlen(found), sizeof found - strlen(found), "%" PRIx64 " ",
                         walk.at[k].address);
            assert_string_equal(found, rows[i].found);
            ETLHEAP_VECTOR_FREE(&walk);
        }
    }
    const etlheap_lifetimes_options empty = {
        .size = sizeof empty, .by_address = true, .address_first = 2, .address_last = 1
    };
    etlheap_lifetimes *none = NULL;
    assert_int_equal(etlheap_lifetimes_open(f->rows, &query, &empty, &none, NULL),
                     ETL_ERR_ARGUMENT);
}

/* --- sums -------------------------------------------------------------------------------- */

static void sums_by_type_are_those_of_a_report(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 74);
    for (u32 number = 0; number < WALK_QUERIES; number++) {
        walk_query q;
        walk_world_ask(f, number, &q);
        q.query.group_by[0] = ETLHEAP_KEY_KIND;
        q.query.group_by[1] = ETLHEAP_KEY_TYPE;
        q.query.group_by_count = 2;
        i64 sums[ETLHEAP_KIND_COUNT][ETLHEAP_TYPE_COUNT][3] = { 0 };
        walk_rows rows = walk_check_rows(f->store, &q.query, NULL);
        for (size_t i = 0; i < rows.count; i++) {
            i64 *const sum = sums[rows.at[i].kind][rows.at[i].type];
            sum[0]++;
            sum[1] += (i64)rows.at[i].size_bytes;
            sum[2] += rows.at[i].is_realloc;
        }
        etlheap_table *table = NULL;
        assert_int_equal(etlheap_aggregate(f->rows, &q.query, &table, NULL), ETL_OK);
        for (u32 i = 0; i < table->row_count; i++) {
            const etlheap_row *const row = &table->rows[i];
            i64 *const sum = sums[row->kind][row->type];
            assert_int_equal(sum[0], row->measures[ETLHEAP_MEASURE_COUNT]);
            assert_int_equal(sum[1], row->measures[ETLHEAP_MEASURE_SIZE]);
            assert_int_equal(sum[2], row->measures[ETLHEAP_MEASURE_REALLOC_COUNT]);
            sum[0] = 0;
        }
        for (u32 i = 0; i < (u32)ETLHEAP_KIND_COUNT * (u32)ETLHEAP_TYPE_COUNT; i++)
            assert_int_equal(sums[i / ETLHEAP_TYPE_COUNT][i % ETLHEAP_TYPE_COUNT][0], 0);
        ETLHEAP_VECTOR_FREE(&rows);
        etlheap_table_free(table);
    }
}

/* Also those that later rows show to be lower, and where rows stop early. */
static void frames_have_the_addresses_of_a_report(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 79);
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_STACK;
    query.group_by_count = 1;
    etlheap_table *report = NULL;
    assert_int_equal(etlheap_aggregate(f->rows, &query, &report, NULL), ETL_OK);
    for (u32 round = 0; round < 2; round++) {
        etlheap_lifetimes *walk = NULL;
        etlheap_lifetime row;
        assert_int_equal(
            etlheap_lifetimes_open(round == 0 ? f->rows : f->store, &query, NULL, &walk, NULL),
            ETL_OK);
        while (etlheap_lifetimes_next(walk, &row))
            assert_int_equal(etlheap_lifetimes_table(walk)->row_count, 0);
        const etlheap_table *const table = etlheap_lifetimes_table(walk);
        assert_int_equal(table->frame_count, report->frame_count);
        assert_int_equal(table->stack_count, report->stack_count);
        u64 found = 0, expected = 0;
        for (u32 i = 0; i < report->frame_count; i++) {
            found += table->frames[i].address ^ table->frames[i].offset << 1;
            expected += report->frames[i].address ^ report->frames[i].offset << 1;
        }
        assert_true(found == expected);
        etlheap_lifetimes_close(walk);
    }
    etlheap_table_free(report);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, walk_world_open, walk_world_close)
    const struct CMUnitTest tests[] = {
        RULE(rows_are_those_of_the_model_in_any_window),
        RULE(a_store_is_walked_as_its_trace),
        RULE(jobs_and_slices_change_nothing),
        RULE(a_log_is_walked_as_its_trace),
        RULE(a_folder_that_is_not_there_is_told_of),
        RULE(addresses_select_what_has_a_byte_there),
        RULE(sums_by_type_are_those_of_a_report),
        RULE(frames_have_the_addresses_of_a_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
