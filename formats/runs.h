/*
 * runs.h - the index of a batch: the outcome of each input, one JSON object per line. Part of
 * formats.h.
 *
 *     {"schema": "etlheap-run-1", "file": "a.etl", "output": "a.ehs", "verdict": "stored", ...}
 *
 * A writer appends lines as inputs finish and sorts them at the end. To continue a batch, it reads
 * the index and copies the lines of inputs that have not changed. The reader understands only the
 * keys this needs and keeps the rest of the line. An incomplete line, from a writer that was
 * killed, is ignored.
 */
#ifndef ETLHEAP_RUNS_H
#define ETLHEAP_RUNS_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_RUNS_NAME "runs.ndjson"

/* X(enumerator, word): the outcome of an input, from best to worst. */
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

const char *etlheap_verdict_word(etlheap_verdict verdict); /* "" if out of range */

/* The verdict on an input that was stored, by its diagnostics. */
etlheap_verdict etlheap_verdict_of(const etl_diag_counts *counts);

/* A hash that may be absent. */
typedef struct etlheap_run_id {
    bool given;
    etlheap_content_id id;
} etlheap_run_id;

/* Hashes that show a continuing writer that an input needs no work. */
typedef struct etlheap_run_marks {
    etlheap_run_id input;        /* of the content; absent: it could not be read */
    etlheap_run_id output;       /* of the content */
    etlheap_run_id settings;     /* of options, names and version that the output depends on */
    etlheap_run_id input_stamp;  /* of the file's time stamps; absent: unreliable */
    etlheap_run_id output_stamp; /* of the file's time stamps */
} etlheap_run_marks;

/* The outcome of one input. Everything is borrowed for the call. */
typedef struct etlheap_run {
    const char *file;
    const char *output; /* relative to the index; NULL: none */
    etlheap_verdict verdict;
    uint64_t input_bytes, output_bytes; /* valid if marks.input and marks.output are given */
    etlheap_run_marks marks;
    const etlheap_trace_info *trace;    /* NULL: not known */
    const etl_diag_counts *diagnostics; /* NULL: none */
    const char *error;                  /* NULL: none */
    uint64_t duration_ns;               /* time the work took */
    uint64_t peak_memory_bytes;         /* 0: not known */
} etlheap_run;

/* Writes one line of the index. */
void etlheap_run_write(const etlheap_run *run, etlheap_sink *sink);

/* --- reading --------------------------------------------------------------------- */

/* A line of an index. Views borrow from it. */
typedef struct etlheap_run_line {
    etl_bytes text;         /* the line, without its end */
    etl_bytes file, output; /* JSON strings as in the line, with quotes; output may be null */
    etlheap_verdict verdict;
    uint64_t input_bytes, output_bytes;
    etlheap_run_marks marks;
} etlheap_run_line;

typedef struct etlheap_runs etlheap_runs;

/*
 * Opens an index. If several lines have the same file or output, only the last one is kept. On
 * success the caller owns *out (etlheap_runs_close). Any thread may read it. ETL_ERR_IO,
 * ETL_ERR_MEMORY.
 */
etl_status etlheap_runs_open(const char *path, etlheap_runs **out, etl_error *err);
void etlheap_runs_close(etlheap_runs *runs); /* NULL is allowed */

/* The number of lines, and a line by its index. */
uint32_t etlheap_runs_count(const etlheap_runs *runs);
const etlheap_run_line *etlheap_runs_at(
    const etlheap_runs *runs, uint32_t index); /* NULL beyond the count; owned by the index */

/* False if the last line is incomplete. */
bool etlheap_runs_is_whole(const etlheap_runs *runs);

/* Write a line again: unchanged, or with the input marked as skipped and with the current time
 * stamps. */
void etlheap_run_copy(const etlheap_run_line *line, etlheap_sink *sink);
void etlheap_run_skip(const etlheap_run_line *line, const etlheap_run_marks *stamps,
                      etlheap_sink *sink);

/* Converts text to a JSON string as in `file` and `output` of a line. The caller frees `out`
 * (etlheap_text_free). Without memory, out->failed is set. */
void etlheap_run_quote(const char *text, etlheap_text *out);

#ifdef __cplusplus
}
#endif

#endif
