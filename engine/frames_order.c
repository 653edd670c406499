/*
 * frames_order.c - frames and stacks in the order of their content.
 *
 * Numbers of frames and stacks depend on what was met first. What is shown goes by
 * module name, offset and function, which is the same for every run: each frame
 * gets its place in that order once, and comparisons are of places.
 */
#include <stdlib.h>

#include "frames.h"
#include "symbols.h"
#include "workers.h"

#define CHUNKS_MAX 16u /* of a sort */

static const char *function_name(const frame_table *table, const frame_row *row)
{
    if (row->function == 0)
        return "";
    return symbols_text(table->query->symbols, table->functions.at[row->function - 1].symbol);
}

static int compare_rows(const frame_table *table, u32 a, u32 b)
{
    const char *const module_a = frames_module(table, a), *const module_b = frames_module(table, b);
    if (module_a == NULL || module_b == NULL) {
        if (module_a != module_b)
            return module_a == NULL ? -1 : 1;
    } else {
        const int order = strcmp(module_a, module_b);
        if (order != 0)
            return order;
    }
    const frame_row *const x = &table->frames.at[a], *const y = &table->frames.at[b];
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    const int order = x->module == y->module
                          ? 0
                          : strcmp(table->result->modules.list.at[x->module].path,
                                   table->result->modules.list.at[y->module].path);
    if (order != 0)
        return order;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->skip != y->skip)
        return x->skip < y->skip ? -1 : 1;
    return strcmp(function_name(table, x), function_name(table, y));
}

/* What decides the order of nearly all frames, without looking further. */
typedef struct rank_row {
    u64 offset;
    u32 name; /* place of the module's name among the names; 0: no module */
    u32 frame;
} rank_row;

static int compare_ranks(const frame_table *table, const rank_row *a, const rank_row *b)
{
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return compare_rows(table, a->frame, b->frame);
}

/* Merge sort: qsort has no room for the table, and globals are not to be written.
 * Chunks are sorted side by side, then merged two by two. */
typedef struct rank_sort {
    const frame_table *table;
    rank_row *from, *to; /* taken in turns, pass by pass */
    size_t count;
    size_t chunk; /* a power of two */
    size_t width; /* of the runs that are merged, from chunk on */
} rank_sort;

/* The two runs of `width` rows at `start`. */
static void merge_runs(const rank_sort *sort, const rank_row *from, rank_row *to, size_t start,
                       size_t width)
{
    const size_t middle = (size_t)etl_min_u64(start + width, sort->count);
    const size_t end = (size_t)etl_min_u64(start + 2 * width, sort->count);
    size_t left = start, right = middle;
    for (size_t at = start; at < end; at++) {
        const bool take_left =
            right >= end ||
            (left < middle && compare_ranks(sort->table, &from[left], &from[right]) <= 0);
        to[at] = take_left ? from[left++] : from[right++];
    }
}

static void sort_chunk(void *context, u32 task)
{
    const rank_sort *const sort = context;
    const size_t start = task * sort->chunk;
    const size_t end = (size_t)etl_min_u64(start + sort->chunk, sort->count);
    rank_row *from = sort->from, *to = sort->to;
    for (size_t width = 1; width < sort->chunk; width *= 2) {
        for (size_t at = start; at < end; at += 2 * width)
            merge_runs(sort, from, to, at, width);
        rank_row *const swap = from;
        from = to;
        to = swap;
    }
}

static void merge_chunks(void *context, u32 task)
{
    const rank_sort *const sort = context;
    merge_runs(sort, sort->from, sort->to, task * 2 * sort->width, sort->width);
}

static void swap_rows(rank_sort *sort)
{
    rank_row *const swap = sort->from;
    sort->from = sort->to;
    sort->to = swap;
}

/* Returns the one of the two arrays that holds the result. */
static const rank_row *sort_ranks(rank_sort *sort, u32 jobs)
{
    sort->chunk = 1;
    while (sort->chunk * CHUNKS_MAX < sort->count)
        sort->chunk *= 2;
    const u32 chunks = (u32)((sort->count + sort->chunk - 1) / sort->chunk);
    etlheap_workers_run(jobs, chunks, sort_chunk, sort);
    for (size_t width = 1; width < sort->chunk; width *= 2)
        swap_rows(sort);
    for (sort->width = sort->chunk; sort->width < sort->count; sort->width *= 2) {
        const size_t pairs = (sort->count + 2 * sort->width - 1) / (2 * sort->width);
        etlheap_workers_run(jobs, (u32)pairs, merge_chunks, sort);
        swap_rows(sort);
    }
    return sort->from;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names[i]: place of module i's name among all names, from 1; equal ones alike. */
static bool rank_names(const frame_table *table, u32 *names)
{
    const size_t count = table->result->modules.list.count;
    const char **const sorted = calloc(count + 1, sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = table->result->modules.list.at[i].name;
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 0; i < count; i++) {
        const char *const name = table->result->modules.list.at[i].name;
        size_t low = 0, high = count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (strcmp(sorted[middle], name) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        names[i] = (u32)low + 1;
    }
    free(sorted);
    return true;
}

bool frames_rank(frame_table *table)
{
    const size_t count = table->frames.count;
    rank_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    u32 *const names = calloc(table->result->modules.list.count + 1, sizeof *names);
    u32 *const ranks = malloc((count + 1) * sizeof *ranks);
    const bool ok = rows != NULL && names != NULL && ranks != NULL && rank_names(table, names);
    for (u32 i = 0; ok && i < count; i++) {
        const frame_row *const frame = &table->frames.at[i];
        const u32 name = frame->module == FRAME_NONE ? 0 : names[frame->module];
        rows[i] = (rank_row){ frame->offset, name, i };
    }
    rank_sort sort = {
        .table = table, .from = rows, .to = rows + (ok ? count : 0), .count = count
    };
    const u32 jobs = table->query->jobs == 0 ? etlheap_workers_default_jobs() : table->query->jobs;
    const rank_row *const sorted = ok ? sort_ranks(&sort, jobs) : NULL;
    for (u32 i = 0; ok && i < count; i++)
        ranks[sorted[i].frame] = i;
    free(rows);
    free(names);
    free(table->ranks);
    table->ranks = ok ? ranks : NULL;
    if (!ok)
        free(ranks);
    return ok;
}

/* No frame comes before every frame. */
static u32 rank_of(const frame_table *table, u32 frame)
{
    return frame == FRAME_NONE ? 0 : table->ranks[frame] + 1;
}

int frames_compare(const frame_table *table, u32 a, u32 b)
{
    const u32 x = rank_of(table, a), y = rank_of(table, b);
    return (x > y) - (x < y);
}

u64 frames_prefix(const frame_table *table, u32 id)
{
    if (id == 0)
        return 0;
    const frame_stack *const stack = &table->stacks.at[id - 1];
    const u32 *const frames = table->pool.at + stack->start;
    const u32 second = stack->count < 2 ? 0 : rank_of(table, frames[1]);
    return (u64)rank_of(table, frames[0]) << 32 | second;
}

int frames_compare_stacks(const frame_table *table, u32 a, u32 b)
{
    if (a == 0 || b == 0 || a == b)
        return (a != 0) - (b != 0);
    const frame_stack *const x = &table->stacks.at[a - 1], *const y = &table->stacks.at[b - 1];
    for (u32 i = 0; i < x->count && i < y->count; i++) {
        const int order =
            frames_compare(table, table->pool.at[x->start + i], table->pool.at[y->start + i]);
        if (order != 0)
            return order;
    }
    return (x->count > y->count) - (x->count < y->count);
}
