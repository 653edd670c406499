/*
 * build_log.h - keeps names in a trace from being commands of a build server.
 *
 * Servers read commands in the output of a step: Azure Pipelines "##vso[..." and "##[..." anywhere
 * in a line, GitHub Actions "::..." after a line's leading blanks. Names come from the program
 * under test, so its author would command the server.
 */
#ifndef ETLHEAP_BUILD_LOG_H
#define ETLHEAP_BUILD_LOG_H

#include "parser/base.h"

/* What a line has been so far. Start from {0}, at the beginning of a line. */
typedef struct etlheap_log_line {
    u8 colons; /* 0: only blanks so far; 1: then a colon; 2: other text */
    u8 hashes; /* before the current character: none, "#", "##", "##" and letters */
    u8 escape; /* inside an escape sequence, which has no width */
    u8 left;   /* bytes that the current character lacks */
    u32 character;
} etlheap_log_line;

/* Takes bytes of the output up to the first that would complete the beginning of a command, and
 * returns how many precede it; `size` if there is none. The byte is a whole character, to be
 * replaced. */
size_t etlheap_log_line_take(etlheap_log_line *line, const void *bytes, size_t size);

#endif
