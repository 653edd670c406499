/*
 * log_reader.c - reads heap events in order of time, a batch at a time. log_reader.h draws a batch.
 *
 * In: segments of a log, with the columns that are wanted. Out: for each event its block and the
 * row of its values. Invariants: number_events is the only loop over event columns. Columns come
 * from a file, so an end that points before the first block is refused here.
 */
#include "log_reader.h"

#include <stdlib.h>

#include "engine/core/cancel.h"

/*
 * Without branches: whether an event opens or ends a block is as good as random. A block
 * that an end names must be older than it, so its ordinal is one that was given; behind the
 * last end there is room to read, as the column has as many places as events. With
 * `ends_only`, ordinals are those of ends, side by side. False: one is not older.
 */
__attribute__((always_inline)) static inline bool number_events(const ehs_events *events,
                                                                const bool has_ends,
                                                                const bool ends_only,
                                                                const log_place *place, u32 count,
                                                                log_numbers *restrict numbers)
{
    const u8 *const restrict kind = events->kind + place->event;
    const u32 *const restrict back = events->back;
    const u32 before = (u32)place->allocs - place->alloc; /* the segment */
    const u32 first_end = place->event - place->alloc;
    u32 alloc = place->alloc;
    u32 wrong = 0;
    for (u32 i = 0; i < count; i++) {
        const u32 is_end = kind[i] & EHS_EVENT_END;
        const u32 end = place->event + i - alloc;
        const u32 ordinal = before + alloc - (has_ends ? back[end] & (0u - is_end) : 0);
        if (!ends_only)
            numbers->row[i] = is_end != 0 ? end : alloc;
        numbers->ordinal[ends_only ? end - first_end : i] = ordinal;
        alloc += 1 - is_end;
        wrong |= has_ends ? ordinal >= before + alloc : 0;
    }
    return wrong == 0;
}

bool log_number(const ehs_events *events, bool has_ends, log_place *place, log_numbers *numbers,
                log_batch *out)
{
    const u32 first = place->event, left = events->count - first;
    const u32 count = left < LOG_BATCH_ROWS ? left : LOG_BATCH_ROWS;
    const bool is_right = has_ends ? number_events(events, true, false, place, count, numbers)
                                   : number_events(events, false, false, place, count, numbers);
    const bool ends_with_end = count > 0 && (events->kind[first + count - 1] & EHS_EVENT_END) != 0;
    const u32 last_row = count > 0 ? numbers->row[count - 1] : 0;
    const u32 allocs = count == 0      ? place->alloc
                       : ends_with_end ? first + count - 1 - last_row
                                       : last_row + 1;
    place->allocs += allocs - place->alloc;
    place->alloc = allocs;
    place->event += count;
    *out = (log_batch){ .count = count,
                        .first = first,
                        .ticks = events->ticks + first,
                        .kind = events->kind + first,
                        .ordinal = numbers->ordinal,
                        .row = numbers->row,
                        .origin = events->origin,
                        .size = events->size,
                        .address = events->address,
                        .thread = events->thread,
                        .is_realloc = events->is_realloc,
                        .how = events->how,
                        .freer = events->freer,
                        .freer_thread = events->freer_thread };
    return is_right;
}

bool log_reader_open(log_reader *out, const ehs_reader *file, const ehs_segment_index *segments,
                     u32 wanted, const u32 *cancel)
{
    *out = (log_reader){ .file = file,
                         .segments = segments,
                         .cancel = cancel,
                         .wanted = wanted | EHS_WANT_KIND,
                         .end = (u32)segments->count,
                         .numbers = malloc(sizeof *out->numbers) };
    return ehs_events_open(&out->events) && out->numbers != NULL;
}

void log_reader_close(log_reader *reader)
{
    ehs_events_close(&reader->events);
    ehs_codec_free(&reader->codec);
    free(reader->numbers);
    *reader = (log_reader){ 0 };
}

static void begin_segment(log_reader *reader, u32 number)
{
    reader->place = (log_place){ .allocs = reader->segments->at[number].first_ordinal };
    reader->next = number + 1;
}

void log_reader_seek(log_reader *reader, u32 first, u32 end)
{
    reader->end = end;
    if (first < end && reader->at_hand == first + 1) {
        begin_segment(reader, first);
        return;
    }
    reader->next = first;
    reader->place.event = reader->events.count;
}

/* Reads the next segment; then none is at hand for events. */
static etl_status read_columns(log_reader *reader, u32 wanted, etl_error *err)
{
    const u32 number = reader->next;
    const ehs_segment_source from = { reader->file, &reader->codec, number };
    reader->at_hand = 0;
    const etl_status status =
        ehs_segment_read(&from, &reader->segments->at[number], wanted, &reader->events, err);
    reader->place.event = reader->events.count;
    return status;
}

static etl_status read_segment(log_reader *reader, etl_error *err)
{
    const u32 number = reader->next;
    const etl_status status = read_columns(reader, reader->wanted, err);
    if (status != ETL_OK)
        return status;
    reader->at_hand = number + 1;
    begin_segment(reader, number);
    return ETL_OK;
}

etl_status log_next_blocks(log_reader *reader, const log_blocks **out, etl_error *err)
{
    const u32 number = reader->next;
    *out = NULL;
    if (number >= reader->end)
        return ETL_OK;
    etl_status status = cancel_check(reader->cancel, err);
    if (status == ETL_OK)
        status = read_columns(reader, reader->wanted & ~EHS_WANT_KIND, err);
    if (status != ETL_OK)
        return status;
    reader->next = number + 1;
    reader->blocks = (log_blocks){ .count = reader->events.alloc_count,
                                   .segment = number,
                                   .first_ordinal = reader->segments->at[number].first_ordinal,
                                   .origin = reader->events.origin,
                                   .size = reader->events.size,
                                   .is_realloc = reader->events.is_realloc };
    *out = &reader->blocks;
    return ETL_OK;
}

/* Reads a segment if all events of the last one were handed out. `has_more`: there are events. */
static etl_status fill(log_reader *reader, bool *has_more, etl_error *err)
{
    const bool is_read = reader->place.event == reader->events.count;
    *has_more = !is_read || reader->next < reader->end;
    if (!*has_more)
        return ETL_OK;
    const etl_status status = cancel_check(reader->cancel, err);
    return status == ETL_OK && is_read ? read_segment(reader, err) : status;
}

static etl_status refuse(u32 segment, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "segment %u ends a block that does not exist",
                         segment);
}

static u32 count_ends(const log_batch *batch, u32 events)
{
    u32 count = 0;
    for (u32 i = 0; i < events; i++)
        count += !log_opens(batch, i);
    return count;
}

etl_status log_next_ends(log_reader *reader, const log_ends **out, etl_error *err)
{
    bool has_more;
    *out = NULL;
    const etl_status status = fill(reader, &has_more, err);
    if (status != ETL_OK || !has_more)
        return status;
    const ehs_events *const events = &reader->events;
    log_place *const place = &reader->place;
    log_ends *const ends = &reader->ends;
    const u32 left = events->count - place->event, first_end = place->event - place->alloc;
    *ends = (log_ends){ .batch = { .count = left < LOG_BATCH_ROWS ? left : LOG_BATCH_ROWS,
                                   .segment = reader->at_hand - 1,
                                   .first = place->event,
                                   .kind = events->kind + place->event },
                        .ordinal = reader->numbers->ordinal,
                        .how = events->how + first_end };
    if (!number_events(events, true, true, place, ends->batch.count, reader->numbers))
        return refuse(ends->batch.segment, err);
    ends->count = count_ends(&ends->batch, ends->batch.count);
    place->event += ends->batch.count;
    place->alloc += ends->batch.count - ends->count;
    place->allocs += ends->batch.count - ends->count;
    *out = ends;
    return ETL_OK;
}

u32 log_ends_before(const log_ends *ends, u32 events)
{
    return events >= ends->batch.count ? ends->count : count_ends(&ends->batch, events);
}

etl_status log_next(log_reader *reader, const log_batch **out, etl_error *err)
{
    bool has_more;
    *out = NULL;
    const etl_status status = fill(reader, &has_more, err);
    if (status != ETL_OK || !has_more)
        return status;
    const bool has_ends = (reader->wanted & EHS_WANT_BACK) != 0;
    const u32 segment = reader->at_hand - 1;
    if (!log_number(&reader->events, has_ends, &reader->place, reader->numbers, &reader->batch))
        return refuse(segment, err);
    reader->batch.segment = segment;
    *out = &reader->batch;
    return ETL_OK;
}
