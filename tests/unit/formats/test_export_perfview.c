/*
 * Goal: files for PerfView are zips of one member that no run changes, and their samples
 * add up to the byte in numbers that PerfView can hold.
 * Method: a result made by hand with sizes around the limits of a sample; the zip is
 * opened with libzip, the document read with libxml2. Sums of whole traces are compared
 * with reports in oracle_wpa.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xpath.h>
#include <unistd.h>
#include <zip.h>

#include "tests/support/capture.h"
#include "formats/export/export_writers.h"
#include "formats/io/zip_output.h"
#include "tests/support/hand_result.h"
#include "tests/support/temporary.h"

#define HOSTILE "<\x1b]]>&\xff\n.exe"

typedef struct bench {
    etlheap_result *result;
    etlheap_query query;
    etlheap_export_request request;
    xmlDoc *document;
    char text[1024];
} bench;

static int open_bench(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    if (b == NULL)
        return 1;
    b->result = hand_result_new();
    b->query = etlheap_query_default();
    b->request = (etlheap_export_request){ .result = b->result, .query = &b->query };
    *state = b;
    return 0;
}

static int close_bench(void **state)
{
    bench *const b = *state;
    xmlFreeDoc(b->document);
    etlheap_result_free(b->result);
    free(b);
    return 0;
}

/* A block that stays, allocated `at` ticks after the start. */
static void add_block(const bench *b, u32 process, u32 stack, i64 at, u64 size)
{
    const lifetime row = { .alloc_ticks = HAND_START_TICKS + at,
                           .free_ticks = ETLHEAP_TICKS_NEVER,
                           .address = (u64)at * 65536,
                           .size = size,
                           .heap = 1,
                           .process = process,
                           .stack = stack,
                           .kind = ETLHEAP_KIND_HEAP };
    hand_lifetime(b->result, &row);
}

/* Exports into a file of no name; its descriptor. */
static int export_file(const bench *b)
{
    char path[TEMPORARY_PATH_BYTES];
    etlheap_sink *sink;
    etl_error err = { .status = ETL_OK };
    const int descriptor = temporary_file(path, "etlheap-perfview");
    assert_true(descriptor >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(etlheap_sink_open_descriptor(descriptor, "a file", &sink, NULL), ETL_OK);
    if (etlheap_export_perfview(&b->request, sink, &err) != ETL_OK)
        fail_msg("%s", err.message);
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    return descriptor;
}

static void read_document(bench *b)
{
    int code;
    zip_stat_t stat;
    hand_ready(b->result, HAND_START_TICKS + 1000);
    zip_t *const zip = zip_fdopen(export_file(b), ZIP_CHECKCONS, &code);
    assert_non_null(zip);
    assert_int_equal(zip_get_num_entries(zip, 0), 1);
    assert_int_equal(zip_stat_index(zip, 0, 0, &stat), 0);
    assert_string_equal(stat.name, "etlheap.perfView.xml");
    char *const text = malloc(stat.size + 1);
    zip_file_t *const file = zip_fopen_index(zip, 0, 0);
    assert_non_null(text);
    assert_non_null(file);
    assert_int_equal(zip_fread(file, text, stat.size + 1), stat.size);
    assert_int_equal(zip_fclose(file), 0); /* the checksum was right */
    zip_discard(zip);
    b->document = xmlReadMemory(text, (int)stat.size, "a.xml", NULL, XML_PARSE_NONET);
    assert_non_null(b->document);
    free(text);
}

/* The list of a name: the second element of its kind below the first. */
static const xmlNode *list_of(const bench *b, const char *name)
{
    const xmlNode *const source = xmlFirstElementChild(xmlDocGetRootElement(b->document));
    for (const xmlNode *at = source->children; at; at = at->next) {
        if (strcmp((const char *)at->name, name) == 0)
            return at;
    }
    fail_msg("no %s", name);
    return NULL;
}

static const xmlNode *item_of(const bench *b, const char *list, u64 index)
{
    for (const xmlNode *at = list_of(b, list)->children; at; at = at->next) {
        if (at->type == XML_ELEMENT_NODE && index-- == 0)
            return at;
    }
    fail_msg("no such item of %s", list);
    return NULL;
}

static void check_attribute(const xmlNode *node, const char *name, const char *wanted)
{
    xmlChar *const text = xmlGetProp(node, (const xmlChar *)name);
    assert_non_null(text);
    assert_string_equal((const char *)text, wanted);
    xmlFree(text);
}

static u64 number_of(const xmlNode *node, const char *name)
{
    xmlChar *const text = xmlGetProp(node, (const xmlChar *)name);
    assert_non_null(text);
    const u64 number = strtoull((const char *)text, NULL, 10);
    xmlFree(text);
    return number;
}

/* Adds samples up as PerfView reads them, each through a float and an int. */
static u64 sum_of_floats(const bench *b)
{
    const u64 count = number_of(list_of(b, "Samples"), "Count");
    u64 sum = 0;
    for (u64 i = 0; i < count; i++) {
        const xmlNode *const sample = item_of(b, "Samples", i);
        const u64 metric = number_of(sample, "Metric");
        const float read = (float)metric;
        assert_true((u64)read == metric);
        assert_int_equal(number_of(sample, "ID"), i);
        sum += metric;
    }
    return sum;
}

static u64 sum_of_samples(const bench *b)
{
    const u64 count = number_of(list_of(b, "Samples"), "Count");
    u64 sum = 0;
    for (u64 i = 0; i < count; i++) {
        const xmlNode *const sample = item_of(b, "Samples", i);
        const u64 metric = number_of(sample, "Metric");
        const float read = (float)metric;
        assert_in_range(metric, 0, INT32_MAX);
        assert_true((u64)read == metric);
        assert_int_equal(number_of(sample, "ID"), i);
        sum += metric;
    }
    return sum;
}

static void sums_are_cut_into_samples_that_perfview_holds_exactly(void **state)
{
    static const struct {
        u64 size;
        const char *samples;
    } cases[] = {
        { 0, "1" },
        { 1, "1" },
        { (1 << 24) - 1, "1" },
        { 1 << 24, "1" },
        { (1 << 24) + 1, "2" },
        { UINT64_C(127) << 24, "1" },
        { (UINT64_C(127) << 24) + 1, "2" },
        { UINT64_C(128) << 24, "2" },
        { UINT64_C(5000000003), "4" },
        { UINT64_C(1) << 40, "517" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        void *made = NULL;
        assert_int_equal(open_bench(&made), 0);
        bench *const b = made;
        add_block(b, hand_process(b->result, 42, "app.exe"), 0, 10, cases[i].size);
        read_document(b);
        check_attribute(list_of(b, "Samples"), "Count", cases[i].samples);
        assert_true(sum_of_samples(b) == cases[i].size);
        close_bench(&made);
    }
}

/* Sizes that no block has come from damaged records. A document does not grow with them, and is as
 * exact as before. */
static void damaged_sizes_take_few_samples(void **state)
{
    static const struct {
        u64 size;
        const char *samples;
    } cases[] = {
        { INT64_MAX, "3" },
        { UINT64_MAX, "3" },
        { (u64)1 << 63, "1" },
        { ((u64)1 << 63) + 5, "2" },
        { ((u64)1 << 48) + ((u64)1 << 24), "2" },
        { ((u64)127 << 40) + ((u64)127 << 25), "1" }, /* one part more than may be added */
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        void *fresh;
        assert_int_equal(open_bench(&fresh), 0);
        bench *const b = fresh;
        b->request.rows = true;
        add_block(b, hand_process(b->result, 42, "app.exe"), 0, 10, cases[i].size);
        read_document(b);
        check_attribute(list_of(b, "Samples"), "Count", cases[i].samples);
        assert_true(sum_of_floats(b) == cases[i].size);
        close_bench(&fresh);
    }
    (void)state;
}

static void stacks_lead_from_the_innermost_frame_to_the_kind(void **state)
{
    bench *const b = *state;
    const u32 app = hand_process(b->result, 42, "app.exe");
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                    .pid = 42,
                                    .base = 0x400000,
                                    .size_bytes = 0x10000,
                                    .ticks = HAND_START_TICKS - 1,
                                    .path = "\\Device\\x\\app.exe" };
    static const char *const wanted[] = { "app.exe!+0x1234", "?!0xdeadbeef", "Process app.exe (42)",
                                          "heap" };
    hand_image(&b->result->context, &image);
    add_block(b, app, hand_stack(b->result, (const u64[]){ 0x401234, 0xdeadbeef }, 2), 10, 100);
    read_document(b);
    u64 stack = number_of(item_of(b, "Samples", 0), "StackID");
    for (size_t i = 0; i < ETL_COUNT_OF(wanted); i++) {
        const xmlNode *const node = item_of(b, "Stacks", stack);
        xmlChar *const text = xmlNodeGetContent(item_of(b, "Frames", number_of(node, "FrameID")));
        assert_int_equal(number_of(node, "ID"), stack);
        assert_string_equal((const char *)text, wanted[i]);
        xmlFree(text);
        if (i + 1 == ETL_COUNT_OF(wanted))
            check_attribute(node, "CallerID", "-1");
        stack = number_of(node, "CallerID");
    }
}

static void memory_without_a_stack_has_a_frame_that_says_so(void **state)
{
    bench *const b = *state;
    add_block(b, hand_process(b->result, 42, HOSTILE), 0, 10, 100);
    read_document(b);
    check_attribute(list_of(b, "Frames"), "Count", "3");
    xmlChar *text = xmlNodeGetContent(item_of(b, "Frames", 1));
    assert_string_equal((const char *)text, "Process <\xef\xbf\xbd]]>&\xef\xbf\xbd\n.exe (42)");
    xmlFree(text);
    text = xmlNodeGetContent(item_of(b, "Frames", 2));
    assert_string_equal((const char *)text, "[no stack]");
    xmlFree(text);
}

/* The table of outstanding memory has the stacks of what was freed, too. */
static void only_frames_of_samples_are_listed(void **state)
{
    bench *const b = *state;
    const u32 app = hand_process(b->result, 42, "app.exe");
    const lifetime gone = { .alloc_ticks = HAND_START_TICKS + 20,
                            .free_ticks = HAND_START_TICKS + 30,
                            .address = 1,
                            .size = 30,
                            .heap = 1,
                            .process = app,
                            .stack = hand_stack(b->result, (const u64[]){ 0x1000, 0x2000 }, 2),
                            .kind = ETLHEAP_KIND_HEAP,
                            .free_type = ETLHEAP_FREE_FREE };
    add_block(b, app, hand_stack(b->result, (const u64[]){ 0x3000, 0x2000 }, 2), 10, 100);
    hand_lifetime(b->result, &gone);
    read_document(b);
    check_attribute(list_of(b, "Frames"), "Count", "4"); /* kind, process, 0x2000, 0x3000 */
    check_attribute(list_of(b, "Stacks"), "Count", "4");
}

static const char *text_at(bench *b, const char *path)
{
    xmlXPathContext *const context = xmlXPathNewContext(b->document);
    xmlXPathObject *const found = xmlXPathEvalExpression((const xmlChar *)path, context);
    assert_non_null(found);
    snprintf(b->text, sizeof b->text, "%s",
             found->stringval ? (const char *)found->stringval : "(none)");
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
    return b->text;
}

static void the_window_opens_with_notes_the_call_tree_and_grouping(void **state)
{
#define STATE "/StackWindow/StackWindowGuiState/"
    bench *const b = *state;
    add_block(b, hand_process(b->result, 42, "app.exe"), 0, 10, 100);
    b->result->info.computer = "BENCH";
    b->query.to_ns = 2500;
    read_document(b);
    assert_string_equal(text_at(b, "string(" STATE "TabSelected)"), "CallTreeTab");
    assert_string_equal(text_at(b, "string(" STATE "NotesPaneHidden)"), "False");
    assert_string_equal(text_at(b, "string(" STATE "FilterGuiState/GroupRegEx/Value)"),
                        "[group module entries]  {%}!=>module $1");
    assert_string_equal(text_at(b, "string(" STATE "FilterGuiState/GroupRegEx/History/string)"),
                        "[no grouping]");
    assert_string_equal(text_at(b, "string(count(" STATE "Columns/string))"), "9");
    const char *const notes = text_at(b, "string(" STATE "Notes)");
    assert_non_null(strstr(notes,
                           "memory outstanding at the end of the window.\n"
                           "Window: 0.000000000 s to 0.000002500 s of a recording on BENCH"));
    assert_non_null(strstr(notes, "1 samples: the sum of each stack"));
}

static void lifetimes_have_columns_of_times(void **state)
{
    bench *const b = *state;
    add_block(b, hand_process(b->result, 42, "app.exe"), 0, 10, 100);
    b->request.rows = true;
    read_document(b);
    assert_string_equal(text_at(b, "string(count(" STATE "Columns/string))"), "12");
    assert_non_null(strstr(text_at(b, "string(" STATE "Notes)"), "each allocation at its time"));
}

static void rows_are_samples_at_the_time_of_their_allocation(void **state)
{
    bench *const b = *state;
    const u32 app = hand_process(b->result, 42, "app.exe");
    add_block(b, app, 0, 987, 7);
    add_block(b, app, 0, 50, 1 << 25);
    b->request.rows = true;
    read_document(b);
    check_attribute(list_of(b, "Samples"), "Count", "2");
    check_attribute(item_of(b, "Samples", 0), "Time", "0.005");
    check_attribute(item_of(b, "Samples", 0), "Metric", "33554432");
    check_attribute(item_of(b, "Samples", 1), "Time", "0.098");
    check_attribute(item_of(b, "Samples", 1), "Metric", "7");
}

static void a_metric_selects_the_lifetimes_it_counts(void **state)
{
    static const u64 wanted[ETLHEAP_METRIC_COUNT] = { 100, 130, 30, 130 };
    (void)state;
    for (int rows = 0; rows < 2; rows++) {
        for (u32 metric = 0; metric < ETLHEAP_METRIC_COUNT; metric++) {
            void *made = NULL;
            assert_int_equal(open_bench(&made), 0);
            bench *const b = made;
            const u32 app = hand_process(b->result, 42, "app.exe");
            const lifetime gone = { .alloc_ticks = HAND_START_TICKS + 20,
                                    .free_ticks = HAND_START_TICKS + 30,
                                    .address = 1,
                                    .size = 30,
                                    .heap = 1,
                                    .process = app,
                                    .kind = ETLHEAP_KIND_HEAP,
                                    .free_type = ETLHEAP_FREE_FREE };
            add_block(b, app, 0, 10, 100);
            hand_lifetime(b->result, &gone);
            b->request.metric = (etlheap_metric)metric;
            b->request.rows = rows == 1;
            read_document(b);
            assert_int_equal(sum_of_samples(b), wanted[metric]);
            close_bench(&made);
        }
    }
}

static void the_same_request_gives_the_same_zip(void **state)
{
    bench *const b = *state;
    u8 bytes[2][4096];
    ssize_t sizes[2];
    add_block(b, hand_process(b->result, 42, "app.exe"), 0, 10, 100);
    hand_ready(b->result, HAND_START_TICKS + 1000);
    for (int i = 0; i < 2; i++) {
        const int descriptor = export_file(b);
        sizes[i] = pread(descriptor, bytes[i], sizeof bytes[i], 0);
        close(descriptor);
    }
    assert_in_range(sizes[0], 100, sizeof bytes[0] - 1);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)sizes[0]);
    /* Midnight, 1 January 1980. */
    assert_memory_equal(bytes[0] + 10, "\x00\x00\x21\x00", 4);
}

static void a_member_may_be_empty_or_larger_than_a_buffer(void **state)
{
    (void)state;
    for (u32 size = 0; size <= 300000; size += 300000) {
        capture captured;
        etlheap_zip_output zip;
        int code;
        zip_stat_t stat;
        capture_open(&captured);
        assert_int_equal(etlheap_zip_begin(captured.sink, "a.txt", &zip), ETL_OK);
        for (u32 i = 0; i < size; i++)
            assert_true(etlheap_zip_put(&zip, &(u8){ (u8)(i * i >> 8) }, 1));
        assert_int_equal(etlheap_zip_end(&zip), ETL_OK);
        (void)capture_text(&captured);
        zip_t *const read = zip_fdopen(dup(captured.descriptor), ZIP_CHECKCONS, &code);
        assert_non_null(read);
        assert_int_equal(zip_stat_index(read, 0, 0, &stat), 0);
        assert_int_equal(stat.size, size);
        u8 *const bytes = malloc(size + 1);
        zip_file_t *const file = zip_fopen_index(read, 0, 0);
        assert_non_null(bytes);
        assert_non_null(file);
        assert_int_equal(zip_fread(file, bytes, size + 1), size);
        for (u32 i = 0; i < size; i++)
            assert_int_equal(bytes[i], (u8)(i * i >> 8));
        assert_int_equal(zip_fclose(file), 0);
        free(bytes);
        zip_discard(read);
        capture_close(&captured);
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_sizes_take_few_samples),
        cmocka_unit_test(sums_are_cut_into_samples_that_perfview_holds_exactly),
        RULE(stacks_lead_from_the_innermost_frame_to_the_kind),
        RULE(memory_without_a_stack_has_a_frame_that_says_so),
        RULE(only_frames_of_samples_are_listed),
        RULE(the_window_opens_with_notes_the_call_tree_and_grouping),
        RULE(lifetimes_have_columns_of_times),
        RULE(rows_are_samples_at_the_time_of_their_allocation),
        cmocka_unit_test(a_metric_selects_the_lifetimes_it_counts),
        RULE(the_same_request_gives_the_same_zip),
        cmocka_unit_test(a_member_may_be_empty_or_larger_than_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
