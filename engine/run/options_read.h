/* options_read.h - reads the caller's options once, checking their sizes. */
#ifndef ETLHEAP_OPTIONS_READ_H
#define ETLHEAP_OPTIONS_READ_H

#include "engine/engine.h"

#include "parser/base.h"

/* The options, and copies of what they point to. Must not be moved after it was read. */
typedef struct options_read {
    etlheap_options own;
    etlheap_store_options store;
    etlheap_part part; /* of the store, if it names one */
    /* The first question, and copies of what it points to. Other questions are only checked, and
     * counted in `kinds`. */
    etlheap_question question;
    etlheap_query query;
    etlheap_windows_options windows;
    u32 kinds; /* bit per etlheap_question_kind that is asked */
    u32 needs; /* of all questions together: bits of needs.h */
} options_read;

/* True if answers show where single frames were, not only their names: only lifetimes do. */
static inline bool options_ask_addresses(const options_read *read)
{
    return (read->kinds >> ETLHEAP_ASK_EVENTS & 1) != 0;
}

/* Reads and checks options; NULL means the defaults. Errors as for etl_read_sized, and
 * ETL_ERR_ARGUMENT for options that contradict each other. */
etl_status options_read_all(const etlheap_options *given, options_read *out, etl_error *err);

#endif
