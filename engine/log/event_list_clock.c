/*
 * event_list_clock.c - keeps the times of words as differences, and finds words by time.
 *
 * In: the ticks of a chunk's words, which ascend. Out: for each word the ticks since the word
 * before it, in groups of seven bits, the lowest first; the highest bit of a byte says that another
 * follows. A difference is mostly smaller than 128, so the clock of a chunk takes an eighth of its
 * words.
 *
 *     ticks    first      +3      +0     +260
 *     bytes               03      00     84 02
 *
 * Invariant: a moment between two chunks belongs to the later one, and the first word at or after
 * it never lies before that of an earlier moment.
 */
#include "event_list_clock.h"

#include <stdlib.h>

#define GROUP_BITS      7u
#define GROUP_MORE      0x80u
#define TICK_BYTES_MAX  ((64 + GROUP_BITS - 1) / GROUP_BITS)
#define WORDS_AT_A_TIME 4096u

static u8 *put_ticks(u8 *to, u64 ticks)
{
    for (; ticks >= GROUP_MORE; ticks >>= GROUP_BITS)
        *to++ = (u8)(ticks | GROUP_MORE);
    *to++ = (u8)ticks;
    return to;
}

bool event_list_clock_wind(event_list *list, event_chunk *chunk)
{
    ETLHEAP_VECTOR(u8) clock = { 0 };
    bool ok = true;
    for (u32 i = 1; ok && i < chunk->count;) {
        const u32 end = chunk->count - i < WORDS_AT_A_TIME ? chunk->count : i + WORDS_AT_A_TIME;
        ok = ETLHEAP_RESERVE(&clock, (size_t)(end - i) * TICK_BYTES_MAX);
        u8 *to = clock.at + clock.count;
        for (; ok && i < end; i++)
            to = put_ticks(to, (u64)(chunk->ticks[i] - chunk->ticks[i - 1]));
        clock.count = ok ? (size_t)(to - clock.at) : 0;
    }
    if (!ok || chunk->count == 0) {
        ETLHEAP_VECTOR_FREE(&clock);
        return ok;
    }
    u8 *const smaller = realloc(clock.at, clock.count + 1);
    chunk->clock = smaller != NULL ? smaller : clock.at;
    chunk->first_ticks = chunk->ticks[0];
    chunk->last_ticks = chunk->ticks[chunk->count - 1];
    list->clock_bytes += clock.count;
    return true;
}

/* A hand on the clock of a chunk. */
typedef struct clock_hand {
    const event_chunk *chunk;
    const u8 *at;
    u32 word;
    i64 ticks; /* of the word */
} clock_hand;

static clock_hand hand_of(const event_chunk *chunk)
{
    return (clock_hand){ .chunk = chunk, .at = chunk->clock, .ticks = chunk->first_ticks };
}

static inline void move_on(clock_hand *hand)
{
    u64 ticks = 0;
    u32 shift = 0;
    u8 group;
    do {
        group = *hand->at++;
        ticks |= (u64)(group & ~GROUP_MORE) << shift;
        shift += GROUP_BITS;
    } while ((group & GROUP_MORE) != 0);
    hand->ticks += (i64)ticks;
    hand->word++;
}

bool event_list_clock_find(const event_list *list, const i64 *moments, u32 count,
                           window_crossings *out)
{
    size_t number = 0;
    clock_hand hand = { .chunk = NULL };
    bool ok = ETLHEAP_PUSH(out, (window_crossing){ 0, INT64_MIN });
    for (u32 i = 0; ok && i < count; i++) {
        const event_chunk *const chunks = list->chunks.at;
        while (number < list->chunks.count &&
               (chunks[number].count == 0 || chunks[number].last_ticks < moments[i]))
            number++;
        u64 index = list->next_index;
        if (number < list->chunks.count) {
            if (hand.chunk != &chunks[number])
                hand = hand_of(&chunks[number]);
            while (hand.ticks < moments[i])
                move_on(&hand);
            index = chunks[number].first_index + hand.word;
        }
        ok = ETLHEAP_PUSH(out, (window_crossing){ index, moments[i] });
    }
    return ok;
}
