/*
 * lifetimes_list.c - a list of lifetimes in the order of a walk; keeps all rows, or only the first
 * N.
 *
 * In: rows in any order. Out: rows in order, one by one.
 *
 *     all rows     appended, merge-sorted once when they are asked for
 *     first N      a heap with the last of them at its root; a new row replaces the root
 *                  if it comes before it
 *
 * The sort key of a row becomes one number, so most comparisons look at nothing else. Invariant:
 * ties go by time of allocation and then by everything that a row shows. So the order does not
 * depend on where rows come from, and stacks are compared by frames, never by number.
 */
#include <stdlib.h>

#include "lifetimes.h"

static u64 key_of(const walk_list *list, const walk_row *row);
static walk_row row_at(const walk_list *list, u64 place);
static int compare_items(const walk_list *list, const walk_item *a, const walk_item *b);
static void replace_last(walk_list *list, const walk_item *item);
static void rise(const walk_list *list, size_t at);

walk_row walk_row_of(const etlheap_segment *segment, u32 at, const query_row *row)
{
    return (walk_row){ .life = { .alloc_ticks = row->alloc_ticks,
                                 .free_ticks = row->free_ticks,
                                 .address = segment->address[at],
                                 .size = segment->size_bytes[at],
                                 .heap = segment->heap_handle[at],
                                 .process = segment->process[at],
                                 .stack = segment->stack[at],
                                 .thread = segment->thread[at],
                                 .free_stack = segment->free_stack[at],
                                 .free_thread = segment->free_thread[at],
                                 .kind = segment->kind[at],
                                 .free_type = segment->free_type[at],
                                 .is_realloc = segment->is_realloc[at] },
                       .type = (u8)row->type };
}

void walk_list_free(walk_list *list)
{
    ETLHEAP_VECTOR_FREE(&list->rows);
    ETLHEAP_VECTOR_FREE(&list->items);
}

/* --- adding ------------------------------------------------------------------------ */

etl_status walk_list_add(walk_list *list, const walk_row *row, u64 place, etl_error *err)
{
    walk_item item = { key_of(list, row), place };
    const bool is_full = list->top != 0 && list->items.count >= list->top;
    if (is_full && item.key > list->items.at[0].key)
        return ETL_OK;
    if (list->is_copied) {
        item.place = list->rows.count;
        if (!ETLHEAP_PUSH(&list->rows, *row))
            return etl_no_memory(err);
    }
    if (is_full) {
        replace_last(list, &item);
        return ETL_OK;
    }
    if (!ETLHEAP_PUSH(&list->items, item))
        return etl_no_memory(err);
    if (list->top != 0)
        rise(list, list->items.count - 1);
    return ETL_OK;
}

/* Maps signed numbers to unsigned ones in the same order. */
static u64 biased(i64 value)
{
    return (u64)value ^ (u64)1 << 63;
}

static u64 lifetime_key(const walk_list *list, const walk_row *row)
{
    const query_row times = { .alloc_ticks = row->life.alloc_ticks,
                              .free_ticks = row->life.free_ticks };
    i64 ns;
    return query_lifetime_ns(list->plan, &times, &ns) ? biased(ns) : UINT64_MAX;
}

static u64 key_of(const walk_list *list, const walk_row *row)
{
    const lifetime *const life = &row->life;
    u64 key = 0;
    switch (list->sort) {
    case ETLHEAP_LIFETIME_ALLOC_TIME:
        key = biased(life->alloc_ticks);
        break;
    case ETLHEAP_LIFETIME_FREE_TIME:
        key = biased(life->free_ticks);
        break;
    case ETLHEAP_LIFETIME_LIFETIME:
        key = lifetime_key(list, row);
        break;
    case ETLHEAP_LIFETIME_KIND:
        key = life->kind;
        break;
    case ETLHEAP_LIFETIME_PROCESS:
        key = list->process_ranks[life->process];
        break;
    case ETLHEAP_LIFETIME_HEAP:
        key = life->heap;
        break;
    case ETLHEAP_LIFETIME_TYPE:
        key = row->type;
        break;
    case ETLHEAP_LIFETIME_FREE_TYPE:
        key = life->free_type;
        break;
    case ETLHEAP_LIFETIME_IS_REALLOC:
        key = life->is_realloc;
        break;
    case ETLHEAP_LIFETIME_ADDRESS:
        key = life->address;
        break;
    case ETLHEAP_LIFETIME_SIZE:
        key = life->size;
        break;
    case ETLHEAP_LIFETIME_THREAD:
        key = life->thread;
        break;
    case ETLHEAP_LIFETIME_COLUMN_COUNT:
        break;
    }
    return list->descending ? ~key : key;
}

u64 walk_list_floor(const walk_list *list)
{
    const bool is_full = list->top != 0 && list->items.count >= list->top;
    const bool by_size = list->sort == ETLHEAP_LIFETIME_SIZE && list->descending;
    return is_full && by_size ? ~list->items.at[0].key : 0;
}

/* --- the first rows ----------------------------------------------------------------- */

static void swap_items(const walk_list *list, size_t a, size_t b)
{
    const walk_item item = list->items.at[a];
    list->items.at[a] = list->items.at[b];
    list->items.at[b] = item;
}

static void rise(const walk_list *list, size_t at)
{
    while (at > 0) {
        const size_t parent = (at - 1) / 2;
        if (compare_items(list, &list->items.at[parent], &list->items.at[at]) >= 0)
            return;
        swap_items(list, parent, at);
        at = parent;
    }
}

static void sink(const walk_list *list)
{
    const size_t count = list->items.count;
    size_t at = 0;
    for (;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (compare_items(list, &list->items.at[child], &list->items.at[last]) > 0)
                last = child;
        }
        if (last == at)
            return;
        swap_items(list, at, last);
        at = last;
    }
}

/* Replaces the root if the new item comes before it. A row that was copied for the comparison is
 * the last of all, and takes the place of the one that goes. */
static void replace_last(walk_list *list, const walk_item *item)
{
    walk_item *const root = &list->items.at[0];
    const bool is_before = compare_items(list, item, root) < 0;
    const u64 place = root->place;
    if (is_before)
        *root = *item;
    if (list->is_copied) {
        list->rows.count--;
        if (is_before) {
            list->rows.at[place] = list->rows.at[list->rows.count];
            root->place = place;
        }
    }
    if (is_before)
        sink(list);
}

/* --- order -------------------------------------------------------------------------- */

static int compare_u64(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int compare_i64(i64 a, i64 b)
{
    return (a > b) - (a < b);
}

/* Compares stacks by their frames, because their numbers depend on how a trace was read. */
static int compare_stacks(const etlheap_result *result, u32 a, u32 b)
{
    if (a == b)
        return 0;
    if (a == 0 || b == 0)
        return a == 0 ? -1 : 1;
    const etlheap_frames x = stack_spell(&result->stacks, a), y = stack_spell(&result->stacks, b);
    for (u32 i = 0; i < x.count && i < y.count; i++) {
        if (x.addresses[i] != y.addresses[i])
            return compare_u64(x.addresses[i], y.addresses[i]);
    }
    return compare_u64(x.count, y.count);
}

int walk_compare(const etlheap_result *result, const walk_row *a, const walk_row *b)
{
    const lifetime *const x = &a->life, *const y = &b->life;
    int order = compare_i64(x->alloc_ticks, y->alloc_ticks);
    if (order == 0)
        order = (int)x->kind - (int)y->kind;
    if (order == 0)
        order = compare_u64(x->process, y->process);
    if (order == 0)
        order = compare_u64(x->heap, y->heap);
    if (order == 0)
        order = compare_u64(x->address, y->address);
    if (order == 0)
        order = compare_u64(x->size, y->size);
    if (order == 0)
        order = compare_i64(x->free_ticks, y->free_ticks);
    if (order == 0)
        order = compare_u64(x->thread, y->thread);
    if (order == 0)
        order = (int)x->free_type - (int)y->free_type;
    if (order == 0)
        order = (int)x->is_realloc - (int)y->is_realloc;
    if (order == 0)
        order = compare_stacks(result, x->stack, y->stack);
    if (order == 0)
        order = compare_u64(x->free_thread, y->free_thread);
    return order != 0 ? order : compare_stacks(result, x->free_stack, y->free_stack);
}

static walk_row row_at(const walk_list *list, u64 place)
{
    if (list->is_copied)
        return list->rows.at[place];
    const etlheap_segment segment = store_view(&list->plan->result->store.segments.at[place >> 32]);
    query_row row;
    const bool is_selected = query_select(list->plan, &segment, (u32)place, &row);
    assert(is_selected);
    (void)is_selected;
    return walk_row_of(&segment, (u32)place, &row);
}

static int compare_items(const walk_list *list, const walk_item *a, const walk_item *b)
{
    if (a->key != b->key)
        return compare_u64(a->key, b->key);
    const walk_row x = row_at(list, a->place), y = row_at(list, b->place);
    return walk_compare(list->plan->result, &x, &y);
}

static bool is_sorted(const walk_list *list)
{
    for (size_t i = list->next + 1; i < list->items.count; i++) {
        if (compare_items(list, &list->items.at[i - 1], &list->items.at[i]) > 0)
            return false;
    }
    return true;
}

static void merge_items(const walk_list *list, const walk_item *from, walk_item *to, size_t width)
{
    const size_t count = list->items.count - list->next;
    for (size_t start = 0; start < count; start += 2 * width) {
        const size_t middle = start + width < count ? start + width : count;
        const size_t end = middle + width < count ? middle + width : count;
        size_t left = start, right = middle;
        for (size_t at = start; at < end; at++) {
            const bool take_left =
                right >= end ||
                (left < middle && compare_items(list, &from[left], &from[right]) <= 0);
            to[at] = take_left ? from[left++] : from[right++];
        }
    }
}

/* Merge sort. Rows of a store come in order, or nearly so. */
etl_status walk_list_sort(walk_list *list, etl_error *err)
{
    const size_t count = list->items.count - list->next;
    if (is_sorted(list))
        return ETL_OK;
    walk_item *const scratch = malloc(count * sizeof *scratch);
    if (scratch == NULL)
        return etl_no_memory(err);
    walk_item *from = list->items.at + list->next, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        merge_items(list, from, to, width);
        walk_item *const swap = from;
        from = to;
        to = swap;
    }
    if (from == scratch)
        memcpy(to, from, count * sizeof *to);
    free(scratch);
    return ETL_OK;
}

/* --- handing out -------------------------------------------------------------------- */

bool walk_list_peek(const walk_list *list, walk_row *out)
{
    if (list->next >= list->items.count)
        return false;
    *out = row_at(list, list->items.at[list->next].place);
    return true;
}

/* Drops the rows that were handed out; the rest are moved together, in order. */
etl_status walk_list_drop(walk_list *list, etl_error *err)
{
    const size_t left = list->items.count - list->next;
    assert(list->is_copied);
    if (list->next == 0)
        return ETL_OK;
    walk_row *const kept = malloc((left + 1) * sizeof *kept);
    if (kept == NULL)
        return etl_no_memory(err);
    for (size_t i = 0; i < left; i++) {
        const walk_item item = list->items.at[list->next + i];
        kept[i] = list->rows.at[item.place];
        list->items.at[i] = (walk_item){ item.key, i };
    }
    if (left > 0)
        memcpy(list->rows.at, kept, left * sizeof *kept);
    list->rows.count = list->items.count = left;
    list->next = 0;
    free(kept);
    return ETL_OK;
}
