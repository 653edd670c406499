/*
 * Goal: JSON is always valid whatever a trace holds, CSV is what spreadsheets
 * read, and the table of formats offers what each command says.
 * Method: short documents with hostile strings, compared byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/json/json.h"
#include "formats/writers.h"
#include "made_table.h"

static void check_string(const char *text, size_t size, const char *wanted)
{
    capture out;
    capture_open(&out);
    etlheap_json json = etlheap_json_begin(out.sink, 0);
    etlheap_json_string_bytes(&json, NULL, text, size);
    etlheap_json_end(&json);
    assert_string_equal(capture_text(&out), wanted);
    capture_close(&out);
}

static void json_strings_escape_what_must_be(void **state)
{
    (void)state;
    check_string("plain", 5, "\"plain\"\n");
    check_string("C:\\a \"b\"", 8, "\"C:\\\\a \\\"b\\\"\"\n");
    check_string("\n\r\t", 3, "\"\\n\\r\\t\"\n");
    check_string("\0\x01\x1b\x7f", 4, "\"\\u0000\\u0001\\u001b\\u007f\"\n");
    check_string("", 0, "\"\"\n");
    check_string("/\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 10,
                 "\"/\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"\n");
}

static void json_strings_are_always_utf8(void **state)
{
    static const struct {
        const char *bytes;
        size_t size, replaced;
    } rows[] = {
        { "\xFF", 1, 1 },             /* no first byte */
        { "\x80", 1, 1 },             /* continuation alone */
        { "\xC0\xAF", 2, 2 },         /* overlong, two bytes */
        { "\xE0\x80\xAF", 3, 3 },     /* overlong, three */
        { "\xF0\x80\x80\xAF", 4, 4 }, /* overlong, four */
        { "\xED\xA0\x80", 3, 3 },     /* surrogate */
        { "\xF4\x90\x80\x80", 4, 4 }, /* past the last character */
        { "\xF8\x88\x80\x80\x80", 5, 5 },
        { "\xE2\x82", 2, 2 }, /* cut off */
        { "\xC3", 1, 1 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char wanted[32] = "\"";
        for (size_t k = 0; k < rows[i].replaced; k++)
            strcat(wanted, "\xEF\xBF\xBD");
        strcat(wanted, "\"\n");
        check_string(rows[i].bytes, rows[i].size, wanted);
    }
    check_string("a\xFF"
                 "b",
                 3,
                 "\"a\xEF\xBF\xBD"
                 "b\"\n");
}

static void json_numbers_are_exact(void **state)
{
    capture out;
    (void)state;
    capture_open(&out);
    etlheap_json json = etlheap_json_begin(out.sink, 0);
    etlheap_json_array(&json, NULL);
    etlheap_json_i64(&json, NULL, INT64_MIN);
    etlheap_json_u64(&json, NULL, UINT64_MAX);
    etlheap_json_hex(&json, NULL, 0x1f0000, 1);
    etlheap_json_hex(&json, NULL, 0x42, 4);
    etlheap_json_hex(&json, NULL, 0, 1);
    etlheap_json_null(&json, NULL);
    etlheap_json_string(&json, NULL, NULL);
    etlheap_json_array_close(&json);
    etlheap_json_end(&json);
    assert_string_equal(capture_text(&out),
                        "[-9223372036854775808, 18446744073709551615, \"0x1f0000\", \"0x0042\", "
                        "\"0x0\", null, null]\n");
    capture_close(&out);
}

static void json_breaks_lines_down_to_a_depth(void **state)
{
    capture out;
    (void)state;
    capture_open(&out);
    etlheap_json json = etlheap_json_begin(out.sink, 2);
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "x");
    etlheap_json_array(&json, "rows");
    for (int i = 0; i < 2; i++) {
        etlheap_json_object(&json, NULL);
        etlheap_json_i64(&json, "a", i);
        etlheap_json_array(&json, "b");
        etlheap_json_array_close(&json);
        etlheap_json_object_close(&json);
    }
    etlheap_json_array_close(&json);
    etlheap_json_array(&json, "none");
    etlheap_json_array_close(&json);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    assert_string_equal(capture_text(&out), "{\n"
                                            "  \"schema\": \"x\",\n"
                                            "  \"rows\": [\n"
                                            "    {\"a\": 0, \"b\": []},\n"
                                            "    {\"a\": 1, \"b\": []}\n"
                                            "  ],\n"
                                            "  \"none\": []\n"
                                            "}\n");
    capture_close(&out);
}

static void json_documents_follow_each_other(void **state)
{
    capture out;
    (void)state;
    capture_open(&out);
    for (int i = 0; i < 2; i++) {
        etlheap_json json = etlheap_json_begin(out.sink, 0);
        etlheap_json_object(&json, NULL);
        etlheap_json_i64(&json, "ts", i);
        etlheap_json_object_close(&json);
        etlheap_json_end(&json);
    }
    assert_string_equal(capture_text(&out), "{\"ts\": 0}\n{\"ts\": 1}\n");
    capture_close(&out);
}

static void diagnostics_that_are_zero_are_left_out(void **state)
{
    capture out;
    etl_diag_counts counts = { { 0 } };
    (void)state;
    counts.of[ETL_DIAG_events_lost] = 3;
    capture_open(&out);
    etlheap_json json = etlheap_json_begin(out.sink, 0);
    etlheap_json_object(&json, NULL);
    etlheap_json_diagnostics(&json, &counts);
    etlheap_json_object_close(&json);
    const char *const text = capture_text(&out);
    const char start[] = "{\"diagnostics\": [{\"name\": \"events_lost\", \"severity\": \"loss\", "
                         "\"count\": 3, \"advice\": \"";
    assert_memory_equal(text, start, sizeof start - 1);
    assert_null(strstr(text, "buffers_lost"));
    capture_close(&out);
}

static void csv_has_the_keys_of_json_and_quotes(void **state)
{
    const etlheap_table table = made_table();
    const etlheap_layout layout = etlheap_layout_default();
    capture out;
    (void)state;
    capture_open(&out);
    assert_int_equal(etlheap_write_report_csv(NULL, &table, &layout, out.sink), ETL_OK);
    assert_string_equal(
        capture_text(&out),
        "kind,process,pid,heap,type,impacting_type,stack,count,size,impacting_size,"
        "outstanding_count,outstanding_size,realloc_count,peak_count,peak_size\n"
        "virtualalloc,quiet.exe,20,,AIFO,Impacting,"
        "\"leaky.exe!Leaky::grow < leaky.exe+0x20 < main,\"\"x\"\".dll+0x30\",1,4096,4096,1,4096,0,"
        "1,4096\n"
        "heap,leaky.exe,10,0x10,AIFO,Impacting,"
        "\"leaky.exe!Leaky::grow < leaky.exe+0x20 < main,\"\"x\"\".dll+0x30\",1,300,300,1,300,0,1,"
        "300\n"
        "heap,leaky.exe,10,0x10,AIFO,Impacting,"
        "\"0x7ff612340000 < leaky.exe+0x20 < main,\"\"x\"\".dll+0x30\",1,200,200,1,200,0,1,200\n"
        "heap,quiet.exe,20,0x20,AOFO,Persistent,,1,100,100,1,100,0,1,100\n"
        "heap,leaky.exe,10,0x20,AIFI,Transient,0x7ff612340000,1,50,0,0,0,0,1,50\n");
    capture_close(&out);
}

static void csv_has_titles_when_asked(void **state)
{
    static const char titles[] =
        "Kind,Process,PID,Handle,Type,Impacting Type,Stack,Count,Size (B),Impacting Size (B),"
        "Outstanding Count,Outstanding Size (B),Realloc Count,Count Peak,Size Peak (B)\n"
        "virtualalloc,quiet.exe,20,,AIFO,";
    const etlheap_table table = made_table();
    etlheap_layout layout = etlheap_layout_default();
    capture out;
    (void)state;
    layout.titles = true;
    capture_open(&out);
    assert_int_equal(etlheap_write_report_csv(NULL, &table, &layout, out.sink), ETL_OK);
    assert_memory_equal(capture_text(&out), titles, sizeof titles - 1);
    capture_close(&out);
}

/* A script that has the key of a column has the column, whatever wrote the file. */
static void a_column_has_one_key_and_one_title(void **state)
{
    (void)state;
    for (int i = 0; i < ETLHEAP_FIELDS_COUNT; i++) {
        const char *const key = etlheap_field_key((etlheap_field)i);
        const char *const title = etlheap_field_title((etlheap_field)i);
        assert_int_equal(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(key));
        assert_true(title[0] >= 'A' && title[0] <= 'Z');
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(key, etlheap_field_key((etlheap_field)k));
            assert_string_not_equal(title, etlheap_field_title((etlheap_field)k));
        }
    }
}

static void formats_are_found_by_name(void **state)
{
    (void)state;
    assert_null(etlheap_format_named("yaml"));
    assert_null(etlheap_format_named(""));
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        const etlheap_format *const format = etlheap_format_at(i);
        assert_ptr_equal(etlheap_format_named(format->name), format);
        assert_true(format->write_report || format->write_check || format->write_record ||
                    format->write_diff);
    }
    assert_non_null(etlheap_format_named("json")->write_report);
    assert_non_null(etlheap_format_named("json")->write_info);
    assert_non_null(etlheap_format_named("ndjson")->write_record);
    assert_null(etlheap_format_named("csv")->write_info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_strings_escape_what_must_be),
        cmocka_unit_test(json_strings_are_always_utf8),
        cmocka_unit_test(json_numbers_are_exact),
        cmocka_unit_test(json_breaks_lines_down_to_a_depth),
        cmocka_unit_test(json_documents_follow_each_other),
        cmocka_unit_test(diagnostics_that_are_zero_are_left_out),
        cmocka_unit_test(csv_has_the_keys_of_json_and_quotes),
        cmocka_unit_test(csv_has_titles_when_asked),
        cmocka_unit_test(a_column_has_one_key_and_one_title),
        cmocka_unit_test(formats_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
