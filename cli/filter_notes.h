/*
 * filter_notes.h - notes about options that match nothing.
 *
 * An empty answer looks as if the program allocated nothing. Notes on stderr say which filter
 * matched nothing, and which values would match.
 */
#ifndef CLI_FILTER_NOTES_H
#define CLI_FILTER_NOTES_H

#include "cli/options/clock.h"
#include "inputs.h"

/* Writes how much --exclude-frame left out, unless the format has a place for it. NULL: nothing was
 * to be left out. */
void cli_note_excluded(const cli_options *options, const char *subject,
                       const etlheap_table *excluded);

/* Writes notes about marks and stacks of frees that are needed and missing, --custom-heap
 * descriptions without events, words of --process that match no process, patterns that need
 * function names when there are none, and a window outside the trace; for an empty answer also
 * about filters that select nothing. The query is the one that was answered. */
void cli_note_filters(const cli_options *options, const char *subject, const etlheap_result *result,
                      const etlheap_query *query, bool is_empty);

/* For a check that measured nothing, which reports the processes itself: of the words of --process,
 * notes only those that look misspelled. Also notes patterns and the window. */
void cli_note_unmeasured(const cli_options *options, const char *subject,
                         const etlheap_result *result, const etlheap_query *query);

/* Writes one note after a text report if a frame of its first stacks has no function name because
 * no symbol path was given, and what to type. */
void cli_note_unnamed(const cli_options *options, const etlheap_table *table);

/* For an empty list of records: notes about --process, the window and --events. `result` has the
 * facts of the trace. */
void cli_note_record_filters(const cli_options *options, const char *subject,
                             const etlheap_result *result, const cli_clock *clock);

#endif
