/*
 * Goal: documents about a check are well-formed whatever the names in a trace are, and
 * a reader gets back what was in them; nothing that controls a terminal is printed.
 * Method: a gate made by hand with control characters, markup, broken UTF-8, braces and
 * names of 4 KB. XML is read with libxml2. That documents fit their schemas is shown on
 * the whole program (oracle_check.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "tests/support/capture.h"
#include "formats/writers.h"
#include "tests/support/hand_result.h"
#include "tests/support/run_check.h"

#define LONG_NAME 4096

#define MARKUP  "<b a=\"1\">&amp;]]>{0}"
#define HOSTILE "\x1b[31m\x01\xff\xfe\xed\xa0\x80\xef\xbf\xbf\n\t{}"

/* A gate of one failed stack and one that is in doubt. */
typedef struct made_gate {
    char long_name[LONG_NAME + 1];
    etlheap_frame frames[4];
    u32 starts[2], indices[4];
    etlheap_table table;
    etlheap_gate_stack stack;
    etlheap_gate_subject subjects[2];
    etlheap_gate_budget budget;
    etlheap_suppression_use use;
    etlheap_gate gate;
    etlheap_check check;
} made_gate;

static void make_gate(made_gate *m)
{
    *m = (made_gate){ .starts = { 0, 4 }, .indices = { 0, 1, 2, 3 } };
    memset(m->long_name, 'x', LONG_NAME);
    m->frames[0] = (etlheap_frame){ .module = "app.exe", .symbol = MARKUP };
    m->frames[1] = (etlheap_frame){
        .module = HOSTILE, .symbol = "f", .file = "C:\\a b\\\xc3\xa9%{}.cpp", .line = 7
    };
    m->frames[2] = (etlheap_frame){ .module = "app.exe", .symbol = m->long_name };
    m->frames[3] = (etlheap_frame){ .address = 0x1234 };
    m->table = (etlheap_table){ .frames = m->frames,
                                .frame_count = 4,
                                .stack_starts = m->starts,
                                .frame_indices = m->indices,
                                .stack_count = 1 };
    m->stack = (etlheap_gate_stack){ .process = HOSTILE, .now = { 300, 3 }, .fingerprint = 1 };
    m->subjects[0] = (etlheap_gate_subject){ .outcome = ETLHEAP_OUTCOME_FAIL,
                                             .process = HOSTILE MARKUP,
                                             .pid = 7,
                                             .measured = 300,
                                             .limit = 100,
                                             .now = { 300, 3 },
                                             .stacks = &m->stack,
                                             .stack_count = 1,
                                             .stacks_omitted = 2 };
    m->subjects[1] = (etlheap_gate_subject){ .outcome = ETLHEAP_OUTCOME_INCONCLUSIVE,
                                             .process = "",
                                             .pid = ETL_NO_ID,
                                             .stack = ETLHEAP_NO_INDEX,
                                             .limit = 100,
                                             .fingerprint = 2 };
    m->budget = (etlheap_gate_budget){ .budget = { .scope = ETLHEAP_SCOPE_STACK, .limit = 100 },
                                       .outcome = ETLHEAP_OUTCOME_FAIL,
                                       .doubts = 1u << ETLHEAP_DOUBT_LOSS,
                                       .table = &m->table,
                                       .subjects = m->subjects,
                                       .subject_count = 2,
                                       .judged_count = 5,
                                       .failed_count = 1 };
    m->use = (etlheap_suppression_use){ .pattern = HOSTILE, .file = MARKUP, .line = 3 };
    m->gate = (etlheap_gate){ .outcome = ETLHEAP_OUTCOME_FAIL,
                              .doubts = 1u << ETLHEAP_DOUBT_LOSS,
                              .budgets = &m->budget,
                              .budget_count = 1,
                              .suppressions = &m->use,
                              .suppression_count = 1 };
    m->gate.diagnostics.of[ETL_DIAG_events_lost] = 3;
    m->check = (etlheap_check){ .gate = &m->gate, .baseline_name = HOSTILE };
}

typedef etl_status write_fn(const etlheap_result *result, const etlheap_check *check,
                            const etlheap_layout *layout, etlheap_sink *sink);

/* What a writer makes of the gate; to be freed. */
static char *write_document(write_fn *write)
{
    made_gate *const m = malloc(sizeof *m);
    assert_non_null(m);
    make_gate(m);
    etlheap_result *const result = hand_result_new();
    hand_ready(result, HAND_START_TICKS + 10);
    result->info.session = result->info.computer = "";
    result->info.clock = "qpc";
    const etlheap_layout layout = etlheap_layout_default();
    capture captured;
    capture_open(&captured);
    assert_int_equal(write(result, &m->check, &layout, captured.sink), ETL_OK);
    char *const text = strdup(capture_text(&captured));
    assert_non_null(text);
    capture_close(&captured);
    etlheap_result_free(result);
    free(m);
    return text;
}

/* UTF-8 without what controls a terminal, but for line ends. */
static void check_printable(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (((u8)*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f)
            fail_msg("a control character %02x at %d", *at, (int)(at - text));
    }
    assert_null(strstr(text, "\xff"));
    assert_null(strstr(text, "\xed\xa0\x80"));
}

static const xmlNode *child_of(const xmlNode *node, const char *name, u32 index)
{
    for (const xmlNode *child = node->children; child; child = child->next) {
        if (child->type == XML_ELEMENT_NODE && strcmp((const char *)child->name, name) == 0 &&
            index-- == 0)
            return child;
    }
    fail_msg("no element %s", name);
    return NULL;
}

static void check_attribute(const xmlNode *node, const char *name, const char *part)
{
    xmlChar *const value = xmlGetProp(node, (const xmlChar *)name);
    assert_non_null(value);
    if (!strstr((const char *)value, part))
        fail_msg("%s is '%s', without '%s'", name, (const char *)value, part);
    xmlFree(value);
}

static void junit_gives_back_names_that_are_markup(void **state)
{
    (void)state;
    char *const text = write_document(etlheap_write_check_junit);
    check_printable(text);
    xmlDoc *const document =
        xmlReadMemory(text, (int)strlen(text), "junit.xml", NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    assert_non_null(document);
    const xmlNode *const suite = child_of(xmlDocGetRootElement(document), "testsuite", 0);
    check_attribute(suite, "tests", "3");
    check_attribute(suite, "failures", "1");
    check_attribute(suite, "skipped", "1");
    check_attribute(suite, "hostname", "localhost");
    const xmlNode *const failed = child_of(suite, "testcase", 1);
    check_attribute(failed, "name", MARKUP);
    check_attribute(failed, "name", "[0000000000000000]");
    const xmlNode *const failure = child_of(failed, "failure", 0);
    check_attribute(failure, "message", "300 B in 3 allocations, over the limit of 100 B");
    xmlChar *const content = xmlNodeGetContent(failure);
    assert_non_null(strstr((const char *)content, "at app.exe!" MARKUP "\n"));
    assert_non_null(strstr((const char *)content, "at 0x1234\n"));
    assert_non_null(strstr((const char *)content, "and 2 more stacks"));
    assert_in_range(strlen((const char *)content), LONG_NAME, 2 * LONG_NAME);
    xmlFree(content);
    check_attribute(child_of(child_of(suite, "testcase", 2), "skipped", 0), "message",
                    "too low or too high");
    xmlFreeDoc(document);
    free(text);
}

static void sarif_names_places_by_uri_and_doubles_braces(void **state)
{
    (void)state;
    char *const text = write_document(etlheap_write_check_sarif);
    check_printable(text);
    assert_non_null(strstr(text, "\"uri\": \"file:///C:/a%20b/%C3%A9%25%7B%7D.cpp\""));
    assert_non_null(strstr(text, "\"region\": {\"startLine\": 7}"));
    assert_non_null(strstr(text, "&amp;]]>{{0}}, called by "));
    assert_non_null(
        strstr(text, ": 300 B in 3 allocations, over the limit of 100 B by 200 B, in "));
    assert_non_null(strstr(text, "\"name\": \"<b a=\\\"1\\\">&amp;]]>{0}\""));
    assert_non_null(strstr(text, "\"etlheapStack/v2\": \"0000000000000001\""));
    assert_non_null(strstr(text, "\"id\": \"events_lost\""));
    assert_non_null(strstr(text, "\"id\": \"loss\""));
    free(text);
}

static void markdown_escapes_markup_and_keeps_tables_whole(void **state)
{
    (void)state;
    char *const text = write_document(etlheap_write_check_markdown);
    check_printable(text);
    assert_memory_equal(text, "### FAIL: 1 of 1 limit is exceeded (", 36);
    assert_non_null(strstr(text, "`app.exe!" MARKUP "`<br>"));
    assert_non_null(strstr(text, "\\<b a=\"1\"\\>\\&amp;\\]\\]\\>\\{0\\}"));
    assert_non_null(strstr(text, ":7` | 300 B in 3 allocations | "));
    assert_non_null(strstr(text, "| 3 more | | | |\n"));
    assert_non_null(strstr(text, "| 2 more | | | |\n"));
    assert_non_null(strstr(text, "- 3 `events_lost`: "));
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        u32 bars = 0;
        for (const char *at = line; *at != '\n' && *at != '\0'; at++)
            bars += *at == '|' && (at == text || at[-1] != '\\');
        assert_true(bars == 0 || bars == 5);
    }
    free(text);
}

static void json_has_the_documented_keys(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "{\n  \"schema\": \"etlheap-check-1\",\n  \"verdict\": \"fail\",\n",
        "\"summary\": \"1 of 1 limit is exceeded (",
        "\"doubts\": [",
        "\"requirements\": [",
        "\"judged_kinds\": [",
        "\"budgets\": [",
        "\"option\": \"max-outstanding\"",
        "\"per\": \"stack\"",
        "\"limit\": 100",
        "\"judged\": 5",
        "\"failed\": 1",
        "\"pid\": 7",
        "\"outstanding_size\": 300",
        "\"stacks_omitted\": 2",
        "\"suppressions\": [",
        "\"diagnostics\": [",
    };
    char *const text = write_document(etlheap_write_check_json);
    check_printable(text);
    const char *at = text;
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++) {
        const char *const found = strstr(at, parts[i]);
        if (!found)
            fail_msg("no %s where it belongs", parts[i]);
        at = found;
    }
    assert_null(strstr(text, "\"pid\": 4294967295"));
    free(text);
}

static void text_says_the_verdict_first_and_prints_no_controls(void **state)
{
    (void)state;
    char *const text = write_document(etlheap_write_check_text);
    check_printable(text);
    assert_memory_equal(text, "FAIL: 1 of 1 limit is exceeded (", 32);
    assert_non_null(strstr(text, "too low or too high"));
    assert_non_null(strstr(text, "(3 more)"));
    assert_non_null(strstr(text, "2 more stacks"));
    assert_non_null(strstr(text, "unused"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(junit_gives_back_names_that_are_markup),
        cmocka_unit_test(sarif_names_places_by_uri_and_doubles_braces),
        cmocka_unit_test(markdown_escapes_markup_and_keeps_tables_whole),
        cmocka_unit_test(json_has_the_documented_keys),
        cmocka_unit_test(text_says_the_verdict_first_and_prints_no_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
