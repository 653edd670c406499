/*
 * archive.h - a store that is open for answers.
 *
 * A result that was read from a store holds facts, stacks and ranges as one of a
 * trace does. Its heap events stay in the mapped file: a report walks them with
 * the columns that it needs, in the segments that its window touches
 * (archive_walk.h), and when lifetimes are asked for they are made of them once.
 */
#ifndef ETLHEAP_ARCHIVE_H
#define ETLHEAP_ARCHIVE_H

#include "parser/system/map.h"

#include "engine/log/ehs_open.h"
#include "engine/log/ehs_rows.h"
#include "engine/log/log_reader.h"

typedef struct ehs_archive {
    etl_map map;
    ehs_reader reader;
    ehs_segment_index segments;
    ehs_checkpoints checkpoints;
    ehs_slots slots;
    u32 lacks;            /* optional columns that were not recorded (EHS_WANT_*) */
    u64 memory_bytes_max; /* 0: no limit */
} ehs_archive;

typedef struct archive_request {
    const char *name;     /* what the result says it was read from; NULL: its traces */
    u64 memory_bytes_max; /* 0: no limit */
    bool facts_only;
    bool as_rows;      /* every lifetime is made and kept, as columns */
    bool no_addresses; /* frames are numbers until somebody asks for their addresses */
    bool no_reservations;
} archive_request;

/* Opens a mapped store; the map becomes the result's, or is closed on failure.
 * Errors as of etlheap_open_store. */
etl_status archive_open(const etl_map *map, const archive_request *request, etlheap_result **out,
                        etl_error *err);

/* NULL is allowed. */
void archive_free(ehs_archive *archive);

/* Makes the lifetimes of all heap blocks and appends them. CORRUPT, MEMORY, LIMIT. */
etl_status archive_add_rows(const ehs_archive *archive, allocation_store *store, etl_error *err);

/* Opens a reader of the file's events, at the first one; it is to be closed in any case.
 * MEMORY. */
etl_status archive_read(const ehs_archive *archive, u32 wanted, log_reader *out, etl_error *err);

/*
 * Appends rows of the blocks that a batch opens, open still. The batch has
 * EHS_WANT_OPENS, the rows room. CORRUPT: a slot that there is not.
 */
etl_status archive_fill_rows(const ehs_archive *archive, const log_batch *batch,
                             store_segment *rows, etl_error *err);

/* A block of a slot that nothing has ended: its heap, process, stack and thread. Size, address and
 * times are 0. False if there is no such slot. */
bool archive_open_block(const ehs_archive *archive, u32 slot, u32 thread, lifetime *out);

/* Fills row `at` with the same. */
bool archive_fill_slot(const ehs_archive *archive, u32 slot, u32 thread, store_segment *rows,
                       u32 at);

/* The stack of an actor, 0: none; there is such an actor. */
static inline u32 archive_actor_stack(const ehs_archive *archive, u32 actor)
{
    return actor == 0 ? 0 : archive->slots.actors.at[actor - 1].stack;
}

/* The first segment whose last event is not before a time; the number of segments
 * when there is none. */
u32 archive_segment_at(const ehs_archive *archive, i64 ticks);

#endif
