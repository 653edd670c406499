/*
 * Goal: a program that knows no structure of ours gets the defaults, and can set the fields of a
 * query by name.
 * Method: initialisers with sizes of older, newer and impossible callers; fields set by text and
 * read as members.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "formats/formats.h"

#include "parser/base.h"

static void defaults_are_those_of_the_inline_functions(void **state)
{
    etlheap_query query;
    etlheap_layout layout;
    etlheap_diff_options diff;
    etlheap_trend_options trend;
    (void)state;
    etlheap_query_init(&query, sizeof query);
    assert_int_equal(query.size, sizeof query);
    assert_true(query.from_ns == INT64_MIN && query.to_ns == INT64_MAX);
    assert_true(query.lifetime_max_ns == INT64_MAX && query.size_max_bytes == UINT64_MAX);
    assert_int_equal(query.group_by_count, 5);
    assert_int_equal(query.group_by[4], ETLHEAP_KEY_STACK);
    assert_int_equal(query.sort, ETLHEAP_MEASURE_OUTSTANDING_SIZE);
    etlheap_layout_init(&layout, sizeof layout);
    assert_true(layout.width == 100 && layout.rows_max == 25 && layout.rows_of_each_kind);
    etlheap_diff_options_init(&diff, sizeof diff);
    etlheap_trend_options_init(&trend, sizeof trend);
    assert_int_equal(diff.measure, ETLHEAP_MEASURE_OUTSTANDING_SIZE);
    assert_int_equal(trend.measure, ETLHEAP_MEASURE_OUTSTANDING_SIZE);
}

/* Of an older caller the first fields, of a newer one all, and zeros behind them. */
static void callers_of_another_size_get_what_fits(void **state)
{
    struct {
        etlheap_query query;
        u8 newer[16];
    } room;
    const size_t older = offsetof(etlheap_query, to_ns);
    (void)state;
    memset(&room, 0xAB, sizeof room);
    etlheap_query_init(&room.query, sizeof room);
    assert_int_equal(room.query.size, sizeof room);
    for (size_t i = 0; i < sizeof room.newer; i++)
        assert_int_equal(room.newer[i], 0);
    memset(&room, 0xAB, sizeof room);
    etlheap_query_init(&room.query, older);
    assert_int_equal(room.query.size, older);
    assert_true(room.query.from_ns == INT64_MIN);
    assert_int_equal(*((const u8 *)&room + older), 0xAB); /* not ours to write */
    memset(&room, 0xAB, sizeof room);
    etlheap_query_init(&room.query, 0);
    assert_int_equal(*(const u8 *)&room, 0xAB);
}

static void set(etlheap_query *query, const char *field, const char *value)
{
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_query_set(query, field, value, &err), ETL_OK);
}

static void fields_are_set_by_name(void **state)
{
    etlheap_query *const query = etlheap_query_new();
    (void)state;
    assert_non_null(query);
    set(query, "kinds", "heap,custom");
    assert_int_equal(query->kinds, 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_CUSTOM);
    set(query, "types", "AIFO");
    assert_int_equal(query->types, 1u << ETLHEAP_TYPE_AIFO);
    set(query, "group_by", "process,site");
    assert_int_equal(query->group_by_count, 2);
    assert_int_equal(query->group_by[1], ETLHEAP_KEY_SITE);
    set(query, "sort", "-size");
    assert_true(query->sort == ETLHEAP_MEASURE_SIZE && query->sort_ascending);
    set(query, "processes", "app.exe,4321");
    set(query, "processes", "a.exe,b.exe,c.exe");
    assert_int_equal(query->process_count, 3);
    assert_string_equal(query->processes[2], "c.exe");
    set(query, "cull_frames", "allocators");
    assert_true(query->cull_frame_count > 50);
    set(query, "cull_frames", "");
    assert_int_equal(query->cull_frame_count, 0);
    set(query, "from_ns", "-5");
    set(query, "jobs", "4294967295");
    set(query, "sums_only", "1");
    assert_true(query->from_ns == -5 && query->jobs == UINT32_MAX && query->sums_only);
    etlheap_query_free(query);
    etlheap_query_free(NULL);
}

static void expect_refused(etlheap_query *query, const char *field, const char *value,
                           const char *words)
{
    etl_error *const err = calloc(1, etl_error_size());
    assert_non_null(err);
    assert_int_equal(etlheap_query_set(query, field, value, err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(etl_error_message(err), words));
    free(err);
}

static void what_is_unknown_is_named_and_changes_nothing(void **state)
{
    etlheap_query *const query = etlheap_query_new();
    char many[32 * 40] = "kind";
    (void)state;
    assert_non_null(query);
    expect_refused(query, "colour", "red", "unknown word 'colour'; known: kinds, types, group_by");
    expect_refused(query, "kinds", "heap,pile", "kinds: unknown word 'pile'; known: heap, ");
    expect_refused(query, "group_by", "process,colour", "unknown word 'colour'; known: kind, ");
    expect_refused(query, "sort", "-colour", "unknown word 'colour'; known: count, ");
    expect_refused(query, "cull_frames", "all", "known: allocators");
    expect_refused(query, "jobs", "-1", "jobs: invalid number '-1'");
    expect_refused(query, "jobs", "4294967296", "invalid number");
    expect_refused(query, "sums_only", "2", "invalid number");
    expect_refused(query, "from_ns", "5s", "from_ns: invalid number '5s'");
    for (u32 i = 0; i < ETLHEAP_GROUP_BY_MAX; i++)
        strcat(many, ",kind");
    expect_refused(query, "group_by", many, "too many keys");
    const etlheap_query wanted = etlheap_query_default();
    assert_memory_equal(query, &wanted, sizeof wanted);
    etlheap_query_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_inline_functions),
        cmocka_unit_test(callers_of_another_size_get_what_fits),
        cmocka_unit_test(fields_are_set_by_name),
        cmocka_unit_test(what_is_unknown_is_named_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
