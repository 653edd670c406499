/*
 * meminfo.c - committed memory of the system and of processes over time, from MemInfo records.
 *
 * In: notes of a run, in pages. Out: rows in order of time, by process, in bytes. Invariant: the
 * page size comes from another record; without it a default is used, so rows are converted only at
 * the end.
 */
#include "meminfo.h"

#include <stdlib.h>

#include "context.h"

#define PAGE_BYTES_DEFAULT 4096u
#define PAGE_BYTES_MAX     ((u32)1 << 21)

static u64 page_bytes_of(const trace_context *context);
static int by_process_and_time(const void *a, const void *b);

static u64 add(u64 a, u64 b)
{
    return etl_sat_add_u64(a, b);
}

bool meminfo_note(memory_notes *out, const etl_event *event, i64 ticks)
{
    if (event->kind == ETL_EVENT_MEMINFO) {
        const etl_meminfo *const from = &event->as.meminfo;
        const memory_note note = { .ticks = ticks,
                                   .commit = from->commit_pages,
                                   .available = add(add(from->zero_pages, from->free_pages),
                                                    from->standby_pages),
                                   .pid = ETL_NO_ID };
        return ETLHEAP_PUSH(out, note);
    }
    if (event->kind != ETL_EVENT_MEMINFO_WS)
        return true;
    etl_meminfo_ws_row row;
    for (u32 i = 0; etl_meminfo_ws_entry(&event->as.meminfo_ws, event->pointer_bytes, i, &row);
         i++) {
        const memory_note note = { .ticks = ticks,
                                   .commit = row.commit_pages,
                                   .working_set = row.working_set_pages,
                                   .private_working_set = row.private_working_set_pages,
                                   .pid = row.process_id };
        if (row.process_id != ETL_NO_ID && !ETLHEAP_PUSH(out, note))
            return false;
    }
    return true;
}

static u64 bytes_of(u64 pages, u64 page_bytes)
{
    u64 bytes;
    return __builtin_mul_overflow(pages, page_bytes, &bytes) ? UINT64_MAX : bytes;
}

bool meminfo_build(memory_rows *out, const memory_notes *notes, const trace_context *context,
                   const u32 *process_ids)
{
    const u64 page_bytes = page_bytes_of(context);
    if (!ETLHEAP_RESERVE(out, notes->count))
        return false;
    for (size_t i = 0; i < notes->count; i++) {
        const memory_note *const note = &notes->at[i];
        const bool is_system = note->pid == ETL_NO_ID;
        const u32 process = is_system ? 0 : context_process_at(context, note->pid, note->ticks);
        if (process == 0 && !is_system)
            continue;
        out->at[out->count++] =
            (memory_row){ .ticks = note->ticks,
                          .commit_bytes = bytes_of(note->commit, page_bytes),
                          .available_bytes = bytes_of(note->available, page_bytes),
                          .working_set_bytes = bytes_of(note->working_set, page_bytes),
                          .private_working_set_bytes =
                              bytes_of(note->private_working_set, page_bytes),
                          .process = is_system ? 0 : process_ids[process] };
    }
    if (out->count > 0)
        qsort(out->at, out->count, sizeof *out->at, by_process_and_time);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (i + 1 == out->count || meminfo_precedes(&out->at[i], &out->at[i + 1]))
            out->at[kept++] = out->at[i];
    }
    out->count = kept;
    return true;
}

bool meminfo_precedes(const memory_row *a, const memory_row *b)
{
    return a->process != b->process ? a->process < b->process : a->ticks < b->ticks;
}

/* The first row at or after a process and moment. */
static size_t find(const memory_row *rows, size_t count, u32 process, i64 ticks)
{
    const memory_row wanted = { .process = process, .ticks = ticks };
    size_t low;
    ETL_BISECT(low, 0, count, meminfo_precedes(&rows[low], &wanted));
    return low;
}

const memory_row *meminfo_of(const memory_rows *rows, u32 process, size_t *count)
{
    *count = 0;
    if (rows->count == 0) /* and there is nothing to point at */
        return NULL;
    const size_t first = find(rows->at, rows->count, process, INT64_MIN);
    *count = find(rows->at + first, rows->count - first, process + 1, INT64_MIN);
    return *count == 0 ? NULL : &rows->at[first];
}

const memory_row *meminfo_before(const memory_row *rows, size_t count, i64 ticks)
{
    const size_t at = count == 0 ? 0 : find(rows, count, rows[0].process, ticks);
    return at == 0 ? NULL : &rows[at - 1];
}

/* A size that cannot be is not believed. */
static u64 page_bytes_of(const trace_context *context)
{
    const u32 told = context->page_bytes;
    const bool is_sound =
        told >= PAGE_BYTES_DEFAULT && told <= PAGE_BYTES_MAX && (told & (told - 1)) == 0;
    return is_sound ? told : PAGE_BYTES_DEFAULT;
}

static int compare(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

/* Of one moment the largest word is last, whatever the order in which they came. */
static int by_process_and_time(const void *a, const void *b)
{
    const memory_row *const x = a, *const y = b;
    int order = compare(x->process, y->process);
    if (order == 0)
        order = (x->ticks > y->ticks) - (x->ticks < y->ticks);
    if (order == 0)
        order = compare(x->commit_bytes, y->commit_bytes);
    if (order == 0)
        order = compare(x->working_set_bytes, y->working_set_bytes);
    if (order == 0)
        order = compare(x->private_working_set_bytes, y->private_working_set_bytes);
    return order != 0 ? order : compare(x->available_bytes, y->available_bytes);
}
