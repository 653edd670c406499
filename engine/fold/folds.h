/*
 * folds.h - how each kind of question goes from a result to its answer.
 *
 *     begin    what is in memory is added up; says what it wants of a log's blocks
 *     walk     its groups are known; says what it wants of the events
 *     answer   everything was read: the caller's answer is made
 *
 * Between these steps the log is read, once for all questions that are asked together
 * (log_pass.h). A new kind of question is a row of fold_of and the functions it names.
 */
#ifndef ETLHEAP_FOLDS_H
#define ETLHEAP_FOLDS_H

#include "engine/engine.h"
#include "log_pass.h"

/* The state of one question begins as zeros and stays where it is. Functions are called in the
 * order of their members, close in any case; walk may be NULL. */
typedef struct fold {
    size_t state_bytes;
    etl_status (*begin)(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err);
    etl_status (*walk)(void *state, log_pass *pass, etl_error *err);
    etl_status (*answer)(void *state, etlheap_answer *out, etl_error *err);
    void (*close)(void *state);
} fold;

extern const fold fold_table, fold_windows, fold_histogram, fold_peaks, fold_lifetimes,
    fold_suspects, fold_map;

/* NULL: it has no answer. */
const fold *fold_of(etlheap_question_kind kind);

#endif
