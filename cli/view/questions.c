/*
 * questions.c - who is answered next.
 *
 * In: questions of clients, in the order in which they come. Out: answers, each on one of
 * VIEW_SLOTS threads.
 *
 * Start-time fair queueing: a question's turn is the turn that is being served, or one more than
 * that of the last waiting question of the same tab, whichever is later. The smallest turn is
 * served first, the older question if turns are equal. So with tabs A and B, where A asked first:
 *
 *     arrives   A1 A2 A3 A4 B1 B2        turns   0 1 2 3   0 1        served   A1 B1 A2 B2 A3 A4
 *
 * The parts at the top of a page come first among those of their tab, not of all tabs: such a
 * question takes the turn of the tab's first other one, which takes the next one's, and so on. When
 * a waiting question is cancelled, those behind it move up, so that a tab that often changes its
 * mind does not fall behind the others.
 *
 * Invariant: a question is in the list, in one slot, or done, and moves under the lock. Whoever
 * takes it out of the list or the slot calls `done`, after which nothing here touches it.
 */
#include "questions.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct view_worker {
    view_questions *questions;
    pthread_t thread;
    bool is_started;
    view_asked *asked; /* what it answers; NULL: nothing */
} view_worker;

struct view_questions {
    view_answer_fn *answer;
    void *context;
    view_done_fn *done;
    pthread_mutex_t lock;
    pthread_cond_t more;
    view_asked *first; /* those that wait, the oldest first */
    u32 waiting, unsent;
    u64 unsent_bytes;
    u64 turn; /* of the question that was taken last */
    bool is_stopped;
    view_worker workers[VIEW_SLOTS];
};

static void *work(void *user);

view_questions *view_questions_open(view_answer_fn *answer, void *context, view_done_fn *done)
{
    view_questions *const questions = calloc(1, sizeof *questions);
    if (!questions)
        return NULL;
    questions->answer = answer;
    questions->context = context;
    questions->done = done;
    bool is_started = pthread_mutex_init(&questions->lock, NULL) == 0;
    is_started = pthread_cond_init(&questions->more, NULL) == 0 && is_started;
    for (u32 i = 0; i < VIEW_SLOTS && is_started; i++) {
        view_worker *const worker = &questions->workers[i];
        worker->questions = questions;
        worker->is_started = pthread_create(&worker->thread, NULL, work, worker) == 0;
        is_started = worker->is_started;
    }
    if (is_started)
        return questions;
    view_questions_close(questions);
    return NULL;
}

/* --- answering ------------------------------------------------------------------ */

/* Takes the question whose turn is next out of the list. */
static view_asked *take_next(view_questions *questions)
{
    view_asked **best = &questions->first;
    for (view_asked **at = &questions->first; *at; at = &(*at)->next) {
        if ((*at)->turn < (*best)->turn)
            best = at;
    }
    view_asked *const asked = *best;
    *best = asked->next;
    questions->waiting--;
    questions->turn = etl_max_u64(questions->turn, asked->turn);
    return asked;
}

static void answer(view_worker *worker, view_asked *asked)
{
    const view_questions *const questions = worker->questions;
    const view_question question = {
        .command = asked->command,
        .pairs = asked->pairs,
        .pair_count = asked->pair_count,
        .cancel = &asked->cancel,
        .slot = (u32)(worker - questions->workers),
    };
    questions->answer(questions->context, &question, &asked->answer);
}

static bool can_begin(const view_questions *questions)
{
    return questions->first && questions->unsent_bytes <= VIEW_UNSENT_MAX;
}

static void note_unsent(view_questions *questions, const view_asked *asked)
{
    questions->unsent++;
    questions->unsent_bytes += asked->answer.body.size;
}

void view_questions_sent(view_questions *questions, size_t bytes)
{
    pthread_mutex_lock(&questions->lock);
    questions->unsent--;
    questions->unsent_bytes -= bytes;
    pthread_cond_broadcast(&questions->more);
    pthread_mutex_unlock(&questions->lock);
}

static void *work(void *user)
{
    view_worker *const worker = user;
    view_questions *const questions = worker->questions;
    pthread_mutex_lock(&questions->lock);
    for (;;) {
        while (!can_begin(questions) && !questions->is_stopped)
            pthread_cond_wait(&questions->more, &questions->lock);
        if (questions->is_stopped)
            break;
        view_asked *const asked = worker->asked = take_next(questions);
        pthread_mutex_unlock(&questions->lock);
        answer(worker, asked);
        pthread_mutex_lock(&questions->lock);
        worker->asked = NULL;
        note_unsent(questions, asked);
        pthread_mutex_unlock(&questions->lock);
        questions->done(asked);
        pthread_mutex_lock(&questions->lock);
    }
    pthread_mutex_unlock(&questions->lock);
    return NULL;
}

/* --- cancelling ----------------------------------------------------------------- */

typedef bool is_meant_fn(const view_asked *asked, const void *by);

static void move_up(view_questions *questions, const view_asked *gone)
{
    for (view_asked *asked = questions->first; asked; asked = asked->next)
        asked->turn -= strcmp(asked->tab, gone->tab) == 0 && asked->turn > gone->turn;
}

/* Cancels all that are meant. The lock is held. */
static void cancel(view_questions *questions, is_meant_fn *is_meant, const void *by)
{
    for (u32 i = 0; i < VIEW_SLOTS; i++) {
        view_asked *const asked = questions->workers[i].asked;
        if (asked && is_meant(asked, by))
            __atomic_store_n(&asked->cancel, 1, __ATOMIC_RELAXED);
    }
    for (view_asked **at = &questions->first; *at;) {
        view_asked *const asked = *at;
        if (!is_meant(asked, by)) {
            at = &asked->next;
            continue;
        }
        *at = asked->next;
        questions->waiting--;
        move_up(questions, asked);
        asked->answer.outcome = VIEW_CANCELLED;
        note_unsent(questions, asked);
        questions->done(asked);
    }
}

static bool is_older(const view_asked *asked, const void *by)
{
    const view_asked *const newer = by;
    return newer->part[0] != '\0' && strcmp(asked->tab, newer->tab) == 0 &&
           strcmp(asked->part, newer->part) == 0;
}

static bool is_any(const view_asked *asked, const void *by)
{
    (void)asked;
    (void)by;
    return true;
}

typedef struct left_test {
    bool (*has_left)(const void *client);
} left_test;

static bool is_left(const view_asked *asked, const void *by)
{
    const left_test *const test = by;
    return test->has_left(asked->client);
}

u32 view_questions_tend(view_questions *questions, bool (*has_left)(const void *client))
{
    const left_test test = { has_left };
    pthread_mutex_lock(&questions->lock);
    cancel(questions, is_left, &test);
    u32 busy = questions->waiting + questions->unsent;
    for (u32 i = 0; i < VIEW_SLOTS; i++)
        busy += questions->workers[i].asked != NULL;
    pthread_mutex_unlock(&questions->lock);
    return busy;
}

/* --- asking --------------------------------------------------------------------- */

/* "curve", "table-0", "flame.3": a page numbers the questions of a part. */
static bool is_first_part(const char *part)
{
    static const char *const names[] = { "curve", "table", "flame" };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        const size_t size = strlen(names[i]);
        if (strncmp(part, names[i], size) == 0 && strchr("-.", part[size]))
            return true;
    }
    return false;
}

static void give_turn(view_questions *questions, view_asked *asked)
{
    asked->turn = questions->turn;
    for (const view_asked *other = questions->first; other; other = other->next) {
        if (strcmp(other->tab, asked->tab) == 0)
            asked->turn = etl_max_u64(asked->turn, other->turn + 1);
    }
    if (!is_first_part(asked->part))
        return;
    const u64 last = asked->turn;
    view_asked *before = asked;
    for (view_asked *other = questions->first; other; other = other->next) {
        if (strcmp(other->tab, asked->tab) == 0 && !is_first_part(other->part)) {
            before->turn = other->turn;
            before = other;
        }
    }
    before->turn = last;
}

bool view_questions_add(view_questions *questions, view_asked *asked)
{
    pthread_mutex_lock(&questions->lock);
    cancel(questions, is_older, asked);
    const bool has_room = !questions->is_stopped && questions->waiting < VIEW_WAITING_MAX;
    if (has_room) {
        view_asked **end = &questions->first;
        give_turn(questions, asked);
        while (*end)
            end = &(*end)->next;
        asked->next = NULL;
        *end = asked;
        questions->waiting++;
        pthread_cond_signal(&questions->more);
    }
    pthread_mutex_unlock(&questions->lock);
    return has_room;
}

void view_questions_stop(view_questions *questions)
{
    pthread_mutex_lock(&questions->lock);
    questions->is_stopped = true;
    cancel(questions, is_any, NULL);
    pthread_cond_broadcast(&questions->more);
    pthread_mutex_unlock(&questions->lock);
    for (u32 i = 0; i < VIEW_SLOTS; i++) {
        view_worker *const worker = &questions->workers[i];
        if (worker->is_started)
            (void)pthread_join(worker->thread, NULL);
        worker->is_started = false;
    }
}

void view_questions_close(view_questions *questions)
{
    if (!questions)
        return;
    view_questions_stop(questions);
    (void)pthread_cond_destroy(&questions->more);
    (void)pthread_mutex_destroy(&questions->lock);
    free(questions);
}
