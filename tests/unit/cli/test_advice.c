/*
 * Goal: what the libraries leave unsaid the program says: each hint has words of the
 * command line, and the options in them exist.
 * Method: the table is walked from the hints' side, since that is where rows are added;
 * each word that begins with -- is looked up among the program's options. The libraries'
 * own words are searched for options, of which they must name none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/options/advice.h"
#include "cli/options/options.h"

static bool is_option(const char *word, size_t size)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        const char *const name = cli_option_at(i)->name;
        if (strlen(name) == size && memcmp(name, word, size) == 0)
            return true;
    }
    return false;
}

static void every_hint_has_words(void **state)
{
    (void)state;
    assert_string_equal(cli_advice(ETL_HINT_NONE), "");
    for (int i = 1; i < ETL_HINT_COUNT; i++) {
        if (cli_advice((etl_hint)i)[0] == '\0')
            fail_msg("nothing is said for: %s", etl_hint_text((etl_hint)i));
        assert_true(etl_hint_text((etl_hint)i)[0] != '\0');
    }
    assert_string_equal(cli_advice(ETL_HINT_COUNT), "");
}

static void options_in_them_exist(void **state)
{
    (void)state;
    u32 found = 0;
    for (int i = 0; i < ETL_HINT_COUNT; i++) {
        const char *at = cli_advice((etl_hint)i);
        while ((at = strstr(at, "--")) != NULL) {
            const size_t size = 2 + strcspn(at + 2, " ,.;)");
            if (!is_option(at, size))
                fail_msg("no option: %.*s", (int)size, at);
            at += size;
            found++;
        }
    }
    assert_true(found > 20);
}

static void libraries_name_none(void **state)
{
    (void)state;
    for (int i = 0; i < ETL_HINT_COUNT; i++)
        assert_null(strstr(etl_hint_text((etl_hint)i), "--"));
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        assert_null(strstr(etl_diag_describe((etl_diag)i)->advice, "--"));
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++)
        assert_null(strstr(etlheap_doubt_sentence((etlheap_doubt)i), "--"));
    for (u32 i = 0; i < etlheap_exporter_count(); i++)
        assert_null(strstr(etlheap_exporter_at(i)->summary, "--"));
}

static void errors_end_in_the_option_that_helps(void **state)
{
    (void)state;
    etl_error err;
    char text[CLI_ERROR_SIZE];
    (void)etl_fail_hint(&err, ETL_ERR_LIMIT, ETL_HINT_NARROWER_WINDOW, "%u MiB are needed", 7u);
    cli_error_text(&err, text);
    assert_string_equal(text, "7 MiB are needed; raise --memory or narrow the window");
    (void)etl_fail_with(&err, ETL_ERR_IO, 3, "cannot read");
    cli_error_text(&err, text);
    assert_string_equal(text, "cannot read");
}

static void memory_helps_with_some(void **state)
{
    (void)state;
    for (int i = 0; i < ETL_HINT_COUNT; i++)
        assert_int_equal(cli_advice_is_memory((etl_hint)i),
                         strstr(cli_advice((etl_hint)i), "raise --memory") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hint_has_words),
        cmocka_unit_test(options_in_them_exist),
        cmocka_unit_test(libraries_name_none),
        cmocka_unit_test(errors_end_in_the_option_that_helps),
        cmocka_unit_test(memory_helps_with_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
