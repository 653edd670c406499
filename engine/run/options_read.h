/*
 * options_read.h - what a caller of the library gave, read once and by its size.
 */
#ifndef ETLHEAP_OPTIONS_READ_H
#define ETLHEAP_OPTIONS_READ_H

#include "engine/engine.h"

/* The options, and copies of what they point to. Does not move once it is read. */
typedef struct options_read {
    etlheap_options own;
    etlheap_store_options store;
    /* The first question, and copies of what that points to; others are only checked, and
     * known by their kinds. */
    etlheap_question question;
    etlheap_query query;
    etlheap_windows_options windows;
    u32 kinds;       /* bit per etlheap_question_kind that is asked */
    bool asks_frees; /* any of the questions asks who freed */
} options_read;

/* Refuses contradictions with a sentence; NULL is the default. Errors as of etl_read_sized. */
etl_status options_read_all(const etlheap_options *given, options_read *out, etl_error *err);

#endif
