/* key_words.h - the session in the number that names the origin of a block that is found by key. */
#ifndef ETLHEAP_KEY_WORDS_H
#define ETLHEAP_KEY_WORDS_H

#include "parser/base.h"

#define KEY_SESSION_SHIFT   32
#define KEY_SESSION_MAX     0xFFFFFFu
#define KEY_SESSION_SYSTEM  0u              /* of no session */
#define KEY_SESSION_UNKNOWN KEY_SESSION_MAX /* of one, but the event does not say of which */

/* A session by its number. Numbers beyond what has room are one session. */
static inline u32 key_session_of(u32 number)
{
    return number < KEY_SESSION_MAX - 1 ? number + 1 : KEY_SESSION_MAX - 1;
}

static inline u32 key_session(u64 heap)
{
    return (u32)(heap >> KEY_SESSION_SHIFT) & KEY_SESSION_MAX;
}

#endif
