/*
 * umdh_log.h - reads snapshot logs of UMDH, the user-mode dump heap tool of the Windows debuggers
 * (`umdh -pn:app.exe -f:log.txt`). Part of formats.h.
 *
 *     etlheap_umdh_open     log file -> handle
 *     etlheap_umdh_table    handle -> table, for a report or for etlheap_diff_tables
 *     etlheap_umdh_result   handle -> result, for queries
 *
 * A log lists the outstanding blocks of one process at one moment, each with the id of its
 * backtrace, and each backtrace once. Ids stay the same as long as the process lives.
 */
#ifndef ETLHEAP_UMDH_LOG_H
#define ETLHEAP_UMDH_LOG_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_umdh etlheap_umdh;

/* True if the file begins like a UMDH log. False if it cannot be read. */
bool etlheap_umdh_recognise(const char *path);

/* The same for the first bytes of a file; 4 KiB are enough. */
bool etlheap_umdh_begins(etl_bytes start);

/*
 * Reads a log. On success the caller owns *out (etlheap_umdh_close); what it returns is valid until
 * then. Any number of threads may read a handle, except while etlheap_umdh_name runs. ETL_ERR_IO,
 * ETL_ERR_CORRUPT (the message names the line; also if the log ends inside a heap),
 * ETL_ERR_UNSUPPORTED (not a log, or one from Windows XP), ETL_ERR_LIMIT (4 GiB or more),
 * ETL_ERR_MEMORY.
 */
etl_status etlheap_umdh_open(const char *path, etlheap_umdh **out, etl_error *err);

/* Reads a log from memory. The bytes are borrowed for the call. Errors as for etlheap_umdh_open. */
etl_status etlheap_umdh_parse(etl_bytes bytes, etlheap_umdh **out, etl_error *err);
void etlheap_umdh_close(etlheap_umdh *log); /* NULL is allowed */

/* Facts about a log. Strings are owned by it. */
typedef struct etlheap_umdh_info {
    const char *version; /* "6.1.7015.0"; this and the two below: "" if unknown */
    const char *time;    /* "2010-07-23 12:26", local time of the computer */
    const char *machine;
    const char *process; /* file name of the first module; "Unknown" */
    uint32_t pid;        /* ETL_NO_ID unknown */
    uint32_t heap_count;
    uint64_t block_count;
    uint32_t skipped_lines; /* lines in heaps that were not understood */
    uint32_t skipped_first; /* the first of them, as a line number; 0: none */
} etlheap_umdh_info;

/* Facts about the log. Owned by the log. */
const etlheap_umdh_info *etlheap_umdh_info_of(const etlheap_umdh *log);

/* True if both logs are of one process, so that their backtrace ids can be compared. */
bool etlheap_umdh_same_process(const etlheap_umdh *a, const etlheap_umdh *b);

/*
 * The log as a table, owned by the log. It has one row per backtrace, with the keys kind, process,
 * stack and TYPE_NAME, which is the backtrace id as in the log: "BackTrace7E5CE0". Leave out the
 * last key to compare processes. Measures are OUTSTANDING_SIZE, OUTSTANDING_COUNT and
 * OVERHEAD_SIZE. Frames are module and offset; logs do not state builds.
 */
const etlheap_table *etlheap_umdh_table(const etlheap_umdh *log);

/* True if the file begins like a comparison, the output of `umdh FIRST SECOND`. False if it cannot
 * be read. */
bool etlheap_umdh_recognise_comparison(const char *path);

/*
 * Reads a comparison as two logs, which have a table but no blocks, so etlheap_umdh_result does not
 * apply. Frames have the function names that UMDH found. The caller owns both. ETL_ERR_IO,
 * ETL_ERR_CORRUPT (the message names the line; also for decimal numbers), ETL_ERR_LIMIT,
 * ETL_ERR_MEMORY.
 */
etl_status etlheap_umdh_open_comparison(const char *path, etlheap_umdh **base, etlheap_umdh **now,
                                        etl_error *err);

/* Reads a comparison from memory. The bytes are borrowed for the call. Errors as for
 * etlheap_umdh_open_comparison. */
etl_status etlheap_umdh_parse_comparison(etl_bytes bytes, etlheap_umdh **base, etlheap_umdh **now,
                                         etl_error *err);

/*
 * Makes a result of the log: its blocks are outstanding and have no times (etlheap_snapshot.h).
 * `name` is the file name for output. The caller owns *out, which does not need the log.
 * ETL_ERR_MEMORY, ETL_ERR_UNSUPPORTED.
 */
etl_status etlheap_umdh_result(const etlheap_umdh *log, const char *name, etlheap_result **out,
                               etl_error *err);

/* Names the functions in the log's table. `symbols` must have been opened for the log's result, and
 * must stay open as long as the table is used. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status etlheap_umdh_name(etlheap_umdh *log, etlheap_symbols *symbols, etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
