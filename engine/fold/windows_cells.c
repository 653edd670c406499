/*
 * windows_cells.c - turns the cells that walkers leave into the final cells of each group.
 * windows_cells.h draws a group's cells.
 *
 * In: packed cells of all walkers, in the order of time, groups mixed. Out: packed cells by group,
 * each with sums since the beginning of time.
 *
 *     walked cells ──stable sort by group──▶ unpacked, joined ──▶ packed again (packed_cells.h)
 *
 * There are millions of cells if many groups meet many windows, so both lists are packed. Each
 * thread makes the cells of its own groups. Invariant: the sort must be stable, because the cells
 * of a group are joined in the order of time; and the result does not depend on the number of
 * threads.
 */
#include "windows_cells.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"
#include "packed_cells.h"

/* The head of a walked cell. */
typedef struct walked_head {
    u32 group, interval, widths;
} walked_head;

#define WALKED_BYTES_MAX (sizeof(walked_head) + CELL_AMOUNTS * sizeof(u64) + PACKED_SLACK)

typedef struct making {
    walked_parts *walked;
    size_t walked_bytes;     /* of all parts */
    window_cell_list sorted; /* by group */
    size_t *starts;
    window_cell_group *groups;
    u32 group_count, task_count;
    const u32 *cancel;
    cell_packer *tasks;
} making;

static cell_amounts walked_amounts(const window_hot *hot);
static bool sort_by_group(making *work);
static void count_bytes(const making *work, const walked_part *part);
static void share_groups(making *work);
static void put_in_place(void *context, u32 task);
static bool make_groups(making *work);
static void make_some(void *context, u32 task);
static bool join_cells(cell_packer *maker, const u8 *from, const u8 *end);

bool windows_turn(window_hot *hot, u32 group, u32 interval, window_cell_list *out)
{
    walked_head head = { .group = group, .interval = hot->interval };
    windows_note_peak(hot);
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

/* The amounts of a walked cell. Frees of older blocks follow from allocations and replace the sum;
 * the peak is at least the value at both ends. */
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

bool walked_parts_take(walked_parts *parts, window_cell_list *cells, u32 first_group)
{
    bool ok = true;
    if (cells->count > 0) {
        ETLHEAP_TRIM(cells); /* because lists wait for each other */
        const walked_part part = { { cells->at, cells->count, cells->capacity }, first_group };
        ok = ETLHEAP_PUSH(parts, part);
    }
    if (!ok || cells->count == 0)
        free(cells->at);
    *cells = (window_cell_list){ NULL, 0, 0 };
    return ok;
}

void walked_parts_free(walked_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        ETLHEAP_VECTOR_FREE(&parts->at[i].cells);
    ETLHEAP_VECTOR_FREE(parts);
}

bool windows_cells_make(window_cells *out, walked_parts *walked, const cells_wanted *wanted)
{
    const u32 group_count = wanted->group_count;
    making work = { .walked = walked,
                    .starts = calloc((size_t)group_count + 2, sizeof *work.starts),
                    .group_count = group_count,
                    .task_count = wanted->jobs == 0 ? 1 : wanted->jobs,
                    .cancel = wanted->cancel };
    *out = (window_cells){ .groups = calloc((size_t)group_count + 1, sizeof *out->groups) };
    work.groups = out->groups;
    work.tasks = calloc(work.task_count, sizeof *work.tasks);
    bool ok = work.starts != NULL && work.groups != NULL && work.tasks != NULL &&
              sort_by_group(&work) && make_groups(&work);
    walked_parts_free(walked);
    ETLHEAP_VECTOR_FREE(&work.sorted);
    ok = ok && cell_packers_gather(work.tasks, work.task_count, out);
    cell_packers_free(work.tasks, work.task_count);
    free(work.starts);
    return ok;
}

void windows_cells_free(window_cells *cells)
{
    free(cells->at);
    free(cells->groups);
    *cells = (window_cells){ .at = NULL };
}

/* Sorts cells by group, stably. Cells of group g are then at starts[g] up to starts[g + 1]. A task
 * places the cells of its groups and skips all others. */
static bool sort_by_group(making *work)
{
    for (size_t i = 0; i < work->walked->count; i++)
        work->walked_bytes += work->walked->at[i].cells.count;
    if (!ETLHEAP_RESERVE(&work->sorted, work->walked_bytes + PACKED_SLACK))
        return false;
    for (size_t i = 0; i < work->walked->count; i++)
        count_bytes(work, &work->walked->at[i]);
    for (u32 g = 0; g < work->group_count; g++)
        work->starts[g + 1] += work->starts[g];
    share_groups(work);
    etlheap_workers_run(work->task_count, work->task_count, put_in_place, work);
    work->sorted.count = work->walked_bytes;
    walked_parts_free(work->walked);
    return true;
}

static void count_bytes(const making *work, const walked_part *part)
{
    walked_head head;
    for (size_t at = 0; at < part->cells.count; at += walked_bytes(&head)) {
        head = read_head(part->cells.at + at);
        work->starts[part->first_group + head.group + 2] += walked_bytes(&head);
    }
}

/* Gives each task groups with about equally many bytes. Before cells are placed, those of group g
 * begin at starts[g + 1]. */
static void share_groups(making *work)
{
    u32 group = 0;
    for (u32 i = 0; i < work->task_count; i++) {
        const size_t end = work->walked_bytes / work->task_count * (i + 1);
        work->tasks[i].first = group;
        while (group < work->group_count && work->starts[group + 1] < end)
            group++;
        group = i + 1 == work->task_count ? work->group_count : group;
        work->tasks[i].end = group;
    }
}

static void put_part(const making *work, const cell_packer *own, const walked_part *part)
{
    walked_head head;
    for (size_t at = 0; at < part->cells.count; at += walked_bytes(&head)) {
        head = read_head(part->cells.at + at);
        const u32 group = part->first_group + head.group;
        if (group - own->first >= own->end - own->first)
            continue;
        size_t *const place = &work->starts[group + 1];
        memcpy(work->sorted.at + *place, part->cells.at + at, walked_bytes(&head));
        *place += walked_bytes(&head);
    }
}

static void put_in_place(void *context, u32 task)
{
    const making *const work = context;
    for (size_t i = 0; i < work->walked->count; i++)
        put_part(work, &work->tasks[task], &work->walked->at[i]);
}

static bool make_groups(making *work)
{
    bool ok = true;
    etlheap_workers_run(work->task_count, work->task_count, make_some, work);
    for (u32 i = 0; i < work->task_count; i++)
        ok = ok && !work->tasks[i].failed;
    return ok;
}

static void make_some(void *context, u32 task)
{
    const making *const work = context;
    const u8 *const sorted = work->sorted.at;
    cell_packer *const own = &work->tasks[task];
    bool ok = ETLHEAP_RESERVE(&own->packed, PACKED_SLACK);
    for (u32 g = own->first; ok && g < own->end; g++)
        ok = !cancel_is_set(work->cancel) &&
             join_cells(own, sorted + work->starts[g], sorted + work->starts[g + 1]) &&
             cell_packer_pack(own, &work->groups[g]);
    own->failed = !ok;
}

static i64 larger(i64 x, i64 y)
{
    return x > y ? x : y;
}

/* Adds the second cell, which begins where the first ends. */
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

/* Joins the walked cells of one group. Sums that stopped at the largest number may fall below 0
 * later; outstanding memory never does. */
static bool join_cells(cell_packer *maker, const u8 *from, const u8 *end)
{
    i64 size = 0, count = 0;
    maker->cells.count = 0;
    while (from < end) {
        window_cell cell;
        from = read_walked(from, &cell);
        window_cell *const last =
            maker->cells.count == 0 ? NULL : &maker->cells.at[maker->cells.count - 1];
        if (last != NULL && last->interval == cell.interval)
            join_two(last, &cell);
        else if (!ETLHEAP_PUSH(&maker->cells, cell))
            return false;
    }
    for (size_t i = 0; i < maker->cells.count; i++) {
        window_cell *const cell = &maker->cells.at[i];
        cell->peak_size = larger(0, etl_sat_add_i64(size, cell->peak_size));
        cell->peak_count += count;
        cell->size = size = larger(0, etl_sat_add_i64(size, cell->size));
        cell->count = count += cell->count;
    }
    return true;
}
