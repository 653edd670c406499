/*
 * umdh_log.h - snapshot logs of UMDH, the Windows debuggers' user-mode dump heap tool
 * (`umdh -pn:app.exe -f:log.txt`), as tables. Part of formats.h.
 *
 * A log lists the blocks of one process that are in use at one moment, each with the
 * id of its backtrace, and every backtrace once. Ids stay the same as long as the
 * process lives.
 */
#ifndef ETLHEAP_UMDH_LOG_H
#define ETLHEAP_UMDH_LOG_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_umdh etlheap_umdh;

/* Does the file begin as a log does? False when it cannot be read. */
bool etlheap_umdh_recognise(const char *path);

/*
 * Reads a whole log. On success the caller owns *out; what it gives is valid until
 * it is closed. A handle does not change; any thread may read it. Errors:
 * ETL_ERR_IO, ETL_ERR_CORRUPT (naming the line; also for a log that ends inside a
 * heap), ETL_ERR_UNSUPPORTED (no log, or one of Windows XP's UMDH), ETL_ERR_LIMIT
 * (4 GiB and more), ETL_ERR_MEMORY.
 */
etl_status etlheap_umdh_open(const char *path, etlheap_umdh **out, etl_error *err);

/* The same for bytes, which are borrowed for the call. */
etl_status etlheap_umdh_parse(etl_bytes bytes, etlheap_umdh **out, etl_error *err);
void etlheap_umdh_close(etlheap_umdh *log); /* NULL is allowed */

typedef struct etlheap_umdh_info {
    const char *version; /* "6.1.7015.0"; "" unknown, as the next two */
    const char *time;    /* "2010-07-23 12:26", of the machine's clock */
    const char *machine;
    const char *process; /* file name of the first module; "Unknown" */
    u32 pid;             /* ETL_NO_ID unknown */
    u32 heap_count;
    u64 block_count;
    u32 skipped_lines; /* in heaps, of a form we do not know */
    u32 skipped_first; /* line number; 0: none */
} etlheap_umdh_info;

const etlheap_umdh_info *etlheap_umdh_info_of(const etlheap_umdh *log);

/* Are the logs of one process, so that backtrace ids may be compared? */
bool etlheap_umdh_same_process(const etlheap_umdh *a, const etlheap_umdh *b);

/*
 * One row a backtrace, grouped by kind, process, stack and TYPE_NAME, which is the
 * id as the log spells it: "BackTrace7E5CE0". Leave the last one out to compare
 * processes. Measures are OUTSTANDING_SIZE and _COUNT, and OVERHEAD_SIZE. Frames are
 * module and offset; logs do not say which builds those are.
 */
const etlheap_table *etlheap_umdh_table(const etlheap_umdh *log);

/* Does the file begin as what `umdh FIRST SECOND` prints? False when it cannot be read. */
bool etlheap_umdh_recognise_comparison(const char *path);

/*
 * Reads such a comparison as both logs, which have a table and no blocks: etlheap_umdh_result
 * has nothing to make a result of. Frames have the functions that UMDH found. The caller owns
 * both. ETL_ERR_IO, ETL_ERR_CORRUPT (naming the line; also for decimal numbers), ETL_ERR_LIMIT,
 * ETL_ERR_MEMORY.
 */
etl_status etlheap_umdh_open_comparison(const char *path, etlheap_umdh **base, etlheap_umdh **now,
                                        etl_error *err);

/* The same for bytes, which are borrowed for the call. */
etl_status etlheap_umdh_parse_comparison(etl_bytes bytes, etlheap_umdh **base, etlheap_umdh **now,
                                         etl_error *err);

/*
 * The log as a result: its blocks are outstanding and have no times (etlheap_snapshot.h).
 * `name` is the file, for output. The log may be closed before the result, which the caller
 * owns. ETL_ERR_MEMORY, ETL_ERR_UNSUPPORTED.
 */
etl_status etlheap_umdh_result(const etlheap_umdh *log, const char *name, etlheap_result **out,
                               etl_error *err);

/* Names the functions of the frames of the log's table. `symbols` are of its result and stay
 * open as long as the table is used. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status etlheap_umdh_name(etlheap_umdh *log, etlheap_symbols *symbols, etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
