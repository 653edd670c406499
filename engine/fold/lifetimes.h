/*
 * lifetimes.h - the parts of a walk over lifetimes; private to the engine.
 *
 *     lifetimes.c        opens walks, returns rows
 *     lifetimes_asked.c  opens a walk as an answer, with rows read for all questions together
 *     lifetimes_rows.c   rows in their order, from memory and from archives
 *     lifetimes_names.c  numbers and names of their stacks
 */
#ifndef ETLHEAP_LIFETIMES_WALK_H
#define ETLHEAP_LIFETIMES_WALK_H

#include "engine/names/frames.h"
#include "engine/table/table.h"
#include "lifetimes_archive.h"
#include "lifetimes_list.h"

/* Opens a walk that finds the ends of at most `ends_max` blocks at a time. */
etl_status lifetimes_open(const etlheap_result *result, const etlheap_query *query,
                          const etlheap_lifetimes_options *options, u64 ends_max,
                          etlheap_lifetimes **out, etl_error *err);

/* Opens a walk in two steps: the first reads the request and does not touch the archive; the
 * second reads and names rows. If the caller added the archive's rows to `kept`, it clears
 * `has_archive`. */
etl_status lifetimes_begin(const etlheap_result *result, const etlheap_query *query,
                           const etlheap_lifetimes_options *options, etlheap_lifetimes **out,
                           etl_error *err);
etl_status lifetimes_fill(etlheap_lifetimes *walk, u64 ends_max, etl_error *err);

struct etlheap_lifetimes {
    const etlheap_result *result;
    etlheap_lifetimes_options options;
    etlheap_query query; /* the plan's query */
    query_plan plan;
    frame_table frames;
    u32 *process_ranks;
    walk_list kept, batch;
    lifetimes_archive archive;
    bool has_archive;  /* the archive's rows must still be read */
    bool has_frees;    /* rows have who freed */
    bool is_streaming; /* rows of the archive come in batches */
    bool is_read;      /* the last batch is loaded */
    i64 horizon_ticks; /* rows of the batch before it are complete */
    u64 left;          /* rows left to return, and to skip before */
    u64 to_skip;       /* of these, rows left to skip */
    u64 count;         /* rows returned */
    bool is_finished;  /* frames_finish is done */
    owned_table *base; /* named stacks; NULL: no names */
    table_numbers base_numbers;
    table_ids copied_frames, copied_stacks; /* index + 1 in table, by index in base */
    owned_table *table;
    table_numbers numbers;
    etl_status status;
    etl_error err;
};

/* --- rows ------------------------------------------------------------------------ */

/* True if a byte of the lifetime is in the address range. The last byte of one that would end
 * beyond the largest address is at that address. */
static inline bool walk_wants_address(const etlheap_lifetimes_options *options, u64 address,
                                      u64 size)
{
    const u64 last = size == 0 ? address : etl_sat_add_u64(address, size - 1);
    return !options->by_address ||
           (address <= options->address_last && last >= options->address_first);
}

/* What to do with rows that the query selects, in any order. */
typedef enum walk_visit {
    WALK_RESOLVE, /* resolve their stacks */
    WALK_KEEP     /* keep those that frames select, unless they stream */
} walk_visit;

/* Visits all selected rows. ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_CORRUPT, ETL_ERR_CANCELLED, here
 * and below. */
etl_status walk_visit_all(etlheap_lifetimes *walk, walk_visit what, etl_error *err);

/* Goes back to the first row. */
void walk_rewind(etlheap_lifetimes *walk);

/* Reads the next row in order; *found is false after the last one. */
etl_status walk_next(etlheap_lifetimes *walk, walk_row *out, bool *found, etl_error *err);

/* ETL_ERR_LIMIT if the large parts of the walk and its result reserve more memory than allowed. */
etl_status walk_check_memory(const etlheap_lifetimes *walk, etl_error *err);

/* --- stacks ---------------------------------------------------------------------- */

/* With symbols: call it when all needed stacks are resolved. */
etl_status walk_finish_stacks(etlheap_lifetimes *walk, etl_error *err);

/* Names the stacks that rows have, finished or not. */
etl_status walk_name(etlheap_lifetimes *walk, etl_error *err);

/* Counts in the table's diagnostics the resolved stacks with guessed frames. */
void walk_note_guesses(etlheap_lifetimes *walk);

/* Finds the index of a row's stack in the walk's table, and adds it if it is new. False if memory
 * runs out. */
bool walk_number_stack(etlheap_lifetimes *walk, const lifetime *life, u32 *index);

/* Does the same for the stack that freed. */
bool walk_number_free_stack(etlheap_lifetimes *walk, const lifetime *life, u32 *index);

/* Call it after the last row. Gives frames the lowest address at which they were seen. */
void walk_finish_frames(etlheap_lifetimes *walk);

#endif
