/*
 * log_resolve.c - see log_resolve.h.
 *
 * A store says of an end how many allocations back its block is. One thread resolves that with
 * a table of open blocks while the others decode the next segments. Most blocks end soon, so
 * the table has two halves:
 *
 *     young   the latest YOUNG_ROWS allocations, by ordinal; 0: has ended
 *     old     what was still open when its place was needed again, hashed by ordinal
 *
 * Its size follows the open blocks, not the length of the store.
 */
#include "log_resolve.h"

#include <stdlib.h>

#include "bench.h"

#define YOUNG_ROWS ((u32)1 << 20)
#define BATCH      64u /* events whose blocks are fetched at once */
#define WANTED                                                                                     \
    (EHS_WANT_KIND | EHS_WANT_LATER | EHS_WANT_SLOT | EHS_WANT_SIZE | EHS_WANT_IS_REALLOC |        \
     EHS_WANT_BACK | EHS_WANT_HOW)

/* Word and size of an open block; the word of none is 0. */
typedef struct open_block {
    u32 word, size;
} open_block;

typedef struct old_block {
    u32 ordinal; /* + 1; 0: a free place */
    open_block block;
} old_block;

typedef struct open_table {
    open_block *young;
    old_block *old;
    u32 old_mask, old_count;
} open_table;

/* A segment on its way: decoded by any thread, resolved by one. */
typedef struct decoding {
    ehs_codec codec;
    ehs_events events;
} decoding;

typedef struct resolver {
    log_archive *from;
    event_log *log;
    open_table open;
    decoding *decoded[2]; /* two batches of segments, which take turns */
    u32 batch_size;
    u32 first, count;                   /* of the batch that is decoded */
    u32 previous_first, previous_count; /* of the batch that is resolved */
} resolver;

/* --- the table of open blocks ------------------------------------------------------ */

static u32 home_of(const open_table *table, u32 key)
{
    return (u32)((key * (u64)0x9E3779B97F4A7C15) >> 32) & table->old_mask;
}

static void old_put(open_table *table, u32 key, open_block block)
{
    u32 at = home_of(table, key);
    while (table->old[at].ordinal != 0)
        at = (at + 1) & table->old_mask;
    table->old[at] = (old_block){ key, block };
    table->old_count++;
}

static void old_grow(open_table *table)
{
    const open_table before = *table;
    table->old_mask = before.old_mask * 2 + 1;
    table->old = bench_allocate(table->old_mask + (size_t)1, sizeof *table->old);
    table->old_count = 0;
    for (u32 i = 0; i <= before.old_mask; i++) {
        if (before.old[i].ordinal != 0)
            old_put(table, before.old[i].ordinal, before.old[i].block);
    }
    free(before.old);
}

static old_block *old_find(const open_table *table, u32 key)
{
    u32 at = home_of(table, key);
    while (table->old[at].ordinal != key) {
        if (table->old[at].ordinal == 0)
            log_give_up("the store ends a block that is not open");
        at = (at + 1) & table->old_mask;
    }
    return &table->old[at];
}

/* Moves up what a search would no longer find. */
static void old_remove(open_table *table, old_block *place)
{
    u32 hole = (u32)(place - table->old);
    for (u32 at = (hole + 1) & table->old_mask; table->old[at].ordinal != 0;
         at = (at + 1) & table->old_mask) {
        const u32 home = home_of(table, table->old[at].ordinal);
        if (((at - home) & table->old_mask) >= ((at - hole) & table->old_mask)) {
            table->old[hole] = table->old[at];
            hole = at;
        }
    }
    table->old[hole].ordinal = 0;
    table->old_count--;
}

static void open_add(open_table *table, u32 ordinal, open_block block)
{
    open_block *const place = &table->young[ordinal % YOUNG_ROWS];
    if (place->word != 0) {
        if (table->old_count >= table->old_mask / 2)
            old_grow(table);
        old_put(table, ordinal - YOUNG_ROWS + 1, *place);
    }
    *place = block;
}

/* --- resolving ---------------------------------------------------------------------- */

static void fetch_block(const open_table *table, u32 ordinal, u32 back)
{
    if (back <= YOUNG_ROWS)
        __builtin_prefetch(&table->young[ordinal % YOUNG_ROWS], 1);
    else
        __builtin_prefetch(&table->old[home_of(table, ordinal + 1)], 1);
}

/* The end of a block, or that a realloc opened it. */
static void resolve_end(resolver *r, u32 ordinal, u32 back, u8 how, u32 later, log_part *part)
{
    open_table *const table = &r->open;
    old_block *const old = back <= YOUNG_ROWS ? NULL : old_find(table, ordinal + 1);
    open_block *const block = old == NULL ? &table->young[ordinal % YOUNG_ROWS] : &old->block;
    if (block->word == 0)
        log_give_up("the store ends a block that is not open");
    if (how == EHS_HOW_REALLOC) {
        block->word |= LOG_REALLOC;
        if (!ETLHEAP_PUSH(&r->log->lanes[0].late_reallocs, block->word & LOG_ORIGIN_MASK))
            abort();
        return;
    }
    if (how == ETLHEAP_FREE_PROCESS_EXIT && !r->from->exit_frees)
        return;
    part->words[part->rows] =
        block->word | LOG_END | later | (u32)(how - ETLHEAP_FREE_FREE) << LOG_HOW_SHIFT;
    part->sizes[part->rows++] = block->size;
    block->word = 0;
    if (old != NULL)
        old_remove(table, old);
}

static void fetch_batch(const resolver *r, const ehs_events *events, u32 first, u32 allocs, u32 end)
{
    const u32 last = events->count - first < BATCH ? events->count : first + BATCH;
    for (u32 i = first; i < last; i++) {
        if ((events->kind[i] & EHS_EVENT_END) == 0) {
            allocs++;
            continue;
        }
        fetch_block(&r->open, allocs - events->back[end], events->back[end]);
        end++;
    }
}

static void resolve_segment(resolver *r, u32 segment, const ehs_events *events)
{
    const u64 first_ordinal = r->from->archive->segments.at[segment].first_ordinal;
    log_part part = log_part_open(events->count);
    u32 allocs = (u32)first_ordinal, at = 0, end = 0, later = 0;
    for (u32 i = 0; i < events->count; i++) {
        if (i % BATCH == 0)
            fetch_batch(r, events, i, allocs, end);
        later |= (events->kind[i] & EHS_EVENT_LATER) != 0 ? LOG_LATER : 0;
        const u32 rows = part.rows;
        if ((events->kind[i] & EHS_EVENT_END) == 0) {
            const open_block block = { events->slot[at] |
                                           (events->is_realloc[at] != 0 ? LOG_REALLOC : 0),
                                       (u32)events->size[at] };
            if (events->size[at] > UINT32_MAX || (block.word & LOG_ORIGIN_MASK) == 0)
                log_give_up("blocks of 4 GiB are not part of the spike");
            part.words[part.rows] = block.word | later;
            part.sizes[part.rows++] = block.size;
            open_add(&r->open, allocs++, block);
            at++;
        } else {
            const u32 back = events->back[end];
            if (back == 0 || back > allocs)
                log_give_up("the store is damaged");
            resolve_end(r, allocs - back, back, events->how[end++], later, &part);
        }
        later = part.rows > rows ? 0 : later;
    }
    part.ends_later = later != 0;
    r->log->rows += part.rows;
    r->log->bytes += (u64)events->count * 2 * sizeof(u32);
    if (!ETLHEAP_PUSH(&r->log->parts, part))
        abort();
}

/* Task 0 resolves the batch before, the others decode a segment each. */
static void run_task(void *context, u32 task)
{
    resolver *const r = context;
    const u32 turn = r->first / r->batch_size % 2;
    if (task == 0) {
        const double begin = bench_now_seconds();
        for (u32 i = 0; i < r->previous_count; i++)
            resolve_segment(r, r->previous_first + i, &r->decoded[1 - turn][i].events);
        r->from->serial_seconds += bench_now_seconds() - begin;
        return;
    }
    decoding *const own = &r->decoded[turn][task - 1];
    const ehs_archive *const archive = r->from->archive;
    const u32 segment = r->first + task - 1;
    const ehs_segment_source from = { &archive->reader, &own->codec, segment };
    const double begin = bench_now_seconds();
    if (own->events.memory == NULL && !ehs_events_open(&own->events))
        abort();
    if (ehs_segment_read(&from, &archive->segments.at[segment], WANTED, &own->events, NULL) !=
        ETL_OK)
        log_give_up("the store is damaged");
    atomic_fetch_add(&r->log->write_ns, log_ns_since(begin));
}

void log_resolve(log_archive *from, event_log *log)
{
    const u32 segments = (u32)from->archive->segments.count;
    resolver r = { .from = from, .log = log, .batch_size = 4 * log->jobs };
    r.open.young = bench_allocate(YOUNG_ROWS, sizeof *r.open.young);
    r.open.old_mask = ((u32)1 << 16) - 1;
    r.open.old = bench_allocate(r.open.old_mask + (size_t)1, sizeof *r.open.old);
    r.decoded[0] = bench_allocate(r.batch_size, sizeof *r.decoded[0]);
    r.decoded[1] = bench_allocate(r.batch_size, sizeof *r.decoded[1]);
    log->lanes = bench_allocate(log->jobs, sizeof *log->lanes);
    etlheap_crew *const crew = etlheap_crew_open(log->jobs);
    for (r.first = 0; r.first < segments + r.batch_size; r.first += r.batch_size) {
        const u32 left = r.first < segments ? segments - r.first : 0;
        r.count = left < r.batch_size ? left : r.batch_size;
        etlheap_crew_run(crew, 1 + r.count, run_task, &r);
        r.previous_first = r.first;
        r.previous_count = r.count;
    }
    etlheap_crew_close(crew);
    for (u32 i = 0; i < 2 * r.batch_size; i++) {
        decoding *const own = &r.decoded[i / r.batch_size][i % r.batch_size];
        ehs_events_close(&own->events);
        ehs_codec_free(&own->codec);
    }
    free(r.decoded[0]);
    free(r.decoded[1]);
    free(r.open.young);
    free(r.open.old);
}
