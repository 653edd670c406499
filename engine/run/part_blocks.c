/*
 * part_blocks.c - the heap blocks of a part: finds them, and writes their events. store_part.h has
 * the three readings.
 *
 * In: the events of a store. Out: a bit for each block, marks of what the blocks name, and events
 * with new numbers.
 *
 * A block that the part keeps is written with all of its events, also those before and after the
 * window, so its age and its end stay known. Invariant: an end is written exactly if its block is.
 */
#include "store_part.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "engine/log/ehs_unmatched.h"
#include "engine/log/store_batch.h"

bool store_part_touches(const store_part *part, i64 alloc_ticks, i64 free_ticks, u8 free_type)
{
    const i64 end_ticks = query_end_ticks(false, free_type, free_ticks);
    return type_touches(alloc_ticks, end_ticks, part->from_ticks, part->to_ticks);
}

static etl_status bad_origin(u32 segment, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                         "segment %u names an origin or a freer that does not exist", segment);
}

/* --- which blocks ------------------------------------------------------------------- */

static inline void keep(const store_part *part, u32 ordinal, bool is_kept)
{
    u64 *const word = &part->blocks.words.at[ordinal / 32];
    const u64 bit = (u64)1 << ordinal % 32;
    *word = is_kept ? *word | bit : *word & ~bit;
}

static inline bool is_kept(const store_part *part, u32 ordinal)
{
    return (part->blocks.words.at[ordinal / 32] >> ordinal % 32 & 1) != 0;
}

/* Ends before the window drop the blocks that they end; an exit of a process may not count. */
static etl_status find_in(const store_part *part, const log_batch *batch, etl_error *err)
{
    for (u32 i = 0; i < batch->count; i++) {
        const u32 row = batch->row[i], ordinal = batch->ordinal[i];
        const i64 ticks = batch->ticks[i];
        if (!log_opens(batch, i)) {
            if (batch->how[row] != EHS_HOW_REALLOC &&
                !store_part_touches(part, INT64_MIN, ticks, batch->how[row]))
                keep(part, ordinal, false);
            continue;
        }
        const u32 origin = batch->origin[row];
        if (origin == 0 || origin > part->origins.count)
            return bad_origin(batch->segment, err);
        if (ticks < part->to_ticks && part->origin_selected[origin])
            keep(part, ordinal, true);
    }
    return ETL_OK;
}

/* The number of blocks of the file. */
static u64 count_blocks(const ehs_segment_index *segments)
{
    if (segments->count == 0)
        return 0;
    const ehs_segment_info *const last = &segments->at[segments->count - 1];
    return last->first_ordinal + last->allocs;
}

static bool select_origins(store_part *part)
{
    const ehs_origins *const origins = &part->archive->origins;
    part->origin_selected = calloc(origins->origins.count + 1, sizeof *part->origin_selected);
    for (size_t i = 0; part->origin_selected != NULL && i < origins->origins.count; i++) {
        const ehs_owner *const owner = &origins->owners.at[origins->origins.at[i].owner - 1];
        const u32 process = origins->heaps.at[owner->heap - 1].process;
        part->origin_selected[i + 1] = part->plan.process_selected[process];
    }
    return part->origin_selected != NULL;
}

static void count_kept(rank_map *blocks)
{
    u64 before = 0;
    for (size_t i = 0; i < blocks->words.count; i++) {
        const u32 bits = (u32)blocks->words.at[i];
        blocks->words.at[i] = before << 32 | bits;
        before += rank_map_bits(bits);
    }
    blocks->opened = before;
}

etl_status part_blocks_find(store_part *part, etl_error *err)
{
    const u32 wanted =
        EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_ORIGIN | EHS_WANT_BACK | EHS_WANT_HOW;
    const u64 count = count_blocks(&part->archive->segments);
    const size_t words = (size_t)(count / 32 + 1);
    part->blocks.ranks = count;
    if (!ETLHEAP_RESERVE(&part->blocks.words, words) || !select_origins(part))
        return etl_no_memory(err);
    part->blocks.words.count = words;
    memset(part->blocks.words.at, 0, words * sizeof *part->blocks.words.at);
    log_reader reader;
    const log_batch *batch = NULL;
    const bool has_heap = (part->kinds >> ETLHEAP_KIND_HEAP & 1) != 0;
    etl_status status = archive_read(part->archive, wanted, part->cancel, &reader, err);
    while (has_heap && status == ETL_OK) {
        status = log_next(&reader, &batch, err);
        if (status != ETL_OK || batch == NULL || batch->ticks[0] >= part->to_ticks)
            break;
        status = find_in(part, batch, err);
    }
    log_reader_close(&reader);
    count_kept(&part->blocks);
    return status;
}

/* --- what they name ------------------------------------------------------------------ */

static bool has_freers(const store_part *part)
{
    return (part->archive->lacks & EHS_WANT_FREER) == 0;
}

static etl_status mark_in(const store_part *part, const log_batch *batch, etl_error *err)
{
    for (u32 i = 0; i < batch->count; i++) {
        if (!is_kept(part, batch->ordinal[i]))
            continue;
        const u32 row = batch->row[i];
        if (log_opens(batch, i))
            part_mark(&part->origins, batch->origin[row]);
        else if (has_freers(part) && batch->freer[row] > part->freers.count)
            return bad_origin(batch->segment, err);
        else if (has_freers(part))
            part_mark(&part->freers, batch->freer[row]);
    }
    return ETL_OK;
}

/* Reads the frees of unknown blocks that belong to the part: marks what they name, or gives them to
 * the batch, if there is one. */
static etl_status read_unmatched(const store_part *part, store_batch *batch, etl_error *err)
{
    const ehs_reader *const reader = &part->archive->reader;
    unmatched_free *const frees = malloc(EHS_PART_ROWS * sizeof *frees);
    ehs_codec codec = { 0 };
    u32 parts = 0, count = 0;
    etl_status status =
        frees == NULL ? etl_no_memory(err) : ehs_unmatched_parts(reader, &parts, err);
    for (u32 at = 0; status == ETL_OK && at < parts; at++) {
        status = ehs_unmatched_read(reader, &codec, at, frees, &count, err);
        for (u32 i = 0; status == ETL_OK && i < count; i++) {
            unmatched_free *const row = &frees[i];
            if (row->heap - (u64)1 >= part->heaps.count || row->freer > part->freers.count) {
                status = bad_origin(at, err);
                break;
            }
            const u32 process = part->archive->origins.heaps.at[row->heap - 1].process;
            if (row->ticks < part->from_ticks || row->ticks >= part->to_ticks ||
                !part->plan.process_selected[process])
                continue;
            if (batch == NULL) {
                part_mark(&part->heaps, row->heap);
                part_mark(&part->freers, row->freer);
                continue;
            }
            row->heap = part->heaps.of[row->heap];
            row->freer = part->freers.of[row->freer];
            status = store_batch_put_unmatched(batch, row);
        }
    }
    ehs_codec_free(&codec);
    free(frees);
    return status;
}

static etl_status read_frees(const store_part *part, store_batch *batch, etl_error *err)
{
    const bool has_heap = (part->kinds >> ETLHEAP_KIND_HEAP & 1) != 0;
    return has_heap ? read_unmatched(part, batch, err) : ETL_OK;
}

etl_status part_blocks_mark(store_part *part, etl_error *err)
{
    const u32 wanted = EHS_WANT_KIND | EHS_WANT_TICKS | EHS_WANT_ORIGIN | EHS_WANT_BACK |
                       (has_freers(part) ? EHS_WANT_FREER : 0);
    log_reader reader;
    const log_batch *batch = NULL;
    etl_status status = archive_read(part->archive, wanted, part->cancel, &reader, err);
    while (status == ETL_OK && part->blocks.opened > 0) {
        status = log_next(&reader, &batch, err);
        if (status != ETL_OK || batch == NULL)
            break;
        status = mark_in(part, batch, err);
    }
    log_reader_close(&reader);
    return status == ETL_OK ? read_frees(part, NULL, err) : status;
}

/* --- their events -------------------------------------------------------------------- */

static void put_open(const store_part *part, const log_batch *from, u32 at, ehs_events *out)
{
    const u32 row = from->row[at], to = out->alloc_count++;
    out->origin[to] = part->origins.of[from->origin[row]];
    out->size[to] = from->size[row];
    out->address[to] = from->address[row];
    out->thread[to] = from->thread[row];
    out->is_realloc[to] = from->is_realloc[row];
}

static void put_end(const store_part *part, const log_batch *from, u32 at, u32 next,
                    ehs_events *out)
{
    const u32 row = from->row[at], to = out->end_count++;
    out->back[to] = next - rank_map_ordinal(&part->blocks, from->ordinal[at]);
    out->how[to] = from->how[row];
    out->freer[to] = has_freers(part) ? part->freers.of[from->freer[row]] : 0;
    out->freer_thread[to] = from->freer_thread[row];
}

/* Appends the events of a batch; `next` is the ordinal of the next block that opens. */
static etl_status put_events(const store_part *part, const log_batch *from, store_batch *to,
                             ehs_events **out, u32 *next)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < from->count; i++) {
        if (!is_kept(part, from->ordinal[i]))
            continue;
        ehs_events *const events = *out;
        const bool opens = log_opens(from, i);
        if (opens)
            put_open(part, from, i, events);
        else
            put_end(part, from, i, *next, events);
        *next += opens;
        events->kind[events->count] = opens ? 0 : EHS_EVENT_END;
        events->ticks[events->count++] = from->ticks[i];
        if (events->count == EHS_PART_ROWS) {
            status = store_batch_put(to);
            *out = status == ETL_OK ? store_batch_next(to) : NULL;
            status = status == ETL_OK && *out == NULL ? ETL_ERR_MEMORY : status;
        }
    }
    return status;
}

etl_status part_blocks_write(store_part *part, store_batch *batch, etl_error *err)
{
    const u32 wanted =
        (EHS_WANT_OPENS | EHS_WANT_ENDS | EHS_WANT_FREER | EHS_WANT_FREER_THREAD) & ~EHS_WANT_LATER;
    log_reader reader;
    const log_batch *from = NULL;
    u32 next = 0;
    ehs_events *events = store_batch_next(batch);
    etl_status status = archive_read(part->archive, wanted, part->cancel, &reader, err);
    if (status == ETL_OK && events == NULL)
        status = etl_no_memory(err);
    while (status == ETL_OK && part->blocks.opened > 0) {
        status = log_next(&reader, &from, err);
        if (status != ETL_OK || from == NULL)
            break;
        status = put_events(part, from, batch, &events, &next);
    }
    log_reader_close(&reader);
    if (status == ETL_OK)
        status = store_batch_put(batch);
    return status == ETL_OK ? read_frees(part, batch, err) : status;
}
