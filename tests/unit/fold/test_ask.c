/*
 * Goal: questions asked together have the answers that each has alone, whatever they share, from
 * a store and from lifetimes in memory; and either all are answered or none, but for optional ones.
 * Method: random workloads; sets of questions of every kind with the windows and filters of
 * walk_world.h, in turns of one and of three threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "answer_check.h"
#include "walk_world.h"

#define TOGETHER 10u

/* A question and what it borrows. */
typedef struct own_question {
    walk_query walk;
    etlheap_windows_options windows;
    etlheap_lifetimes_options lifetimes;
    etlheap_map_options map;
} own_question;

static void make_question(const walk_world *f, u32 number, own_question *own, etlheap_question *out)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_STACK, ETLHEAP_KEY_HEAP, ETLHEAP_KEY_PROCESS,
                                        ETLHEAP_KEY_SITE };
    static const etlheap_question_kind kinds[] = { ETLHEAP_ASK_TABLE,     ETLHEAP_ASK_WINDOWS,
                                                   ETLHEAP_ASK_HISTOGRAM, ETLHEAP_ASK_PEAKS,
                                                   ETLHEAP_ASK_LIFETIMES, ETLHEAP_ASK_TABLE,
                                                   ETLHEAP_ASK_SUSPECTS,  ETLHEAP_ASK_MAP };
    static const etlheap_lifetime_column columns[] = { ETLHEAP_LIFETIME_SIZE,
                                                       ETLHEAP_LIFETIME_ALLOC_TIME,
                                                       ETLHEAP_LIFETIME_LIFETIME };
    walk_world_ask(f, number % WALK_QUERIES, &own->walk);
    etlheap_query *const query = &own->walk.query;
    const etlheap_question_kind kind = kinds[number % ETL_COUNT_OF(kinds)];
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by[1] = keys[number % ETL_COUNT_OF(keys)];
    query->group_by_count = 2;
    query->sort = ETLHEAP_MEASURE_PEAK_SIZE;
    query->jobs = number % 2 == 0 ? 1 : 3;
    query->growth = kind == ETLHEAP_ASK_TABLE && number % 3 == 0;
    query->lifetime_ranks = kind == ETLHEAP_ASK_TABLE && number % 4 == 0;
    if (kind == ETLHEAP_ASK_TABLE && number % 7 == 0 && !query->growth)
        query->group_by[query->group_by_count++] = ETLHEAP_KEY_TYPE;
    if (kind == ETLHEAP_ASK_WINDOWS || kind == ETLHEAP_ASK_SUSPECTS || query->growth)
        query->types = 0;
    own->windows = (etlheap_windows_options){ .size = sizeof own->windows,
                                              .every_ns = (1 + number % 5) * 7 * MS,
                                              .with_whole = number % 3 == 0 };
    own->lifetimes = (etlheap_lifetimes_options){ .size = sizeof own->lifetimes,
                                                  .sort = columns[number / 6 % 3],
                                                  .sort_descending = number / 6 % 4 < 3,
                                                  .top = number / 6 % 5 * 7,
                                                  .by_address = number / 6 % 6 == 5,
                                                  .address_last = UINT64_MAX / 2 };
    own->map = (etlheap_map_options){ .size = sizeof own->map };
    *out = (etlheap_question){ .size = sizeof *out,
                               .kind = kind,
                               .map = &own->map,
                               .query = query,
                               .windows = &own->windows,
                               .by = (etlheap_histogram_by)(number / 6 % 2),
                               .lifetimes = &own->lifetimes };
}

/* A walk has a way of its own where it is asked for alone. */
static etl_status answer_alone(const etlheap_result *result, const etlheap_question *question,
                               etlheap_answer *out)
{
    if (question->kind != ETLHEAP_ASK_LIFETIMES)
        return etlheap_ask(result, question, 1, out, NULL);
    *out = (etlheap_answer){ .table = NULL };
    return etlheap_lifetimes_open(result, question->query, question->lifetimes, &out->lifetimes,
                                  NULL);
}

/* Questions from `first` on, all at once and one by one. */
static void compare(const walk_world *f, const etlheap_result *result, u32 first)
{
    own_question own[TOGETHER];
    etlheap_question questions[TOGETHER];
    etlheap_answer together[TOGETHER];
    u32 kinds = 0;
    for (u32 i = 0; i < TOGETHER; i++) {
        make_question(f, first + i, &own[i], &questions[i]);
        kinds |= 1u << questions[i].kind;
    }
    kinds |= 1u << ETLHEAP_ASK_EVENTS; /* has no answer */
    assert_int_equal(kinds, (1u << ETLHEAP_ASK_COUNT) - 1);
    assert_int_equal(etlheap_ask(result, questions, TOGETHER, together, NULL), ETL_OK);
    for (u32 i = 0; i < TOGETHER; i++) {
        etlheap_answer alone;
        assert_int_equal(answer_alone(result, &questions[i], &alone), ETL_OK);
        walk_check_same(answer_check_text(&alone), answer_check_text(&together[i]));
        etlheap_answers_free(&alone, 1);
    }
    etlheap_answers_free(together, TOGETHER);
    assert_null(together[0].table);
}

static void together_is_as_alone(void **state)
{
    walk_world *const f = *state;
    for (u32 session = 0; session < WALK_SESSIONS; session++) {
        walk_world_make(f, session, 71 + session);
        for (u32 first = session; first + TOGETHER <= WALK_QUERIES; first += TOGETHER) {
            compare(f, f->store, first);
            compare(f, f->rows, first);
        }
        walk_world_forget(f);
    }
}

/* The same questions with the same filter and window: what a page asks. */
static void one_filter_for_all_is_as_alone(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 5);
    for (u32 filter = 0; filter < WALK_QUERIES; filter += 4) {
        own_question own[TOGETHER];
        etlheap_question questions[TOGETHER];
        etlheap_answer together[TOGETHER], alone;
        walk_query asked;
        walk_world_ask(f, filter, &asked);
        asked.query.types = 0;
        for (u32 i = 0; i < TOGETHER; i++) {
            make_question(f, i, &own[i], &questions[i]);
            etlheap_query query = asked.query;
            memcpy(query.group_by, own[i].walk.query.group_by, sizeof query.group_by);
            query.group_by_count = own[i].walk.query.group_by_count;
            if (questions[i].kind == ETLHEAP_ASK_MAP && query.kinds == 0)
                query.kinds = ETLHEAP_KINDS_DEFAULT; /* only the store has reservations */
            own[i].walk.query = query;
        }
        assert_int_equal(etlheap_ask(f->store, questions, TOGETHER, together, NULL), ETL_OK);
        for (u32 i = 0; i < TOGETHER; i++) {
            assert_int_equal(answer_alone(f->rows, &questions[i], &alone), ETL_OK);
            walk_check_same(answer_check_text(&alone), answer_check_text(&together[i]));
            etlheap_answers_free(&alone, 1);
        }
        etlheap_answers_free(together, TOGETHER);
    }
}

static void all_are_answered_or_none(void **state)
{
    walk_world *const f = *state;
    own_question own[TOGETHER];
    etlheap_question questions[TOGETHER];
    etlheap_answer answers[TOGETHER];
    etl_error err;
    walk_world_make(f, 0, 9);
    for (u32 i = 0; i < TOGETHER; i++)
        make_question(f, i, &own[i], &questions[i]);
    questions[TOGETHER - 1].kind = ETLHEAP_ASK_EVENTS;
    assert_int_equal(etlheap_ask(f->store, questions, TOGETHER, answers, &err), ETL_ERR_ARGUMENT);
    assert_string_equal(err.message, "unknown kind of question");
    questions[TOGETHER - 1].kind = ETLHEAP_ASK_HISTOGRAM;
    questions[TOGETHER - 1].by = ETLHEAP_HISTOGRAM_BY_COUNT;
    assert_int_equal(etlheap_ask(f->store, questions, TOGETHER, answers, &err), ETL_ERR_ARGUMENT);
    assert_string_equal(err.message, "unknown kind of histogram");
    questions[TOGETHER - 1].kind = (etlheap_question_kind)0x80000000u;
    assert_int_equal(etlheap_ask(f->store, questions, TOGETHER, answers, &err), ETL_ERR_ARGUMENT);
    for (u32 i = 0; i < TOGETHER; i++)
        assert_true(answers[i].table == NULL && answers[i].windows == NULL &&
                    answers[i].histogram == NULL);
    assert_int_equal(etlheap_ask(f->store, NULL, 0, NULL, &err), ETL_OK);
}

/* Each question in turn is refused: it alone has no answer if it is optional. */
static void an_optional_question_may_be_refused(void **state)
{
    walk_world *const f = *state;
    own_question own[TOGETHER];
    etlheap_question questions[TOGETHER];
    etlheap_answer answers[TOGETHER], alone;
    etl_error err;
    walk_world_make(f, 0, 9);
    for (u32 refused = 0; refused < TOGETHER; refused++) {
        const etlheap_result *const result = refused % 2 == 0 ? f->store : f->rows;
        for (u32 i = 0; i < TOGETHER; i++) {
            make_question(f, i, &own[i], &questions[i]);
            questions[i].optional = i % 3 == 0 || i == refused;
        }
        own[refused].walk.query.kinds = 1u << 31;
        err = (etl_error){ .status = ETL_OK };
        assert_int_equal(etlheap_ask(result, questions, TOGETHER, answers, &err), ETL_OK);
        assert_int_equal(err.status, ETL_OK);
        const etlheap_answer nothing = { .table = NULL };
        walk_check_same(answer_check_text(&nothing), answer_check_text(&answers[refused]));
        for (u32 i = 0; i < TOGETHER; i++) {
            if (i == refused)
                continue;
            assert_int_equal(answer_alone(result, &questions[i], &alone), ETL_OK);
            walk_check_same(answer_check_text(&alone), answer_check_text(&answers[i]));
            etlheap_answers_free(&alone, 1);
        }
        etlheap_answers_free(answers, TOGETHER);
        questions[refused].optional = false;
        assert_int_equal(etlheap_ask(result, questions, TOGETHER, answers, &err), ETL_ERR_ARGUMENT);
    }
}

/* Of a program that was compiled with more fields, two in a row. */
typedef struct newer_question {
    etlheap_question known;
    u64 unknown;
} newer_question;

static etl_status ask_newer(const walk_world *f, newer_question *both, etl_error *err)
{
    etlheap_answer answers[2];
    const etlheap_options options = { .size = sizeof options,
                                      .questions = &both[0].known,
                                      .question_count = 2 };
    etlheap_result *result = NULL;
    const etl_status planned = etlheap_analyze((etl_trace *const *)f->traces.at, f->traces.names,
                                               f->traces.count, &options, &result, err);
    const etl_status status = etlheap_ask(f->store, &both[0].known, 2, answers, err);
    assert_int_equal(planned, status);
    assert_true(status != ETL_OK || (answers[0].table != NULL && answers[1].windows != NULL));
    etlheap_answers_free(answers, 2);
    etlheap_result_free(result);
    return status;
}

static void questions_are_read_by_their_size(void **state)
{
    walk_world *const f = *state;
    static const size_t none[] = { 0, sizeof(void *), SIZE_MAX };
    newer_question both[2];
    etl_error err;
    walk_world_make(f, 0, 9);
    own_question own[2];
    make_question(f, 8, &own[0], &both[0].known);
    make_question(f, 1, &own[1], &both[1].known);
    both[0].known.size = both[1].known.size = sizeof(newer_question);
    both[0].unknown = both[1].unknown = 0;
    assert_int_equal(ask_newer(f, both, &err), ETL_OK);
    both[1].unknown = 1;
    assert_int_equal(ask_newer(f, both, &err), ETL_ERR_UNSUPPORTED);
    both[1].unknown = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(none); i++) {
        both[0].known.size = none[i];
        assert_int_equal(ask_newer(f, both, &err), ETL_ERR_ARGUMENT);
    }
}

/* A group would be several, or have the generation of other blocks. */
static void suspects_have_no_keys_of_single_blocks(void **state)
{
    walk_world *const f = *state;
    static const etlheap_key keys[] = { ETLHEAP_KEY_TYPE,        ETLHEAP_KEY_FREE_TYPE,
                                        ETLHEAP_KEY_THREAD,      ETLHEAP_KEY_SIZE_CLASS,
                                        ETLHEAP_KEY_THREAD_NAME, ETLHEAP_KEY_GENERATION,
                                        ETLHEAP_KEY_FREE_STACK,  ETLHEAP_KEY_FREE_THREAD,
                                        ETLHEAP_KEY_FREE_SITE,   ETLHEAP_KEY_FREE_MODULE };
    walk_world_make(f, 0, 9);
    for (size_t i = 0; i < ETL_COUNT_OF(keys); i++) {
        etlheap_query query = etlheap_query_default();
        query.group_by[0] = keys[i];
        query.group_by_count = 1;
        const etlheap_question question = { .size = sizeof question,
                                            .kind = ETLHEAP_ASK_SUSPECTS,
                                            .query = &query };
        etlheap_answer answer;
        assert_int_equal(etlheap_ask(f->store, &question, 1, &answer, NULL), ETL_ERR_ARGUMENT);
        assert_int_equal(etlheap_ask(f->rows, &question, 1, &answer, NULL), ETL_ERR_ARGUMENT);
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, walk_world_open, walk_world_close)
    const struct CMUnitTest tests[] = {
        RULE(together_is_as_alone),
        RULE(one_filter_for_all_is_as_alone),
        RULE(all_are_answered_or_none),
        RULE(an_optional_question_may_be_refused),
        RULE(questions_are_read_by_their_size),
        RULE(suspects_have_no_keys_of_single_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
