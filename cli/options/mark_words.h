/* mark_words.h - --mark-event: events to treat as marks. */
#ifndef CLI_MARK_WORDS_H
#define CLI_MARK_WORDS_H

#include "options.h"

/* Adds the events that "PROVIDER/ID[:FIELD=VALUE]" describes (etlheap_marks.h). A GUID may be in
 * braces. ETL_ERR_ARGUMENT (the message names the option), ETL_ERR_MEMORY. */
etl_status cli_mark_event_add(const char *spelled, const char *text, cli_options *out,
                              etl_error *err);

/* True if an option names a mark, or asks for all marks. They are then read first. */
bool cli_wants_marks(const cli_options *options);

#endif
