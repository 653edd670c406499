/*
 * overwrites.h - no command writes over a file that it reads.
 *
 * One rule for every output against every input:
 *
 *     outputs   standard output, -o, the side outputs of check, the baseline that is updated; with
 *               --out-dir the stores and the index
 *     inputs    the inputs, standard input, the files of all options (suppressions, cull lists,
 *               stack tags, baseline, @FILE, ...), and symbol files wherever they are
 *
 * Files are the same if the system says so, whatever their names are: through links, and in other
 * spellings. Two outputs must not be the same file either.
 */
#ifndef CLI_OVERWRITES_H
#define CLI_OVERWRITES_H

#include "cli/options/options.h"

/* Checks a command before it begins. Returns an exit status, after writing a message. */
int cli_overwrites_check(const cli_options *options);

/* Which file it is, as the system counts files. */
typedef struct cli_file_id {
    bool exists; /* and is a regular file */
    u64 device, number;
} cli_file_id;

cli_file_id cli_file_id_of(const char *path);

/* < 0, 0 or > 0: an order of existing files. */
int cli_file_id_compare(const cli_file_id *a, const cli_file_id *b);

/* The option's input file: a value of FILE that is not an output, or what follows @. NULL: none. */
const char *cli_input_file_of(const cli_given *given);

#endif
