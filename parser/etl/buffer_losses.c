/*
 * buffer_losses.c - what is missing in a file, by what its headers and the numbers of its buffers
 * state.
 *
 * In: an index of all buffers. Out: the diagnostics of losses, and of each session what was
 * overwritten, and from which number on nothing is missing.
 */
#include "buffer_losses.h"

#include <stdlib.h>

#include "layout.h"

/* Larger steps between sequence numbers mean another numbering, not a loss. */
#define SEQUENCE_STEP_MAX ((u64)1 << 24)

/*
 * Counts losses. The header states them if the session was closed. Otherwise each flagged buffer
 * stands for at least one loss.
 */
static void count_header_losses(etl_buffer_index *index, const etl_log_header *header)
{
    const etl_session *const session = &header->session;
    etl_diag_add(&index->diag, ETL_DIAG_events_lost,
                 session->events_lost > 0 ? session->events_lost : header->events_lost_flags);
    etl_diag_add(&index->diag, ETL_DIAG_buffers_lost,
                 session->buffers_lost > 0 ? session->buffers_lost : header->buffers_lost_flags);
    etl_diag_add(&index->diag, ETL_DIAG_session_not_closed, session->end_time_filetime == 0);
}

/*
 * Counts missing buffers. A session that is closed states how many it wrote, including its header.
 * In a circular file, which may have been written more than once, and in joined files, that number
 * has no known meaning; there, only sequence numbers tell.
 */
static void count_missing_buffers(etl_buffer_index *index)
{
    const etl_session *const session = &index->headers[0].session;
    const bool is_circular = (session->log_file_mode & ETL_MODE_CIRCULAR) != 0;
    if (index->header_count == 1 && !is_circular && session->end_time_filetime != 0 &&
        session->buffers_written > index->buffer_count)
        etl_diag_add(&index->diag, ETL_DIAG_buffers_missing,
                     session->buffers_written - index->buffer_count);
}

static int compare_sequences(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a;
    const i64 y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static u64 gap_between(i64 before, i64 after)
{
    const u64 distance = (u64)after - (u64)before;
    return after > before && distance <= SEQUENCE_STEP_MAX ? distance - 1 : 0;
}

/*
 * Counts the gaps in the numbers of a session's data buffers; returns the last number. `before` is
 * the last one of the session before it in the file. The first buffer of a session has number 1, or
 * the number after `before`. What is missing before the oldest kept buffer was overwritten, or lies
 * in an earlier file. Later gaps are losses, except in a ring: the buffer of an idle processor
 * stays there while newer ones are overwritten.
 *
 *     file    | 1 2 3   5 6        one lost
 *     ring    |     7         50 51 52   six and 42 overwritten; complete from 50 on
 */
static i64 count_gaps_of(etl_buffer_index *index, u32 header, i64 *sequences, size_t count,
                         i64 before)
{
    etl_session *const session = &index->headers[header].session;
    const bool is_ring = (session->log_file_mode & (ETL_MODE_CIRCULAR | ETL_MODE_BUFFERING)) != 0;
    qsort(sequences, count, sizeof *sequences, compare_sequences);
    const bool goes_on = (u64)sequences[0] == (u64)before + 1;
    u64 gaps = 0;
    session->buffers_overwritten = goes_on ? 0 : gap_between(0, sequences[0]);
    session->kept_sequence = sequences[0];
    session->last_sequence = sequences[count - 1];
    for (size_t i = 1; i < count; i++) {
        const u64 gap = gap_between(sequences[i - 1], sequences[i]);
        gaps += gap;
        if (gap > 0 && is_ring)
            session->kept_sequence = sequences[i];
    }
    if (is_ring)
        session->buffers_overwritten += gaps;
    etl_diag_add(&index->diag, ETL_DIAG_buffers_overwritten, session->buffers_overwritten);
    etl_diag_add(&index->diag, ETL_DIAG_sequence_gaps, is_ring ? 0 : gaps);
    return sequences[count - 1];
}

static etl_status count_sequence_gaps(etl_buffer_index *index)
{
    i64 *const sequences = malloc(((size_t)index->buffer_count + 1) * sizeof *sequences);
    i64 before = 0;
    if (!sequences)
        return ETL_ERR_MEMORY;
    for (u32 h = 0; h < index->header_count; h++) {
        const bool is_last = h + 1 == index->header_count;
        const u32 end = is_last ? index->buffer_count : index->headers[h + 1].first_buffer;
        size_t count = 0;
        for (u32 i = index->headers[h].first_buffer; i < end; i++)
            if (index->buffers[i].type != ETL_BUFFER_TYPE_HEADER)
                sequences[count++] = index->buffers[i].sequence;
        if (count > 0)
            before = count_gaps_of(index, h, sequences, count, before);
    }
    free(sequences);
    return ETL_OK;
}

etl_status etl_buffer_losses_count(etl_buffer_index *index)
{
    for (u32 i = 0; i < index->header_count; i++)
        count_header_losses(index, &index->headers[i]);
    count_missing_buffers(index);
    return count_sequence_gaps(index);
}
