/* input_kinds.h - what an input is, by its name and first bytes. */
#ifndef CLI_INPUT_KINDS_H
#define CLI_INPUT_KINDS_H

#include "parser/base.h"

typedef enum cli_input_kind {
    CLI_INPUT_PIPE, /* standard input, or an open pipe that a shell named, as for <(command) */
    CLI_INPUT_ABSENT,
    CLI_INPUT_STORE,      /* or a summary */
    CLI_INPUT_PACKED,     /* zip, gzip or zstd */
    CLI_INPUT_LOG,        /* of UMDH */
    CLI_INPUT_COMPARISON, /* of two logs, as UMDH prints it */
    CLI_INPUT_TRACE       /* anything else: opening it says what is wrong */
} cli_input_kind;

cli_input_kind cli_input_kind_of(const char *path);

/* True if the input is unpacked or copied before it is opened. */
bool cli_input_is_unpacked(cli_input_kind kind);

#endif
