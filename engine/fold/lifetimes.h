/*
 * lifetimes.h - a walk and its parts; private to the engine.
 *
 *     lifetimes.c        opens walks, hands rows out
 *     lifetimes_asked.c  opens one as an answer, with rows that were read for all questions
 *     lifetimes_rows.c   rows in their order, from memory and from archives
 *     lifetimes_names.c  numbers and names of their stacks
 */
#ifndef ETLHEAP_LIFETIMES_WALK_H
#define ETLHEAP_LIFETIMES_WALK_H

#include "engine/names/frames.h"
#include "engine/table/table.h"
#include "lifetimes_archive.h"
#include "lifetimes_list.h"

/* Opens a walk that looks for the ends of at most so many blocks at once. */
etl_status lifetimes_open(const etlheap_result *result, const etlheap_query *query,
                          const etlheap_lifetimes_options *options, u64 ends_max,
                          etlheap_lifetimes **out, etl_error *err);

/* The same in two steps: what is asked is read, and an archive is not touched; then rows are read
 * and named. Whoever has added the rows of the archive to `kept` says so by `has_archive`. */
etl_status lifetimes_begin(const etlheap_result *result, const etlheap_query *query,
                           const etlheap_lifetimes_options *options, etlheap_lifetimes **out,
                           etl_error *err);
etl_status lifetimes_fill(etlheap_lifetimes *walk, u64 ends_max, etl_error *err);

struct etlheap_lifetimes {
    const etlheap_result *result;
    etlheap_lifetimes_options options;
    etlheap_query query; /* the plan's */
    query_plan plan;
    frame_table frames;
    u32 *process_ranks;
    walk_list kept, batch;
    lifetimes_archive archive;
    bool has_archive;  /* whose rows are still to be read */
    bool has_frees;    /* rows say who freed */
    bool is_streaming; /* rows of the archive come by batches */
    bool is_read;      /* the last batch is loaded */
    i64 horizon_ticks; /* rows of the batch before it are complete */
    u64 left;          /* rows to hand out at most */
    u64 count;         /* rows handed out */
    bool is_settled;   /* frames_settle is done */
    owned_table *base; /* named stacks; NULL: there are no names */
    table_numbers base_numbers;
    table_ids copied_frames, copied_stacks; /* in table, + 1, by those of base */
    owned_table *table;
    table_numbers numbers;
    etl_status status;
    etl_error err;
};

/* --- rows ------------------------------------------------------------------------ */

/* Is a byte of the lifetime in the range that is asked for? The last byte of one that would end
 * beyond all addresses is the last there is. */
static inline bool walk_wants_address(const etlheap_lifetimes_options *options, u64 address,
                                      u64 size)
{
    const u64 last = size == 0 ? address : etl_sat_add_u64(address, size - 1);
    return !options->by_address ||
           (address <= options->address_last && last >= options->address_first);
}

/* What is done with rows that the query selects, in any order. */
typedef enum walk_visit {
    WALK_RESOLVE, /* their stacks are resolved */
    WALK_KEEP     /* those with a required frame are kept, unless they stream */
} walk_visit;

/* MEMORY, LIMIT, CORRUPT, CANCELLED; and so below. */
etl_status walk_visit_all(etlheap_lifetimes *walk, walk_visit what, etl_error *err);

/* Makes the first row the next one. */
void walk_rewind(etlheap_lifetimes *walk);

/* The next row in order; *found is false after the last one. */
etl_status walk_next(etlheap_lifetimes *walk, walk_row *out, bool *found, etl_error *err);

/* LIMIT when the large parts of the walk and its result, by what they reserve, take
 * more memory than allowed. */
etl_status walk_check_memory(const etlheap_lifetimes *walk, etl_error *err);

/* --- stacks ---------------------------------------------------------------------- */

/* With symbols, once all stacks that matter are resolved. */
etl_status walk_settle(etlheap_lifetimes *walk, etl_error *err);

/* Names the stacks that rows have, settled or not. */
etl_status walk_name(etlheap_lifetimes *walk, etl_error *err);

/* Tells in the table how many stacks resolved so far have frames that are guesses. */
void walk_note_guesses(etlheap_lifetimes *walk);

/* The index of a row's stack in the walk's table, which the first row with it
 * brings there. False without memory. */
bool walk_number_stack(etlheap_lifetimes *walk, const lifetime *life, u32 *index);

/* The same of the stack that freed. */
bool walk_number_free_stack(etlheap_lifetimes *walk, const lifetime *life, u32 *index);

/* After the last row: frames have the lowest address they were seen at. */
void walk_finish_frames(etlheap_lifetimes *walk);

#endif
