/*
 * filter_notes.h - notes about filters that select nothing.
 *
 * An empty answer looks like a program without memory. Notes on stderr say which filter selects
 * nothing, and what it could select.
 */
#ifndef CLI_FILTER_NOTES_H
#define CLI_FILTER_NOTES_H

#include "cli/options/clock.h"
#include "inputs.h"

/* Writes notes about words of --process that match no process, patterns that need function names
 * when there are none, and a window outside the trace; for an empty answer also about filters that
 * select nothing. The query is the one that was answered. */
void cli_note_filters(const cli_options *options, const char *subject, const etlheap_result *result,
                      const etlheap_query *query, bool is_empty);

/* For a check that measured nothing, which reports the processes itself: only notes words of
 * --process that look misspelled. */
void cli_note_unmeasured(const cli_options *options, const char *subject,
                         const etlheap_result *result, const etlheap_query *query);

/* Writes one note after a text report if its first stacks have no function names because no symbol
 * path was given, and what to type. */
void cli_note_nameless(const cli_options *options, const etlheap_table *table);

/* For an empty list of records; `result` has the facts of the trace. */
void cli_note_record_filters(const cli_options *options, const char *subject,
                             const etlheap_result *result, const cli_clock *clock);

#endif
