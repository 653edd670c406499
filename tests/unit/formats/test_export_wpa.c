/*
 * Goal: tables of WPA and the profile that leads to them say what a result says, are
 * well-formed whatever the names in a trace are, and refuse what they have no place for.
 * Method: a result made by hand with markup, control characters, broken UTF-8 and a name
 * of 4 KB; documents are read with libxml2 and with our own reader. That they fit their
 * schema, real profiles and reports is shown on the whole program (oracle_wpa.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "tests/support/wpa_xml_read.h"
#include "tests/support/capture.h"
#include "formats/export/export_writers.h"
#include "formats/io/text_buffer.h"
#include "tests/support/hand_result.h"

#define LONG_NAME 4096
#define MARKUP    "<b a=\"1\">&amp;]]>--'{0}"
#define HOSTILE   "\x1b[31m\x01\xff\xfe\xed\xa0\x80\xef\xbf\xbf\r\n\t"

typedef struct bench {
    char long_name[LONG_NAME + 1];
    etlheap_result *result;
    etlheap_query query;
    etlheap_export_request request;
    etlheap_text advice;
    capture captured;
    xmlDoc *document;
} bench;

/* One of each type and of each kind, and one for each name. */
static void add_lifetimes(bench *b, const u32 *processes, const u32 *stacks)
{
    const lifetime rows[] = {
        { .alloc_ticks = HAND_START_TICKS + 10,
          .free_ticks = HAND_START_TICKS + 30,
          .address = 0x11234,
          .size = 24,
          .heap = 0x1f0000,
          .process = processes[0],
          .stack = stacks[0],
          .thread = 7,
          .kind = ETLHEAP_KIND_HEAP,
          .free_type = ETLHEAP_FREE_FREE,
          .is_realloc = true },
        { .alloc_ticks = HAND_START_TICKS + 11,
          .free_ticks = ETLHEAP_TICKS_NEVER,
          .address = 0x2000,
          .size = 300,
          .heap = 0x1f0000,
          .process = processes[0],
          .stack = stacks[1],
          .thread = ETL_NO_ID,
          .kind = ETLHEAP_KIND_HEAP },
        { .alloc_ticks = HAND_START_TICKS + 12,
          .free_ticks = ETLHEAP_TICKS_NEVER,
          .size = 5,
          .heap = 0x2f0000,
          .process = processes[1],
          .kind = ETLHEAP_KIND_HEAP },
        { .alloc_ticks = HAND_START_TICKS + 13,
          .free_ticks = ETLHEAP_TICKS_NEVER,
          .size = 6,
          .heap = 0x3f0000,
          .process = processes[2],
          .kind = ETLHEAP_KIND_HEAP },
        { .alloc_ticks = HAND_START_TICKS + 14,
          .free_ticks = ETLHEAP_TICKS_NEVER,
          .size = 7,
          .heap = 0x4f0000,
          .process = processes[3],
          .kind = ETLHEAP_KIND_HEAP },
        { .alloc_ticks = ETLHEAP_TICKS_BEFORE,
          .free_ticks = HAND_START_TICKS + 30,
          .address = 0x7fff0000,
          .size = 4096,
          .process = processes[0],
          .stack = stacks[1],
          .thread = ETL_NO_ID,
          .kind = ETLHEAP_KIND_VIRTUALALLOC,
          .free_type = ETLHEAP_FREE_FREE },
        { .alloc_ticks = HAND_START_TICKS + 15,
          .free_ticks = ETLHEAP_TICKS_NEVER,
          .size = 65536,
          .heap = 0x1f0000,
          .process = processes[0],
          .kind = ETLHEAP_KIND_EXTENT },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        hand_lifetime(b->result, &rows[i]);
}

static void fill_result(bench *b)
{
    const u32 processes[] = { hand_process(b->result, 42, "app.exe"),
                              hand_process(b->result, 43, MARKUP),
                              hand_process(b->result, 44, HOSTILE),
                              hand_process(b->result, 45, b->long_name) };
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                    .pid = 42,
                                    .base = 0x400000,
                                    .size_bytes = 0x10000,
                                    .ticks = HAND_START_TICKS - 1,
                                    .path = "\\Device\\x\\<a>&\".exe" };
    hand_image(&b->result->context, &image);
    const u32 stacks[] = {
        hand_stack(b->result, (const u64[]){ 0x401234, 0x405678, 0xdeadbeef }, 3),
        hand_stack(b->result, (const u64[]){ 0x401111, 0x405678, 0xdeadbeef }, 3),
    };
    add_lifetimes(b, processes, stacks);
}

static int open_bench(void **state)
{
    static const char *const files[] = { "a--b c-.etl" };
    bench *const b = calloc(1, sizeof *b);
    if (b == NULL)
        return 1;
    memset(b->long_name, 'x', LONG_NAME);
    b->result = hand_result_new();
    b->result->info.session = b->result->info.computer = "";
    b->result->info.clock = "qpc";
    b->result->info.files = files;
    b->result->info.file_count = 1;
    fill_result(b);
    hand_ready(b->result, HAND_START_TICKS + 40);
    b->query = etlheap_query_default();
    b->request = (etlheap_export_request){ .result = b->result, .query = &b->query };
    capture_open(&b->captured);
    *state = b;
    return 0;
}

static int close_bench(void **state)
{
    bench *const b = *state;
    xmlFreeDoc(b->document);
    capture_close(&b->captured);
    etlheap_text_free(&b->advice);
    etlheap_result_free(b->result);
    free(b);
    return 0;
}

typedef etl_status export_fn(const etlheap_export_request *request, etlheap_sink *sink,
                             etl_error *err);

/* What the exporter writes, which libxml2 has to be able to read. */
static const char *write_by(bench *b, export_fn *write)
{
    etl_error err = { .status = ETL_OK };
    if (write(&b->request, b->captured.sink, &err) != ETL_OK)
        fail_msg("%s", err.message);
    const char *const text = capture_text(&b->captured);
    b->document = xmlReadMemory(text, (int)strlen(text), "made.xml", NULL, XML_PARSE_NONET);
    assert_non_null(b->document);
    return text;
}

/* So that another can be written. */
static void forget_document(bench *b)
{
    xmlFreeDoc(b->document);
    b->document = NULL;
    capture_close(&b->captured);
    capture_open(&b->captured);
}

/* What an XPath expression comes to; namespaces are w and p. To be freed by xmlFree. */
static xmlChar *ask(const bench *b, const char *expression)
{
    xmlXPathContext *const context = xmlXPathNewContext(b->document);
    assert_non_null(context);
    assert_int_equal(
        xmlXPathRegisterNs(context, (const xmlChar *)"w", (const xmlChar *)"urn:etlheap:wpa-xml:1"),
        0);
    assert_int_equal(
        xmlXPathRegisterNs(context, (const xmlChar *)"p",
                           (const xmlChar *)"http://tempuri.org/SerializableElement.xsd"),
        0);
    xmlXPathObject *const value = xmlXPathEvalExpression((const xmlChar *)expression, context);
    assert_non_null(value);
    xmlChar *const text = xmlXPathCastToString(value);
    xmlXPathFreeObject(value);
    xmlXPathFreeContext(context);
    return text;
}

static void check(const bench *b, const char *expression, const char *wanted)
{
    xmlChar *const text = ask(b, expression);
    if (strcmp((const char *)text, wanted) != 0)
        fail_msg("%s is '%s', not '%s'", expression, (const char *)text, wanted);
    xmlFree(text);
}

static wpa_document read_back(const char *text)
{
    wpa_document document;
    etl_error err = { .status = ETL_OK };
    const etl_bytes bytes = { (const u8 *)text, strlen(text) };
    if (wpa_xml_parse(bytes, "made.xml", &document, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return document;
}

/* --- wpa-xml --------------------------------------------------------------------------- */

static void lifetimes_are_rows_with_the_cells_that_are_known(void **state)
{
    bench *const b = *state;
    b->request.rows = true;
    const char *const text = write_by(b, etlheap_export_wpa_xml);
    assert_non_null(strstr(
        text, "<Row ProcessName=\"app.exe\" Process=\"app.exe (42)\" Type=\"AIFI\" "
              "ImpactingType=\"Transient\" Handle=\"0x1f0000\" Stack=\"2\" Thread=\"7\" "
              "Address=\"0x11234\" PageAddress=\"0x11000\" AllocTime=\"1000\" FreeTime=\"3000\" "
              "LifeTime=\"2000\" IsRealloc=\"true\" FreeType=\"free\" Count=\"1\" "
              "ImpactingSize=\"0\" Size=\"24\"/>"));
    assert_non_null(strstr(
        text, "<Row ProcessName=\"app.exe\" Process=\"app.exe (42)\" Type=\"AOFI\" "
              "ImpactingType=\"Impacting\" Stack=\"3\" Address=\"0x7fff0000\" FreeTime=\"3000\" "
              "Count=\"1\" ImpactingSize=\"-4096\" Size=\"4096\"/>"));
    check(b, "string(//w:Row[2]/@FreeTime)", "");
    check(b, "string(//w:Row[3]/@Stack)", "");
    check(b, "string(//w:Row[2]/@ImpactingSize)", "300");
}

static void stacks_share_the_callers_they_have_in_common(void **state)
{
    bench *const b = *state;
    b->request.rows = true;
    write_by(b, etlheap_export_wpa_xml);
    check(b, "count(//w:Frame)", "4");
    check(b, "count(//w:Node)", "4");
    check(b, "string(//w:Table[1]//w:Row[2]/@Stack)", "3");
    check(b, "string(//w:Node[@Id='3']/@Parent)", "1");
    check(b, "string(//w:Node[@Id='1']/@Parent)", "0");
    check(b, "count(//w:Node[@Id='0']/@Parent)", "0");
    check(b, "string(//w:Frame[@Id=//w:Node[@Id='2']/@Frame]/@Offset)", "0x1234");
    check(b, "string(//w:Frame[@Id=//w:Node[@Id='2']/@Frame]/@Module)", "<a>&\".exe");
    check(b, "string(//w:Frame[@Id=//w:Node[@Id='0']/@Frame]/@Address)", "0xdeadbeef");
    check(b, "count(//w:Frame[@Id=//w:Node[@Id='0']/@Frame]/@Module)", "0");
}

static void sums_are_rows_by_process_heap_type_and_stack(void **state)
{
    bench *const b = *state;
    write_by(b, etlheap_export_wpa_xml);
    check(b, "count(//w:Table)", "2");
    check(b, "count(//w:Table[@Title='Heap Allocations']//w:Row)", "5");
    check(b, "string(//w:Column[@Attribute='SizePeak'][1]/@Aggregation)", "Peak");
    check(b, "string(//w:Row[@Size='300']/@SizePeak)", "300");
    check(b, "string(//w:Table[2]//w:Column[@Attribute='Stack']/@Title)", "Commit Stack");
    check(b, "count(//w:Table[2]//w:Column[@Attribute='Handle'])", "0");
}

static void our_reader_gives_back_the_totals(void **state)
{
    bench *const b = *state;
    for (int rows = 0; rows < 2; rows++) {
        b->request.rows = rows == 1;
        const wpa_document document = read_back(write_by(b, etlheap_export_wpa_xml));
        const wpa_table *const heap = &document.tables[ETLHEAP_KIND_HEAP];
        assert_int_equal(document.of_lifetimes, rows == 1);
        assert_int_equal(document.from_ns, 0);
        assert_int_equal(document.to_ns, 4100);
        assert_int_equal(heap->all.count, 5);
        assert_int_equal(heap->all.size_bytes, 342);
        assert_int_equal(heap->all.impacting_size, 318);
        assert_int_equal(heap->of_type[ETLHEAP_TYPE_AIFI].size_bytes, 24);
        assert_int_equal(document.tables[ETLHEAP_KIND_VIRTUALALLOC].all.impacting_size, -4096);
        assert_false(document.tables[ETLHEAP_KIND_EXTENT].is_present);
        assert_int_equal(document.node_count, 4);
        forget_document(b);
    }
}

static void any_name_comes_back_as_far_as_xml_has_characters(void **state)
{
    bench *const b = *state;
    const char *const text = write_by(b, etlheap_export_wpa_xml);
    for (const char *at = text; *at != '\0'; at++) {
        if ((u8)*at < 0x20 && *at != '\n')
            fail_msg("a control character %02x at %d", *at, (int)(at - text));
    }
    check(b, "string(//w:Row[@Size='5']/@ProcessName)", MARKUP);
    check(b, "string(//w:Row[@Size='6']/@ProcessName)",
          "\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
          "\xef\xbf\xbd\xef\xbf\xbd\n\t");
    check(b, "string(//w:Row[@Size='7']/@ProcessName)", b->long_name);
}

static void rows_may_all_be_without_a_stack(void **state)
{
    static const char *const processes[] = { "43" };
    bench *const b = *state;
    b->query.processes = processes;
    b->query.process_count = 1;
    for (int rows = 0; rows < 2; rows++) {
        b->request.rows = rows == 1;
        const wpa_document document = read_back(write_by(b, etlheap_export_wpa_xml));
        assert_int_equal(document.tables[ETLHEAP_KIND_HEAP].all.size_bytes, 5);
        assert_int_equal(document.frame_count + document.node_count, 0);
        forget_document(b);
    }
}

static void kinds_without_a_table_are_refused(void **state)
{
    bench *const b = *state;
    etl_error err = { .status = ETL_OK };
    b->query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    assert_int_equal(etlheap_export_wpa_xml(&b->request, b->captured.sink, &err), ETL_ERR_ARGUMENT);
    assert_int_equal(etlheap_export_wpa_profile(&b->request, b->captured.sink, &err),
                     ETL_ERR_ARGUMENT);
}

static void a_table_is_written_only_for_the_kinds_that_are_selected(void **state)
{
    bench *const b = *state;
    b->query.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC | 1u << ETLHEAP_KIND_EXTENT;
    write_by(b, etlheap_export_wpa_xml);
    check(b, "count(//w:Table)", "1");
    check(b, "string(//w:Table/@Kind)", "virtualalloc");
}

/* --- wpaprofile ------------------------------------------------------------------------ */

static void a_profile_leads_to_what_grew_most(void **state)
{
    bench *const b = *state;
    write_by(b, etlheap_export_wpa_profile);
    check(b, "string(//p:Graph/@Guid)", "1a64d983-f796-45f8-aa64-ac50b95d0e45");
    check(b, "string(//p:Preset/@InitialFilterQuery)",
          "[Process]:=\"app.exe (42)\" AND [ImpactingType]:=\"Impacting\"");
}

static void bars_are_counted_as_columns_are(void **state)
{
    bench *const b = *state;
    write_by(b, etlheap_export_wpa_profile);
    check(b, "string(//p:Preset/@KeyColumnCount)", "7");
    check(b, "string(//p:Column[7]/@Name)", "Stack");
    check(b, "string(//p:Preset/@LeftFrozenColumnCount)", "8");
    check(b, "string(//p:Preset/@RightFrozenColumnCount)", "12");
    check(b, "string(//p:Column[12 - 2 + 1]/@Name)", "Count");
    check(b, "string(//p:Preset/@GraphColumnCount)", "15");
    check(b, "string(//p:Column[15 - 3 + 1]/@Name)", "Size");
}

static void no_two_columns_have_the_same_sort_priority(void **state)
{
    bench *const b = *state;
    write_by(b, etlheap_export_wpa_profile);
    check(b, "count(//p:Column[@SortPriority = following::p:Column/@SortPriority])", "0");
    check(b, "string(//p:Column[@SortPriority='0']/@Name)", "Impacting Size");
}

static void types_that_are_asked_for_are_filtered_by(void **state)
{
    bench *const b = *state;
    b->query.types = 1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AIFI;
    write_by(b, etlheap_export_wpa_profile);
    check(b, "string(//p:Preset/@InitialFilterQuery)",
          "[Process]:=\"app.exe (42)\" AND ([Type]:=\"AIFO\" OR [Type]:=\"AIFI\")");
}

static void a_name_that_no_filter_can_hold_is_not_filtered_by(void **state)
{
    bench *const b = *state;
    static const char *const processes[] = { "43" };
    b->query.processes = processes;
    b->query.process_count = 1;
    write_by(b, etlheap_export_wpa_profile);
    check(b, "string(//p:Preset/@InitialFilterQuery)", "[ImpactingType]:=\"Impacting\"");
    check(b, "string(//p:Preset/@Name)", "etlheap: " MARKUP " (43)");
}

static void the_command_line_goes_with_the_profile(void **state)
{
    bench *const b = *state;
    b->query.from_ns = 500;
    b->query.to_ns = 2500;
    b->request.advice = &b->advice;
    b->request.output_name = "/some where/it.wpaProfile.zst";
    const char *const text = write_by(b, etlheap_export_wpa_profile);
    assert_non_null(strstr(etlheap_text_of(&b->advice), "wpa.exe -i \"a--b c-.etl\" -profile "
                                                        "it.wpaProfile -range 500 2500"));
    assert_non_null(strstr(text, "wpa.exe -i \"a- -b c-.etl\" -profile finding.wpaProfile "
                                 "-range 500 2500"));
}

static void several_files_are_to_be_merged_first(void **state)
{
    static const char *const files[] = { "kernel.etl", "heap.etl" };
    bench *const b = *state;
    b->result->info.files = files;
    b->result->info.file_count = 2;
    b->request.advice = &b->advice;
    write_by(b, etlheap_export_wpa_profile);
    assert_non_null(strstr(etlheap_text_of(&b->advice),
                           "xperf -merge kernel.etl heap.etl merged.etl && wpa.exe -i "
                           "merged.etl -profile finding.wpaProfile -range 0 4100"));
}

static void nothing_to_lead_to_is_said(void **state)
{
    static const char *const processes[] = { "nobody.exe" };
    bench *const b = *state;
    etl_error err = { .status = ETL_OK };
    b->query.processes = processes;
    b->query.process_count = 1;
    assert_int_equal(etlheap_export_wpa_profile(&b->request, b->captured.sink, &err),
                     ETL_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no process to open in WPA; select more"));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        RULE(lifetimes_are_rows_with_the_cells_that_are_known),
        RULE(stacks_share_the_callers_they_have_in_common),
        RULE(sums_are_rows_by_process_heap_type_and_stack),
        RULE(our_reader_gives_back_the_totals),
        RULE(any_name_comes_back_as_far_as_xml_has_characters),
        RULE(rows_may_all_be_without_a_stack),
        RULE(kinds_without_a_table_are_refused),
        RULE(a_table_is_written_only_for_the_kinds_that_are_selected),
        RULE(a_profile_leads_to_what_grew_most),
        RULE(bars_are_counted_as_columns_are),
        RULE(no_two_columns_have_the_same_sort_priority),
        RULE(types_that_are_asked_for_are_filtered_by),
        RULE(a_name_that_no_filter_can_hold_is_not_filtered_by),
        RULE(the_command_line_goes_with_the_profile),
        RULE(several_files_are_to_be_merged_first),
        RULE(nothing_to_lead_to_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
