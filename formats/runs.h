/*
 * runs.h - the index of a batch: what came of each input, one JSON object a line.
 *
 *     {"schema": "etlheap-run-1", "file": "a.etl", "output": "a.ehs", "verdict": "stored", ...}
 *
 * Lines are written as inputs finish and put in order at the end. A reader that
 * goes on from an index needs few of the keys; the others it passes on as they
 * are. A line that is no such object, as a writer leaves that was killed, is none.
 */
#ifndef ETLHEAP_RUNS_H
#define ETLHEAP_RUNS_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_RUNS_NAME "runs.ndjson"

/* X(enumerator, word) - what came of an input, from best to worst */
#define ETLHEAP_VERDICTS(X)                                                                        \
    X(STORED, "stored")                                                                            \
    X(LOST_EVENTS, "lost_events") /* stored; the recording lost events */                          \
    X(DAMAGED, "damaged")         /* stored; the input is damaged */                               \
    X(FAILED, "failed")           /* no store; `error` has the reason */

typedef enum etlheap_verdict {
#define ETLHEAP_VERDICT_ENUM(name, word) ETLHEAP_VERDICT_##name,
    ETLHEAP_VERDICTS(ETLHEAP_VERDICT_ENUM)
#undef ETLHEAP_VERDICT_ENUM
        ETLHEAP_VERDICT_COUNT
} etlheap_verdict;

const char *etlheap_verdict_word(etlheap_verdict verdict); /* "" for what is none */

/* What diagnostics make of an input that was stored. */
etlheap_verdict etlheap_verdict_of(const etl_diag_counts *counts);

/* A sum that may be absent. */
typedef struct etlheap_run_id {
    bool given;
    etlheap_content_id id;
} etlheap_run_id;

/* By what a writer that goes on sees that nothing is to be done. */
typedef struct etlheap_run_marks {
    etlheap_run_id input;        /* content; absent: it could not be read */
    etlheap_run_id output;       /* content */
    etlheap_run_id settings;     /* options, names and version that the output depends on */
    etlheap_run_id input_stamp;  /* of the file system; absent: not to be relied on */
    etlheap_run_id output_stamp; /* the same */
} etlheap_run_marks;

/* One input. Everything is borrowed. */
typedef struct etlheap_run {
    const char *file;
    const char *output; /* relative to the index; NULL: none */
    etlheap_verdict verdict;
    u64 input_bytes, output_bytes; /* counted when input and output are given */
    etlheap_run_marks marks;
    const etlheap_trace_info *trace;    /* NULL: not known */
    const etl_diag_counts *diagnostics; /* NULL: none */
    const char *error;                  /* NULL: none */
    u64 duration_ns;                    /* of the work */
    u64 peak_memory_bytes;              /* 0: not known */
} etlheap_run;

/* Writes the line. */
void etlheap_run_write(const etlheap_run *run, etlheap_sink *sink);

/* --- reading --------------------------------------------------------------------- */

/* A line that was read. Views are of the index. */
typedef struct etlheap_run_line {
    etl_bytes text;         /* without its line end */
    etl_bytes file, output; /* as they stand in the line, with quotes; output may be null */
    etlheap_verdict verdict;
    u64 input_bytes, output_bytes;
    etlheap_run_marks marks;
} etlheap_run_line;

typedef struct etlheap_runs etlheap_runs;

/*
 * Opens an index. Of several lines of one file or output the last counts, and the
 * others are not there. On success the caller owns *out. ETL_ERR_IO, ETL_ERR_MEMORY.
 */
etl_status etlheap_runs_open(const char *path, etlheap_runs **out, etl_error *err);
void etlheap_runs_close(etlheap_runs *runs); /* NULL is allowed */

u32 etlheap_runs_count(const etlheap_runs *runs);
const etlheap_run_line *etlheap_runs_at(const etlheap_runs *runs,
                                        u32 index); /* NULL: from the count on */

/* False: the last line has no end. */
bool etlheap_runs_is_whole(const etlheap_runs *runs);

/* Writes a line again, as it is, or as one whose input was skipped, with stamps as
 * they are now. */
void etlheap_run_copy(const etlheap_run_line *line, etlheap_sink *sink);
void etlheap_run_skip(const etlheap_run_line *line, const etlheap_run_marks *stamps,
                      etlheap_sink *sink);

/* The text in the form of `file` or `output` of a line. Owned by the caller
 * (etlheap_text_free); out->failed without memory. */
void etlheap_run_quote(const char *text, etlheap_text *out);

#ifdef __cplusplus
}
#endif

#endif
