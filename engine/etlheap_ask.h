/*
 * etlheap_ask.h - questions and their answers. Part of engine.h.
 *
 *     etlheap_question ──┬─▶ etlheap_analyze, etlheap_open_store    keep what the questions need
 *                        └─▶ etlheap_ask                            answers them
 *
 * Pass the same array of questions to both, so that the caller does not have to know what each
 * question needs. Questions asked together share their passes over the events: a table, a time line
 * and histograms together cost little more than the most expensive of them.
 *
 * For a single question there are shorter functions: etlheap_aggregate, etlheap_windows_make,
 * etlheap_histogram_make, etlheap_find_peaks and etlheap_lifetimes_open.
 */
#ifndef ETLHEAP_ASK_H
#define ETLHEAP_ASK_H

#include "engine.h"

#include "etlheap_counts.h"
#include "etlheap_details.h"
#include "etlheap_lifetimes.h"
#include "etlheap_suspects.h"
#include "etlheap_map.h"
#include "etlheap_windows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etlheap_question_kind {
    ETLHEAP_ASK_TABLE,     /* rows, as from etlheap_aggregate */
    ETLHEAP_ASK_WINDOWS,   /* time windows, as from etlheap_windows_make */
    ETLHEAP_ASK_HISTOGRAM, /* as from etlheap_histogram_make */
    ETLHEAP_ASK_PEAKS,     /* as from etlheap_find_peaks */
    /* Makes etlheap_analyze and etlheap_open_store keep all events, for single lifetimes
     * (etlheap_lifetimes.h) or for questions that depend on answers. Has no answer in
     * etlheap_ask. */
    ETLHEAP_ASK_EVENTS,
    ETLHEAP_ASK_LIFETIMES, /* as from etlheap_lifetimes_open; needs a result with all events */
    ETLHEAP_ASK_SUSPECTS,  /* stacks that probably leak: etlheap_suspects.h */
    ETLHEAP_ASK_MAP,       /* how full the address space is: etlheap_map.h */
    ETLHEAP_ASK_COUNT
} etlheap_question_kind;

/* A question. What it points to is borrowed for the call. Set all fields that the kind does not use
 * to 0. */
typedef struct etlheap_question {
    size_t size; /* sizeof(etlheap_question) */
    etlheap_question_kind kind;
    const etlheap_query *query;             /* NULL: etlheap_query_default() */
    const etlheap_windows_options *windows; /* only of WINDOWS */
    etlheap_histogram_by by;                /* only of HISTOGRAM */
    /* Only of LIFETIMES. The first rows of an order (`top`) are found in the shared pass. What the
     * query points to is borrowed until the answer is closed. */
    const etlheap_lifetimes_options *lifetimes;
    const etlheap_map_options *map; /* only of MAP; NULL: the defaults */
    bool frees;                     /* only of EVENTS: later questions ask who freed, too */
    bool optional; /* if it is refused (ETL_ERR_ARGUMENT), it has no answer, and the others do */
} etlheap_question;

etlheap_keeps etlheap_question_keeps(const etlheap_question *question);

/* The answer to a question. The member for the question's kind is set, the others are NULL or 0.
 * All members are if the question is optional and was refused. */
typedef struct etlheap_answer {
    etlheap_table *table;
    etlheap_windows *windows;
    const etlheap_histogram *histogram;
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    etlheap_lifetimes *lifetimes;
    etlheap_suspects *suspects;
    etlheap_map *map;
    void *reserved[8]; /* NULL: room for later versions */
} etlheap_answer;

/*
 * [stable] Answers all questions that are not optional, or none. answers[i] is the answer to
 * questions[i]; a question has the same answer alone and among others. The caller owns the answers
 * and frees them with etlheap_answers_free. To keep one, take it out and set it to NULL. Any number
 * of threads may ask the same result at the same time, but only one thread may use a given
 * etlheap_symbols or etlheap_tags.
 *
 * Errors: ETL_ERR_ARGUMENT (the question contradicts itself, or the result did not keep what it
 * needs; the message says which), ETL_ERR_UNSUPPORTED, ETL_ERR_LIMIT, ETL_ERR_MEMORY, ETL_ERR_IO
 * and ETL_ERR_CORRUPT (the store or temporary file cannot be read), ETL_ERR_CANCELLED.
 */
etl_status etlheap_ask(const etlheap_result *result, const etlheap_question *questions,
                       uint32_t count, etlheap_answer *answers, etl_error *err);

/* [stable] Frees the answers and sets them to NULL. */
void etlheap_answers_free(etlheap_answer *answers, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
