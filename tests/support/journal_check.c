/* journal_check.c - see journal_check.h. */
#include "journal_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

int journal_check_open(void **state)
{
    journal_check *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    journal_open(&f->journal, &f->check.base, INT64_MIN, INT64_MAX, true);
    *state = f;
    return 0;
}

int journal_check_close(void **state)
{
    journal_check *const f = *state;
    journal_free(&f->journal);
    ETLHEAP_VECTOR_FREE(&f->told);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

void journal_check_window(journal_check *f, i64 from_ticks, i64 to_ticks)
{
    journal_free(&f->journal);
    journal_open(&f->journal, &f->check.base, from_ticks, to_ticks, true);
}

void journal_check_begin(journal_check *f, const i64 *ticks, u32 count)
{
    assert_int_equal(journal_begin_slice(&f->journal, count), ETL_OK);
    const journal_chunk *const chunk = &f->journal.chunks.at[f->journal.chunks.count - 1];
    for (u32 i = 0; i < count; i++) {
        chunk->ticks[i] = ticks[i];
        chunk->entries[i] = i == 0 || ticks[i] != ticks[i - 1] ? JOURNAL_NEW_TICK : 0;
    }
}

void journal_check_end(journal_check *f, i64 end_ticks)
{
    assert_int_equal(journal_end_slice(&f->journal, end_ticks), ETL_OK);
}

static shard_journal *shard_of(journal_check *f, u32 origin)
{
    shard_journal *const shard = &f->journal.shards[origin % HEAP_SHARDS];
    shard->entry = 0;
    return shard;
}

/* Brings what was noted to its event's place, as order_note does. */
static void put(journal_check *f, const shard_journal *shard, u32 rank)
{
    const journal_chunk *const chunk = &f->journal.chunks.at[f->journal.chunks.count - 1];
    if (shard->entry == 0)
        return;
    chunk->entries[rank] |= shard->entry;
    if (chunk->wide.partners != NULL)
        chunk->wide.partners[rank] = shard->partner;
}

journal_block journal_check_alloc(journal_check *f, noted_event at, u32 origin, u64 size)
{
    shard_journal *const shard = shard_of(f, origin);
    const journal_block noted = {
        .alloc_ticks = at.ticks, .size = size, .origin = origin, .rank = shard->first_rank + at.rank
    };
    assert_true(journal_note_alloc(shard, &noted, at.rank));
    put(f, shard, at.rank);
    return noted;
}

void journal_check_free(journal_check *f, const journal_block *noted, i64 ticks, u32 rank)
{
    const journal_moment at = { .ticks = ticks, .rank = rank };
    shard_journal *const shard = shard_of(f, noted->origin);
    assert_true(journal_note_end(shard, noted, at));
    put(f, shard, rank);
}

void journal_check_realloc(journal_check *f, const journal_block *noted, i64 ticks, u32 rank)
{
    const journal_moment at = { .ticks = ticks, .rank = rank };
    shard_journal *const shard = shard_of(f, noted->origin);
    assert_true(journal_note_realloc(shard, noted, at));
    put(f, shard, rank);
}

/* What an entry's bits say, written apart from journal.h. */
static told describe(journal_entry entry)
{
    static const journal_kind plain[8] = {
        JOURNAL_NONE, JOURNAL_ALLOC, JOURNAL_FREE, JOURNAL_MARK,
        JOURNAL_FREE, JOURNAL_ALLOC, JOURNAL_FREE, JOURNAL_MARK
    };
    return (told){ .kind = plain[entry % 8],
                   .origin = (u32)(entry / 64 % ((u64)1 << 27)),
                   .size = entry >> 33,
                   .is_inside = entry / 8 % 2 != 0,
                   .is_realloc = entry / 16 % 2 != 0,
                   .is_late = entry % 8 == 4 };
}

static void read_chunk(journal_check *f, const journal_chunk *chunk, const journal_entry *entries,
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

const told *journal_check_read(journal_check *f)
{
    u32 time = 0;
    if (f->journal.survivor_bits == NULL)
        assert_int_equal(journal_close(&f->journal), ETL_OK);
    f->told.count = 0;
    for (size_t c = 0; c < f->journal.chunks.count; c++) {
        const journal_entry *const entries = journal_map(&f->journal, c);
        assert_non_null(entries);
        read_chunk(f, &f->journal.chunks.at[c], entries, &time);
        journal_release(&f->journal, c, entries);
    }
    return f->told.at;
}

void journal_check_told(const told *row, u32 time, journal_kind kind, u32 origin, u64 size)
{
    assert_int_equal(row->time, time);
    assert_int_equal(row->kind, kind);
    assert_int_equal(row->origin, origin);
    assert_int_equal(row->size, size);
}

bool journal_check_survives(const journal_check *f, u32 rank)
{
    return (f->journal.survivor_bits[rank / 8] >> rank % 8 & 1) != 0;
}
