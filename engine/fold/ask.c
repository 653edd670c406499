/*
 * ask.c - answers questions, several at once, with shared readings of the log. folds.h has the
 * table of questions.
 *
 * In: a result and an array of questions. Out: an answer for each, or one error for all.
 *
 *     begin each ──▶ blocks read once ──▶ walk each ──▶ events read once ──▶ answer each
 *
 * This file only runs these steps; what a question does in them is in its fold. The functions for a
 * single question (etlheap_aggregate and others) call etlheap_ask with one. Invariant: an answer
 * does not depend on which questions are asked with it, nor on whether one of them is refused.
 */
#include <stdlib.h>

#include "engine/core/cancel.h"
#include "folds.h"
#include "parser/sized.h"

/* A question while it is answered. */
typedef struct asked {
    etlheap_question question;
    const fold *fold;
    void *state;
} asked;

static etl_status read_questions(const etlheap_question *given, u32 count, asked *out,
                                 etl_error *err);
static etl_status answer_all(const etlheap_result *result, asked *all, u32 count,
                             etlheap_answer *answers, etl_error *err);

const fold *fold_of(etlheap_question_kind kind)
{
    static const fold *const folds[ETLHEAP_ASK_COUNT] = {
        [ETLHEAP_ASK_TABLE] = &fold_table,
        [ETLHEAP_ASK_WINDOWS] = &fold_windows,
        [ETLHEAP_ASK_HISTOGRAM] = &fold_histogram,
        [ETLHEAP_ASK_PEAKS] = &fold_peaks,
        [ETLHEAP_ASK_LIFETIMES] = &fold_lifetimes,
        [ETLHEAP_ASK_SUSPECTS] = &fold_suspects,
        [ETLHEAP_ASK_MAP] = &fold_map,
    };
    return (u32)kind < ETLHEAP_ASK_COUNT ? folds[kind] : NULL;
}

static void close_question(asked *question)
{
    if (question->state != NULL)
        question->fold->close(question->state);
    free(question->state);
    question->state = NULL;
}

etl_status etlheap_ask(const etlheap_result *result, const etlheap_question *questions, u32 count,
                       etlheap_answer *answers, etl_error *err)
{
    asked *const all = calloc((size_t)count + 1, sizeof *all);
    if (count > 0)
        memset(answers, 0, count * sizeof *answers);
    if (all == NULL)
        return etl_no_memory(err);
    etl_status status = read_questions(questions, count, all, err);
    if (status == ETL_OK)
        status = answer_all(result, all, count, answers, err);
    for (u32 i = 0; i < count; i++)
        close_question(&all[i]);
    free(all);
    if (status != ETL_OK)
        etlheap_answers_free(answers, count);
    return status;
}

void etlheap_answers_free(etlheap_answer *answers, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        etlheap_table_free(answers[i].table);
        etlheap_windows_free(answers[i].windows);
        etlheap_histogram_free(answers[i].histogram);
        etlheap_lifetimes_close(answers[i].lifetimes);
        etlheap_suspects_free(answers[i].suspects);
        etlheap_map_free(answers[i].map);
        answers[i] = (etlheap_answer){ .table = NULL };
    }
}

static etl_status read_questions(const etlheap_question *given, u32 count, asked *out,
                                 etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        out[i].question = (etlheap_question){ .size = sizeof out[i].question };
        status = etl_read_sized_at(given, i, "etlheap_question", &out[i].question,
                                   sizeof out[i].question, err);
        out[i].fold = fold_of(out[i].question.kind);
        if (status == ETL_OK && out[i].fold == NULL)
            status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown kind of question");
    }
    return status;
}

/* The flag of a question that was begun. The caller's structure may be an older one without it. */
static const u32 *flag_of(const asked *question)
{
    const etlheap_query *const query = question->question.query;
    const size_t end = offsetof(etlheap_query, cancel) + sizeof query->cancel;
    return query != NULL && query->size >= end ? query->cancel : NULL;
}

/* What an optional question requested before it was refused is forgotten: its state is closed. */
static etl_status begin_question(asked *question, const etlheap_result *result, log_pass *pass,
                                 etl_error *err)
{
    const size_t blocks = pass->feed.wants.count, events = pass->events.count;
    question->state = calloc(1, question->fold->state_bytes);
    if (question->state == NULL)
        return etl_no_memory(err);
    const etl_status status =
        question->fold->begin(question->state, result, &question->question, pass, err);
    if (status == ETL_OK)
        return cancel_check(flag_of(question), err);
    if (status != ETL_ERR_ARGUMENT || !question->question.optional)
        return status;
    pass->feed.wants.count = blocks;
    pass->events.count = events;
    close_question(question);
    if (err != NULL)
        *err = (etl_error){ .status = ETL_OK };
    return ETL_OK;
}

/* A question is closed as soon as it is answered. Otherwise the groups of all questions would be
 * held beside the rows of all answers. */
static etl_status answer_all(const etlheap_result *result, asked *all, u32 count,
                             etlheap_answer *answers, etl_error *err)
{
    log_pass pass = { 0 };
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < count; i++)
        status = begin_question(&all[i], result, &pass, err);
    if (status == ETL_OK)
        status = feed_blocks(&pass.feed, err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        if (all[i].state != NULL && all[i].fold->walk != NULL)
            status = all[i].fold->walk(all[i].state, &pass, err);
    }
    if (status == ETL_OK)
        status = log_pass_events(&pass, err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        if (all[i].state == NULL)
            continue; /* refused: what its query says may not be a query */
        status = cancel_check(flag_of(&all[i]), err);
        if (status == ETL_OK)
            status = all[i].fold->answer(all[i].state, &answers[i], err);
        close_question(&all[i]);
    }
    log_pass_close(&pass);
    return status;
}

/* --- one question ------------------------------------------------------------------- */

etl_status etlheap_aggregate(const etlheap_result *result, const etlheap_query *query,
                             etlheap_table **out, etl_error *err)
{
    const etlheap_question question = { .size = sizeof question,
                                        .kind = ETLHEAP_ASK_TABLE,
                                        .query = query };
    etlheap_answer answer;
    const etl_status status = etlheap_ask(result, &question, 1, &answer, err);
    *out = answer.table;
    return status;
}

etl_status etlheap_windows_make(const etlheap_result *result, const etlheap_query *query,
                                const etlheap_windows_options *options, etlheap_windows **out,
                                etl_error *err)
{
    const etlheap_question question = {
        .size = sizeof question, .kind = ETLHEAP_ASK_WINDOWS, .query = query, .windows = options
    };
    etlheap_answer answer;
    const etl_status status = etlheap_ask(result, &question, 1, &answer, err);
    *out = answer.windows;
    return status;
}

etl_status etlheap_histogram_make(const etlheap_result *result, const etlheap_query *query,
                                  etlheap_histogram_by by, const etlheap_histogram **out,
                                  etl_error *err)
{
    const etlheap_question question = {
        .size = sizeof question, .kind = ETLHEAP_ASK_HISTOGRAM, .query = query, .by = by
    };
    etlheap_answer answer;
    const etl_status status = etlheap_ask(result, &question, 1, &answer, err);
    *out = answer.histogram;
    return status;
}

etl_status etlheap_find_peaks(const etlheap_result *result, const etlheap_query *query,
                              etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY], etl_error *err)
{
    const etlheap_question question = { .size = sizeof question,
                                        .kind = ETLHEAP_ASK_PEAKS,
                                        .query = query };
    etlheap_answer answer;
    const etl_status status = etlheap_ask(result, &question, 1, &answer, err);
    memcpy(peaks, answer.peaks, sizeof answer.peaks);
    return status;
}
