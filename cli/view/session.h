/*
 * session.h - inputs that stay open, and the answers of commands about them.
 *
 * `etlheap view` asks many questions about the same inputs. A session opens each input once: a
 * store is mapped, traces are first written to a temporary store, on a thread of the session. A
 * question is a command with options, as on the command line, and is answered by that command's own
 * code; only its output and its messages go to memory. So an answer has the bytes that the command
 * prints.
 */
#ifndef CLI_VIEW_SESSION_H
#define CLI_VIEW_SESSION_H

#include "cli/options/command_list.h"
#include "cli/options/options.h"

typedef struct view_session view_session;

/* How many questions may be answered at once: each has a slot of its own. */
#define VIEW_SLOTS 2u

/* An option of a question: its name without dashes, and its value, "" for flags. Borrowed. */
typedef struct view_pair {
    const char *name, *value;
} view_pair;

/* A question. `cancel` may be set by any thread, with an atomic store: the answer is then not
 * needed. Only one question at a time may have a slot. */
typedef struct view_question {
    const char *command;    /* "report" */
    const view_pair *pairs; /* also `input`, the number of an input, 1 if not given */
    u32 pair_count;
    const u32 *cancel;
    u32 slot; /* below VIEW_SLOTS */
} view_question;

/* Why there is an answer, or none. */
typedef enum view_outcome {
    VIEW_ANSWERED,  /* `body` has what the command prints */
    VIEW_WRONG,     /* the question is wrong, or not served; `message` says why */
    VIEW_UNKNOWN,   /* no command of this name is served */
    VIEW_FAILED,    /* these inputs cannot answer it */
    VIEW_NOT_READY, /* an input is still being read */
    VIEW_CANCELLED
} view_outcome;

typedef struct view_answer {
    view_outcome outcome;
    int exit_status;          /* of the command */
    etlheap_text body;        /* the output */
    etlheap_text message;     /* what the command would write to stderr, a line each */
    const char *content_type; /* of the output */
    bool symbols_pending;     /* names are still being looked up */
} view_answer;

/* Opens the inputs of `etlheap view`, and begins to read traces. The options are borrowed until the
 * session is closed. Returns an exit status, after a message. Close *out in any case. */
int view_session_open(const cli_options *options, const cli_command_list *commands,
                      view_session **out);

/* Cancels what is going on, waits for it, and removes temporary files. NULL is allowed. */
void view_session_close(view_session *session);

/* Answers a question. Any thread. Free the answer in any case. */
void view_session_ask(view_session *session, const view_question *question, view_answer *out);
void view_answer_free(view_answer *answer);

/* Writes the document `etlheap-view-1`: the inputs, and how far each was read. Any thread. False if
 * memory runs out. */
bool view_session_describe(view_session *session, etlheap_text *out);

#endif
