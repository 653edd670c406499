/*
 * questions.h - who is answered next.
 *
 *     request ──▶ waiting ──▶ one of VIEW_SLOTS threads ──▶ done ──▶ reply
 *
 * Tabs take turns: one that asks a hundred questions does not delay another's first. A page asks
 * again on every change, so a new question cancels the older one of the same tab and part.
 */
#ifndef CLI_VIEW_QUESTIONS_H
#define CLI_VIEW_QUESTIONS_H

#include "session.h"

/* How many questions may wait. A page asks some twenty at once. */
#define VIEW_WAITING_MAX 128u

/* Bytes of answers that clients have not received yet. Beyond them, no question is begun, so that
 * clients that read slowly cost no more memory. */
#define VIEW_UNSENT_MAX ((u64)128 << 20)

/* A question of a client. Start from {0} and set the first members, which are borrowed until it is
 * done. The rest belongs to the queue, and from then on to who asked. */
typedef struct view_asked {
    const char *command;
    const view_pair *pairs;
    u32 pair_count;
    const char *tab, *part; /* "" if not given */
    void *client;

    view_answer answer;
    u32 cancel;
    u64 turn;
    struct view_asked *next;
} view_asked;

typedef void view_answer_fn(void *context, const view_question *question, view_answer *out);
typedef void view_done_fn(view_asked *asked);

typedef struct view_questions view_questions;

/* Starts the threads. `answer` runs on them; `done` runs on any thread, once for each question that
 * was added, and may free it. NULL if memory or threads run out. */
view_questions *view_questions_open(view_answer_fn *answer, void *context, view_done_fn *done);

/* Cancels all questions, and waits until each is done. Later ones are refused. */
void view_questions_stop(view_questions *questions);
void view_questions_close(view_questions *questions); /* stopped or not; NULL is allowed */

/* Puts a question behind those that wait. False if too many wait, or if it was stopped: `done` is
 * then not called. */
bool view_questions_add(view_questions *questions, view_asked *asked);

/* Call it when an answer of a question that is done was sent, or is dropped, with its size. */
void view_questions_sent(view_questions *questions, size_t bytes);

/* Cancels the questions whose client has left. Returns how many are waiting, or answered, or have
 * an answer that is being sent. */
u32 view_questions_tend(view_questions *questions, bool (*has_left)(const void *client));

#endif
