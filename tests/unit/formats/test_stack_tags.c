/*
 * Goal: stack tags files are read as their authors mean them; what is no such file,
 * or wants more than to be read, is an error that names the line.
 * Method: files as texts; the tags that come out of them as one line each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/names/tags.h"
#include "formats/read/stack_tags.h"
#include "tests/support/temporary.h"

#define TEXT_SIZE 4000u

typedef struct bench {
    etlheap_tags *tags;
    etl_error err;
    char text[TEXT_SIZE];
} bench;

static int begin_test(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    *state = b;
    return 0;
}

static int end_test(void **state)
{
    bench *const b = *state;
    etlheap_tags_close(b->tags);
    free(b);
    return 0;
}

static etl_status parse_bytes(bench *b, const void *bytes, size_t size)
{
    etlheap_tags_close(b->tags);
    b->err = (etl_error){ .status = ETL_OK };
    assert_int_equal(etlheap_tags_open(&b->tags, NULL), ETL_OK);
    return etlheap_stack_tags_parse((etl_bytes){ bytes, size }, "t.stacktags", b->tags, &b->err);
}

static etl_status parse(bench *b, const char *text)
{
    return parse_bytes(b, text, strlen(text));
}

static void put(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(bench *b, const char *format, ...)
{
    const size_t used = strlen(b->text);
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(b->text + used, TEXT_SIZE - used, format, arguments);
    va_end(arguments);
    assert_true(more >= 0 && (size_t)more < TEXT_SIZE - used);
}

/* "A\B@1 7 callee+function: *clr.dll!f, m.dll!*;" - path, depth, priority, hint, entry points. */
static const char *tags_of(bench *b)
{
    static const char *const hints[] = { "", " callee", " caller" };
    const etlheap_strings *const strings = &b->tags->strings;
    b->text[0] = '\0';
    for (u32 i = 0; i < b->tags->rows.count; i++) {
        const tag_row *const row = &b->tags->rows.at[i];
        put(b, "%s@%u %d%s%s:", etlheap_strings_get(strings, row->path), row->depth, row->priority,
            hints[row->hint], row->hint_names_function ? "+function" : "");
        for (u32 k = 0; k < b->tags->entries.count; k++) {
            const tag_entry *const entry = &b->tags->entries.at[k];
            if (entry->tag == i)
                put(b, " %s!%s",
                    entry->module == 0 ? "*" : etlheap_strings_get(strings, entry->module),
                    entry->symbol == 0 ? "*" : etlheap_strings_get(strings, entry->symbol));
        }
        put(b, "; ");
    }
    return b->text;
}

static const char *read_as(bench *b, const char *text)
{
    if (parse(b, text) != ETL_OK)
        fail_msg("%s", b->err.message);
    return tags_of(b);
}

/* --- what is read ------------------------------------------------------------------- */

static void nested_names_make_a_path(void **state)
{
    bench *const b = *state;
    assert_string_equal(read_as(b, "<Tag Name='A'><Tag Name='B'><Tag Name='C'/></Tag>"
                                   "<Tag Name='D'/></Tag>"),
                        "A@0 0:; A\\B@1 0:; A\\B\\C@2 0:; A\\D@1 0:; ");
}

static void a_name_that_is_empty_adds_nothing_to_the_path(void **state)
{
    bench *const b = *state;
    assert_string_equal(read_as(b, "<Tag Name=''><Tag Name='A'><Tag Name=''><Tag Name='B'/></Tag>"
                                   "</Tag></Tag>"),
                        "A@1 0:; A@2 0:; A\\B@3 0:; ");
}

static void entry_points_belong_to_the_tag_around_them(void **state)
{
    bench *const b = *state;
    assert_string_equal(read_as(b, "<Tag Name='A'><Entrypoint Module='a' Method='1'/>"
                                   "<Tag Name='B'><Entrypoint Module='b' Method='2'/></Tag>"
                                   "<Entrypoint Module='a' Method='3'></Entrypoint></Tag>"),
                        "A@0 0: a!1 a!3; A\\B@1 0: b!2; ");
}

static void what_is_left_out_matches_all(void **state)
{
    bench *const b = *state;
    assert_string_equal(read_as(b, "<Tag Name='A'><Entrypoint Module='a.dll'/>"
                                   "<Entrypoint Method='f*'/><Entrypoint/>"
                                   "<Entrypoint Module='*' Method='*'/></Tag>"),
                        "A@0 0: a.dll!* *!f* *!* *!*; ");
}

static void priorities_are_whole_numbers_and_not_inherited(void **state)
{
    bench *const b = *state;
    assert_string_equal(read_as(b, "<Tag Name='A' Priority='1000'><Tag Name='B'/>"
                                   "<Tag Name='C' Priority='-11'/><Tag Name='D' Priority='+2'/>"
                                   "<Tag Name='E' Priority='-2147483648'/></Tag>"),
                        "A@0 1000:; A\\B@1 0:; A\\C@1 -11:; A\\D@1 2:; A\\E@1 -2147483648:; ");
}

static void hint_tags_name_the_callee_or_the_caller(void **state)
{
    bench *const b = *state;
    assert_string_equal(
        read_as(b, "<Tag Name=''><HintTag Name='RPC' HintOperator='Callee' Priority='5'>"
                   "<Entrypoint Module='rpcrt4.dll' Method='Invoke'/></HintTag>"
                   "<HintTag Name='Heap' HintOperator='Caller' OnlyShowModule='False'/>"
                   "<HintTag Name='L' HintOperator='caller' OnlyShowModule='true'/></Tag>"),
        "RPC@1 5 callee: rpcrt4.dll!Invoke; Heap@1 0 caller+function:; L@1 0 caller:; ");
}

static void entry_points_of_a_tag_without_any_name_tag_nothing(void **state)
{
    bench *const b = *state;
    assert_string_equal(read_as(b, "<Tag Name=''><Entrypoint Module='a'/><Tag Name='' Priority='3'>"
                                   "<Entrypoint Module='b'/><Tag Name='C'>"
                                   "<Entrypoint Module='c'/></Tag></Tag></Tag>"),
                        "C@2 0: c!*; ");
}

static void characters_of_values_are_those_that_are_meant(void **state)
{
    bench *const b = *state;
    assert_string_equal(
        read_as(b, "<Tag Name='a &amp; b &#38; c &#x26; &lt;d&gt; &quot;e&quot; "
                   "&#228;\xc3\xb6'><Entrypoint Method='std::map&lt;a,b&gt;::op&amp;&amp;'/>"
                   "<Entrypoint Method='&amp;amp; &amp;#38;'/></Tag>"),
        "a & b & c & <d> \"e\" \xc3\xa4\xc3\xb6@0 0: *!std::map<a,b>::op&& "
        "*!&amp; &#38;; ");
}

/* Declarations, instructions, comments, texts and attributes that say nothing here. */
static void files_are_dressed_as_the_published_ones(void **state)
{
    bench *const b = *state;
    assert_string_equal(
        read_as(b, "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n"
                   "<?Copyright (c) Somebody. Some License.?>\r\n"
                   "<!--- three dashes\r\n  <Tag Name=\"commented\"/> -->\r\n"
                   "<Tag Name=\"\"><!--Root-->\r\n"
                   "  <Tag Name =\"ETW\" Priority=\"950\" HintOperator=\"Callee\" Other=\"x\" >\r\n"
                   "\t<Entrypoint Module=\"NT*\"    Method=\"Etwp*\" /> text <!-- repeated -->\r\n"
                   "  </Tag>\r\n</Tag>\r\n"),
        "ETW@1 950: NT*!Etwp*; ");
}

static void utf16_files_are_read(void **state)
{
    bench *const b = *state;
    static const char text[] = "<?xml version='1.0' encoding='utf-16'?>\n<Tag Name='A'/>";
    u8 wide[2 * sizeof text] = { 0xff, 0xfe };
    for (size_t i = 0; text[i] != '\0'; i++)
        wide[2 + 2 * i] = (u8)text[i];
    assert_int_equal(parse_bytes(b, wide, sizeof wide), ETL_OK);
    assert_string_equal(tags_of(b), "A@0 0:; ");
}

/* --- what is refused ------------------------------------------------------------------- */

static void expect_refusal(bench *b, const char *text, etl_status status, const char *message)
{
    assert_int_equal(parse(b, text), status);
    if (strstr(b->err.message, message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", b->err.message, message);
    assert_int_equal(b->err.status, status);
    assert_null(strchr(b->err.message, '\n'));
}

static void errors_name_file_line_and_word(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "\n\n<Tags/>", "t.stacktags, line 3: the file begins with <Tags>" },
        { "<Entrypoint/>", "line 1: the file begins with <Entrypoint>" },
        { "<Tag Name=''>\n<Stack/></Tag>", "line 2: <Stack> is not an element of stack tags" },
        { "<Tag Name=''><Tag>\n</Tag></Tag>", "line 1: a <Tag> needs a Name" },
        { "<Tag Name=''>\n\n<HintTag HintOperator='Callee'/></Tag>",
          "line 3: a <HintTag> needs a Name" },
        { "<HintTag Name='x'/>", "invalid HintOperator '': expected Caller or Callee" },
        { "<HintTag Name='x' HintOperator='Both'/>", "invalid HintOperator 'Both'" },
        { "<Tag Name='x'\nPriority='high'/>", "line 2: invalid Priority 'high'" },
        { "<Tag Name='x' Priority=''/>", "invalid Priority ''" },
        { "<Tag Name='x' Priority='2147483648'/>", "invalid Priority '2147483648'" },
        { "<Tag Name='x' Priority='1.5'/>", "invalid Priority '1.5'" },
        { "<Tag Name='x'><Entrypoint><Tag Name='y'/></Entrypoint></Tag>",
          "<Tag> is not allowed inside <Entrypoint>" },
        { "", "line 1: not XML" },
        { "<Tag Name='x'>", "line 1" },
        { "<Tag Name='x'>\n</tag>", "line 2" },
        { "<Tag Name='x'/><Tag Name='y'/>", "line 1" },
        { "<Tag Name='&unknown;'/>", "line 1" },
        { "not XML at all", "line 1: not XML" },
        { "<Tag Name=x/>", "line 1: AttValue" },
        { "<Tag Name='x' Name='y'/>", "line 1" },
        { "<Tag Name='\xff\xfe'/>", "line 1" },
    };
    bench *const b = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        expect_refusal(b, rows[i].text, ETL_ERR_CORRUPT, rows[i].message);
}

/* Each entity would be ten of the one before: 1 GB of "lol". */
static void a_billion_laughs_are_refused_at_the_first(void **state)
{
    bench *const b = *state;
    expect_refusal(
        b,
        "<?xml version='1.0'?>\n<!DOCTYPE Tag [\n<!ENTITY a 'lollollollollollollollol'>\n"
        "<!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>\n"
        "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'>\n"
        "<!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>\n"
        "<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'>\n"
        "<!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>\n"
        "<!ENTITY g '&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;'>\n"
        "<!ENTITY h '&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;'>\n]>\n<Tag Name='&h;'>&h;</Tag>",
        ETL_ERR_CORRUPT, "line 2: a document type is not allowed");
    assert_int_equal(b->tags->rows.count, 0);
}

/* A file that would be read if anything were loaded: it holds a good entity. */
static void nothing_is_loaded_from_elsewhere(void **state)
{
    bench *const b = *state;
    char path[TEMPORARY_PATH_BYTES];
    const int file = temporary_file(path, "stack_tags");
    assert_true(file >= 0 && write(file, "secret", 6) == 6 && close(file) == 0);
    static const struct {
        const char *before, *after;
    } forms[] = {
        { "<!DOCTYPE Tag SYSTEM 'file://", "'><Tag Name='x'/>" },
        { "<!DOCTYPE Tag [<!ENTITY x SYSTEM 'file://", "'>]><Tag Name='x'>&x;</Tag>" },
        { "<!DOCTYPE Tag [<!ENTITY % x SYSTEM 'file://", "'>%x;]><Tag Name='x'/>" },
        { "<!DOCTYPE Tag PUBLIC '-//x//y' 'http://127.0.0.1:1/", "'><Tag Name='x'/>" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(forms); i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "%s%s%s", forms[i].before, path, forms[i].after);
        expect_refusal(b, text, ETL_ERR_CORRUPT, "a document type is not allowed");
        assert_int_equal(b->tags->rows.count, 0);
    }
    (void)unlink(path);
}

/* `count` times `begin`, then `count` times `end`. */
static char *nested(const char *begin, const char *end, size_t count)
{
    const size_t size = count * (strlen(begin) + strlen(end)) + 1;
    char *const text = malloc(size);
    char *at = text;
    assert_non_null(text);
    for (size_t i = 0; i < 2 * count; i++) {
        const char *const part = i < count ? begin : end;
        memcpy(at, part, strlen(part));
        at += strlen(part);
    }
    *at = '\0';
    return text;
}

static void tags_nest_64_deep_and_no_deeper(void **state)
{
    bench *const b = *state;
    char *const good = nested("<Tag Name='x'>", "</Tag>", 64);
    char *const bad = nested("<Tag Name='x'>", "</Tag>", 65);
    char *const far = nested("<Tag Name='x'>", "</Tag>", 100000);
    assert_int_equal(parse(b, good), ETL_OK);
    assert_int_equal(b->tags->rows.count, 64);
    expect_refusal(b, bad, ETL_ERR_LIMIT, "nested too deep");
    expect_refusal(b, far, ETL_ERR_LIMIT, "nested too deep");
    free(good);
    free(bad);
    free(far);
}

static void names_and_files_have_limits(void **state)
{
    bench *const b = *state;
    static char text[5 << 20];
    const int head = snprintf(text, sizeof text, "<Tag Name='");
    memset(text + head, 'x', 4096);
    (void)snprintf(text + head + 4096, 64, "'/>");
    assert_int_equal(parse(b, text), ETL_OK);
    (void)snprintf(text + head + 4096, 64, "x'/>");
    expect_refusal(b, text, ETL_ERR_LIMIT, "names of nested tags are too long");
    (void)snprintf(text + head + 4096, 64, "'><Tag Name='y'/></Tag>");
    expect_refusal(b, text, ETL_ERR_LIMIT, "names of nested tags are too long");
    memset(text, ' ', sizeof text - 1);
    memcpy(text, "<Tag Name='x'>", 14);
    text[sizeof text - 1] = '\0';
    expect_refusal(b, text, ETL_ERR_LIMIT, "larger than 4 MiB");
}

static void a_file_that_was_cut_is_an_error(void **state)
{
    bench *const b = *state;
    static const char text[] = "<?xml version='1.0'?><Tag Name='A'><!-- c --><HintTag Name='B' "
                               "HintOperator='Callee'><Entrypoint Module='m'/></HintTag></Tag>";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        assert_int_equal(parse_bytes(b, text, size), ETL_ERR_CORRUPT);
        assert_true(b->err.message[0] != '\0');
    }
    assert_int_equal(parse_bytes(b, text, sizeof text - 1), ETL_OK);
}

/* --- files -------------------------------------------------------------------------------- */

static void files_are_read_as_bytes_are(void **state)
{
    bench *const b = *state;
    char path[TEMPORARY_PATH_BYTES];
    const int file = temporary_file(path, "stack_tags");
    const size_t lines = 3000; /* more than one chunk */
    char *const text = nested("<Tag Name='A'/>\n", "", lines);
    assert_true(file >= 0 && write(file, "<Tag Name=''>", 13) == 13);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    assert_true(write(file, "</Tag>", 6) == 6 && close(file) == 0);
    assert_int_equal(etlheap_tags_open(&b->tags, NULL), ETL_OK);
    assert_int_equal(etlheap_stack_tags_read(path, b->tags, &b->err), ETL_OK);
    assert_int_equal(b->tags->rows.count, lines);
    (void)unlink(path);
    free(text);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    bench *const b = *state;
    assert_int_equal(etlheap_tags_open(&b->tags, NULL), ETL_OK);
    assert_int_equal(etlheap_stack_tags_read("/nowhere/x.stacktags", b->tags, &b->err), ETL_ERR_IO);
    assert_string_equal(b->err.message, "cannot read the stack tags /nowhere/x.stacktags: "
                                        "No such file or directory");
    assert_int_equal(etlheap_stack_tags_read("/", b->tags, &b->err), ETL_ERR_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nested_names_make_a_path),
        TEST(a_name_that_is_empty_adds_nothing_to_the_path),
        TEST(entry_points_belong_to_the_tag_around_them),
        TEST(what_is_left_out_matches_all),
        TEST(priorities_are_whole_numbers_and_not_inherited),
        TEST(hint_tags_name_the_callee_or_the_caller),
        TEST(entry_points_of_a_tag_without_any_name_tag_nothing),
        TEST(characters_of_values_are_those_that_are_meant),
        TEST(files_are_dressed_as_the_published_ones),
        TEST(utf16_files_are_read),
        TEST(errors_name_file_line_and_word),
        TEST(a_billion_laughs_are_refused_at_the_first),
        TEST(nothing_is_loaded_from_elsewhere),
        TEST(tags_nest_64_deep_and_no_deeper),
        TEST(names_and_files_have_limits),
        TEST(a_file_that_was_cut_is_an_error),
        TEST(files_are_read_as_bytes_are),
        TEST(a_file_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
