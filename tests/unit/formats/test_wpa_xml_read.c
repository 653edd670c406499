/*
 * Goal: a wpa-xml document is read only if it is whole and agrees with itself, and no
 * bytes whatever do harm.
 * Method: a small document written here, which is changed in one place at a time, cut at
 * every byte, and hit by random bytes. Sanitizers see what goes wrong within.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

#include "formats/formats.h"
#include "tests/support/temporary.h"
#include "tests/support/wpa_xml_read.h"

#include "parser/base.h"

#define HEAD                                                                                       \
    "<?xml version=\"1.0\"?>\n"                                                                    \
    "<WpaTables xmlns=\"urn:etlheap:wpa-xml:1\" Version=\"1\" Rows=\"sums\">\n"                    \
    " <Trace Session=\"\"><File Name=\"a.etl\"/></Trace>\n"                                        \
    " <Window From=\"-5\" To=\"100\"/>\n"
#define ROW_OF_10 "<Row Type=\"AIFO\" Stack=\"1\" Count=\"2\" ImpactingSize=\"10\" Size=\"10\"/>"
#define ROW_OF_7  "<Row Type=\"AOFI\" Count=\"1\" ImpactingSize=\"-7\" Size=\"7\"/>"
#define TOTAL     "<Total Rows=\"2\" Count=\"3\" ImpactingSize=\"3\" Size=\"17\"/>"
#define TABLE                                                                                      \
    " <Table Kind=\"heap\"><Columns><Column Title=\"Count\"/></Columns>\n"                         \
    "  <Rows>" ROW_OF_10 ROW_OF_7 "</Rows>" TOTAL "</Table>\n"
#define STACKS                                                                                     \
    " <Stacks><Frame Id=\"0\"/><Node Id=\"0\" Frame=\"0\"/>"                                       \
    "<Node Id=\"1\" Parent=\"0\" Frame=\"0\"/></Stacks>\n"
#define DOCUMENT HEAD TABLE STACKS "<Diagnostics/></WpaTables>\n"

static etl_status parse(const char *text, size_t size, etl_error *err)
{
    wpa_document document;
    return wpa_xml_parse((etl_bytes){ (const u8 *)text, size }, "a.xml", &document, err);
}

/* The document with one part exchanged for another; to be freed. */
static char *changed(const char *from, const char *to)
{
    const char *const at = strstr(DOCUMENT, from);
    assert_non_null(at);
    const size_t size = sizeof DOCUMENT + strlen(to);
    char *const text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "%.*s%s%s", (int)(at - DOCUMENT), DOCUMENT, to, at + strlen(from));
    return text;
}

static void check_refused(const char *from, const char *to, etl_status wanted, const char *reason)
{
    char *const text = changed(from, to);
    etl_error err = { .status = ETL_OK };
    assert_int_equal(parse(text, strlen(text), &err), wanted);
    if (strstr(err.message, reason) == NULL)
        fail_msg("with %s for %s it says '%s', not '%s'", to, from, err.message, reason);
    free(text);
}

static void sums_are_told_by_kind_and_type(void **state)
{
    wpa_document document;
    (void)state;
    assert_int_equal(wpa_xml_parse((etl_bytes){ (const u8 *)DOCUMENT, strlen(DOCUMENT) }, "a.xml",
                                   &document, NULL),
                     ETL_OK);
    const wpa_table *const heap = &document.tables[ETLHEAP_KIND_HEAP];
    assert_false(document.of_lifetimes);
    assert_int_equal(document.from_ns, -5);
    assert_int_equal(document.to_ns, 100);
    assert_true(heap->is_present);
    assert_false(document.tables[ETLHEAP_KIND_VIRTUALALLOC].is_present);
    assert_int_equal(heap->all.rows, 2);
    assert_int_equal(heap->all.count, 3);
    assert_int_equal(heap->all.size_bytes, 17);
    assert_int_equal(heap->all.impacting_size, 3);
    assert_int_equal(heap->of_type[ETLHEAP_TYPE_AIFO].count, 2);
    assert_int_equal(heap->of_type[ETLHEAP_TYPE_AOFI].impacting_size, -7);
    assert_int_equal(document.frame_count, 1);
    assert_int_equal(document.node_count, 2);
}

static void rows_that_do_not_add_up_are_refused(void **state)
{
    static const char reason[] = "line 6: the rows do not add up to the total";
    (void)state;
    check_refused(ROW_OF_7, "", ETL_ERR_CORRUPT, reason);
    check_refused(ROW_OF_7, ROW_OF_7 ROW_OF_7, ETL_ERR_CORRUPT, reason);
    check_refused("Size=\"17\"", "Size=\"18\"", ETL_ERR_CORRUPT, reason);
    check_refused("Count=\"2\"", "Count=\"1\"", ETL_ERR_CORRUPT, reason);
    check_refused(TOTAL, TOTAL TOTAL, ETL_ERR_CORRUPT, "a table has two totals");
    check_refused(TOTAL, TOTAL "<Rows>" ROW_OF_7 "</Rows>", ETL_ERR_CORRUPT, "after its total");
    check_refused(TOTAL, "", ETL_ERR_CORRUPT, "a total or the stacks are missing");
}

static void references_to_nothing_are_refused(void **state)
{
    (void)state;
    check_refused("Stack=\"1\"", "Stack=\"2\"", ETL_ERR_CORRUPT, "a stack that does not exist");
    check_refused("Stack=\"1\"", "Stack=\"-1\"", ETL_ERR_CORRUPT, "below 0");
    check_refused("Parent=\"0\"", "Parent=\"1\"", ETL_ERR_CORRUPT, "before its parent");
    check_refused("Frame=\"0\"", "Frame=\"1\"", ETL_ERR_CORRUPT, "a frame that does not exist");
    check_refused("Node Id=\"0\"", "Node Id=\"7\"", ETL_ERR_CORRUPT, "numbered from 0");
    check_refused("Frame Id=\"0\"", "Frame Id=\"1\"", ETL_ERR_CORRUPT, "numbered from 0");
}

static void what_is_missing_or_no_number_is_named(void **state)
{
    (void)state;
    check_refused("<Window From=\"-5\" To=\"100\"/>", "", ETL_ERR_CORRUPT, "a window");
    check_refused("From=\"-5\"", "", ETL_ERR_CORRUPT, "From is missing");
    check_refused("From=\"-5\"", "From=\"5 \"", ETL_ERR_CORRUPT, "From is not a number: 5 ");
    check_refused("From=\"-5\"", "From=\"\"", ETL_ERR_CORRUPT, "is not a number");
    check_refused("From=\"-5\"", "From=\"+5\"", ETL_ERR_CORRUPT, "is not a number");
    check_refused("To=\"100\"", "To=\"9223372036854775808\"", ETL_ERR_CORRUPT, "is not a number");
    check_refused("Type=\"AIFO\"", "Type=\"AXFO\"", ETL_ERR_CORRUPT, "no known Type");
    check_refused("Kind=\"heap\"", "Kind=\"stack\"", ETL_ERR_CORRUPT, "no known Kind");
    check_refused(TABLE, TABLE TABLE, ETL_ERR_CORRUPT, "the same Kind");
    check_refused("Rows=\"sums\"", "Rows=\"\"", ETL_ERR_CORRUPT, "neither");
    check_refused("Version=\"1\"", "Version=\"2\"", ETL_ERR_UNSUPPORTED, "version");
}

static void what_has_no_place_is_refused(void **state)
{
    (void)state;
    check_refused("urn:etlheap:wpa-xml:1", "urn:other", ETL_ERR_CORRUPT,
                  "is not an element of wpa-xml");
    check_refused("<Window", "<Row/><Window", ETL_ERR_CORRUPT, "<Row> is not allowed there");
    check_refused("<Window", "text<Window", ETL_ERR_CORRUPT, "text between");
    check_refused("<Frame Id=\"0\"/>", "<Frame Id=\"0\"><Frame Id=\"1\"/></Frame>", ETL_ERR_CORRUPT,
                  "is not allowed there");
}

static void a_document_type_is_refused_and_nothing_is_expanded_or_loaded(void **state)
{
    (void)state;
    check_refused("<WpaTables", "<!DOCTYPE WpaTables [<!ENTITY a \"0\">]><WpaTables",
                  ETL_ERR_CORRUPT, "document type");
    check_refused("<WpaTables",
                  "<!DOCTYPE WpaTables [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">"
                  "<!ENTITY c \"&b;&b;&b;&b;\">]><WpaTables Session=\"&c;\"",
                  ETL_ERR_CORRUPT, "document type");
    check_refused("<WpaTables",
                  "<!DOCTYPE WpaTables SYSTEM \"http://127.0.0.1:9/a.dtd\"><WpaTables",
                  ETL_ERR_CORRUPT, "document type");
}

static void a_document_that_ends_early_is_refused_wherever_it_ends(void **state)
{
    (void)state;
    for (size_t size = 0; size + strlen("\n") < strlen(DOCUMENT); size++) {
        etl_error err = { .status = ETL_OK };
        char *const text = malloc(size + 1); /* exactly as long: reads beyond are seen */
        assert_non_null(text);
        memcpy(text, DOCUMENT, size);
        assert_int_equal(parse(text, size, &err), ETL_ERR_CORRUPT);
        assert_true(err.message[0] != '\0');
        free(text);
    }
}

static void random_bytes_do_no_harm(void **state)
{
    u32 seed = 12345;
    u32 good = 0;
    (void)state;
    for (int round = 0; round < 4000; round++) {
        char text[sizeof DOCUMENT] = DOCUMENT;
        for (int hit = 0; hit < 1 + round % 3; hit++) {
            seed = seed * 1664525 + 1013904223;
            text[(seed >> 8) % (sizeof DOCUMENT - 1)] = (char)(seed >> 24);
        }
        good += parse(text, sizeof DOCUMENT - 1, NULL) == ETL_OK;
    }
    assert_in_range(good, 1, 3000);
}

static void a_file_is_read_as_memory_is(void **state)
{
    char path[TEMPORARY_PATH_BYTES];
    wpa_document document;
    etl_error err = { .status = ETL_OK };
    const int descriptor = temporary_file(path, "etlheap-wpa");
    (void)state;
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, DOCUMENT, strlen(DOCUMENT)), strlen(DOCUMENT));
    close(descriptor);
    assert_int_equal(wpa_xml_read(path, &document, &err), ETL_OK);
    assert_int_equal(document.tables[ETLHEAP_KIND_HEAP].all.size_bytes, 17);
    unlink(path);
    assert_int_equal(wpa_xml_read(path, &document, &err), ETL_ERR_IO);
    assert_int_equal(wpa_xml_read(temporary_folder(), &document, &err), ETL_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_told_by_kind_and_type),
        cmocka_unit_test(rows_that_do_not_add_up_are_refused),
        cmocka_unit_test(references_to_nothing_are_refused),
        cmocka_unit_test(what_is_missing_or_no_number_is_named),
        cmocka_unit_test(what_has_no_place_is_refused),
        cmocka_unit_test(a_document_type_is_refused_and_nothing_is_expanded_or_loaded),
        cmocka_unit_test(a_document_that_ends_early_is_refused_wherever_it_ends),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(a_file_is_read_as_memory_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
