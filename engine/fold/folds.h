/*
 * folds.h - the steps from a result to the answer of each kind of question.
 *
 *     begin    adds up what is in memory; says what it needs of a log's blocks
 *     walk     its groups are known; says what it needs of the events
 *     answer   everything was read; makes the caller's answer
 *
 * Between these steps the log is read, once for all questions that are asked together (log_pass.h).
 * To add a kind of question, add a row to fold_of and the functions it names.
 */
#ifndef ETLHEAP_FOLDS_H
#define ETLHEAP_FOLDS_H

#include "engine/engine.h"
#include "log_pass.h"

/* The functions of a kind of question. Its state starts as zeros and does not move. Functions are
 * called in the order of their members, `close` in any case; `walk` may be NULL. */
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

/* The fold of a kind of question; NULL if it has no answer. */
const fold *fold_of(etlheap_question_kind kind);

#endif
