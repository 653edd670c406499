/*
 * Goal: what is damaged in a summary is told and not believed.
 * Method: every byte flipped; numbers inside of it changed and the file written
 * again, with sound checksums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/result/summary_file.h"
#include "tests/support/summary_runs.h"

/* The answer of the file at a path as text; NULL: it is refused. */
static char *answer_of(const char *path)
{
    etlheap_result *result;
    etl_error err = { .message = "" };
    const etlheap_options options = { .size = sizeof options, .memory_bytes_max = (u64)64 << 20 };
    if (etlheap_open_store(path, &options, &result, &err) != ETL_OK) {
        assert_true(err.message[0] != '\0');
        return NULL;
    }
    const etlheap_query query = summary_query();
    char *const text = check_aggregate_text(result, &query);
    etlheap_result_free(result);
    return text;
}

static void write_file(const char *path, const u8 *bytes, size_t size)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t read_file(const char *path, u8 *bytes, size_t capacity)
{
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, capacity, file);
    assert_true(size > 0 && size < capacity);
    assert_int_equal(fclose(file), 0);
    return size;
}

static void no_flipped_byte_changes_an_answer(void **state)
{
    const summary_fixture *const f = *state;
    const summary_run runs[] = { summary_first_run, summary_second_run };
    static u8 bytes[32768];
    u32 accepted = 0;
    summary_of_runs(runs, 2, 0, f->paths[0]);
    const size_t size = read_file(f->paths[0], bytes, sizeof bytes);
    char *const expected = answer_of(f->paths[0]);
    assert_non_null(expected);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (u8)(1u << i % 8);
        write_file(f->paths[1], bytes, size);
        char *const found = answer_of(f->paths[1]);
        if (found != NULL)
            assert_string_equal(found, expected);
        accepted += found != NULL;
        free(found);
        bytes[i] ^= (u8)(1u << i % 8);
    }
    assert_true(accepted * 10 < size);
    free(expected);
}

/* A change to what a sound file says. */
typedef void change_fn(etlheap_result *result);

static void expect_refused(const summary_fixture *f, change_fn *change, const char *table)
{
    etlheap_result *const result = summary_read(f->paths[0]);
    FILE *const file = fopen(f->paths[1], "wb");
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = summary_put,
                                          .user = file };
    etlheap_result *read = NULL;
    etl_error err = { .message = "" };
    assert_non_null(file);
    change(result);
    assert_int_equal(summary_save(result, &store), ETL_OK);
    assert_int_equal(fclose(file), 0);
    etlheap_result_free(result);
    assert_int_equal(etlheap_open_store(f->paths[1], NULL, &read, &err), ETL_ERR_CORRUPT);
    if (strstr(err.message, table) == NULL)
        fail_msg("%s: %s", table, err.message);
}

static void move_module(etlheap_result *result)
{
    result->modules.list.at[0].base += 0x10000;
}

static void name_no_process(etlheap_result *result)
{
    result->summary->entries.at[0].process = 9;
}

static void name_no_stack(etlheap_result *result)
{
    result->summary->entries.at[0].stack = 77;
}

static void name_no_kind(etlheap_result *result)
{
    result->summary->entries.at[0].kind = ETLHEAP_KIND_COUNT;
}

static void sum_without_entry(etlheap_result *result)
{
    result->summary->rows.at[result->summary->rows.count - 1].entry = 1000;
}

static void sum_of_no_part(etlheap_result *result)
{
    result->summary->rows.at[result->summary->rows.count - 1].part = SUMMARY_PARTS;
}

static void sums_out_of_order(etlheap_result *result)
{
    result->summary->rows.at[1].part = result->summary->rows.at[0].part;
}

static void more_files_than_there_are(etlheap_result *result)
{
    result->summary->traces.at[0].file_count = 3;
}

/* The summary of it would be one that cannot be read. */
static void trace_without_clock(etlheap_result *result)
{
    result->summary->traces.at[0].info.clock_hz = 0;
}

static void windows_without_length(etlheap_result *result)
{
    result->summary->every_ns = 0;
}

static void overlapping_windows(etlheap_result *result)
{
    result->summary->cells.at[0].window_count += 100;
}

static void windows_beyond_time(etlheap_result *result)
{
    result->summary->cells.at[result->summary->cells.count - 1].window = INT64_MAX - 1;
}

static void sound_checksums_do_not_make_sense(void **state)
{
    const summary_fixture *const f = *state;
    etl_error err = { .message = "" };
    etlheap_summary *const summary = summary_begin(1000000);
    assert_int_equal(summary_add_run(summary, &summary_first_run, "a.etl", &err), ETL_OK);
    summary_end(summary, f->paths[0]);
    expect_refused(f, move_module, "modules");
    expect_refused(f, name_no_process, "entries");
    expect_refused(f, name_no_stack, "entries");
    expect_refused(f, name_no_kind, "entries");
    expect_refused(f, sum_without_entry, "sums");
    expect_refused(f, sum_of_no_part, "sums");
    expect_refused(f, sums_out_of_order, "sums");
    expect_refused(f, more_files_than_there_are, "traces");
    expect_refused(f, trace_without_clock, "traces");
    expect_refused(f, windows_without_length, "windows");
    expect_refused(f, overlapping_windows, "windows");
    expect_refused(f, windows_beyond_time, "windows");
}

/* A number somewhere in a summary. */
typedef struct place {
    size_t vector, row_bytes, offset, size;
} place;

#define PLACE(vector, type, member)                                                                \
    {                                                                                              \
        offsetof(summary_data, vector), sizeof(type), offsetof(type, member),                      \
            sizeof(((type *)NULL)->member)                                                         \
    }

static const place places[] = {
    PLACE(entries, summary_entry, process),
    PLACE(entries, summary_entry, stack),
    PLACE(entries, summary_entry, kind),
    PLACE(entries, summary_entry, trace_count),
    PLACE(entries, summary_entry, peaks[1].size_bytes),
    PLACE(rows, summary_row, entry),
    PLACE(rows, summary_row, part),
    PLACE(rows, summary_row, sum.count),
    PLACE(rows, summary_row, sum.size_bytes),
    PLACE(cells, summary_cell, entry),
    PLACE(cells, summary_cell, window),
    PLACE(cells, summary_cell, window_count),
    PLACE(cells, summary_cell, amounts.size_bytes[2]),
    PLACE(cells, summary_cell, amounts.peak.count),
    PLACE(traces, summary_trace, file_count),
    PLACE(traces, summary_trace, id[0]),
    PLACE(traces, summary_trace, from_ns),
    PLACE(traces, summary_trace, info.duration_ns),
    PLACE(files, etlheap_summary_file, id[1]),
};

static u64 draw(u64 *state, u64 below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static void change_number(etlheap_result *result, u64 *state)
{
    static const u64 values[] = { 0, 1, 2, UINT32_MAX, (u64)1 << 40, INT64_MAX, UINT64_MAX };
    const place *const at = &places[draw(state, ETL_COUNT_OF(places))];
    struct {
        u8 *at;
        size_t count, capacity;
    } rows;
    memcpy(&rows, (u8 *)result->summary + at->vector, sizeof rows);
    const u64 value = values[draw(state, ETL_COUNT_OF(values))];
    memcpy(rows.at + draw(state, rows.count) * at->row_bytes + at->offset, &value, at->size);
}

/* Merges a file alone; false when it is refused. */
static bool merge_alone(const char *from, const char *to)
{
    etlheap_summary *const merged = summary_begin(0);
    etl_error err = { .message = "" };
    const etl_status status = etlheap_summary_add_stores(merged, &from, NULL, 1, NULL, NULL, &err);
    if (status == ETL_OK)
        summary_end(merged, to);
    else
        etlheap_summary_free(merged);
    assert_true(status == ETL_OK || (status == ETL_ERR_CORRUPT && err.message[0] != '\0'));
    return status == ETL_OK;
}

/* Whatever a sound file says, it is refused, or merging makes of it what merging
 * leaves alone. */
static void changed_numbers_are_refused_or_merged(void **state)
{
    const summary_fixture *const f = *state;
    static u8 once[65536], twice[65536];
    etl_error err = { .message = "" };
    u64 random = 7;
    u32 merged = 0;
    etlheap_summary *const summary = summary_begin(1000000);
    assert_int_equal(summary_add_run(summary, &summary_first_run, "a.etl", &err), ETL_OK);
    assert_int_equal(summary_add_run(summary, &summary_second_run, "b.etl", &err), ETL_OK);
    summary_end(summary, f->paths[0]);
    for (u32 round = 0; round < 400; round++) {
        etlheap_result *const result = summary_read(f->paths[0]);
        FILE *const file = fopen(f->paths[1], "wb");
        const etlheap_store_options store = { .size = sizeof store,
                                              .write = summary_put,
                                              .user = file };
        assert_non_null(file);
        change_number(result, &random);
        change_number(result, &random);
        assert_int_equal(summary_save(result, &store), ETL_OK);
        assert_int_equal(fclose(file), 0);
        etlheap_result_free(result);
        free(answer_of(f->paths[1]));
        if (!merge_alone(f->paths[1], f->paths[2]))
            continue;
        merged++;
        assert_true(merge_alone(f->paths[2], f->paths[1]));
        const size_t size = read_file(f->paths[2], once, sizeof once);
        assert_int_equal(read_file(f->paths[1], twice, sizeof twice), size);
        assert_memory_equal(once, twice, size);
    }
    assert_in_range(merged, 50, 350);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, summary_fixture_open, summary_fixture_close)
    const struct CMUnitTest tests[] = {
        TEST(no_flipped_byte_changes_an_answer),
        TEST(sound_checksums_do_not_make_sense),
        TEST(changed_numbers_are_refused_or_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
