/*
 * Goal: a word of another tool, or of a newcomer, leads to the option, the value or the command
 * that it stands for.
 *
 * Method: some lines as people type them; and each row of the table must mean something that the
 * program has, and be no word of its own where its meaning is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options/choices.h"
#include "cli/options/nearest.h"
#include "cli/options/synonyms.h"

static const char *const commands[] = { "report",  "allocations", "windows",   "diff",   "trend",
                                        "symbols", "info",        "store",     "check",  "merge",
                                        "export",  "dump",        "--version", "--help", NULL };

static bool is_option(const char *word, size_t size)
{
    for (u32 i = 0; i < cli_option_count(); i++) {
        const char *const name = cli_option_at(i)->name;
        if (strlen(name) == size && memcmp(name, word, size) == 0)
            return true;
    }
    return false;
}

static bool is_value(const char *word, size_t size)
{
    for (u32 value = 0; value <= (u32)CLI_VALUE_TREE; value++) {
        const char *choice;
        for (u32 i = 0; (choice = cli_value_choice((cli_value)value, i)) != NULL; i++) {
            if (strlen(choice) == size && memcmp(choice, word, size) == 0)
                return true;
        }
    }
    return false;
}

static bool is_command(const char *word, size_t size)
{
    for (u32 i = 0; commands[i]; i++) {
        if (strlen(commands[i]) == size && memcmp(commands[i], word, size) == 0)
            return true;
    }
    return false;
}

static void every_meaning_is_a_word_of_the_program(void **state)
{
    const char *word, *meaning;
    u32 count = 0;
    (void)state;
    for (; (word = cli_synonym_at(count, &meaning)) != NULL; count++) {
        const size_t size = strcspn(meaning, " =");
        if (!is_option(meaning, size) && !is_value(meaning, size) && !is_command(meaning, size))
            fail_msg("%s: %s is nothing that the program has", word, meaning);
    }
    assert_true(count > 50);
}

static void a_row_counts_only_where_its_meaning_is(void **state)
{
    static const char *const keys[] = { "kind", "process", "stack", NULL };
    static const char *const measures[] = { "count", "outstanding_size", NULL };
    static const struct {
        const char *word;
        const char *const *choices;
        const char *hint;
    } cases[] = {
        { "pid", keys, ", did you mean process?" },
        { "PID", keys, ", did you mean process?" },
        { "handle", keys, "" },
        { "callstack", keys, ", did you mean stack?" },
        { "outstanding", measures, ", did you mean outstanding_size?" },
        { "blocks", measures, ", did you mean count?" },
        { "blocks", commands, ", did you mean allocations?" },
        { "version", commands, ", did you mean --version?" },
        { "leaks", commands, ", did you mean report --suspects?" },
        { "repor", commands, ", did you mean report?" },
        { "pid", commands, "" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        char hint[CLI_HINT_SIZE];
        cli_hint(cases[i].word, cases[i].choices, hint);
        assert_string_equal(hint, cases[i].hint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_meaning_is_a_word_of_the_program),
        cmocka_unit_test(a_row_counts_only_where_its_meaning_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
