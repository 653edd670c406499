/*
 * Goal: no line of text or Markdown is a command of a build server, whatever names a trace has and
 * wherever a cut, a wrapped line or a column puts them.
 * Method: commands in all their spellings, written in pieces of every length, against what must
 * come out. oracle_logs.py searches the lines of every command for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/writers.h"
#include "tests/support/capture.h"

#include <string.h>

#define R "\xEF\xBF\xBD" /* U+FFFD */

typedef struct sample {
    const char *written, *wanted;
} sample;

static const sample samples[] = {
    { "##vso[task.x]a", "##vso" R "task.x]a" },
    { "a ##VsO[b", "a ##VsO" R "b" },
    { "a ##[error]", "a ##" R "error]" },
    { "a ##teamcity[b", "a ##teamcity" R "b" },
    { "###[b ##[c", "###" R "b ##" R "c" },
    { "##\xC2\xADvso\xE2\x80\x8B[b", "##\xC2\xADvso\xE2\x80\x8B" R "b" }, /* soft hyphen, ZWSP */
    { "#[a] # #[b] ##vso [c", "#[a] # #[b] ##vso [c" },
    { "##vso-x[a", "##vso-x[a" },
    { "##\x1b[0mvso[a", "##\x1b[0mvso" R "a" },
    { "::add-mask::e", ":" R "add-mask::e" },
    { " \t::a\n  ::b\n::c", " \t:" R "a\n  :" R "b\n:" R "c" },
    { "a\r::b", "a\r:" R "b" },
    { "a\xE2\x80\xA8::b", "a\xE2\x80\xA8:" R "b" },                     /* line separator */
    { "a\xC2\x85::b\f::c\v::d", "a\xC2\x85:" R "b\f:" R "c\v:" R "d" }, /* next line */
    { "\xC2\xA0\xE3\x80\x80::a", "\xC2\xA0\xE3\x80\x80:" R "a" },       /* blanks of Unicode */
    { "\xEF\xBB\xBF:\xE2\x80\x8D:a", "\xEF\xBB\xBF:\xE2\x80\x8D" R "a" },
    { "\x1b[1m::a\x1b[0m", "\x1b[1m:" R "a\x1b[0m" },
    { ":::", ":" R ":" },
    { ": :a\n:a:", ": :a\n:a:" },
    { "std::vector\n- ::a | ::b", "std::vector\n- ::a | ::b" },
};

static void write_in_pieces(capture *out, const char *text, size_t piece)
{
    for (size_t left = strlen(text); left > 0;) {
        const size_t size = etl_min_u64(left, piece);
        etlheap_sink_write(out->sink, text, size);
        text += size;
        left -= size;
    }
}

static void commands_are_broken_in_pieces_of_any_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(samples); i++) {
        for (size_t piece = 1; piece < 8; piece++) {
            capture out;
            capture_open(&out);
            etlheap_sink_log_safe(out.sink);
            write_in_pieces(&out, samples[i].written, piece);
            assert_string_equal(capture_text(&out), samples[i].wanted);
            capture_close(&out);
        }
    }
}

static void other_sinks_write_what_they_are_given(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(samples); i++) {
        capture out;
        capture_open(&out);
        etlheap_sink_text(out.sink, samples[i].written);
        assert_string_equal(capture_text(&out), samples[i].written);
        capture_close(&out);
    }
}

static void replacements_are_ascii_on_request(void **state)
{
    capture out;
    (void)state;
    capture_open(&out);
    etlheap_sink_ascii(out.sink);
    etlheap_sink_log_safe(out.sink);
    etlheap_sink_text(out.sink, "::a ##[b");
    assert_string_equal(capture_text(&out), ":?a ##?b");
    capture_close(&out);
}

static void formats_for_people_are_text_and_markdown(void **state)
{
    (void)state;
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        const etlheap_format *const format = etlheap_format_at(i);
        const bool wanted =
            strcmp(format->name, "text") == 0 || strcmp(format->name, "markdown") == 0;
        assert_int_equal(format->for_people, wanted);
    }
}

static const sample cells[] = {
    { "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0" },
    { "+0x1000", "'+0x1000" },
    { "-1", "'-1" },
    { "@SUM(1,2)", "\"'@SUM(1,2)\"" },
    { " =1", " '=1" },
    { "\"=1", "\"\"\"'=1\"" },
    { "\t=1", "\"'\t'=1\"" },
    { "\r=1", "\"'\r'=1\"" },
    { "\xEF\xBC\x9D"
      "1",
      "'\xEF\xBC\x9D"
      "1" }, /* fullwidth = */
    { "a;=1", "\"a;'=1\"" },
    { "a\n-1", "\"a\n'-1\"" },
    { "app.exe!operator-", "app.exe!operator-" },
    { "f<int,-1>", "\"f<int,-1>\"" },
    { "a=b", "a=b" },
    { "0x1f0000", "0x1f0000" },
    { "", "" },
};

static void cells_are_no_formulas(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cells); i++) {
        capture out;
        capture_open(&out);
        etlheap_sink_csv_safe(out.sink);
        etlheap_csv_cell(out.sink, cells[i].written);
        assert_string_equal(capture_text(&out), cells[i].wanted);
        capture_close(&out);
    }
}

static void cells_are_as_in_the_trace_by_default(void **state)
{
    capture out;
    (void)state;
    capture_open(&out);
    etlheap_csv_cell(out.sink, "=1;\"a");
    assert_string_equal(capture_text(&out), "\"=1;\"\"a\"");
    capture_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_broken_in_pieces_of_any_length),
        cmocka_unit_test(other_sinks_write_what_they_are_given),
        cmocka_unit_test(replacements_are_ascii_on_request),
        cmocka_unit_test(formats_for_people_are_text_and_markdown),
        cmocka_unit_test(cells_are_no_formulas),
        cmocka_unit_test(cells_are_as_in_the_trace_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
