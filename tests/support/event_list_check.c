/* event_list_check.c - see event_list_check.h. */
#include "event_list_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

int event_list_check_open(void **state)
{
    event_list_check *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    event_list_open(&f->event_list, &f->check.base, INT64_MIN, INT64_MAX, true);
    *state = f;
    return 0;
}

int event_list_check_close(void **state)
{
    event_list_check *const f = *state;
    event_list_free(&f->event_list);
    ETLHEAP_VECTOR_FREE(&f->told);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

void event_list_check_window(event_list_check *f, i64 from_ticks, i64 to_ticks)
{
    event_list_free(&f->event_list);
    event_list_open(&f->event_list, &f->check.base, from_ticks, to_ticks, true);
}

void event_list_check_begin(event_list_check *f, const i64 *ticks, u32 count)
{
    assert_int_equal(event_list_begin_slice(&f->event_list, count), ETL_OK);
    const event_chunk *const chunk = &f->event_list.chunks.at[f->event_list.chunks.count - 1];
    for (u32 i = 0; i < count; i++) {
        chunk->ticks[i] = ticks[i];
        chunk->entries[i] = i == 0 || ticks[i] != ticks[i - 1] ? ENTRY_NEW_TICK : 0;
    }
}

void event_list_check_end(event_list_check *f, i64 end_ticks)
{
    assert_int_equal(event_list_end_slice(&f->event_list, end_ticks), ETL_OK);
}

static shard_events *shard_of(event_list_check *f, u32 origin)
{
    shard_events *const shard = &f->event_list.shards[origin % HEAP_SHARDS];
    shard->entry = 0;
    return shard;
}

/* Brings what was noted to its event's place, as order_note does. */
static void put(event_list_check *f, const shard_events *shard, u32 rank)
{
    const event_chunk *const chunk = &f->event_list.chunks.at[f->event_list.chunks.count - 1];
    if (shard->entry == 0)
        return;
    chunk->entries[rank] |= shard->entry;
    if (chunk->wide.partners != NULL)
        chunk->wide.partners[rank] = shard->partner;
}

entry_block event_list_check_alloc(event_list_check *f, noted_event at, u32 origin, u64 size)
{
    shard_events *const shard = shard_of(f, origin);
    const entry_block noted = {
        .alloc_ticks = at.ticks, .size = size, .origin = origin, .rank = shard->first_rank + at.rank
    };
    assert_true(shard_events_note_alloc(shard, &noted, at.rank));
    put(f, shard, at.rank);
    return noted;
}

void event_list_check_free(event_list_check *f, const entry_block *noted, i64 ticks, u32 rank)
{
    const entry_place at = { .ticks = ticks, .rank = rank };
    shard_events *const shard = shard_of(f, noted->origin);
    assert_true(shard_events_note_end(shard, noted, at));
    put(f, shard, rank);
}

void event_list_check_realloc(event_list_check *f, const entry_block *noted, i64 ticks, u32 rank)
{
    const entry_place at = { .ticks = ticks, .rank = rank };
    shard_events *const shard = shard_of(f, noted->origin);
    assert_true(shard_events_note_realloc(shard, noted, at));
    put(f, shard, rank);
}

/* What an entry's bits say, written apart from event_list.h. */
static told describe(event_entry entry)
{
    static const entry_kind plain[8] = { ENTRY_NONE, ENTRY_ALLOC, ENTRY_FREE, ENTRY_REALLOC,
                                         ENTRY_FREE, ENTRY_ALLOC, ENTRY_FREE, ENTRY_REALLOC };
    return (told){ .kind = plain[entry % 8],
                   .origin = (u32)(entry / 64 % ((u64)1 << 27)),
                   .size = entry >> 33,
                   .is_inside = entry / 8 % 2 != 0,
                   .is_realloc = entry / 16 % 2 != 0,
                   .is_late = entry % 8 == 4 };
}

static void read_chunk(event_list_check *f, const event_chunk *chunk, const event_entry *entries,
                       u32 *time)
{
    u32 rank = chunk->first_rank;
    for (u32 i = 0; i < chunk->count; i++) {
        const u64 kind = entries[i] % 8;
        told row = describe(entries[i]);
        *time += entries[i] / 32 % 2 != 0;
        row.time = *time;
        row.index = chunk->first_index + i;
        row.rank = rank;
        rank += kind < 4; /* the others are at no event's place */
        if (kind > 4) {
            assert_true(i + 2 < chunk->count);
            row.size = entries[i + 1];
            row.rank = (u32)entries[i + 2];
            i += 2;
        }
        assert_true(ETLHEAP_PUSH(&f->told, row));
    }
}

const told *event_list_check_read(event_list_check *f)
{
    u32 time = 0;
    if (f->event_list.survivor_bits == NULL)
        assert_int_equal(event_list_close(&f->event_list), ETL_OK);
    f->told.count = 0;
    for (size_t c = 0; c < f->event_list.chunks.count; c++) {
        const event_entry *const entries = event_list_map(&f->event_list, c);
        assert_non_null(entries);
        read_chunk(f, &f->event_list.chunks.at[c], entries, &time);
        event_list_release(&f->event_list, c, entries);
    }
    return f->told.at;
}

void event_list_check_told(const told *row, u32 time, entry_kind kind, u32 origin, u64 size)
{
    assert_int_equal(row->time, time);
    assert_int_equal(row->kind, kind);
    assert_int_equal(row->origin, origin);
    assert_int_equal(row->size, size);
}

bool event_list_check_survives(const event_list_check *f, u32 rank)
{
    return (f->event_list.survivor_bits[rank / 8] >> rank % 8 & 1) != 0;
}
