/*
 * log_resolve.c - see log_resolve.h.
 *
 * A store says of an end how many allocations back its block is. Segments are read in batches,
 * each in two steps that all threads share, so no thread has to resolve alone:
 *
 *     decode     segments -> columns; blocks -> the table, by ordinal: no two tasks meet there
 *     resolve    columns -> rows; an end finds its block, which is in the table by then
 *
 * Between the steps one thread moves what is left of old pages, so that the size of the table
 * follows the open blocks, not the length of the store:
 *
 *     pages   blocks by ordinal, PAGE_ROWS to a page: one look-up, no hash
 *     old     the last blocks of a page that are still open, hashed by ordinal; the page goes
 */
#include "log_resolve.h"

#include <stdlib.h>

#include "bench.h"

#define PAGE_BITS 10u
#define PAGE_ROWS ((u32)1 << PAGE_BITS)
#define PAGE_OLD  (PAGE_ROWS / 16) /* open blocks that are left when a page goes */
#define BATCH     64u              /* events whose blocks are fetched at once */
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

typedef struct open_page {
    open_block *rows; /* NULL: its open blocks are old */
    atomic_uint open; /* rows that are open or not yet allocated */
} open_page;

typedef struct open_table {
    open_page *pages; /* by ordinal / PAGE_ROWS */
    u32 page_count;   /* that have begun */
    ETLHEAP_VECTOR(open_block *) unused;
    old_block *old;
    u32 old_mask, old_count;
} open_table;

/* A segment on its way. The lists are for the one thread between the steps. */
typedef struct decoding {
    ehs_codec codec;
    ehs_events events;
    log_part part;
    ETLHEAP_VECTOR(u32) reallocs;   /* ordinals of blocks that a later record calls reallocs */
    ETLHEAP_VECTOR(u32) ended_old;  /* ordinals */
    ETLHEAP_VECTOR(u32) left_pages; /* numbers of pages that are nearly empty */
    u8 padding[SHARD_PADDING];
} decoding;

typedef struct resolver {
    log_archive *from;
    event_log *log;
    open_table open;
    decoding *decoded; /* of the batch */
    u32 first;         /* segment of the batch */
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

/* Pages for all blocks below this ordinal. */
static void open_reach(open_table *table, u64 ordinals)
{
    for (; (u64)table->page_count * PAGE_ROWS < ordinals; table->page_count++) {
        open_page *const page = &table->pages[table->page_count];
        page->rows = table->unused.count > 0 ? table->unused.at[--table->unused.count]
                                             : bench_allocate(PAGE_ROWS, sizeof *page->rows);
        atomic_init(&page->open, PAGE_ROWS);
    }
}

/* What is left of a page becomes old. */
static void retire_page(open_table *table, u32 number)
{
    open_page *const page = &table->pages[number];
    for (u32 i = 0; i < PAGE_ROWS; i++) {
        if (page->rows[i].word == 0)
            continue;
        if (table->old_count >= table->old_mask / 2)
            old_grow(table);
        old_put(table, number * PAGE_ROWS + i + 1, page->rows[i]);
    }
    memset(page->rows, 0, PAGE_ROWS * sizeof *page->rows);
    if (!ETLHEAP_PUSH(&table->unused, page->rows))
        abort();
    page->rows = NULL;
}

/* An open block by its ordinal. */
static open_block *open_find(const open_table *table, u32 ordinal)
{
    const open_page *const page = &table->pages[ordinal >> PAGE_BITS];
    open_block *const block = page->rows == NULL ? &old_find(table, ordinal + 1)->block
                                                 : &page->rows[ordinal % PAGE_ROWS];
    if (block->word == 0)
        log_give_up("the store ends a block that is not open");
    return block;
}

/* Always inlined, as fetch_batch: gcc leaves out calls of functions that only fetch. */
__attribute__((always_inline)) static inline void fetch_block(const open_table *table, u32 ordinal)
{
    const open_page *const page = &table->pages[ordinal >> PAGE_BITS];
    if (page->rows != NULL)
        __builtin_prefetch(&page->rows[ordinal % PAGE_ROWS], 1);
    else
        __builtin_prefetch(&table->old[home_of(table, ordinal + 1)], 1);
}

/* --- decoding ----------------------------------------------------------------------- */

static void note_blocks(resolver *r, u64 first_ordinal, decoding *own)
{
    const ehs_events *const events = &own->events;
    for (u32 i = 0; i < events->alloc_count; i++) {
        const u64 ordinal = first_ordinal + i;
        const u32 word = events->slot[i] | (events->is_realloc[i] != 0 ? LOG_REALLOC : 0);
        if (events->size[i] > UINT32_MAX || (word & LOG_ORIGIN_MASK) == 0)
            log_give_up("blocks of 4 GiB are not part of the spike");
        r->open.pages[ordinal >> PAGE_BITS].rows[ordinal % PAGE_ROWS] =
            (open_block){ word, (u32)events->size[i] };
    }
}

/* From here on `back` is the ordinal of the block. Without a branch: nobody can guess whether
 * the next event is an end. */
static void number_ends(u64 first_ordinal, decoding *own)
{
    const ehs_events *const events = &own->events;
    u32 allocs = (u32)first_ordinal, end = 0;
    bool is_damaged = false;
    for (u32 i = 0; i < events->count && end < events->end_count; i++) {
        const u32 is_end = events->kind[i] & EHS_EVENT_END;
        const u32 back = events->back[end];
        is_damaged |= is_end && (back == 0 || back > allocs);
        events->back[end] = is_end ? allocs - back : back;
        end += is_end;
        allocs += 1 - is_end;
    }
    if (is_damaged)
        log_give_up("the store is damaged");
    const u8 *at = memchr(events->how, EHS_HOW_REALLOC, events->end_count);
    for (; at != NULL;
         at = memchr(at + 1, EHS_HOW_REALLOC, events->end_count - (size_t)(at + 1 - events->how))) {
        if (!ETLHEAP_PUSH(&own->reallocs, events->back[at - events->how]))
            abort();
    }
}

static void decode(void *context, u32 task)
{
    resolver *const r = context;
    decoding *const own = &r->decoded[task];
    const ehs_archive *const archive = r->from->archive;
    const u32 segment = r->first + task;
    const ehs_segment_info *const info = &archive->segments.at[segment];
    const ehs_segment_source from = { &archive->reader, &own->codec, segment };
    const unsigned long long begin = log_thread_ns();
    if (own->events.memory == NULL && !ehs_events_open(&own->events))
        abort();
    if (ehs_segment_read(&from, info, WANTED, &own->events, NULL) != ETL_OK)
        log_give_up("the store is damaged");
    atomic_fetch_add(&r->log->write_ns, log_thread_ns() - begin);
    note_blocks(r, info->first_ordinal, own);
    number_ends(info->first_ordinal, own);
}

/* --- resolving ---------------------------------------------------------------------- */

__attribute__((always_inline)) static inline void fetch_batch(const resolver *r,
                                                              const ehs_events *events, u32 end)
{
    const u32 last = events->end_count - end < BATCH ? events->end_count : end + BATCH;
    for (u32 i = end; i < last; i++)
        fetch_block(&r->open, events->back[i]);
}

static void resolve_end(resolver *r, decoding *own, u32 end, u32 later)
{
    open_table *const table = &r->open;
    log_part *const part = &own->part;
    const u32 ordinal = own->events.back[end];
    const u8 how = own->events.how[end];
    if (how == EHS_HOW_REALLOC || (how == ETLHEAP_FREE_PROCESS_EXIT && !r->from->exit_frees))
        return;
    open_block *const block = open_find(table, ordinal);
    part->words[part->rows] =
        block->word | LOG_END | later | (u32)(how - ETLHEAP_FREE_FREE) << LOG_HOW_SHIFT;
    part->sizes[part->rows++] = block->size;
    block->word = 0;
    open_page *const page = &table->pages[ordinal >> PAGE_BITS];
    const bool ok =
        page->rows == NULL ? ETLHEAP_PUSH(&own->ended_old, ordinal)
        : atomic_fetch_sub_explicit(&page->open, 1, memory_order_relaxed) == PAGE_OLD + 1
            ? ETLHEAP_PUSH(&own->left_pages, ordinal >> PAGE_BITS)
            : true;
    if (!ok)
        abort();
}

static void resolve(void *context, u32 task)
{
    resolver *const r = context;
    decoding *const own = &r->decoded[task];
    const ehs_events *const events = &own->events;
    own->part = log_part_open(events->count);
    log_part *const part = &own->part;
    part->first_rank = (u32)r->from->archive->segments.at[r->first + task].first_ordinal;
    u32 at = 0, end = 0, later = 0;
    for (u32 i = 0; i < events->count; i++) {
        later |= (events->kind[i] & EHS_EVENT_LATER) != 0 ? LOG_LATER : 0;
        const u32 rows = part->rows;
        if ((events->kind[i] & EHS_EVENT_END) == 0) {
            part->words[part->rows] =
                events->slot[at] | later | (events->is_realloc[at] != 0 ? LOG_REALLOC : 0);
            part->sizes[part->rows++] = (u32)events->size[at++];
        } else {
            if (end % BATCH == 0)
                fetch_batch(r, events, end);
            resolve_end(r, own, end++, later);
        }
        later = part->rows > rows ? 0 : later;
    }
    part->ends_later = later != 0;
}

/* --- between the steps ---------------------------------------------------------------- */

static void settle_reallocs(resolver *r, decoding *own)
{
    for (size_t i = 0; i < own->reallocs.count; i++) {
        open_block *const block = open_find(&r->open, own->reallocs.at[i]);
        block->word |= LOG_REALLOC;
        if (!ETLHEAP_PUSH(&r->log->lanes[0].late_reallocs, block->word & LOG_ORIGIN_MASK))
            abort();
    }
    own->reallocs.count = 0;
}

/* A page that is not yet full stays: blocks will be put into it. */
static void settle_segment(resolver *r, decoding *own, u64 ordinals)
{
    for (size_t i = 0; i < own->ended_old.count; i++)
        old_remove(&r->open, old_find(&r->open, own->ended_old.at[i] + 1));
    for (size_t i = 0; i < own->left_pages.count; i++) {
        const u32 number = own->left_pages.at[i];
        if (((u64)number + 1) * PAGE_ROWS <= ordinals)
            retire_page(&r->open, number);
    }
    own->ended_old.count = own->left_pages.count = 0;
    r->log->rows += own->part.rows;
    r->log->bytes += (u64)own->events.count * 2 * sizeof(u32);
    if (!ETLHEAP_PUSH(&r->log->parts, own->part))
        abort();
}

/* Bits of whole bytes, so tasks do not meet. */
typedef struct survivor_work {
    const open_table *table;
    u8 *bits;
    u64 ordinals;
} survivor_work;

#define SURVIVOR_ORDINALS ((u64)1 << 18) /* of one task */

static void find_survivors(void *context, u32 task)
{
    const survivor_work *const work = context;
    const u64 first = task * SURVIVOR_ORDINALS;
    const u64 end = etl_min_u64(first + SURVIVOR_ORDINALS, work->ordinals);
    for (u64 ordinal = first; ordinal < end; ordinal++) {
        const open_page *const page = &work->table->pages[ordinal >> PAGE_BITS];
        if (page->rows != NULL && page->rows[ordinal % PAGE_ROWS].word != 0)
            work->bits[ordinal >> 3] |= (u8)(1u << (ordinal & 7));
    }
}

static u8 *survivors_of(const open_table *table, u64 ordinals, u32 jobs)
{
    survivor_work work = { table, bench_allocate(ordinals / 8 + 1, 1), ordinals };
    etlheap_workers_run(jobs, (u32)(ordinals / SURVIVOR_ORDINALS + 1), find_survivors, &work);
    for (u32 i = 0; i <= table->old_mask; i++) {
        const u32 ordinal = table->old[i].ordinal - 1;
        if (table->old[i].ordinal != 0)
            work.bits[ordinal >> 3] |= (u8)(1u << (ordinal & 7));
    }
    return work.bits;
}

static void free_resolver(resolver *r, u32 batch_size)
{
    for (u32 i = 0; i < batch_size; i++) {
        decoding *const own = &r->decoded[i];
        ehs_events_close(&own->events);
        ehs_codec_free(&own->codec);
        ETLHEAP_VECTOR_FREE(&own->reallocs);
        ETLHEAP_VECTOR_FREE(&own->ended_old);
        ETLHEAP_VECTOR_FREE(&own->left_pages);
    }
    for (u32 i = 0; i < r->open.page_count; i++)
        free(r->open.pages[i].rows);
    for (size_t i = 0; i < r->open.unused.count; i++)
        free(r->open.unused.at[i]);
    ETLHEAP_VECTOR_FREE(&r->open.unused);
    free(r->open.pages);
    free(r->open.old);
    free(r->decoded);
}

u8 *log_resolve(log_archive *from, event_log *log)
{
    const ehs_segment_info *const segments = from->archive->segments.at;
    const u32 count = (u32)from->archive->segments.count, batch_size = 4 * log->jobs;
    const u64 ordinals =
        count == 0 ? 0 : segments[count - 1].first_ordinal + segments[count - 1].allocs;
    resolver r = { .from = from, .log = log };
    r.open.pages = bench_allocate(ordinals / PAGE_ROWS + 1, sizeof *r.open.pages);
    r.open.old_mask = ((u32)1 << 16) - 1;
    r.open.old = bench_allocate(r.open.old_mask + (size_t)1, sizeof *r.open.old);
    r.decoded = bench_allocate(batch_size, sizeof *r.decoded);
    log->lanes = bench_allocate(log->jobs, sizeof *log->lanes);
    etlheap_crew *const crew = etlheap_crew_open(log->jobs);
    for (r.first = 0; r.first < count; r.first += batch_size) {
        const u32 here = count - r.first < batch_size ? count - r.first : batch_size;
        const ehs_segment_info *const last = &segments[r.first + here - 1];
        const u64 reached = last->first_ordinal + last->allocs;
        open_reach(&r.open, reached);
        etlheap_crew_run(crew, here, decode, &r);
        double begin = bench_now_seconds();
        for (u32 i = 0; i < here; i++)
            settle_reallocs(&r, &r.decoded[i]);
        from->serial_seconds += bench_now_seconds() - begin;
        etlheap_crew_run(crew, here, resolve, &r);
        begin = bench_now_seconds();
        for (u32 i = 0; i < here; i++)
            settle_segment(&r, &r.decoded[i], reached);
        from->serial_seconds += bench_now_seconds() - begin;
    }
    etlheap_crew_close(crew);
    u8 *const survivors = survivors_of(&r.open, ordinals, log->jobs);
    free_resolver(&r, batch_size);
    return survivors;
}
