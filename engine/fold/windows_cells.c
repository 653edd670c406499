/*
 * windows_cells.c - cells as walkers leave them, and what becomes of them.
 *
 * There are millions of them where many groups meet many windows, so both are packed
 * (packed_cells.h). Walked ones are put into the order of their groups as they are; then each
 * group's are unpacked, joined, and packed again.
 */
#include "windows_cells.h"

#include <stdlib.h>

#include "packed_cells.h"

/* What a walked cell begins with. */
typedef struct walked_head {
    u32 group, interval, widths;
} walked_head;

#define WALKED_BYTES_MAX (sizeof(walked_head) + CELL_AMOUNTS * sizeof(u64) + PACKED_SLACK)

/* Cells of a group being made. */
typedef struct cell_maker {
    ETLHEAP_VECTOR(window_cell) joined; /* of the group at hand */
    ETLHEAP_VECTOR(u8) packed;          /* of all groups so far */
} cell_maker;

static cell_amounts walked_amounts(const window_hot *hot);
static bool sort_by_group(window_cell_list *walked, size_t *starts, u32 group_count);
static bool join_cells(cell_maker *maker, const u8 *from, const u8 *end);
static bool pack_cells(cell_maker *maker, window_cell_group *group);

bool windows_turn(window_hot *hot, u32 group, u32 interval, window_cell_list *out)
{
    walked_head head = { .group = group, .interval = hot->interval };
    windows_settle(hot);
    if (hot->interval != WINDOW_NO_INTERVAL) {
        const cell_amounts amounts = walked_amounts(hot);
        if (!ETLHEAP_RESERVE(out, WALKED_BYTES_MAX))
            return false;
        head.widths = packed_widths_of(&amounts);
        u8 *const to = out->at + out->count;
        memcpy(to, &head, sizeof head);
        out->count =
            (size_t)(packed_put_amounts(to + sizeof head, &amounts, head.widths) - out->at);
    }
    *hot = (window_hot){ .interval = interval };
    return true;
}

static u64 above_zero(i64 value)
{
    return value > 0 ? (u64)value : 0;
}

/* What older blocks took away follows from allocations, and takes the place of the sum; the
 * peak is no lower than both ends. */
static cell_amounts walked_amounts(const window_hot *hot)
{
    return (cell_amounts){ {
        (u64)hot->alloc_size,
        hot->alloc_count,
        (u64)hot->aifi_size,
        hot->aifi_count,
        (u64)hot->alloc_size - (u64)hot->aifi_size - (u64)hot->size,
        (u64)hot->alloc_count - hot->aifi_count - (u64)hot->count,
        (u64)hot->peak_size - above_zero(hot->size),
        (u64)hot->peak_count - above_zero(hot->count),
    } };
}

static walked_head read_head(const u8 *at)
{
    walked_head head;
    memcpy(&head, at, sizeof head);
    return head;
}

static size_t walked_bytes(const walked_head *head)
{
    return sizeof *head + packed_widths_sum(head->widths);
}

static const u8 *read_walked(const u8 *at, window_cell *out)
{
    const walked_head head = read_head(at);
    const cell_amounts amounts = packed_get_amounts(at + sizeof head, head.widths);
    const u64 *const a = amounts.at;
    *out = (window_cell){ .group = head.group,
                          .interval = head.interval,
                          .alloc_size = (i64)a[0],
                          .alloc_count = (i64)a[1],
                          .aifi_size = (i64)a[2],
                          .aifi_count = (i64)a[3],
                          .size = (i64)(a[0] - a[2] - a[4]),
                          .count = (i64)(a[1] - a[3] - a[5]) };
    out->peak_size = (i64)(a[6] + above_zero(out->size));
    out->peak_count = (i64)(a[7] + above_zero(out->count));
    return at + walked_bytes(&head);
}

void windows_cells_shift(window_cell_list *walked, size_t from, u32 by)
{
    while (from < walked->count) {
        walked_head head = read_head(walked->at + from);
        head.group += by;
        memcpy(walked->at + from, &head, sizeof head);
        from += walked_bytes(&head);
    }
}

bool windows_cells_make(window_cells *out, window_cell_list *walked, u32 group_count)
{
    size_t *const starts = calloc((size_t)group_count + 2, sizeof *starts);
    cell_maker maker = { .joined = { 0 } };
    *out = (window_cells){ NULL, calloc((size_t)group_count + 1, sizeof *out->groups) };
    bool ok = starts != NULL && out->groups != NULL && sort_by_group(walked, starts, group_count) &&
              ETLHEAP_RESERVE(&maker.packed, PACKED_SLACK);
    for (u32 g = 0; ok && g < group_count; g++)
        ok = join_cells(&maker, walked->at + starts[g], walked->at + starts[g + 1]) &&
             pack_cells(&maker, &out->groups[g]);
    ETLHEAP_VECTOR_FREE(walked);
    ETLHEAP_VECTOR_FREE(&maker.joined);
    free(starts);
    out->at = maker.packed.at;
    u8 *const smaller = ok ? realloc(out->at, maker.packed.count + PACKED_SLACK) : NULL;
    out->at = smaller == NULL ? out->at : smaller;
    return ok;
}

void windows_cells_free(window_cells *cells)
{
    free(cells->at);
    free(cells->groups);
    *cells = (window_cells){ NULL, NULL };
}

/* Stable: what comes first of a group stays first. Cells of group g are then from starts[g] up
 * to starts[g + 1]. */
static bool sort_by_group(window_cell_list *walked, size_t *starts, u32 group_count)
{
    window_cell_list sorted = { 0 };
    if (!ETLHEAP_RESERVE(&sorted, walked->count + PACKED_SLACK))
        return false;
    walked_head head;
    for (size_t at = 0; at < walked->count; at += walked_bytes(&head)) {
        head = read_head(walked->at + at);
        starts[head.group + 2] += walked_bytes(&head);
    }
    for (u32 g = 0; g < group_count; g++)
        starts[g + 1] += starts[g];
    for (size_t at = 0; at < walked->count; at += walked_bytes(&head)) {
        head = read_head(walked->at + at);
        memcpy(sorted.at + starts[head.group + 1], walked->at + at, walked_bytes(&head));
        starts[head.group + 1] += walked_bytes(&head);
    }
    sorted.count = walked->count;
    ETLHEAP_VECTOR_FREE(walked);
    *walked = sorted;
    return true;
}

static i64 larger(i64 x, i64 y)
{
    return x > y ? x : y;
}

/* The second cell begins where the first ends. */
static void join_two(window_cell *first, const window_cell *second)
{
    first->peak_size = larger(first->peak_size, etl_sat_add_i64(first->size, second->peak_size));
    first->peak_count = larger(first->peak_count, first->count + second->peak_count);
    first->size = etl_sat_add_i64(first->size, second->size);
    first->count += second->count;
    first->alloc_size = etl_sat_add_i64(first->alloc_size, second->alloc_size);
    first->alloc_count += second->alloc_count;
    first->aifi_size = etl_sat_add_i64(first->aifi_size, second->aifi_size);
    first->aifi_count += second->aifi_count;
}

/* The walked cells of one group become its final ones. Sums that stopped at the largest number
 * fall below 0 later: what is outstanding never is. */
static bool join_cells(cell_maker *maker, const u8 *from, const u8 *end)
{
    i64 size = 0, count = 0;
    maker->joined.count = 0;
    while (from < end) {
        window_cell cell;
        from = read_walked(from, &cell);
        window_cell *const last =
            maker->joined.count == 0 ? NULL : &maker->joined.at[maker->joined.count - 1];
        if (last != NULL && last->interval == cell.interval)
            join_two(last, &cell);
        else if (!ETLHEAP_PUSH(&maker->joined, cell))
            return false;
    }
    for (size_t i = 0; i < maker->joined.count; i++) {
        window_cell *const cell = &maker->joined.at[i];
        cell->peak_size = larger(0, etl_sat_add_i64(size, cell->peak_size));
        cell->peak_count += count;
        cell->size = size = larger(0, etl_sat_add_i64(size, cell->size));
        cell->count = count += cell->count;
    }
    return true;
}

/* Widths are those of the largest numbers. */
static bool pack_cells(cell_maker *maker, window_cell_group *group)
{
    const u32 count = (u32)maker->joined.count;
    cell_amounts all = { { 0 } };
    for (u32 i = 0; i < count; i++) {
        const cell_amounts amounts = kept_amounts(&maker->joined.at[i]);
        for (u32 k = 0; k < CELL_AMOUNTS; k++)
            all.at[k] |= amounts.at[k];
    }
    const u32 interval_width = count == 0 ? 0 : packed_width(maker->joined.at[count - 1].interval);
    const u32 widths = packed_widths_of(&all);
    const u32 stride = interval_width + packed_widths_sum(widths);
    *group =
        (window_cell_group){ maker->packed.count, count, widths, (u8)interval_width, (u8)stride };
    if (!ETLHEAP_RESERVE(&maker->packed, (size_t)count * stride + PACKED_SLACK))
        return false;
    for (u32 i = 0; i < count; i++) {
        const window_cell *const cell = &maker->joined.at[i];
        const cell_amounts amounts = kept_amounts(cell);
        u8 *const to = maker->packed.at + maker->packed.count;
        (void)packed_put_amounts(packed_put(to, cell->interval, interval_width), &amounts, widths);
        maker->packed.count += stride;
    }
    return true;
}
