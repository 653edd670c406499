/*
 * Goal: of two bars of which one takes the place of the other, only the later is shown once it
 * moves, and the earlier one is asked in vain until then.
 * Method: standard error goes to a file, which is read after each call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/progress.h"
#include "tests/support/temporary.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Standard error while it is caught. */
typedef struct caught {
    FILE *file;
    int before;
    char text[1024]; /* what came since the last look */
} caught;

static void begin_catching(caught *out)
{
    out->file = temporary_stream();
    assert_non_null(out->file);
    out->before = dup(STDERR_FILENO);
    assert_true(dup2(fileno(out->file), STDERR_FILENO) >= 0);
}

static void end_catching(caught *from)
{
    assert_true(dup2(from->before, STDERR_FILENO) >= 0);
    close(from->before);
    (void)fclose(from->file);
}

static const char *look(caught *from)
{
    const ssize_t size = pread(STDERR_FILENO, from->text, sizeof from->text - 1, 0);
    from->text[size > 0 ? size : 0] = '\0';
    assert_int_equal(ftruncate(STDERR_FILENO, 0), 0);
    assert_int_equal(lseek(STDERR_FILENO, 0, SEEK_SET), 0);
    return from->text;
}

static void later_bar_takes_the_place_of_the_earlier(void **state)
{
    (void)state;
    const cli_options options = { .progress = CLI_PROGRESS_ALWAYS };
    const cli_guard guard = { .active = false };
    cli_progress first = cli_progress_begin(&options, "unpacking", &guard);
    cli_progress second = cli_progress_begin(&options, "reading", &guard);
    second.before = &first;
    caught errors;
    begin_catching(&errors);
    const bool first_goes_on = cli_progress_update(&first, 1, 10);
    char unpacking[1024], nothing[1024], reading[1024], late[1024];
    strcpy(unpacking, look(&errors));
    first.last.tv_sec -= 10; /* a line is due again */
    const bool second_waits = cli_progress_update(&second, 0, 0);
    strcpy(nothing, look(&errors));
    const bool second_goes_on = cli_progress_update(&second, 1, 10);
    strcpy(reading, look(&errors));
    const bool first_is_asked = cli_progress_update(&first, 9, 10);
    strcpy(late, look(&errors));
    cli_progress_end(&second);
    cli_progress_end(&first);
    end_catching(&errors);
    assert_true(first_goes_on && second_waits && second_goes_on && first_is_asked);
    assert_int_equal(strncmp(unpacking, "unpacking [", 11), 0);
    assert_string_equal(nothing, "");
    assert_int_equal(strncmp(reading, "reading [", 9), 0);
    assert_string_equal(late, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_bar_takes_the_place_of_the_earlier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
