/*
 * etlheap_ask.h - questions and their answers: engine.h includes this.
 *
 *     etlheap_question ──┬─▶ etlheap_analyze, etlheap_open_store    keep what they take
 *                        └─▶ etlheap_ask                            answers them
 *
 * The same array of questions is handed to both, so that no caller has to know which question
 * takes what. Several questions share their readings of the events: a page with a table, its
 * time line and its histograms costs little more than the dearest of them.
 *
 * One question alone has a shorter way: etlheap_aggregate, etlheap_windows_make,
 * etlheap_histogram_make, etlheap_find_peaks and etlheap_lifetimes_open.
 */
#ifndef ETLHEAP_ASK_H
#define ETLHEAP_ASK_H

#include "engine.h"

#include "etlheap_details.h"
#include "etlheap_lifetimes.h"
#include "etlheap_suspects.h"
#include "etlheap_map.h"
#include "etlheap_windows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etlheap_question_kind {
    ETLHEAP_ASK_TABLE,     /* rows, as etlheap_aggregate makes them */
    ETLHEAP_ASK_WINDOWS,   /* as etlheap_windows_make */
    ETLHEAP_ASK_HISTOGRAM, /* as etlheap_histogram_make */
    ETLHEAP_ASK_PEAKS,     /* as etlheap_find_peaks */
    /* Lifetimes one by one (etlheap_lifetimes.h), or questions that follow from answers: for
     * etlheap_analyze and etlheap_open_store alone, which keep all events. */
    ETLHEAP_ASK_EVENTS,
    ETLHEAP_ASK_LIFETIMES, /* as etlheap_lifetimes_open; needs a result that keeps all events */
    ETLHEAP_ASK_SUSPECTS,  /* stacks that probably leak: etlheap_suspects.h */
    ETLHEAP_ASK_MAP,       /* how full the address space is (etlheap_map.h) */
    ETLHEAP_ASK_COUNT
} etlheap_question_kind;

/* What it points to is borrowed for the call. */
typedef struct etlheap_question {
    size_t size; /* sizeof(etlheap_question) */
    etlheap_question_kind kind;
    const etlheap_query *query;             /* NULL: the default */
    const etlheap_windows_options *windows; /* of WINDOWS */
    etlheap_histogram_by by;                /* of HISTOGRAM */
    /* Of LIFETIMES. The first rows of an order (`top`) are found in the shared reading. What the
     * query points to is borrowed until the answer is closed. */
    const etlheap_lifetimes_options *lifetimes;
    const etlheap_map_options *map; /* of MAP; NULL: the defaults */
    bool frees;                     /* of EVENTS: who freed is asked, too */
} etlheap_question;

/* One of these, by the question's kind; the others are NULL and 0. */
typedef struct etlheap_answer {
    const etlheap_table *table;
    etlheap_windows *windows;
    const etlheap_histogram *histogram;
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    etlheap_lifetimes *lifetimes;
    etlheap_suspects *suspects;
    etlheap_map *map;
} etlheap_answer;

/*
 * Answers all questions, or none: answers[i] is that of questions[i], and the caller's, to be
 * freed by etlheap_answers_free or, what is taken out and set to NULL, one by one. The same
 * question has the same answer alone and among others. Results may be asked from any number of
 * threads at once.
 *
 * Errors: ETL_ERR_ARGUMENT (a contradictory question, or one that the result keeps too little
 * to answer; said why), UNSUPPORTED, LIMIT, MEMORY, IO, CORRUPT, CANCELLED.
 */
etl_status etlheap_ask(const etlheap_result *result, const etlheap_question *questions, u32 count,
                       etlheap_answer *answers, etl_error *err);

/* Frees what the answers hold, and leaves nothing in them. */
void etlheap_answers_free(etlheap_answer *answers, u32 count);

#ifdef __cplusplus
}
#endif

#endif
