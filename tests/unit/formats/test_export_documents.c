/*
 * Goal: each exporter writes the document that its format has for a small result; names
 * of any bytes leave it one.
 * Method: two processes and a handful of lifetimes by hand, whose documents are written
 * out here. What other programs make of documents is checked by oracle_export*.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/export/export_writers.h"
#include "tests/support/hand_result.h"

#define TICK(n) (HAND_START_TICKS + (i64)(n))
#define NEVER   1000000
#define BASE    UINT64_C(0x400000)

/* In ticks of 100 ns from time zero. */
typedef struct block {
    u32 process, stack;
    u8 kind;
    i64 a, f;
    u64 size;
} block;

typedef struct exports {
    etlheap_result *result;
    etlheap_query query;
    capture captured;
} exports;

static void add_block(etlheap_result *result, const block *b)
{
    const bool is_freed = b->f != NEVER;
    const lifetime row = { .alloc_ticks = TICK(b->a),
                           .free_ticks = is_freed ? TICK(b->f) : ETLHEAP_TICKS_NEVER,
                           .address = 0x1000,
                           .size = b->size,
                           .heap = b->kind == ETLHEAP_KIND_HEAP ? 0x10 : 0,
                           .process = b->process,
                           .stack = b->stack,
                           .thread = ETL_NO_ID,
                           .kind = b->kind,
                           .free_type = is_freed ? ETLHEAP_FREE_FREE : ETLHEAP_FREE_NONE };
    hand_lifetime(result, &row);
}

/* A process with a module, two stacks in it, and another process without any. */
static etlheap_result *result_of(const char *process, const char *module, const block *blocks,
                                 u32 count)
{
    static const u64 deep[] = { BASE + 0x10, BASE + 0x20 }, flat[] = { BASE + 0x20 };
    etlheap_result *const result = hand_result_new();
    (void)hand_process(result, 10, process);
    (void)hand_process(result, 20, "b.exe");
    (void)hand_stack(result, deep, 2);
    (void)hand_stack(result, flat, 1);
    hand_image(&result->context, &(hand_image_spec){ .kind = ETL_EVENT_IMAGE_DCSTART,
                                                     .pid = 10,
                                                     .base = BASE,
                                                     .size_bytes = 0x1000,
                                                     .ticks = HAND_START_TICKS,
                                                     .path = module });
    for (u32 i = 0; i < count; i++)
        add_block(result, &blocks[i]);
    hand_ready(result, TICK(99999));
    return result;
}

/* At tick 30 stack 1 has 100 in one block, at 50 in two: the first counts. All together
 * have most from tick 60 to 70. */
static const block blocks[] = {
    { 1, 1, ETLHEAP_KIND_HEAP, 30, 40, 100 },     { 1, 1, ETLHEAP_KIND_HEAP, 50, 20050, 60 },
    { 1, 1, ETLHEAP_KIND_HEAP, 50, NEVER, 40 },   { 1, 2, ETLHEAP_KIND_HEAP, 60, 70, 7 },
    { 2, 0, ETLHEAP_KIND_HEAP, 60, NEVER, 1000 }, { 1, 2, ETLHEAP_KIND_EXTENT, 5, NEVER, 4096 },
};

static exports open_exports_of(etlheap_result *result)
{
    exports e = { .query = etlheap_query_default(), .result = result };
    e.query.jobs = 1;
    return e;
}

static exports open_exports(const char *process, const char *module)
{
    return open_exports_of(result_of(process, module, blocks, ETL_COUNT_OF(blocks)));
}

static const char *text_of(exports *e, const char *format, etlheap_metric metric)
{
    const etlheap_export_request request = {
        .size = sizeof request, .result = e->result, .query = &e->query, .metric = metric
    };
    capture_open(&e->captured);
    assert_int_equal(
        etlheap_export(etlheap_exporter_named(format), &request, e->captured.sink, NULL), ETL_OK);
    return capture_text(&e->captured);
}

static void check(const char *format, etlheap_metric metric, const char *wanted)
{
    exports e = open_exports("a.exe", "C:\\a.exe");
    assert_string_equal(text_of(&e, format, metric), wanted);
    capture_close(&e.captured);
    etlheap_result_free(e.result);
}

static void folded_has_a_line_for_each_stack(void **state)
{
    (void)state;
    check("folded", ETLHEAP_METRIC_OUTSTANDING,
          "extent;a.exe (10);a.exe+0x20 4096\n"
          "heap;b.exe (20);[no stack] 1000\n"
          "heap;a.exe (10);a.exe+0x20;a.exe+0x10 40\n");
}

static void folded_has_other_metrics(void **state)
{
    (void)state;
    check("folded", ETLHEAP_METRIC_TRANSIENT,
          "heap;a.exe (10);a.exe+0x20;a.exe+0x10 160\n"
          "heap;a.exe (10);a.exe+0x20 7\n");
    check("folded", ETLHEAP_METRIC_PEAK,
          "extent;a.exe (10);a.exe+0x20 4096\n"
          "heap;b.exe (20);[no stack] 1000\n"
          "heap;a.exe (10);a.exe+0x20;a.exe+0x10 100\n"
          "heap;a.exe (10);a.exe+0x20 7\n");
}

static void speedscope_has_a_profile_for_each_kind_and_process(void **state)
{
    (void)state;
    check("speedscope", ETLHEAP_METRIC_OUTSTANDING,
          "{\n"
          "  \"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
          "  \"exporter\": \"etlheap " ETLHEAP_VERSION "\",\n"
          "  \"activeProfileIndex\": 1,\n"
          "  \"shared\": {\n"
          "    \"frames\": [{\"name\": \"a.exe+0x20\"}, {\"name\": \"a.exe+0x10\"}, "
          "{\"name\": \"[no stack]\"}]\n"
          "  },\n"
          "  \"profiles\": [\n"
          "    {\"type\": \"sampled\", \"name\": \"a.exe (10): heap\", \"unit\": \"bytes\", "
          "\"startValue\": 0, \"endValue\": 40, \"samples\": [[0, 1]], \"weights\": [40]},\n"
          "    {\"type\": \"sampled\", \"name\": \"b.exe (20): heap\", \"unit\": \"bytes\", "
          "\"startValue\": 0, \"endValue\": 1000, \"samples\": [[2]], \"weights\": [1000]},\n"
          "    {\"type\": \"sampled\", \"name\": \"a.exe (10): extent\", \"unit\": \"bytes\", "
          "\"startValue\": 0, \"endValue\": 4096, \"samples\": [[0]], \"weights\": [4096]}\n"
          "  ]\n"
          "}\n");
}

static void dhat_has_what_each_point_had_and_when(void **state)
{
    (void)state;
    check("dhat", ETLHEAP_METRIC_OUTSTANDING,
          "{\n"
          "  \"dhatFileVersion\": 2,\n"
          "  \"mode\": \"heap\",\n"
          "  \"verb\": \"Allocated\",\n"
          "  \"bklt\": true,\n"
          "  \"bkacc\": false,\n"
          "  \"tu\": \"\xC2\xB5s\",\n"
          "  \"Mtu\": \"s\",\n"
          "  \"tuth\": 10,\n"
          "  \"cmd\": \"several programs\",\n"
          "  \"pid\": 0,\n"
          "  \"tg\": 6,\n"
          "  \"te\": 10000,\n"
          "  \"pps\": [\n"
          "    {\"tb\": 200, \"tbk\": 3, \"tl\": 11996, \"mb\": 100, \"mbk\": 1, \"gb\": 100, "
          "\"gbk\": 2, \"eb\": 40, \"ebk\": 1, \"fs\": [2, 3, 4]},\n"
          "    {\"tb\": 7, \"tbk\": 1, \"tl\": 1, \"mb\": 7, \"mbk\": 1, \"gb\": 7, \"gbk\": 1, "
          "\"eb\": 0, \"ebk\": 0, \"fs\": [3, 4]},\n"
          "    {\"tb\": 1000, \"tbk\": 1, \"tl\": 9994, \"mb\": 1000, \"mbk\": 1, \"gb\": 1000, "
          "\"gbk\": 1, \"eb\": 1000, \"ebk\": 1, \"fs\": [1, 5]}\n"
          "  ],\n"
          "  \"ftbl\": [\n"
          "    \"[root]\",\n"
          "    \"[no stack]\",\n"
          "    \"a.exe+0x10\",\n"
          "    \"a.exe+0x20\",\n"
          "    \"a.exe (10)\",\n"
          "    \"b.exe (20)\"\n"
          "  ]\n"
          "}\n");
}

static void heaptrack_has_every_event_in_order(void **state)
{
    (void)state;
    check("heaptrack", ETLHEAP_METRIC_OUTSTANDING,
          "v 10400 3\n"
          "s a a.exe (10)\ni 0 0 1 0 0\nt 1 0\n"
          "s 5 a.exe\ns a a.exe+0x20\ni 400020 2 3 0 0\nt 2 1\n"
          "s a a.exe+0x10\ni 400010 2 4 0 0\nt 3 2\n"
          "a 64 3\n+ 0\n- 0\n"
          "a 28 3\n+ 1\na 3c 3\n+ 2\n"
          "a 7 2\n+ 3\n"
          "s a b.exe (20)\ni 0 0 5 0 0\nt 4 0\ns a [no stack]\ni 0 0 6 0 0\nt 5 4\n"
          "a 3e8 5\n+ 4\n"
          "- 3\n"
          "c 2\n- 2\n"
          "c a\n"
          "X several programs\n");
}

/* Readers keep 0 for "no allocation since the last free": a free of kind 0 after another
 * free would look temporary. */
static void heaptrack_names_the_twin_when_the_first_block_is_freed(void **state)
{
    (void)state;
    static const block twins[] = { { 1, 2, ETLHEAP_KIND_HEAP, 30, 70, 100 },
                                   { 1, 2, ETLHEAP_KIND_HEAP, 40, NEVER, 8 },
                                   { 1, 2, ETLHEAP_KIND_HEAP, 50, 60, 100 },
                                   { 1, 2, ETLHEAP_KIND_HEAP, 80, 90, 100 } };
    exports e = open_exports_of(result_of("a.exe", "C:\\a.exe", twins, ETL_COUNT_OF(twins)));
    const char *const text = text_of(&e, "heaptrack", ETLHEAP_METRIC_OUTSTANDING);
    assert_non_null(strstr(text, "a 64 2\n+ 0\na 8 2\n+ 1\na 64 2\n+ 2\n- 2\n- 2\n+ 2\n- 2\n"));
    capture_close(&e.captured);
    etlheap_result_free(e.result);
}

static void ndjson_has_a_row_a_line_with_its_stack(void **state)
{
    exports e = open_exports("a.exe", "C:\\a.exe");
    (void)state;
    e.query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    assert_string_equal(
        text_of(&e, "ndjson", ETLHEAP_METRIC_OUTSTANDING),
        "{\"kind\": \"extent\", \"process\": \"a.exe\", \"pid\": 10, \"heap\": \"0x0\", "
        "\"type\": \"AIFO\", \"impacting_type\": \"Impacting\", \"count\": 1, \"size\": 4096, "
        "\"impacting_size\": 4096, \"outstanding_count\": 1, \"outstanding_size\": 4096, "
        "\"realloc_count\": 0, \"peak_count\": 1, \"peak_size\": 4096, "
        "\"stack\": [\"a.exe+0x20\"], \"module\": \"a.exe\", \"function\": null, \"file\": null, "
        "\"line\": null}\n");
    capture_close(&e.captured);
    etlheap_result_free(e.result);
}

/* --- names of any bytes -------------------------------------------------------------- */

static const char hostile_process[] = "a;b\n\"<&'>\x1b[31m \xff\xc3 12";
static const char hostile_module[] = "C:\\x\n;\"<\x1b>.dll";

/* No byte controls a terminal, and newlines are those of the format. */
static void assert_shown(const char *text)
{
    for (; *text != '\0'; text++)
        assert_true((u8)*text >= 0x20 || *text == '\n');
    assert_null(strchr(text, 0x7f));
}

static u32 count_of(const char *text, const char *what)
{
    u32 count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

static void folded_lines_keep_their_form(void **state)
{
    exports e = open_exports(hostile_process, hostile_module);
    (void)state;
    e.query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    assert_string_equal(
        text_of(&e, "folded", ETLHEAP_METRIC_OUTSTANDING),
        "extent;a:b\xEF\xBF\xBD\"<&'>\xEF\xBF\xBD[31m \xEF\xBF\xBD\xEF\xBF\xBD 12 (10);"
        "x\xEF\xBF\xBD:\"<\xEF\xBF\xBD>.dll+0x20 4096\n");
    capture_close(&e.captured);
    etlheap_result_free(e.result);
}

static void heaptrack_strings_stay_on_their_lines(void **state)
{
    exports e = open_exports(hostile_process, hostile_module);
    (void)state;
    const char *const text = text_of(&e, "heaptrack", ETLHEAP_METRIC_OUTSTANDING);
    assert_shown(text);
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        assert_non_null(strchr("vascit+-X", *line));
    assert_int_equal(count_of(text, "\ns "), 6);
    capture_close(&e.captured);
    etlheap_result_free(e.result);
}

static void json_escapes_what_controls(void **state)
{
    static const char *const formats[] = { "speedscope", "dhat", "ndjson" };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(formats); i++) {
        exports e = open_exports(hostile_process, hostile_module);
        const char *const text = text_of(&e, formats[i], ETLHEAP_METRIC_OUTSTANDING);
        assert_shown(text);
        assert_true(count_of(text, "a;b\\n\\\"<&'>\\u001b[31m \xEF\xBF\xBD\xEF\xBF\xBD 12") > 0);
        assert_true(count_of(text, "x\\n;\\\"<\\u001b>.dll+0x20") > 0);
        capture_close(&e.captured);
        etlheap_result_free(e.result);
    }
}

static void csv_quotes_what_separates(void **state)
{
    exports e = open_exports(hostile_process, hostile_module);
    (void)state;
    e.query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    const char *const text = text_of(&e, "csv", ETLHEAP_METRIC_OUTSTANDING);
    assert_int_equal(count_of(text, ",\"x\n;\"\"<\x1b>.dll+0x20\",1,4096,"), 1);
    capture_close(&e.captured);
    etlheap_result_free(e.result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_has_a_line_for_each_stack),
        cmocka_unit_test(folded_has_other_metrics),
        cmocka_unit_test(speedscope_has_a_profile_for_each_kind_and_process),
        cmocka_unit_test(dhat_has_what_each_point_had_and_when),
        cmocka_unit_test(heaptrack_has_every_event_in_order),
        cmocka_unit_test(heaptrack_names_the_twin_when_the_first_block_is_freed),
        cmocka_unit_test(ndjson_has_a_row_a_line_with_its_stack),
        cmocka_unit_test(folded_lines_keep_their_form),
        cmocka_unit_test(heaptrack_strings_stay_on_their_lines),
        cmocka_unit_test(json_escapes_what_controls),
        cmocka_unit_test(csv_quotes_what_separates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
