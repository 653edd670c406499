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

/* An input that stays open. Everything is borrowed. */
typedef struct cli_kept_input {
    const char *name;          /* as the command line has it */
    etlheap_result *result;    /* of a store; any thread may ask it */
    etlheap_symbols *symbols;  /* for this question only; NULL: none */
} cli_kept_input;

typedef struct cli_served {
    const cli_kept_input *inputs;
    u32 input_count;
    etlheap_text *body;     /* receives the output */
    const u32 *cancel;      /* as in etlheap_query */
} cli_served;

/* True if the flag is set. NULL: nobody cancels. */
bool cli_is_cancelled(const u32 *cancel);

/* The kept input with this name; NULL: none. */
const cli_kept_input *cli_served_input(const cli_served *served, const char *name);

#endif
