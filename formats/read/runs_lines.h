/* runs_lines.h - shared by writer and reader of an index (private to formats). */
#ifndef FORMATS_RUNS_LINES_H
#define FORMATS_RUNS_LINES_H

#include "formats/runs.h"

#define RUN_SCHEMA       "etlheap-run-1"
#define RUN_INPUT_STAMP  "input_stamp"
#define RUN_OUTPUT_STAMP "output_stamp"
#define RUN_SKIPPED      "skipped_unchanged"

/* A top-level member of a line: the key without quotes, the value as in the line. */
typedef struct run_member {
    etl_bytes key, value;
} run_member;

/* Reads the next member. *left starts as the whole line, and is {NULL, 0} after its last member.
 * False there, and if the line is not an object. */
bool run_next_member(etl_bytes *left, run_member *out);

bool run_is_text(etl_bytes bytes, const char *text);

#endif
