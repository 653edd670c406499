/*
 * kept_input.h - one input of `etlheap view`: opened once, asked many times.
 *
 * Threads: one thread opens, reads, names and closes an input. Any thread may ask for its state,
 * and, once that is ETLHEAP_VIEWED_READY, for its result.
 */
#ifndef CLI_VIEW_KEPT_INPUT_H
#define CLI_VIEW_KEPT_INPUT_H

#include "cli/inputs.h"
#include "cli/symbol_source.h"
#include "session.h"

/* Start from {0}. Must not move while it is open. */
typedef struct view_kept {
    const char *name;    /* the first word of the input */
    cli_options options; /* those of the session, for this input only; all is borrowed */
    cli_served work;     /* how far it is read, and whether to stop */
    cli_served_progress progress;
    cli_guard guard;
    cli_inputs inputs; /* open until the result no longer needs them */
    bool is_open;
    etlheap_result *result, *inventory;
    etlheap_text message; /* why it is unreadable */
    u32 is_torn; /* atomic: the file was cut off after it was mapped, so answers may be wrong */
    u32 state, names; /* etlheap_viewed_..., with atomic access */
    cli_symbols symbols[VIEW_SLOTS];
} view_kept;

/* Opens a file that is as it is. Others wait for view_kept_read. The options and words are borrowed
 * until the input is closed; a set flag cancels what is going on. Returns an exit status, after a
 * message. Close *out in any case. */
int view_kept_open(const cli_options *options, cli_words words, const u32 *cancel, view_kept *out);

/* Unpacks and reads what was not opened. A failure is noted in `message`, and in the state. */
void view_kept_read(view_kept *input);

/* Looks up the names of all stacks, for each slot, if the input is ready. */
void view_kept_name(view_kept *input);

etlheap_viewed_state view_kept_state(const view_kept *input);
etlheap_viewed_names view_kept_names(const view_kept *input);

/* From now on the input is one that failed. Any thread. */
void view_kept_tear(view_kept *input);

/* Why an input failed. */
const char *view_kept_message(const view_kept *input);

void view_kept_close(view_kept *input);

#endif
