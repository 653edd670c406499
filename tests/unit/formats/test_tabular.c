/*
 * Goal: text tables are aligned, fit the line, and cannot control a terminal.
 * Method: small tables at several widths, compared line by line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/parts/display.h"
#include "formats/parts/short_names.h"
#include "formats/parts/tabular.h"
#include "formats/parts/text_parts.h"
#include "formats/io/text_buffer.h"

static const etlheap_column columns[] = {
    { .title = "Process", .flexible = true },
    { .title = "Outstanding Size", .right = true },
    { .title = "Count", .right = true },
};

static void add_row(etlheap_grid *grid, const char *name, i64 size, i64 count)
{
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(grid, name);
    etlheap_grid_size(grid, size);
    etlheap_grid_count(grid, count);
}

static void check_table(etlheap_grid *grid, u32 width, const char *wanted)
{
    capture out;
    etlheap_layout layout = etlheap_layout_default();
    layout.width = width;
    capture_open(&out);
    assert_int_equal(etlheap_grid_write(grid, &layout, out.sink), ETL_OK);
    assert_string_equal(capture_text(&out), wanted);
    capture_close(&out);
}

static void numbers_are_right_aligned_under_broken_titles(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    add_row(&grid, "app.exe", 3450, 12);
    add_row(&grid, "x", 17, 1234567);
    check_table(&grid, 0,
                "         Outstanding\n"
                "Process         Size      Count\n"
                "app.exe     3.37 KiB         12\n"
                "x               17 B  1,234,567\n");
}

static void a_text_that_does_not_fit_stands_above_its_numbers(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    add_row(&grid, "a-name-that-is-longer-than-its-column", 1, 1);
    add_row(&grid, "short", 2, 2);
    check_table(&grid, 41,
                "                       Outstanding\n"
                "Process                       Size  Count\n"
                "a-name-that-is-longer-than-its-column\n"
                "                               1 B      1\n"
                "short                          2 B      2\n");
}

static void a_text_longer_than_the_line_loses_its_middle(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    add_row(&grid, "C:/a/path/that/is/longer/than/a/line/can/be/app.exe", 1, 1);
    check_table(&grid, 41,
                "                       Outstanding\n"
                "Process                       Size  Count\n"
                "C:/a/path/tha\xE2\x80\xA6/than/a/line/can/be/app.exe\n"
                "                               1 B      1\n");
}

static void a_narrow_line_loses_columns_at_the_right_and_says_so(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    add_row(&grid, "a-name-that-is-as-long-as-a-line", 1, 1);
    check_table(&grid, 36,
                "                         Outstanding\n"
                "Process                         Size\n"
                "a-name-that-is-as-long-as-a-line\n"
                "                                 1 B\n"
                "\n"
                "Columns that do not fit: Count\n");
}

static void a_whole_table_loses_nothing(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    etlheap_layout layout = etlheap_layout_default();
    capture out;
    (void)state;
    add_row(&grid, "app.exe", 1, 1);
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(&grid, "std::vector<std::pair<int,char> >::push_back (app.exe)");
    etlheap_grid_size(&grid, 1);
    etlheap_grid_count(&grid, 1);
    layout.width = 20;
    layout.whole = true;
    capture_open(&out);
    assert_int_equal(etlheap_grid_write(&grid, &layout, out.sink), ETL_OK);
    assert_string_equal(capture_text(&out),
                        "         Outstanding\n"
                        "Process         Size  Count\n"
                        "app.exe          1 B      1\n"
                        "std::vector<std::pair<int,char> >::push_back (app.exe)\n"
                        "                 1 B      1\n");
    capture_close(&out);
}

static void a_cell_with_nothing_behind_it_has_the_rest_of_the_line(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    add_row(&grid, "app.exe", 1, 1);
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(&grid, "a-frame-that-is-longer-than-its-column");
    check_table(&grid, 41,
                "         Outstanding\n"
                "Process         Size  Count\n"
                "app.exe          1 B      1\n"
                "a-frame-that-is-longer-than-its-column\n");
}

/* All names or none: a table in which some stand beside their numbers is hard to read. */
static void names_stand_apart_when_one_does_not_fit(void **state)
{
    static const char long_name[] = "a::function::that::is::long (app.exe)";
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
        add_row(&grid, "app.exe", 3, 2);
        for (int i = 0; i < 2; i++) {
            etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
            etlheap_grid_name(&grid, i == 1 && is_long ? long_name : "f (app.exe)");
            etlheap_grid_size(&grid, 1 + i);
            etlheap_grid_count(&grid, 1);
        }
        check_table(&grid, 40,
                    is_long ? "         Outstanding\n"
                              "Process         Size  Count\n"
                              "app.exe          3 B      2\n"
                              "f (app.exe)\n"
                              "                 1 B      1\n"
                              "a::function::that::is::long (app.exe)\n"
                              "                 2 B      1\n"
                            : "             Outstanding\n"
                              "Process             Size  Count\n"
                              "app.exe              3 B      2\n"
                              "f (app.exe)          1 B      1\n"
                              "f (app.exe)          2 B      1\n");
    }
}

static void the_title_of_the_first_column_is_broken_not_cut(void **state)
{
    static const etlheap_column titled[] = {
        { .title = "Kind / Process / Handle, Type / Stack", .flexible = true },
        { .title = "Outstanding Size", .right = true },
    };
    etlheap_grid grid = etlheap_grid_begin(titled, ETL_COUNT_OF(titled));
    (void)state;
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(&grid, "  app.exe (4321)");
    etlheap_grid_size(&grid, 1);
    check_table(&grid, 35,
                "Kind / Process /        Outstanding\n"
                "Handle, Type / Stack           Size\n"
                "  app.exe (4321)                1 B\n");
}

static void long_names_lose_the_arguments_of_their_templates(void **state)
{
    static const struct {
        const char *name, *shown;
    } rows[] = {
        { "std::vector<int,std::allocator<int> >::push_back", "std::vector<~>::push_back" },
        { "a<b<c>,d>::e<f>::g", "a<~>::e<~>::g" },
        { "operator<<<char>", "operator<<<~>" },
        { "s::operator<", "s::operator<" },
        { "s::operator-><int>", "s::operator-><~>" },
        { "my_operator<int>", "my_operator<~>" },
        { "run::<lambda_1>::operator()", "run::<lambda_1>::operator()" },
        { "f<auto (*)()->int>", "f<~>" },
        { "open<and never closed", "open<and never closed" },
        { "empty<>", "empty<>" },
        { "<", "<" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_text text = { 0 };
        etlheap_display_add_short(&text, rows[i].name, strlen(rows[i].name), "~");
        assert_string_equal(etlheap_text_of(&text), rows[i].shown);
        etlheap_text_free(&text);
    }
}

/* With its arguments as long as there is room, without them before anything is cut. */
static void a_name_is_shortened_only_as_far_as_needed(void **state)
{
    static const char name[] =
        "std::vector<std::pair<int,char> >::push_back (app.exe)  vector.h:1042";
    static const struct {
        etlheap_fit fit;
        const char *shown;
    } rows[] = {
        { { 80, true, false, false }, name },
        { { 60, true, false, false },
          "std::vector<\xE2\x80\xA6>::push_back (app.exe)  vector.h:1042" },
        { { 60, true, false, true }, "std::vector<...>::push_back (app.exe)  vector.h:1042" },
        { { 40, true, false, false },
          "std::vector<\xE2\x80\xA6>::push_back \xE2\x80\xA6vector.h:1042" },
        { { 40, true, false, true }, "std::vector<...>::push_ba...ector.h:1042" },
        { { 40, true, true, false },
          "std::vector<\xE2\x80\xA6>::push_back (app.exe)\n    vector.h:1042" },
        { { 30, true, true, false },
          "std::vector<\xE2\x80\xA6>::push\xE2\x80\xA6(app.exe)\n    vector.h:1042" },
        { { 40, false, true, false },
          "std::vector<s\xE2\x80\xA6"
          "k (app.exe)  vector.h:1042" },
        /* The cut would fall into the list of arguments. */
        { { 20, true, false, false },
          "std::vector\xE2\x80\xA6"
          "h:1042  " },
        { { 5, true, false, true }, "st..." },
        { { 2, true, false, true }, ".." },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_text text = { 0 };
        etlheap_display_add_fitted(&text, name, sizeof name - 1, &rows[i].fit);
        assert_string_equal(etlheap_text_of(&text), rows[i].shown);
        const size_t line = strcspn(etlheap_text_of(&text), "\n");
        assert_true(etlheap_display_width(etlheap_text_of(&text), line) <= rows[i].fit.columns);
        etlheap_text_free(&text);
    }
}

static void lines_never_exceed_the_width(void **state)
{
    (void)state;
    for (u32 width = 16; width < 80; width++) {
        etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
        etlheap_layout layout = etlheap_layout_default();
        capture out;
        add_row(&grid, "a-name-that-is-longer-than-the-line", 1, 1);
        add_row(&grid, "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E",
                1, 1);
        layout.width = width;
        capture_open(&out);
        assert_int_equal(etlheap_grid_write(&grid, &layout, out.sink), ETL_OK);
        for (const char *line = capture_text(&out); *line != '\0'; line += strcspn(line, "\n") + 1)
            assert_true(etlheap_display_width(line, strcspn(line, "\n")) <= width);
        capture_close(&out);
    }
}

static void cells_left_empty_leave_no_trailing_space(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    add_row(&grid, "app", 1, 1);
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(&grid, "  frame");
    check_table(&grid, 0,
                "         Outstanding\n"
                "Process         Size  Count\n"
                "app              1 B      1\n"
                "  frame\n");
}

static void a_table_without_rows_is_nothing(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    (void)state;
    check_table(&grid, 0, "");
}

static void colour_surrounds_rows_only_when_wanted(void **state)
{
    etlheap_grid grid = etlheap_grid_begin(columns, 1);
    etlheap_layout layout = etlheap_layout_default();
    capture out;
    (void)state;
    layout.colour = true;
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_STRONG);
    etlheap_grid_cell(&grid, "a");
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(&grid, "b");
    capture_open(&out);
    assert_int_equal(etlheap_grid_write(&grid, &layout, out.sink), ETL_OK);
    assert_string_equal(capture_text(&out), "\x1b[1mProcess\n\x1b[0m\x1b[1ma\n\x1b[0mb\n");
    capture_close(&out);
}

static void names_cannot_control_the_terminal(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "\x1b[2Jgone", "\xEF\xBF\xBD[2Jgone" },
        { "a\rb", "a\xEF\xBF\xBD"
                  "b" },
        { "\xC2\x9B"
          "31m",
          "\xEF\xBF\xBD"
          "31m" },                                      /* C1 */
        { "exe\xE2\x80\xAEtxt", "exe\xEF\xBF\xBDtxt" }, /* reads backwards */
        { "\xFF\xFE", "\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "\xC3\xA4\xE6\x97\xA5", "\xC3\xA4\xE6\x97\xA5" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_text text = { 0 };
        capture out;
        etlheap_display_add(&text, rows[i].text);
        assert_string_equal(etlheap_text_of(&text), rows[i].shown);
        etlheap_text_free(&text);
        capture_open(&out);
        etlheap_sink_printable(out.sink, rows[i].text, strlen(rows[i].text));
        assert_string_equal(capture_text(&out), rows[i].shown);
        capture_close(&out);
    }
}

static void wide_and_combining_characters_are_measured(void **state)
{
    (void)state;
    assert_int_equal(etlheap_display_width("abc", 3), 3);
    assert_int_equal(etlheap_display_width("\xE6\x97\xA5\xE6\x9C\xAC", 6), 4);
    assert_int_equal(etlheap_display_width("a\xCC\x81", 3), 1);
    assert_int_equal(etlheap_display_fit("\xE6\x97\xA5\xE6\x9C\xAC", 6, 3), 3);
}

static void words_wrap_with_a_hanging_indent(void **state)
{
    capture out;
    (void)state;
    capture_open(&out);
    etlheap_display_wrap(out.sink, "one two  three four", 0, 2, 9);
    etlheap_display_wrap(out.sink, "one two three", 0, 2, 0);
    etlheap_display_wrap(out.sink, "averylongword b", 0, 2, 5);
    assert_string_equal(capture_text(&out),
                        "one two\n  three\n  four\none two three\naverylongword\n  b\n");
    capture_close(&out);
}

/* A heading is prose with names in it. */
static void a_name_is_one_word_with_its_arguments(void **state)
{
    static const struct {
        const char *words;
        u32 width;
        const char *lines;
    } rows[] = {
        { "heap a<b, c>::d (app.exe)", 18, "\nheap a<b, c>::d\n(app.exe)\n" },
        { "heap a<b, c>::d (app.exe)", 12, "\nheap\na<b, c>::d\n(app.exe)\n" },
        { "map<int, pair<char, int> >::at in x", 20, "\nmap<...>::at in x\n" },
        { "operator<< <a, b> is c < d", 10, "\noperator<<\n<a, b> is\nc < d\n" },
        { "a< b and c", 6, "\na< b\nand c\n" },
        { "f<a, b>", 0, "\nf<a, b>\n" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_layout layout = etlheap_layout_default();
        capture out;
        layout.width = rows[i].width;
        layout.ascii = true;
        capture_open(&out);
        etlheap_text_heading(out.sink, &layout, rows[i].words);
        assert_string_equal(capture_text(&out), rows[i].lines);
        capture_close(&out);
    }
    etlheap_layout whole = etlheap_layout_default();
    capture out;
    whole.width = 20;
    whole.whole = true;
    capture_open(&out);
    etlheap_text_heading(out.sink, &whole, "heap map<int, pair<char, int> >::at in x");
    assert_string_equal(capture_text(&out), "\nheap\nmap<int, pair<char, int> >::at\nin x\n");
    capture_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_right_aligned_under_broken_titles),
        cmocka_unit_test(a_text_that_does_not_fit_stands_above_its_numbers),
        cmocka_unit_test(a_text_longer_than_the_line_loses_its_middle),
        cmocka_unit_test(a_narrow_line_loses_columns_at_the_right_and_says_so),
        cmocka_unit_test(a_whole_table_loses_nothing),
        cmocka_unit_test(names_stand_apart_when_one_does_not_fit),
        cmocka_unit_test(the_title_of_the_first_column_is_broken_not_cut),
        cmocka_unit_test(long_names_lose_the_arguments_of_their_templates),
        cmocka_unit_test(a_name_is_shortened_only_as_far_as_needed),
        cmocka_unit_test(a_cell_with_nothing_behind_it_has_the_rest_of_the_line),
        cmocka_unit_test(lines_never_exceed_the_width),
        cmocka_unit_test(cells_left_empty_leave_no_trailing_space),
        cmocka_unit_test(a_table_without_rows_is_nothing),
        cmocka_unit_test(colour_surrounds_rows_only_when_wanted),
        cmocka_unit_test(names_cannot_control_the_terminal),
        cmocka_unit_test(wide_and_combining_characters_are_measured),
        cmocka_unit_test(words_wrap_with_a_hanging_indent),
        cmocka_unit_test(a_name_is_one_word_with_its_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
