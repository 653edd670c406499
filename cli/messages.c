/*
 * messages.c - what goes to stderr: one sentence each.
 *
 * In: a subject, mostly the name of an input, and a sentence. Out: a line on stderr, and the exit
 * status that the failure or the diagnostics ask for. Invariant: a message is one line, whatever
 * the names in it contain.
 */
#include "messages.h"

#include "cli/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/options/advice.h"
#include "cli/options/output_format.h"
#include "parser/system/files.h"

#define MESSAGE_SIZE 512

static void say(const char *kind, const char *subject, const char *message);

/* Where messages of this thread go; NULL: stderr. Functions far below the commands complain, and
 * most have no options to say where to. */
static _Thread_local etlheap_text *captured;

void cli_messages_to(etlheap_text *text)
{
    captured = text;
}

void cli_complain(const char *subject, const char *message)
{
    say("", subject, message);
}

void cli_complain_error(const char *subject, const etl_error *err)
{
    cli_memory_sentence sentence;
    char text[CLI_ERROR_SIZE];
    cli_error_text(err, text);
    if (cli_memory_explain(err, &sentence))
        cli_complain(NULL, sentence.text); /* the limit is the whole run's, not a file's */
    else
        cli_complain(subject, text);
}

void cli_tell(const char *subject, const char *message)
{
    say("", subject, message);
}

void cli_note(const char *subject, const char *message)
{
    say("note: ", subject, message);
}

/* A wrong argument is the user's to mend, everything else the input's. */
int cli_exit_of(etl_status status)
{
    switch (status) {
    case ETL_OK:
        return CLI_EXIT_DONE;
    case ETL_ERR_ARGUMENT:
        return CLI_EXIT_USAGE;
    default:
        return CLI_EXIT_INPUT;
    }
}

/* How many kinds of loss and damage there are, and the first of them. */
static u32 count_losses(const etl_diag_counts *counts, const etl_diag_info **first,
                        u64 *first_count)
{
    u32 kinds = 0;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        const bool bad =
            info->severity == ETL_SEVERITY_DAMAGE || info->severity == ETL_SEVERITY_LOSS;
        if (!bad || counts->of[i] == 0)
            continue;
        if (kinds++ == 0) {
            *first = info;
            *first_count = counts->of[i];
        }
    }
    return kinds;
}

bool cli_describe_losses(const etl_diag_counts *counts, const char *before, char *out, size_t size)
{
    const etl_diag_info *first = NULL;
    u64 first_count = 0;
    const u32 kinds = count_losses(counts, &first, &first_count);
    if (!first)
        return false;
    const int used = snprintf(out, size, "%s%s (%" PRIu64 "): %s", before, first->name, first_count,
                              first->advice);
    if (kinds > 1 && used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, "; and %" PRIu32 " more kinds", kinds - 1);
    return true;
}

int cli_exit_of_diagnostics(const cli_options *options, const char *subject,
                            const etl_diag_counts *counts)
{
    char message[MESSAGE_SIZE];
    if (!options->strict || !cli_describe_losses(counts, "--strict: ", message, sizeof message))
        return CLI_EXIT_DONE;
    cli_complain(subject, message);
    return CLI_EXIT_STRICT;
}

int cli_exit_of_answer(const cli_options *options, const char *subject,
                       const etl_diag_counts *counts)
{
    if (strcmp(cli_format_of(options)->name, "csv") == 0)
        return cli_exit_of_list(options, subject, counts);
    return cli_exit_of_diagnostics(options, subject, counts);
}

int cli_exit_of_list(const cli_options *options, const char *subject, const etl_diag_counts *counts)
{
    if (!options->strict)
        cli_note_losses(subject, counts);
    return cli_exit_of_diagnostics(options, subject, counts);
}

void cli_note_losses(const char *subject, const etl_diag_counts *counts)
{
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        char message[MESSAGE_SIZE];
        if (counts->of[i] == 0 || info->severity == ETL_SEVERITY_INFO)
            continue;
        snprintf(message, sizeof message, "%s (%" PRIu64 "): %s", info->name, counts->of[i],
                 info->advice);
        cli_note(subject, message);
    }
}

/* Messages cite words of the command line, and a symbol path may have a login. */
static void write_words(etlheap_sink *sink, const char *words)
{
    char *const shown = malloc(strlen(words) + 1);
    if (shown) {
        (void)etlheap_sentence_without_logins(words, shown);
        etlheap_sink_printable(sink, shown, strlen(shown));
    }
    free(shown);
}

/* By a sink and not by stdio, because names in messages come from files. */
static void say(const char *kind, const char *subject, const char *message)
{
    static const char no_memory[] = "etlheap: out of memory\n";
    etlheap_sink *sink = NULL;
    const etl_status status =
        captured ? etlheap_sink_open_text(captured, &sink, NULL)
                 : etlheap_sink_open_descriptor(ETL_STDERR, "standard error", &sink, NULL);
    if (status != ETL_OK) {
        /* Not even for the message: then that is what happened. */
        (void)etl_file_write(ETL_STDERR, no_memory, sizeof no_memory - 1);
        return;
    }
    etlheap_sink_log_safe(sink);
    if (!captured)
        etlheap_sink_text(sink, "etlheap: ");
    etlheap_sink_text(sink, kind);
    if (subject) {
        write_words(sink, subject);
        etlheap_sink_text(sink, ": ");
    }
    write_words(sink, message);
    etlheap_sink_text(sink, "\n");
    /* There is nowhere to say that stderr cannot be written. */
    (void)etlheap_sink_close(sink, NULL);
}
