/*
 * Goal: --impacting, --at and --histogram become the query they mean, and what
 * cannot be meant together is refused before the long work.
 * Method: command lines, the query made of them looked at; writers on a histogram
 * and a table put together by hand, their output byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "cli/report_query.h"
#include "formats/json/json_histogram.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "tests/support/hand_result.h"
#include "made_table.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX 16

/* 2020-07-29T00:07:00Z */
#define START_FILETIME INT64_C(132404548200000000)

static const cli_clock recorded = { .start_filetime = START_FILETIME };

static const char *const examples[] = { "etlheap report app.etl", NULL };
static const cli_command report = { "report", CLI_REPORT, "INPUT...", "Reports.", examples, NULL };

/* The query of a command line, "report" left out; with the error of either step. */
static etl_status make_query(const char *text, cli_options *options, cli_query *query,
                             etl_error *err)
{
    static char line[256]; /* options point into it */
    char *words[WORDS_MAX + 1] = { NULL };
    int count = 0;
    snprintf(line, sizeof line, "%s", text);
    for (char *word = strtok(line, " "); word != NULL && count < WORDS_MAX;
         word = strtok(NULL, " "))
        words[count++] = word;
    const etl_status status = cli_options_parse(&report, count, words, options, err);
    *query = (cli_query){ .threads = NULL };
    return status == ETL_OK ? cli_query_build(options, &recorded, query, err) : status;
}

static etlheap_query query_of(const char *text, etlheap_measure *sort)
{
    cli_options options;
    cli_query made;
    etl_error err = { .message = "" };
    if (make_query(text, &options, &made, &err) != ETL_OK)
        fail_msg("%s: %s", text, err.message);
    if (sort != NULL)
        *sort = options.sort;
    const etlheap_query query = made.query;
    cli_query_free(&made);
    cli_options_free(&options);
    return query;
}

/* A word that was typed would be found in whatever repeats it. */
static void expect_refusal(const char *text, const char *word)
{
    assert_null(strstr(text, word));
    cli_options options;
    cli_query made;
    etl_error err = { .message = "" };
    assert_int_equal(make_query(text, &options, &made, &err), ETL_ERR_ARGUMENT);
    if (strstr(err.message, word) == NULL)
        fail_msg("%s: %s", text, err.message);
    cli_query_free(&made);
    cli_options_free(&options);
}

#define AIFO (1u << ETLHEAP_TYPE_AIFO)
#define AIFI (1u << ETLHEAP_TYPE_AIFI)
#define AOFI (1u << ETLHEAP_TYPE_AOFI)
#define AOFO (1u << ETLHEAP_TYPE_AOFO)

static void impacting_words_are_sets_of_types(void **state)
{
    (void)state;
    assert_int_equal(query_of("a --impacting transient", NULL).types, AIFI);
    assert_int_equal(query_of("a --impacting Impacting", NULL).types, AIFO | AOFI);
    assert_int_equal(query_of("a --impacting persistent", NULL).types, AOFO);
    assert_int_equal(query_of("a --impacting transient,persistent", NULL).types, AIFI | AOFO);
    assert_int_equal(query_of("a", NULL).types, 0);
    expect_refusal("a --impacting transitory", "transient");
    expect_refusal("a --impacting transient --type AIFI", "cannot be combined");
}

static void transient_memory_is_sorted_by_size_with_its_lifetimes(void **state)
{
    etlheap_measure sort;
    (void)state;
    assert_true(query_of("a --impacting transient", &sort).lifetime_ranks);
    assert_int_equal(sort, ETLHEAP_MEASURE_SIZE);
    query_of("a --impacting transient --sort count", &sort);
    assert_int_equal(sort, ETLHEAP_MEASURE_COUNT);
    assert_false(query_of("a --impacting impacting", &sort).lifetime_ranks);
    assert_int_equal(sort, ETLHEAP_MEASURE_OUTSTANDING_SIZE);
    assert_true(query_of("a --sort lifetime_p99_ns", NULL).lifetime_ranks);
    assert_true(query_of("a --sort -lifetime_median_ns", NULL).lifetime_ranks);
}

static void moments_end_the_window(void **state)
{
    (void)state;
    etlheap_query query = query_of("a --at 5s --from 1s", NULL);
    assert_true(query.at_end);
    assert_true(query.from_ns == INT64_C(1000000000) && query.to_ns == INT64_C(5000000000));
    query = query_of("a --at PEAK --to 7s", NULL);
    assert_true(query.at_end);
    assert_true(query.to_ns == INT64_C(7000000000));
    query = query_of("a --at peak --at 3s", NULL);
    assert_true(query.to_ns == INT64_C(3000000000));
    assert_false(query_of("a --to 7s", NULL).at_end);
}

static void moments_that_contradict_are_refused(void **state)
{
    (void)state;
    expect_refusal("a --at noon", "--at: invalid value 'noon': expected peak, or a time");
    expect_refusal("a --at 5s --to 7s", "cannot be combined");
    expect_refusal("a --at 5s --from 7s", "--from is after --at");
    expect_refusal("a --at peak --type AIFO", "--at and --type cannot be combined");
    expect_refusal("a --at 1s --impacting transient", "--at and --impacting cannot be combined");
    expect_refusal("a --at 5s --from 2020-07-29T00:07:10Z", "--from is after --at");
}

static void histograms_take_no_tree(void **state)
{
    (void)state;
    assert_true(query_of("a --histogram lifetime --at 2s", NULL).at_end);
    expect_refusal("a --histogram weight", "is not one of size, lifetime");
    expect_refusal("a --histogram size --tree", "cannot be combined");
}

static void sizes_of_heaps_sort_rows_that_are_heaps(void **state)
{
    (void)state;
    query_of("a --group-by heap --sort committed_size", NULL);
    query_of("a --group-by process,heap,kind --sort -overhead_size", NULL);
    expect_refusal("a --sort committed_size", "--group-by heap");
    expect_refusal("a --group-by heap,type --sort reserved_size", "needs rows that are heaps");
}

/* --- writers ---------------------------------------------------------------------- */

static const etlheap_bucket size_buckets[] = {
    { .kind = ETLHEAP_KIND_HEAP, .from = 0, .to = 1, .count = 1 },
    { .kind = ETLHEAP_KIND_HEAP, .from = 1, .to = 2 },
    { .kind = ETLHEAP_KIND_HEAP,
      .from = 2,
      .to = 4,
      .count = 4,
      .size_bytes = 12,
      .outstanding_count = 1,
      .outstanding_size_bytes = 3 },
    { .kind = ETLHEAP_KIND_EXTENT,
      .from = (u64)1 << 63,
      .to = UINT64_MAX,
      .count = 1,
      .size_bytes = 6 },
};

static const etlheap_bucket lifetime_buckets[] = {
    { .kind = ETLHEAP_KIND_HEAP,
      .process = "a,b.exe",
      .pid = 7,
      .from = 1000,
      .to = 2000,
      .count = 2,
      .size_bytes = 20 },
    { .kind = ETLHEAP_KIND_HEAP,
      .process = "a,b.exe",
      .pid = 7,
      .is_open = true,
      .count = 1,
      .size_bytes = 5,
      .outstanding_count = 1,
      .outstanding_size_bytes = 5 },
};

static const etlheap_histogram by_size = { .by = ETLHEAP_HISTOGRAM_SIZE,
                                           .buckets = size_buckets,
                                           .bucket_count = ETL_COUNT_OF(size_buckets) };
static const etlheap_histogram by_lifetime = { .by = ETLHEAP_HISTOGRAM_LIFETIME,
                                               .by_process = true,
                                               .buckets = lifetime_buckets,
                                               .bucket_count = ETL_COUNT_OF(lifetime_buckets) };

static void csv_has_a_line_a_bucket(void **state)
{
    const etlheap_table table = made_table();
    const etlheap_layout layout = etlheap_layout_default();
    (void)state;
    capture c;
    capture_open(&c);
    etlheap_write_histogram_csv(NULL, &table, &by_size, &layout, c.sink);
    assert_string_equal(capture_text(&c),
                        "kind,from,to,count,size,outstanding_count,outstanding_size,rounding_size,"
                        "lfh_rounding_size\n"
                        "heap,0,1,1,0,0,0,0,0\n"
                        "heap,1,2,0,0,0,0,0,0\n"
                        "heap,2,4,4,12,1,3,0,0\n"
                        "extent,9223372036854775808,,1,6,0,0,,\n");
    capture_close(&c);
    capture_open(&c);
    etlheap_write_histogram_csv(NULL, &table, &by_lifetime, &layout, c.sink);
    assert_string_equal(capture_text(&c),
                        "kind,process,pid,from,to,count,size,outstanding_count,outstanding_size\n"
                        "heap,\"a,b.exe\",7,1000,2000,2,20,0,0\n"
                        "heap,\"a,b.exe\",7,,,1,5,1,5\n");
    capture_close(&c);
}

/* A bound that there is not, or that is none of an integer, is null. */
static void json_has_the_buckets_beside_the_rows(void **state)
{
    capture c;
    (void)state;
    capture_open(&c);
    etlheap_json json = etlheap_json_begin(c.sink, 0);
    etlheap_json_object(&json, NULL);
    etlheap_json_histogram(&json, &by_lifetime);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    assert_string_equal(
        capture_text(&c),
        "{\"histogram\": {\"by\": \"lifetime\", \"buckets\": [{\"kind\": \"heap\", "
        "\"process\": \"a,b.exe\", \"pid\": 7, \"from\": 1000, \"to\": 2000, \"count\": 2, "
        "\"size\": 20, \"outstanding_count\": 0, \"outstanding_size\": 0}, {\"kind\": \"heap\", "
        "\"process\": \"a,b.exe\", \"pid\": 7, \"from\": null, \"to\": null, \"count\": 1, "
        "\"size\": 5, \"outstanding_count\": 1, \"outstanding_size\": 5}]}}\n");
    capture_close(&c);
}

static void text_has_bars_in_one_scale(void **state)
{
    const etlheap_layout layout = etlheap_layout_default();
    (void)state;
    capture c;
    capture_open(&c);
    assert_int_equal(etlheap_write_buckets_text(&by_lifetime, &layout, c.sink), ETL_OK);
    assert_string_equal(
        capture_text(&c),
        "\n"
        "heap, a,b.exe (7), by lifetime\n"
        "                                      Outstanding  Outstanding\n"
        "        From      Below  Count  Size        Count         Size  Size\n"
        "        1 us       2 us      2  20 B            0          0 B  "
        "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"
        "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\n"
        "no beginning  or no end      1   5 B            1          5 B  "
        "\u2588\u2588\u2588\u2588\u2588\u2588\n");
    capture_close(&c);
}

/* Kinds that agree have one moment, others have theirs beside their names. */
static void moments_are_said_once_or_by_kind(void **state)
{
    etlheap_layout layout = etlheap_layout_default();
    etlheap_table table = made_table();
    etlheap_text text = { 0 };
    i64 at_ns = 0;
    capture c;
    (void)state;
    capture_open(&c);
    etlheap_text_moment(c.sink, &layout, &table, &text); /* of no moment: nothing */
    assert_false(etlheap_table_moment(&table, &at_ns));
    table.at_end = true;
    table.totals[ETLHEAP_KIND_HEAP].present = table.totals[ETLHEAP_KIND_EXTENT].present = true;
    table.totals[ETLHEAP_KIND_VIRTUALALLOC].present = false;
    table.totals[ETLHEAP_KIND_HEAP].to_ns = table.totals[ETLHEAP_KIND_EXTENT].to_ns = 1500;
    etlheap_text_moment(c.sink, &layout, &table, &text);
    assert_true(etlheap_table_moment(&table, &at_ns));
    assert_int_equal(at_ns, 1500);
    table.totals[ETLHEAP_KIND_EXTENT].to_ns = 2000000000;
    etlheap_text_moment(c.sink, &layout, &table, &text);
    assert_false(etlheap_table_moment(&table, &at_ns));
    table.totals[ETLHEAP_KIND_EXTENT].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = 1;
    table.totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = 0;
    layout.peak_of = "--heap 0x10"; /* a kind without memory has no peak */
    etlheap_text_moment(c.sink, &layout, &table, &text);
    assert_string_equal(capture_text(&c),
                        "Moment        0.000001500 s\n"
                        "Moment        0.000001500 s (heap), 2.000 s (extent)\n"
                        "Moment        2.000 s (extent)\n"
                        "Peak of       what --heap 0x10 selects, each kind at its "
                        "own\n");
    etlheap_text_free(&text);
    capture_close(&c);
}

/* Measures that a table does not have are left out, those not known are null. */
static void json_rows_have_the_measures_of_the_table(void **state)
{
    const etlheap_layout layout = etlheap_layout_default();
    etlheap_result *const result = hand_result_new();
    static const etlheap_key kind[] = { ETLHEAP_KEY_KIND };
    const etlheap_row row = { .kind = ETLHEAP_KIND_HEAP,
                              .grows_most = true,
                              .measures = { [ETLHEAP_MEASURE_COUNT] = 3,
                                            [ETLHEAP_MEASURE_COMMITTED_SIZE] = 4096,
                                            [ETLHEAP_MEASURE_RESERVED_SIZE] = ETLHEAP_NOT_KNOWN } };
    etlheap_table table = made_table();
    capture c;
    (void)state;
    hand_ready(result, HAND_START_TICKS);
    table.group_by = kind;
    table.group_by_count = 1;
    table.rows = &row;
    table.row_count = 1;
    table.measures = ETLHEAP_MEASURE_BIT(COUNT) | ETLHEAP_MEASURE_BIT(COMMITTED_SIZE) |
                     ETLHEAP_MEASURE_BIT(RESERVED_SIZE);
    capture_open(&c);
    etlheap_write_report_json(result, &table, &layout, c.sink);
    assert_non_null(strstr(capture_text(&c),
                           "{\"kind\": \"heap\", \"count\": 3, \"committed_size\": 4096, "
                           "\"reserved_size\": null, \"grows_most\": true}"));
    capture_close(&c);
    capture_open(&c);
    etlheap_write_report_csv(result, &table, &layout, c.sink);
    assert_string_equal(capture_text(&c), "kind,count,committed_size,reserved_size,grows_most\n"
                                          "heap,3,4096,,1\n");
    capture_close(&c);
    etlheap_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impacting_words_are_sets_of_types),
        cmocka_unit_test(transient_memory_is_sorted_by_size_with_its_lifetimes),
        cmocka_unit_test(moments_end_the_window),
        cmocka_unit_test(moments_that_contradict_are_refused),
        cmocka_unit_test(histograms_take_no_tree),
        cmocka_unit_test(sizes_of_heaps_sort_rows_that_are_heaps),
        cmocka_unit_test(csv_has_a_line_a_bucket),
        cmocka_unit_test(json_has_the_buckets_beside_the_rows),
        cmocka_unit_test(text_has_bars_in_one_scale),
        cmocka_unit_test(moments_are_said_once_or_by_kind),
        cmocka_unit_test(json_rows_have_the_measures_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
