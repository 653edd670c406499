/* sessions.h - what an answer without rows says if a session's file is missing (formats.h). */
#ifndef ETLHEAP_SESSIONS_H
#define ETLHEAP_SESSIONS_H

#include "formats/formats.h"

/* The sentence for an answer without rows: `otherwise`, unless the heap session is missing. */
const char *etlheap_empty_words(const etlheap_result *result, const char *otherwise);

#endif
