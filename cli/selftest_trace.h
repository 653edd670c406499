/*
 * selftest_trace.h - a small trace with a known answer, for `etlheap selftest`.
 *
 * A program allocates blocks on one processor and frees them on the other. Every fourth block is
 * kept; these are larger and come from a separate call stack.
 */
#ifndef CLI_SELFTEST_TRACE_H
#define CLI_SELFTEST_TRACE_H

#include "parser/base.h"
#include "parser/parser.h"

#define CLI_SELFTEST_BUFFER_BYTES 16384u
#define CLI_SELFTEST_BUFFERS      3u
#define CLI_SELFTEST_BYTES        ((size_t)CLI_SELFTEST_BUFFERS * CLI_SELFTEST_BUFFER_BYTES)

/* The expected result. */
#define CLI_SELFTEST_BLOCKS        100
#define CLI_SELFTEST_KEPT          25 /* of these */
#define CLI_SELFTEST_KEPT_SIZE     4096
#define CLI_SELFTEST_FREED_SIZE    64
#define CLI_SELFTEST_COMMITTED     1048576 /* by VirtualAlloc, once */
#define CLI_SELFTEST_UNKNOWN_FREES 1
#define CLI_SELFTEST_PROGRAM       "selftest.exe"
#define CLI_SELFTEST_PID           42
#define CLI_SELFTEST_KEPT_DEPTH    3      /* depth of the stack of kept blocks */
#define CLI_SELFTEST_KEPT_OFFSET   0x1010 /* offset of its innermost frame in the program */

/* Writes the trace: the same bytes every time. */
void cli_selftest_write(u8 out[CLI_SELFTEST_BYTES]);

#endif
