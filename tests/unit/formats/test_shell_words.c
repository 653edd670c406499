/*
 * Goal: a shell takes each word of a suggested command as it is, whatever the word contains.
 * Method: words and names with all that shells expand, against their quoted forms for POSIX shells
 * and for Windows. For Windows, also a model of what cmd and PowerShell would change.
 * oracle_commands.py runs suggested commands in real shells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/parts/shell_words.h"

typedef struct sample {
    const char *word, *posix, *windows;
} sample;

static const sample words[] = {
    { "", "''", "\"\"" },
    { "app.etl", "app.etl", "app.etl" },
    { "--symbols", "--symbols", "--symbols" },
    { "-a.b", "-a.b", "\"-a.b\"" },
    { "a b", "'a b'", "\"a b\"" },
    { "it's", "'it'\\''s'", "\"it's\"" },
    { "x!", "'x!'", "\"x!\"" },
    { "a,b", "a,b", "\"a,b\"" },
    { "@a", "@a", "\"@a\"" },
    { "~", "'~'", "\"~\"" },
    { "C:\\a b\\", "'C:\\a b\\'", "\"C:\\a b\\\\\"" },
    { "\\\\server\\share$;D:\\x", "'\\\\server\\share$;D:\\x'", "\"\\\\server\\share$;D:\\x\"" },
    { "a\"b", "'a\"b'", "\"a?b\"" },
    { "a$(b)", "'a$(b)'", "'a$(b)'" },
    { "a`b'c", "'a`b'\\''c'", "'a`b''c'" },
    { "a\xE2\x80\x9D"
      "b",
      "'a\xE2\x80\x9D"
      "b'",
      "'a\xE2\x80\x9D"
      "b'" },
};

static const sample names[] = {
    { "app.exe!History::append", "'app.exe!History::append'", "\"app.exe!History::append\"" },
    { "a$(touch x)b", "'a$(touch x)b'", "\"a?(touch x)b\"" },
    { "a`id`%PATH%\"&calc", "'a`id`%PATH%\"&calc'", "\"a?id??PATH??&calc\"" },
    { "a\xE2\x80\x9C"
      "b",
      "'a\xE2\x80\x9C"
      "b'",
      "\"a?b\"" },
    { "a\nb\x1b"
      "c\xFF"
      "d",
      "'a?b?c?d'", "\"a?b?c?d\"" },
    { "##vso[a]::b", "'##vso?a]::b'", "\"##vso?a]::b\"" },
    { "::a", "::a", "::a" },
    { "a|b", "'a?b'", "\"a?b\"" },
};

static void add(etlheap_text *text, etlheap_shell shell, const char *word, bool is_name)
{
    etlheap_text_clear(text);
    if (is_name)
        etlheap_shell_add_name(text, shell, word, "|");
    else
        etlheap_shell_add(text, shell, word);
}

static void check(const sample *samples, size_t count, bool is_name)
{
    etlheap_text text = { 0 };
    for (size_t i = 0; i < count; i++) {
        add(&text, ETLHEAP_SHELL_POSIX, samples[i].word, is_name);
        assert_string_equal(etlheap_text_of(&text), samples[i].posix);
        add(&text, ETLHEAP_SHELL_WINDOWS, samples[i].word, is_name);
        assert_string_equal(etlheap_text_of(&text), samples[i].windows);
    }
    etlheap_text_free(&text);
}

static void words_are_quoted(void **state)
{
    (void)state;
    check(words, ETL_COUNT_OF(words), false);
}

static void names_have_wildcards_for_what_cannot_be_quoted(void **state)
{
    (void)state;
    check(names, ETL_COUNT_OF(names), true);
}

/* What may stand between the quotes of Windows: neither shell ends or expands there. */
static void no_name_leaves_its_quotes(void **state)
{
    (void)state;
    etlheap_text text = { 0 };
    for (int first = 1; first < 256; first++) {
        for (int second = 1; second < 256; second++) {
            const char name[] = { 'a', ' ', (char)first, (char)second, 'b', '\0' };
            add(&text, ETLHEAP_SHELL_WINDOWS, name, true);
            const char *const shown = etlheap_text_of(&text);
            assert_true(shown[0] == '"' && shown[text.size - 1] == '"');
            assert_int_equal(strcspn(shown + 1, "\"%$`\n\r\x1b"), text.size - 2);
        }
    }
    etlheap_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted),
        cmocka_unit_test(names_have_wildcards_for_what_cannot_be_quoted),
        cmocka_unit_test(no_name_leaves_its_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
