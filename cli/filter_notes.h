/*
 * filter_notes.h - what the filters of a command did not find, and what there is.
 *
 * An empty answer looks like a program without memory. Notes on stderr say which filter
 * selects nothing, and what it could have been.
 */
#ifndef CLI_FILTER_NOTES_H
#define CLI_FILTER_NOTES_H

#include "cli/options/clock.h"
#include "inputs.h"

/* Notes words of --process that name no process, patterns that need names of functions when
 * there are none, and a window outside of the trace. Of an empty answer also the filters that
 * select nothing. The query is the one that was answered. */
void cli_note_filters(const cli_options *options, const char *subject, const etlheap_result *result,
                      const etlheap_query *query, bool is_empty);

/* The same for a check that measured nothing and says so, with the processes that there are: of
 * words of --process only those are noted that look like a slip. */
void cli_note_unmeasured(const cli_options *options, const char *subject,
                         const etlheap_result *result, const etlheap_query *query);

/* Notes once, behind a text report, that its first stacks have no names of functions because no
 * symbol path was given, and what to type. */
void cli_note_nameless(const cli_options *options, const etlheap_table *table);

/* The same for a listing of records that is empty: `result` has the facts of the trace. */
void cli_note_record_filters(const cli_options *options, const char *subject,
                             const etlheap_result *result, const cli_clock *clock);

#endif
