/*
 * archive.h - a store opened for questions.
 *
 * A result read from a store has facts, stacks and ranges like the result of a trace. Its heap
 * events stay in the mapped file. A report walks them with the columns that it needs, in the
 * segments that its window touches (archive_walk.h). If lifetimes are needed, they are made once.
 */
#ifndef ETLHEAP_ARCHIVE_H
#define ETLHEAP_ARCHIVE_H

#include "parser/system/map.h"

#include "engine/log/ehs_open.h"
#include "engine/log/ehs_rows.h"
#include "engine/log/log_reader.h"
#include "kept_sums.h"

typedef struct ehs_archive {
    etl_map map;
    ehs_reader reader;
    ehs_segment_index segments;
    ehs_checkpoints checkpoints;
    ehs_origins origins;
    u32 lacks;            /* missing optional columns (EHS_WANT_*) */
    u64 memory_bytes_max; /* 0: no limit */
    bool is_log;          /* made by an analysis for its questions */
    kept_sums *kept;      /* NULL: sums of windows are not kept */
} ehs_archive;

typedef struct archive_request {
    const char *name;     /* name of the result's source; NULL: its traces */
    u64 memory_bytes_max; /* 0: no limit */
    const u32 *cancel;    /* NULL: nobody cancels */
    bool facts_only;
    bool as_rows;        /* make and keep every lifetime, as columns */
    bool no_addresses;   /* keep frames as numbers until addresses are needed */
    bool no_named_kinds; /* only kinds that are selected by default */
    bool is_log;         /* as in ehs_archive */
    bool keeps_sums;     /* as in etlheap_options */
    stack_table *stacks; /* of a log, with numbers; the result takes them. NULL: in the file */
} archive_request;

/* Opens a mapped store. The result takes over the map; on failure the map is closed. Errors as for
 * etlheap_open_store. */
etl_status archive_open(const etl_map *map, const archive_request *request, etlheap_result **out,
                        etl_error *err);

/* NULL is allowed. */
void archive_free(ehs_archive *archive);

/* Makes the lifetimes of all heap blocks and appends them. ETL_ERR_CORRUPT, ETL_ERR_MEMORY,
 * ETL_ERR_LIMIT, ETL_ERR_CANCELLED. */
etl_status archive_add_rows(const ehs_archive *archive, const u32 *cancel, lifetime_table *store,
                            etl_error *err);

/* Opens a reader at the first of the file's events. Close it in any case. ETL_ERR_MEMORY. */
etl_status archive_read(const ehs_archive *archive, u32 wanted, const u32 *cancel, log_reader *out,
                        etl_error *err);

/* Appends rows for the blocks that a batch opens, not yet ended. The batch needs EHS_WANT_OPENS,
 * and the rows need room. ETL_ERR_CORRUPT: an origin that does not exist. */
etl_status archive_fill_rows(const ehs_archive *archive, const log_batch *batch,
                             store_segment *rows, etl_error *err);

/* Makes an outstanding block of an origin: its heap, process, stack and thread. Size, address and
 * times are 0. False if the origin does not exist. */
bool archive_open_block(const ehs_archive *archive, u32 origin, u32 thread, lifetime *out);

/* Sets row `at` to such a block. */
bool archive_fill_origin(const ehs_archive *archive, u32 origin, u32 thread, store_segment *rows,
                         u32 at);

/* The stack of a freer; 0: none. The freer must exist. */
static inline u32 archive_freer_stack(const ehs_archive *archive, u32 freer)
{
    return freer == 0 ? 0 : archive->origins.freers.at[freer - 1].stack;
}

/* The first segment with its last event at or after a time, or the number of segments. */
u32 archive_segment_at(const ehs_archive *archive, i64 ticks);

#endif
