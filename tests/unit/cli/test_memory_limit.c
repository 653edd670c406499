/*
 * What --memory refuses, and how much a refused run then says that it needs.
 *
 * The limit is that of a process, so each test runs in a child: memory beyond the limit is
 * refused there, and the sentence follows from what was noted before. Whole runs of the
 * program under limits are oracle_memory.py's.
 */
#include "cli/memory_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_MIB 64u
#define SKIPPED   77

static const etl_error refused = { .status = ETL_ERR_MEMORY, .message = "out of memory" };

static const cli_command report = { .name = "report", .bit = CLI_REPORT };

static void begin(void)
{
    cli_options options = { .memory_bytes = LIMIT_MIB * ETL_MIB, .format = "json", .jobs = 64 };
    cli_memory_sentence sentence;
    const etl_error other = { .status = ETL_ERR_IO, .message = "cannot be read" };
    const etl_error count = { .status = ETL_ERR_LIMIT, .message = "too many windows" };
    cli_memory_limit_begin(&report, &options);
    if (options.jobs == 64) /* the system, or a sanitizer, leaves us no limit */
        _exit(SKIPPED);
    if (options.jobs != LIMIT_MIB / 8)
        _exit(10);
    if (cli_memory_explain(&other, &sentence) || cli_memory_explain(&count, &sentence))
        _exit(11);
}

/* In MiB; the sentence says nothing else than it should. */
static unsigned needed(void)
{
    cli_memory_sentence sentence;
    unsigned limit = 0, need = 0;
    if (!cli_memory_explain(&refused, &sentence) ||
        sscanf(sentence.text,
               "--memory %uM is not enough: this run needs about %uM; raise --memory", &limit,
               &need) != 2 ||
        limit != LIMIT_MIB)
        _exit(12);
    return need;
}

/* Memory that is asked for in pieces, as an analysis does; false: refused. */
static bool take(size_t mib)
{
    for (size_t i = 0; i < mib; i++) {
        char *const piece = malloc(ETL_MIB);
        if (piece == NULL)
            return false;
        memset(piece, 1, ETL_MIB);
    }
    return true;
}

static void run_in_child(int (*child)(void))
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(child());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int refuse_what_exceeds(void)
{
    begin();
    if (!take(LIMIT_MIB - 4))
        return 1;
    if (take(8))
        return 2;
    if (needed() < LIMIT_MIB + LIMIT_MIB / 4)
        return 3;
    return take(8) ? 0 : 4; /* lifted, so that sentences can be written */
}

static void memory_beyond_the_limit_is_refused_until_that_is_said(void **state)
{
    (void)state;
    run_in_child(refuse_what_exceeds);
}

static cli_options options_of(u64 memory_bytes)
{
    return (cli_options){ .memory_bytes = memory_bytes, .format = "json", .jobs = 1 };
}

/* More than any machine has is no limit, however near it is to the largest number. */
static int take_under_the_largest_limit(void)
{
    cli_options options = options_of(UINT64_MAX);
    cli_memory_limit_begin(&report, &options);
    return take(8) ? 0 : 1;
}

/* Times of a calendar and marks mean nothing before the input is open. */
static int begin_with_times(void)
{
    cli_options options = { .memory_bytes = LIMIT_MIB * ETL_MIB, .format = "json" };
    cli_memory_sentence sentence;
    options.from = (cli_time){ .given = true, .mark = "load" };
    options.to = (cli_time){ .given = true, .is_instant = true };
    options.at = (cli_time){ .given = true, .mark = "unload" };
    cli_memory_limit_begin(&report, &options);
    return cli_memory_explain(&refused, &sentence) ? 0 : SKIPPED;
}

static void marks_and_dates_are_no_times_yet(void **state)
{
    (void)state;
    run_in_child(begin_with_times);
}

static void the_largest_limit_refuses_nothing(void **state)
{
    (void)state;
    run_in_child(take_under_the_largest_limit);
}

static int name_odd_limits(void)
{
    static const struct {
        u64 bytes;
        const char *shown;
    } cases[] = {
        { 1, "--memory 1 is not" },        { 1023, "--memory 1023 is not" },
        { 3072, "--memory 3K is not" },    { ETL_MIB + 1, "--memory 1048577 is not" },
        { ETL_MIB, "--memory 1M is not" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        cli_options options = options_of(cases[i].bytes);
        cli_memory_sentence sentence;
        cli_memory_limit_begin(&report, &options);
        if (!cli_memory_explain(&refused, &sentence))
            return i == 0 ? SKIPPED : 1;
        if (strncmp(sentence.text, cases[i].shown, strlen(cases[i].shown)) != 0)
            return 2;
    }
    return 0;
}

static void a_limit_is_named_as_it_was_given(void **state)
{
    (void)state;
    run_in_child(name_odd_limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_beyond_the_limit_is_refused_until_that_is_said),
        cmocka_unit_test(marks_and_dates_are_no_times_yet),
        cmocka_unit_test(the_largest_limit_refuses_nothing),
        cmocka_unit_test(a_limit_is_named_as_it_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
