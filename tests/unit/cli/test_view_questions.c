/*
 * Goal: tabs take turns, and a question is cancelled when it is no use: each is done exactly once.
 * Method: answers that wait until the test lets one go, so that the order is the queue's alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/view/questions.h"

#include <pthread.h>
#include <time.h>

#define ASKED_MAX 400

/* What the answering threads and the test share. */
typedef struct bench {
    pthread_mutex_t lock;
    u32 permits; /* so many answers may go on */
    u32 running;
    const char *order[ASKED_MAX]; /* commands, as they were begun */
    u32 begun;
    u32 done;
} bench;

static bench shared = { .lock = PTHREAD_MUTEX_INITIALIZER };
static view_asked asked[ASKED_MAX];
static u32 asked_count;

static u32 locked(u32 *number)
{
    pthread_mutex_lock(&shared.lock);
    const u32 value = *number;
    pthread_mutex_unlock(&shared.lock);
    return value;
}

static void pause_shortly(void)
{
    const struct timespec time = { .tv_nsec = 1000000 };
    (void)nanosleep(&time, NULL);
}

/* At most ten seconds or so: a queue that has stopped must not stop the test. */
static void await(u32 *number, u32 wanted)
{
    for (u32 i = 0; i < 10000 && locked(number) < wanted; i++)
        pause_shortly();
    assert_int_equal(locked(number), wanted);
}

static u32 body_bytes; /* of each answer, which has none in truth */

static void answer(void *context, const view_question *question, view_answer *out)
{
    (void)context;
    pthread_mutex_lock(&shared.lock);
    shared.order[shared.begun++] = question->command;
    shared.running++;
    while (shared.permits == 0 && !__atomic_load_n(question->cancel, __ATOMIC_RELAXED)) {
        pthread_mutex_unlock(&shared.lock);
        pause_shortly();
        pthread_mutex_lock(&shared.lock);
    }
    shared.running--;
    out->body.size = body_bytes;
    shared.permits -= shared.permits > 0 && !__atomic_load_n(question->cancel, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&shared.lock);
    out->outcome =
        __atomic_load_n(question->cancel, __ATOMIC_RELAXED) ? VIEW_CANCELLED : VIEW_ANSWERED;
}

static void done(view_asked *one)
{
    pthread_mutex_lock(&shared.lock);
    shared.done++;
    *(u32 *)one->client += 1;
    pthread_mutex_unlock(&shared.lock);
}

static u32 times_done[ASKED_MAX];

static view_asked *make(const char *command, const char *tab, const char *part)
{
    view_asked *const one = &asked[asked_count];
    *one = (view_asked){
        .command = command, .tab = tab, .part = part, .client = &times_done[asked_count]
    };
    asked_count++;
    return one;
}

static view_questions *start(void)
{
    memset(times_done, 0, sizeof times_done);
    asked_count = shared.begun = shared.done = 0;
    shared.permits = 0;
    view_questions *const questions = view_questions_open(answer, NULL, done);
    assert_non_null(questions);
    return questions;
}

/* Both threads are busy with questions of nobody else. */
static view_questions *start_busy(void)
{
    view_questions *const questions = start();
    for (u32 i = 0; i < VIEW_SLOTS; i++)
        assert_true(view_questions_add(questions, make("busy", "busy", "")));
    await(&shared.running, VIEW_SLOTS);
    return questions;
}

static void let_go(u32 count)
{
    pthread_mutex_lock(&shared.lock);
    shared.permits = count;
    pthread_mutex_unlock(&shared.lock);
}

static void each_is_done_once(void)
{
    for (u32 i = 0; i < asked_count; i++)
        assert_int_equal(times_done[i], 1);
}

static bool left_if_marked(const void *client)
{
    return *(const u32 *)client == 77;
}

static bool nobody_left(const void *client)
{
    (void)client;
    return false;
}

static void tabs_take_turns(void **state)
{
    static const char *const added[] = { "a1", "a2", "a3", "a4", "b1", "b2" };
    static const char *const wanted[] = { "a1", "b1", "a2", "b2", "a3", "a4" };
    (void)state;
    view_questions *const questions = start_busy();
    for (u32 i = 0; i < ETL_COUNT_OF(added); i++)
        assert_true(
            view_questions_add(questions, make(added[i], added[i][0] == 'a' ? "a" : "b", "")));
    assert_int_equal(view_questions_tend(questions, nobody_left), VIEW_SLOTS + ETL_COUNT_OF(added));
    for (u32 i = 0; i < ETL_COUNT_OF(wanted); i++) {
        let_go(1);
        await(&shared.begun, VIEW_SLOTS + i + 1);
        assert_string_equal(shared.order[VIEW_SLOTS + i], wanted[i]);
    }
    let_go(VIEW_SLOTS);
    await(&shared.done, asked_count);
    view_questions_close(questions);
    each_is_done_once();
}

/* Lets one question after the other go, behind the two that keep the threads busy. */
static void order_is(const char *const *wanted, size_t count)
{
    for (u32 i = 0; i < count; i++) {
        let_go(1);
        await(&shared.begun, VIEW_SLOTS + i + 1);
        assert_string_equal(shared.order[VIEW_SLOTS + i], wanted[i]);
    }
}

/* Those at the top of the page, whatever number the page gives their questions; no other tab waits
 * longer for it. */
static void some_parts_of_a_tab_come_first(void **state)
{
    static const char *const parts[] = { "suspects-0", "curves", "table.12", "churn-1",
                                         "curve",      "",       "flame-0" };
    static const char *const wanted[] = { "table.12",   "b",      "curve",   "b", "flame-0",
                                          "suspects-0", "curves", "churn-1", "" };
    (void)state;
    view_questions *const questions = start_busy();
    for (u32 i = 0; i < ETL_COUNT_OF(parts); i++)
        assert_true(view_questions_add(questions, make(parts[i], "a", parts[i])));
    assert_true(view_questions_add(questions, make("b", "b", "churn-0")));
    assert_true(view_questions_add(questions, make("b", "b", "churn-1")));
    order_is(wanted, ETL_COUNT_OF(wanted));
    view_questions_close(questions);
    each_is_done_once();
}

static void cancelled_questions_take_no_turn(void **state)
{
    static const char *const parts[] = { "churn-0", "table-0", "frees-0" };
    static const char *const wanted[] = { "table-0", "b", "churn-0", "b", "frees-0", "b" };
    (void)state;
    view_questions *const questions = start_busy();
    for (u32 i = 0; i < 5 * ETL_COUNT_OF(parts); i++) {
        const char *const part = parts[i % ETL_COUNT_OF(parts)];
        assert_true(view_questions_add(questions, make(part, "a", part)));
    }
    for (u32 i = 0; i < ETL_COUNT_OF(parts); i++)
        assert_true(view_questions_add(questions, make("b", "b", "")));
    order_is(wanted, ETL_COUNT_OF(wanted));
    view_questions_close(questions);
    each_is_done_once();
}

/* A tab that asked much before has no debt: only who waits counts. */
static void a_new_tab_comes_after_those_that_wait_once(void **state)
{
    (void)state;
    view_questions *const questions = start_busy();
    assert_true(view_questions_add(questions, make("a1", "a", "")));
    assert_true(view_questions_add(questions, make("b1", "b", "")));
    let_go(1);
    await(&shared.begun, VIEW_SLOTS + 1);
    assert_true(view_questions_add(questions, make("a2", "a", "")));
    assert_true(view_questions_add(questions, make("c1", "c", "")));
    static const char *const wanted[] = { "a1", "b1", "a2", "c1" };
    for (u32 i = 1; i < ETL_COUNT_OF(wanted); i++) {
        let_go(1);
        await(&shared.begun, VIEW_SLOTS + i + 1);
    }
    for (u32 i = 0; i < ETL_COUNT_OF(wanted); i++)
        assert_string_equal(shared.order[VIEW_SLOTS + i], wanted[i]);
    view_questions_close(questions);
    each_is_done_once();
}

static void a_newer_question_cancels_the_older(void **state)
{
    (void)state;
    view_questions *const questions = start();
    view_asked *const running = make("old", "t", "p");
    view_asked *const other_part = make("q", "t", "q");
    assert_true(view_questions_add(questions, running));
    assert_true(view_questions_add(questions, other_part));
    await(&shared.running, VIEW_SLOTS);
    view_asked *const waiting = make("old", "t", "p");
    assert_true(view_questions_add(questions, waiting));
    await(&shared.done, 1);
    assert_int_equal(running->answer.outcome, VIEW_CANCELLED);
    await(&shared.begun, 3);
    view_asked *const other_tab = make("u", "u", "p");
    view_asked *const newest = make("new", "t", "p");
    assert_true(view_questions_add(questions, other_tab));
    assert_true(view_questions_add(questions, newest));
    await(&shared.done, 2);
    assert_int_equal(waiting->answer.outcome, VIEW_CANCELLED);
    let_go(3);
    await(&shared.done, 5);
    assert_int_equal(other_part->answer.outcome, VIEW_ANSWERED);
    assert_int_equal(other_tab->answer.outcome, VIEW_ANSWERED);
    assert_int_equal(newest->answer.outcome, VIEW_ANSWERED);
    view_questions_close(questions);
    each_is_done_once();
}

/* Questions without a part are not of the same one. */
static void without_a_part_nothing_is_older(void **state)
{
    (void)state;
    view_questions *const questions = start_busy();
    view_asked *const first = make("a1", "a", "");
    assert_true(view_questions_add(questions, first));
    assert_true(view_questions_add(questions, make("a2", "a", "")));
    let_go(4);
    await(&shared.done, 4);
    assert_int_equal(first->answer.outcome, VIEW_ANSWERED);
    view_questions_close(questions);
    each_is_done_once();
}

/* Whoever reads slowly has what memory there is for answers. Others wait, and are not refused. */
static void answers_that_are_not_sent_hold_up_others(void **state)
{
    (void)state;
    view_questions *const questions = start_busy();
    body_bytes = VIEW_UNSENT_MAX;
    assert_true(view_questions_add(questions, make("next", "a", "")));
    let_go(1);
    await(&shared.begun, VIEW_SLOTS + 1); /* just as much as may be */
    let_go(VIEW_SLOTS);
    await(&shared.done, VIEW_SLOTS + 1);
    assert_true(view_questions_add(questions, make("held", "a", "")));
    for (u32 i = 0; i < 20; i++)
        pause_shortly();
    assert_int_equal(locked(&shared.begun), VIEW_SLOTS + 1);
    assert_int_equal(view_questions_tend(questions, nobody_left), VIEW_SLOTS + 2);
    view_questions_sent(questions, body_bytes);
    view_questions_sent(questions, body_bytes);
    await(&shared.begun, VIEW_SLOTS + 2);
    let_go(1);
    await(&shared.done, VIEW_SLOTS + 2);
    body_bytes = 0;
    view_questions_close(questions);
    each_is_done_once();
}

static void who_left_is_not_worked_for(void **state)
{
    (void)state;
    u32 marks[2] = { 77, 77 };
    view_questions *const questions = start_busy();
    view_asked *const gone = make("gone", "a", "");
    view_asked *const stays = make("stays", "a", "");
    gone->client = &marks[0];
    assert_true(view_questions_add(questions, gone));
    assert_true(view_questions_add(questions, stays));
    /* Those that are answered, the one that waits, and what is told to the one that left. */
    assert_int_equal(view_questions_tend(questions, left_if_marked), VIEW_SLOTS + 2);
    assert_int_equal(gone->answer.outcome, VIEW_CANCELLED);
    assert_int_equal(marks[0], 78);
    asked[0].client = &marks[1]; /* one that runs */
    (void)view_questions_tend(questions, left_if_marked);
    await(&shared.begun, VIEW_SLOTS + 1);
    assert_int_equal(asked[0].answer.outcome, VIEW_CANCELLED);
    assert_string_equal(shared.order[VIEW_SLOTS], "stays");
    view_questions_close(questions);
    assert_int_equal(marks[1], 78);
    assert_int_equal(times_done[3], 1);
}

static void too_many_are_refused(void **state)
{
    (void)state;
    view_questions *const questions = start_busy();
    for (u32 i = 0; i < VIEW_WAITING_MAX; i++)
        assert_true(view_questions_add(questions, make("w", "t", "")));
    view_asked *const late = make("late", "u", "");
    assert_false(view_questions_add(questions, late));
    const u32 refused = asked_count - 1;
    let_go(1);
    await(&shared.begun, VIEW_SLOTS + 1);
    assert_true(view_questions_add(questions, make("then", "u", "")));
    view_questions_stop(questions);
    assert_false(view_questions_add(questions, make("after", "u", "")));
    assert_int_equal(shared.done, VIEW_SLOTS + VIEW_WAITING_MAX + 1);
    assert_int_equal(times_done[refused], 0);
    assert_int_equal(times_done[asked_count - 1], 0);
    view_questions_close(questions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tabs_take_turns),
        cmocka_unit_test(some_parts_of_a_tab_come_first),
        cmocka_unit_test(cancelled_questions_take_no_turn),
        cmocka_unit_test(a_new_tab_comes_after_those_that_wait_once),
        cmocka_unit_test(a_newer_question_cancels_the_older),
        cmocka_unit_test(without_a_part_nothing_is_older),
        cmocka_unit_test(who_left_is_not_worked_for),
        cmocka_unit_test(answers_that_are_not_sent_hold_up_others),
        cmocka_unit_test(too_many_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
