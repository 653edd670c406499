/*
 * served.h - a question that no command line asks: where its answer goes, and the inputs that are
 * open already.
 *
 * `etlheap view` runs the code of commands for a browser. Everything that such a run takes from
 * outside, or leaves there, is here: a command asks cli_options.served, which is NULL for a command
 * line.
 */
#ifndef CLI_SERVED_H
#define CLI_SERVED_H

#include "engine/engine.h"
#include "formats/formats.h"

#include "parser/base.h"

/* An input that stays open. Everything is borrowed. */
typedef struct cli_kept_input {
    const char *name;          /* as the command line has it */
    etlheap_result *result;    /* any thread may ask it */
    etlheap_result *inventory; /* the same input for those who ask nothing, as `info` does */
    etlheap_symbols *symbols;  /* for this question only; NULL: none */
} cli_kept_input;

/* How far work has come, in bytes. Written by one thread and read by others, with atomic access. */
typedef struct cli_served_progress {
    u64 done_bytes, total_bytes;
} cli_served_progress;

typedef struct cli_served {
    const cli_kept_input *inputs;
    u32 input_count;
    etlheap_text *body;            /* receives the output */
    size_t body_bytes_max;         /* a larger output is cut off; 0: no limit */
    const u32 *cancel;             /* as in etlheap_query */
    cli_served_progress *progress; /* in place of a bar; NULL: nobody wants to know */
} cli_served;

/* True if the flag is set. NULL: nobody cancels. */
bool cli_is_cancelled(const u32 *cancel);

/* The kept input with this name; NULL: none. */
const cli_kept_input *cli_served_input(const cli_served *served, const char *name);

/* True if the output has become larger than it may. */
bool cli_served_is_full(const cli_served *served);

/* Notes how far the work of a question is. NULL is allowed. */
void cli_served_note(const cli_served *served, u64 done_bytes, u64 total_bytes);

#endif
