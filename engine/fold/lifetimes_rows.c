/*
 * lifetimes_rows.c - the rows of a walk: all of them in any order, or one after the other in the
 * walk's order. lifetimes.c draws where rows come from.
 *
 * In: segments in memory, and those of an archive. Out: rows kept in the walk's list, or resolved
 * stacks; later the next row.
 *
 * walk_visit_all passes over everything once. walk_next merges `kept` with `batch`, the rows of the
 * archive that were read last. Rows of a batch leave only up to `horizon_ticks`, the time from
 * which the next segment may have rows. Invariant: a row at the horizon waits, since the next
 * segment may have one that ties with it and comes first.
 */
#include "lifetimes.h"

#include "engine/core/cancel.h"

static etl_status poll(const etlheap_lifetimes *walk, etl_error *err);
/* Resolves the stacks of a row before they are finished, also the one that freed it: a stack that
 * is resolved later has no finished stack. */
static bool resolve_stacks(etlheap_lifetimes *walk, const lifetime *life)
{
    u32 id;
    return frames_resolve(&walk->frames, life->process, life->stack, life->alloc_ticks, &id) &&
           (!walk->has_frees ||
            frames_resolve(&walk->frames, life->process, life->free_stack, life->free_ticks, &id));
}

static etl_status visit_segment(etlheap_lifetimes *walk, walk_visit what,
                                const etlheap_segment *segment, u32 number, etl_error *err);
static bool selects(const etlheap_lifetimes *walk, const etlheap_segment *segment, u32 at,
                    query_row *out);
static bool is_wanted(etlheap_lifetimes *walk, const lifetime *life, bool *ok);
static etl_status load_batch(etlheap_lifetimes *walk, etl_error *err);
static etl_status add_to_batch(etlheap_lifetimes *walk, const store_segment *rows, etl_error *err);

/* --- all rows, in any order ------------------------------------------------------------ */

/* Called between segments: asks whether to go on, and checks the memory limit. */
static etl_status poll(const etlheap_lifetimes *walk, etl_error *err)
{
    const u64 bytes = walk->result->info.bytes;
    u32 total = 0;
    const u32 done = walk->has_archive ? lifetimes_archive_done(&walk->archive, &total) : 0;
    const u64 share = total == 0 ? 0 : bytes / total * done;
    if (cancel_is_set(walk->query.cancel) ||
        (walk->options.progress != NULL &&
         !walk->options.progress(walk->options.progress_user, share, bytes)))
        return cancelled(err);
    return walk_check_memory(walk, err);
}

/* Passes over all rows. Rows of an archive that streams are not kept. */
etl_status walk_visit_all(etlheap_lifetimes *walk, walk_visit what, etl_error *err)
{
    etl_status status = ETL_OK;
    const bool is_kept_in_file = what == WALK_KEEP && walk->is_streaming;
    for (u32 i = 0; status == ETL_OK && i < walk->result->store.segments.count; i++) {
        const etlheap_segment segment = store_view(&walk->result->store.segments.at[i]);
        status = visit_segment(walk, what, &segment, i, err);
        if (status == ETL_OK)
            status = poll(walk, err);
    }
    if (walk->has_archive)
        lifetimes_archive_rewind(&walk->archive);
    while (status == ETL_OK && walk->has_archive && !is_kept_in_file) {
        const store_segment *rows = NULL;
        status = lifetimes_archive_next(&walk->archive, &rows, err);
        if (rows == NULL)
            break;
        const etlheap_segment segment = store_view(rows);
        status = visit_segment(walk, what, &segment, 0, err);
        if (what == WALK_KEEP)
            lifetimes_archive_raise_floor(&walk->archive, walk_list_floor(&walk->kept));
        if (status == ETL_OK)
            status = poll(walk, err);
    }
    return status;
}

static bool selects(const etlheap_lifetimes *walk, const etlheap_segment *segment, u32 at,
                    query_row *out)
{
    return walk_wants_address(&walk->options, segment->address[at], segment->size_bytes[at]) &&
           query_select(&walk->plan, segment, at, out);
}

/* Do frames let the query select the lifetime? *ok is false without memory. */
static bool is_wanted(etlheap_lifetimes *walk, const lifetime *life, bool *ok)
{
    u32 id;
    *ok = true;
    if (!query_selects_frames(walk->plan.query))
        return true;
    *ok = frames_resolve(&walk->frames, life->process, life->stack, life->alloc_ticks, &id);
    const u32 stack = *ok ? frames_finished(&walk->frames, id) : 0;
    return *ok && frames_wants(&walk->frames, stack);
}

static etl_status visit_segment(etlheap_lifetimes *walk, walk_visit what,
                                const etlheap_segment *segment, u32 number, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 at = 0; status == ETL_OK && at < segment->rows; at++) {
        query_row selected;
        bool ok = true;
        if (!selects(walk, segment, at, &selected))
            continue;
        const walk_row row = walk_row_of(segment, at, &selected);
        if (what == WALK_RESOLVE)
            ok = resolve_stacks(walk, &row.life);
        else if (is_wanted(walk, &row.life, &ok))
            status = walk_list_add(&walk->kept, &row, walk_place(number, at), err);
        if (!ok)
            status = etl_no_memory(err);
    }
    return status;
}

/* --- rows in order -------------------------------------------------------------------------- */

void walk_rewind(etlheap_lifetimes *walk)
{
    walk->kept.next = 0;
    walk->to_skip = walk->options.skip;
    walk->left = walk->options.top == 0 ? UINT64_MAX : walk->options.top;
    walk->batch.rows.count = walk->batch.items.count = walk->batch.next = 0;
    walk->horizon_ticks = INT64_MIN;
    walk->is_read = !walk->is_streaming;
    if (walk->has_archive)
        lifetimes_archive_rewind(&walk->archive);
}

static etl_status add_to_batch(etlheap_lifetimes *walk, const store_segment *rows, etl_error *err)
{
    const etlheap_segment segment = store_view(rows);
    etl_status status = ETL_OK;
    for (u32 at = 0; status == ETL_OK && at < segment.rows; at++) {
        query_row selected;
        bool ok;
        if (!selects(walk, &segment, at, &selected))
            continue;
        const walk_row row = walk_row_of(&segment, at, &selected);
        if (is_wanted(walk, &row.life, &ok))
            status = walk_list_add(&walk->batch, &row, 0, err);
        if (!ok)
            status = etl_no_memory(err);
    }
    return status;
}

/* Appends a segment's rows to the waiting ones. They are sorted only when some are complete: one
 * tick may fill many segments. */
static etl_status load_batch(etlheap_lifetimes *walk, etl_error *err)
{
    const store_segment *rows = NULL;
    const i64 horizon = walk->horizon_ticks;
    etl_status status = poll(walk, err);
    if (status == ETL_OK)
        status = walk_list_drop(&walk->batch, err);
    if (status == ETL_OK)
        status = lifetimes_archive_next(&walk->archive, &rows, err);
    if (status != ETL_OK)
        return status;
    walk->is_read = rows == NULL;
    if (rows != NULL && rows->rows > 0) {
        walk->horizon_ticks = rows->alloc_ticks[rows->rows - 1];
        status = add_to_batch(walk, rows, err);
    }
    if (status == ETL_OK && (walk->is_read || walk->horizon_ticks != horizon))
        status = walk_list_sort(&walk->batch, err);
    return status;
}

static bool peek_batch(const etlheap_lifetimes *walk, walk_row *out)
{
    return walk_list_peek(&walk->batch, out) &&
           (walk->is_read || out->life.alloc_ticks < walk->horizon_ticks);
}

static etl_status next_row(etlheap_lifetimes *walk, walk_row *out, bool *found, etl_error *err)
{
    etl_status status = ETL_OK;
    walk_row fresh;
    bool has_fresh = peek_batch(walk, &fresh);
    *found = false;
    if (walk->left == 0)
        return ETL_OK;
    while (status == ETL_OK && !has_fresh && !walk->is_read) {
        status = load_batch(walk, err);
        has_fresh = status == ETL_OK && peek_batch(walk, &fresh);
    }
    if (status != ETL_OK)
        return status;
    *found = walk_list_peek(&walk->kept, out);
    if (has_fresh && (!*found || walk_compare(walk->result, &fresh, out) < 0)) {
        *found = true;
        *out = fresh;
        walk->batch.next++;
    } else if (*found) {
        walk->kept.next++;
    }
    walk->left -= *found;
    return ETL_OK;
}

etl_status walk_next(etlheap_lifetimes *walk, walk_row *out, bool *found, etl_error *err)
{
    etl_status status = next_row(walk, out, found, err);
    for (; status == ETL_OK && *found && walk->to_skip > 0; walk->to_skip--)
        status = next_row(walk, out, found, err);
    return status;
}
