/* compared_parts.h - whether stores of parts of recordings can be compared. */
#ifndef CLI_COMPARED_PARTS_H
#define CLI_COMPARED_PARTS_H

#include "cli/options/options.h"
#include "inputs.h"

/*
 * Checks inputs that are compared, after they were opened. Kinds and processes that only some of
 * them have would seem to have appeared or vanished, so options must name what all of them have.
 * Windows may differ, and a note says which ones are compared; a `gate` refuses that, too.
 * Returns an exit status, after a message.
 */
int cli_compared_parts(const cli_options *options, const cli_inputs *const *inputs, u32 count,
                       bool is_gate);

#endif
