/*
 * mark_words.h - --mark-event: events that are taken for marks.
 */
#ifndef CLI_MARK_WORDS_H
#define CLI_MARK_WORDS_H

#include "options.h"

/* Adds the events that "PROVIDER/ID[:FIELD=VALUE]" describes, as etlheap_marks.h has them. A GUID
 * may stand in braces. ETL_ERR_ARGUMENT names the option; ETL_ERR_MEMORY. */
etl_status cli_mark_event_add(const char *spelled, const char *text, cli_options *out,
                              etl_error *err);

/* Does an option name a mark, or ask for all of them? Then they are read before anything else. */
bool cli_wants_marks(const cli_options *options);

#endif
