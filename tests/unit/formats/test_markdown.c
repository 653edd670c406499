/*
 * Goal: names from a trace cannot become markup, and cannot end a cell or a row of a table.
 * Method: names and what must be written for them, by the rules of CommonMark and GitHub.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/markdown/markdown.h"

typedef void write_fn(etlheap_sink *sink, const char *text);

static void expect(write_fn *write, const char *given, const char *wanted)
{
    capture captured;
    capture_open(&captured);
    write(captured.sink, given);
    assert_string_equal(capture_text(&captured), wanted);
    capture_close(&captured);
}

static void text_has_no_markup(void **state)
{
    (void)state;
    expect(etlheap_markdown_text, "plain words, 5 % of 3.", "plain words, 5 % of 3.");
    expect(etlheap_markdown_text, "a_b*c|d", "a\\_b\\*c\\|d");
    expect(etlheap_markdown_text, "<b>[x](y)&amp;`#1 @me", "\\<b\\>\\[x\\](y)\\&amp;\\`\\#1 \\@me");
    expect(etlheap_markdown_text, "a\nb",
           "a\xEF\xBF\xBD"
           "b");
}

static void code_is_fenced_by_more_backticks_than_it_has(void **state)
{
    (void)state;
    expect(etlheap_markdown_code, "app.exe!f<int>", "`app.exe!f<int>`");
    expect(etlheap_markdown_code, "`anonymous namespace'::f", "`` `anonymous namespace'::f ``");
    expect(etlheap_markdown_code, "a``b`c", "``` a``b`c ```");
    expect(etlheap_markdown_code, "operator|", "`operator\\|`");
    expect(etlheap_markdown_code, "", "");
}

static void columns_are_aligned(void **state)
{
    static const etlheap_markdown_column columns[] = { { "Line", false }, { "Size", true } };
    capture captured;
    (void)state;
    capture_open(&captured);
    etlheap_markdown_columns(captured.sink, columns, 2);
    assert_string_equal(capture_text(&captured), "| Line | Size |\n| :--- | ---: |\n");
    capture_close(&captured);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_no_markup),
        cmocka_unit_test(code_is_fenced_by_more_backticks_than_it_has),
        cmocka_unit_test(columns_are_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
