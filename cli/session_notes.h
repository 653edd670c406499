/* session_notes.h - notes that the file of another session is missing. */
#ifndef ETLHEAP_CLI_SESSION_NOTES_H
#define ETLHEAP_CLI_SESSION_NOTES_H

#include "engine/engine.h"

/* Says on stderr what a heap session's file alone lacks; and, if the answer is empty and about heap
 * blocks, that a kernel session's file alone has none. */
void cli_note_sessions(const char *subject, const etlheap_result *result,
                       const etlheap_query *query, bool is_empty);

#endif
