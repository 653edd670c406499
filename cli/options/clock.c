/*
 * clock.c - converts times on the command line to times of a recording.
 *
 * In: a time as typed (seconds, an instant, a mark) and the clock of the inputs. Out: nanoseconds
 * from the start. Invariant: a mark is found by its exact name or number; one that does not exist
 * is an error, never the start.
 */
#include "clock.h"

#include <inttypes.h>
#include <stdio.h>

#include "nearest.h"

#define NAME_SIZE (ETLHEAP_MARK_NAME_MAX + 1)

/* "NAME#2" is the second mark of that name, unless one is called so. */
typedef struct mark_word {
    char name[NAME_SIZE];
    u32 number;
} mark_word;

static etl_status refuse_mark(const etlheap_marks *marks, const mark_word *word, const char *option,
                              etl_error *err)
{
    cli_nearest best = { .word = word->name };
    char list[160];
    u32 namesakes = 0;
    if (marks->count == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: " CLI_NO_MARKS, option);
    for (u32 i = 0; i < marks->count; i++) {
        namesakes += strcmp(marks->at[i].name, word->name) == 0;
        cli_nearest_consider(&best, marks->at[i].name, ETLHEAP_MARKS_MAX - i);
    }
    if (namesakes > 0)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "%s: unknown mark '%.60s#%" PRIu32 "': the trace has %" PRIu32 " mark%s with that name",
            option, word->name, word->number, namesakes, namesakes == 1 ? "" : "s");
    cli_nearest_write(&best, "; marks are ", list, sizeof list);
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: no mark is called '%.40s'%s", option,
                         word->name, list);
}

static void read_word(const cli_time *time, mark_word *out)
{
    const size_t size = time->mark_size < NAME_SIZE ? time->mark_size : NAME_SIZE - 1;
    memcpy(out->name, time->mark, size);
    out->name[size] = '\0';
    out->number = 1;
}

static bool take_number(mark_word *word)
{
    char *const hash = strrchr(word->name, '#');
    u64 number;
    if (!hash || !cli_parse_count(hash + 1, ETLHEAP_MARKS_MAX, &number) || number == 0)
        return false;
    *hash = '\0';
    word->number = (u32)number;
    return true;
}

static etl_status find_mark(const etlheap_marks *marks, const cli_time *time, const char *option,
                            i64 *ns, etl_error *err)
{
    mark_word word;
    read_word(time, &word);
    const etlheap_mark *found = etlheap_marks_find(marks, word.name, word.number);
    if (!found && take_number(&word))
        found = etlheap_marks_find(marks, word.name, word.number);
    if (!found)
        return refuse_mark(marks, &word, option, err);
    *ns = found->time_ns;
    return ETL_OK;
}

etl_status cli_clock_time(const cli_clock *clock, const cli_time *time, const char *option, i64 *ns,
                          etl_error *err)
{
    if (time->mark)
        return find_mark(clock->marks, time, option, ns, err);
    if (cli_time_resolve(time, clock->start_filetime, ns))
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: this time is centuries away from the trace",
                         option);
}

bool cli_times_are_reversed(const cli_time *from, const cli_time *to)
{
    const bool is_known = from->given && to->given && !from->mark && !to->mark;
    return is_known && from->is_instant == to->is_instant && from->ns > to->ns;
}
