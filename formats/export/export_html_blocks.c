/*
 * export_html_blocks.c - finds single blocks for the stacks that an HTML report shows.
 * export_html_blocks.h says which.
 *
 * In: two walks over the largest blocks, of those outstanding at the end and of the others
 * (export_html_ask.c); the rows of the page. Out: numbers of a few blocks for each row.
 *
 *     block ──▶ kind, process, heap, frames ──hash──▶ row with equal content
 *
 * A walk has a table of its own, so its numbers mean nothing to the page and a block finds its row
 * by content. Invariant: what has the same hash is compared; hash_of may only use what same_owner
 * compares.
 */
#include "export_html_blocks.h"

#include "export_html_code.h"

#include <stdlib.h>

typedef struct html_block {
    etlheap_lifetime life;
    u32 row;
    u32 place; /* among all that were handed out */
} html_block;

/* The owner of a block, in a table of rows or of a walk. */
typedef struct block_owner {
    const etlheap_table *table;
    u32 stack; /* of the table; ETLHEAP_NO_INDEX: none */
    u32 pid;
    u64 heap;
    const char *process;
    u8 kind;
} block_owner;

typedef struct hashed_row {
    u64 hash;
    u32 row;
} hashed_row;

/* The rows that are shown, by hash, and how many blocks they have so far. */
typedef struct row_index {
    const etlheap_table *rows;
    hashed_row *at;
    u32 *block_counts; /* by row */
    u32 count;
} row_index;

static bool open_index(const html_answers *answers, const html_choice *choice, row_index *out);
static etl_status take_blocks(etlheap_lifetimes *walk, row_index *index, html_blocks *out,
                              etl_error *err);
static bool take_block(const etlheap_lifetimes *walk, const etlheap_lifetime *life,
                       row_index *index, html_blocks *out);
static u32 find_row(const row_index *index, const block_owner *owner);
static u64 hash_of(const block_owner *owner);
static bool same_owner(const block_owner *a, const block_owner *b);
static int by_row(const void *a, const void *b);

etl_status html_blocks_find(const html_answers *answers, const html_choice *choice,
                            html_blocks *out, etl_error *err)
{
    row_index index = { .rows = answers->rows->table };
    etl_status status = ETL_OK;
    if (!open_index(answers, choice, &index))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = take_blocks(answers->outstanding_blocks, &index, out, err);
    if (status == ETL_OK)
        status = take_blocks(answers->freed_blocks, &index, out, err);
    free(index.at);
    free(index.block_counts);
    if (out->count > 0)
        qsort(out->at, out->count, sizeof *out->at, by_row);
    return status;
}

void html_blocks_close(html_blocks *blocks)
{
    free(blocks->at);
    *blocks = (html_blocks){ 0 };
}

/* --- the rows ----------------------------------------------------------------------- */

static block_owner owner_of_row(const etlheap_table *table, const etlheap_row *row)
{
    return (block_owner){ .table = table,
                          .stack = row->stack,
                          .pid = row->pid,
                          .heap = row->has_heap ? row->heap_handle : 0,
                          .process = row->process,
                          .kind = row->kind };
}

static int by_hash(const void *a, const void *b)
{
    const hashed_row *const x = a, *const y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* False: out of memory. */
static bool open_index(const html_answers *answers, const html_choice *choice, row_index *out)
{
    const etlheap_table *const rows = answers->rows->table;
    out->at = calloc((size_t)choice->row_count + 1, sizeof *out->at);
    out->block_counts = calloc((size_t)choice->row_count + 1, sizeof *out->block_counts);
    if (out->at == NULL || out->block_counts == NULL)
        return false;
    for (u32 i = 0; i < choice->row_count; i++) {
        const block_owner owner = owner_of_row(rows, &rows->rows[i]);
        if (choice->group_of[i] < choice->group_count)
            out->at[out->count++] = (hashed_row){ hash_of(&owner), i };
    }
    qsort(out->at, out->count, sizeof *out->at, by_hash);
    return true;
}

static u64 mix(u64 hash, u64 value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static u64 mix_text(u64 hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (u8)*text) * 0x100000001B3u;
    return mix(hash, text == NULL);
}

static etlheap_indices frames_of(const block_owner *owner)
{
    const etlheap_row row = { .stack = owner->stack };
    return owner->stack == ETLHEAP_NO_INDEX ? (etlheap_indices){ .count = 0 }
                                            : etlheap_row_frames(owner->table, &row);
}

/* The place of a frame. Addresses differ from process to process, so it is an offset if
 * possible. */
static u64 place_of(const etlheap_frame *frame)
{
    return frame->module != NULL ? frame->offset : frame->address;
}

/* The hash of an owner. Names are compared, not hashed, because places tell nearly all frames
 * apart. */
static u64 hash_of(const block_owner *owner)
{
    const etlheap_indices frames = frames_of(owner);
    u64 hash =
        mix_text(mix(mix(mix(owner->kind, owner->pid), owner->heap), frames.count), owner->process);
    for (u32 i = 0; i < frames.count; i++)
        hash = mix(hash, place_of(&owner->table->frames[frames.at[i]]));
    return hash;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_frame(const etlheap_frame *a, const etlheap_frame *b)
{
    return place_of(a) == place_of(b) && a->is_inlined == b->is_inlined &&
           same_text(a->module, b->module) && same_text(a->symbol, b->symbol);
}

static bool same_owner(const block_owner *a, const block_owner *b)
{
    const etlheap_indices x = frames_of(a), y = frames_of(b);
    bool same = a->kind == b->kind && a->pid == b->pid && a->heap == b->heap &&
                x.count == y.count &&
                (a->stack == ETLHEAP_NO_INDEX) == (b->stack == ETLHEAP_NO_INDEX) &&
                same_text(a->process, b->process);
    for (u32 i = 0; same && i < x.count; i++)
        same = same_frame(&a->table->frames[x.at[i]], &b->table->frames[y.at[i]]);
    return same;
}

/* ETLHEAP_NO_INDEX: it is not shown. */
static u32 find_row(const row_index *index, const block_owner *owner)
{
    const u64 hash = hash_of(owner);
    u32 low;
    ETL_BISECT(low, 0, index->count, index->at[low].hash < hash);
    for (; low < index->count && index->at[low].hash == hash; low++) {
        const u32 row = index->at[low].row;
        const block_owner shown = owner_of_row(index->rows, &index->rows->rows[row]);
        if (same_owner(&shown, owner))
            return row;
    }
    return ETLHEAP_NO_INDEX;
}

/* --- the blocks --------------------------------------------------------------------- */

/* Takes the blocks of a walk. Without one, the result keeps no single blocks. */
static etl_status take_blocks(etlheap_lifetimes *walk, row_index *index, html_blocks *out,
                              etl_error *err)
{
    etlheap_lifetime life;
    bool ok = true;
    if (walk == NULL)
        return ETL_OK;
    while (ok && etlheap_lifetimes_next(walk, &life))
        ok = take_block(walk, &life, index, out);
    return ok ? etlheap_lifetimes_status(walk, err) : etl_no_memory(err);
}

/* False: out of memory. */
static bool take_block(const etlheap_lifetimes *walk, const etlheap_lifetime *life,
                       row_index *index, html_blocks *out)
{
    const etlheap_process_info *const process =
        etlheap_process_of(etlheap_lifetimes_result(walk), life->process);
    const block_owner owner = { .table = etlheap_lifetimes_table(walk),
                                .stack = life->stack,
                                .pid = process == NULL ? ETL_NO_ID : process->pid,
                                .heap = life->has_heap ? life->heap_handle : 0,
                                .process = process == NULL ? NULL : process->name,
                                .kind = life->kind };
    const u32 row = find_row(index, &owner);
    if (row == ETLHEAP_NO_INDEX || index->block_counts[row] == HTML_BLOCKS_OF_ROW)
        return true;
    if (out->count == out->capacity) {
        const u32 capacity = out->capacity == 0 ? 256 : 2 * out->capacity;
        html_block *const at = realloc(out->at, capacity * sizeof *at);
        if (at == NULL)
            return false;
        out->at = at;
        out->capacity = capacity;
    }
    index->block_counts[row]++;
    out->at[out->count] = (html_block){ .life = *life, .row = row, .place = out->count };
    out->count++;
    return true;
}

static int by_row(const void *a, const void *b)
{
    const html_block *const x = a, *const y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* --- as numbers --------------------------------------------------------------------- */

static void add_time(etlheap_text *text, bool is_known, i64 ns)
{
    const u64 size = ns < 0 ? 0 - (u64)ns : (u64)ns;
    html_code_add(text, is_known ? 1 + 2 * size + (ns < 0) : 0);
}

static void add_block(etlheap_text *text, const etlheap_lifetime *life)
{
    html_code_add(text, life->size_bytes);
    html_code_add(text, life->address);
    html_code_add(text, life->thread == ETL_NO_ID ? 0 : (u64)life->thread + 1);
    html_code_add(text, life->free_type);
    add_time(text, life->alloc_ns != INT64_MIN, life->alloc_ns);
    add_time(text, life->free_ns != INT64_MAX, life->free_ns);
}

void html_blocks_add(const html_blocks *blocks, const u32 *page_rows, etlheap_text *text)
{
    const size_t limit = text->size + HTML_BLOCK_BYTES;
    etlheap_text some = { 0 };
    u32 next = 0; /* row of the page */
    for (u32 i = 0, end; i < blocks->count; i = end) {
        const u32 row = blocks->at[i].row;
        for (end = i; end < blocks->count && blocks->at[end].row == row; end++) {
        }
        etlheap_text_clear(&some);
        html_code_add(&some, page_rows[row] + 1 - next);
        html_code_add(&some, end - i);
        for (u32 k = i; k < end; k++)
            add_block(&some, &blocks->at[k].life);
        if (text->size + some.size > limit)
            break;
        etlheap_text_add(text, etlheap_text_of(&some), some.size);
        next = page_rows[row] + 1;
    }
    text->failed |= some.failed;
    etlheap_text_free(&some);
}
