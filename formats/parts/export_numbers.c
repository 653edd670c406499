/*
 * export_numbers.c - numbers keys of any bytes in the order in which they are first met.
 *
 * In: a key. Out: its number, 0 for the first key. A table of slots over an array of bytes.
 * Invariant: numbers depend only on the order of questions, so equal input gives equal files.
 */
#include "export_numbers.h"

#include <stdlib.h>

#define SLOTS_FIRST 1024u

static const char hash_anchor = 0;

static u64 hash_of(etl_bytes key);
static u32 *slot_of(export_numbers *numbers, etl_bytes key);
static bool has_room(export_numbers *numbers);
static bool grow_slots(export_numbers *numbers);

bool export_number_of(export_numbers *numbers, etl_bytes key, u32 *number)
{
    *number = 0;
    if (numbers->failed || !has_room(numbers)) {
        numbers->failed = true;
        return false;
    }
    u32 *const slot = slot_of(numbers, key);
    if (*slot != 0) {
        *number = *slot - 1;
        return false;
    }
    if (key.size > 0)
        etlheap_text_add(&numbers->keys, (const char *)key.at, key.size);
    if (numbers->keys.failed) {
        numbers->failed = true;
        return false;
    }
    *number = numbers->count++;
    numbers->ends[*number] = numbers->keys.size;
    *slot = *number + 1;
    return true;
}

bool export_number_of_pair(export_numbers *numbers, u64 first, u64 second, u32 *number)
{
    const u64 pair[] = { first, second };
    return export_number_of(numbers, (etl_bytes){ (const u8 *)pair, sizeof pair }, number);
}

etl_bytes export_number_key(const export_numbers *numbers, u32 number)
{
    assert(number < numbers->count);
    const size_t start = number == 0 ? 0 : numbers->ends[number - 1];
    const size_t size = numbers->ends[number] - start;
    return (etl_bytes){ (const u8 *)etlheap_text_of(&numbers->keys) + start, size };
}

u32 export_repeats_note(export_repeats *repeats, etl_bytes key)
{
    u32 number;
    const bool is_new = export_number_of(&repeats->numbers, key, &number);
    if (repeats->numbers.failed)
        return 0;
    if (number >= repeats->capacity) {
        const size_t capacity = (size_t)repeats->capacity * 2 + 64;
        u32 *const counts =
            capacity > UINT32_MAX ? NULL : realloc(repeats->counts, capacity * sizeof *counts);
        repeats->numbers.failed = counts == NULL;
        if (!counts)
            return 0;
        repeats->counts = counts;
        repeats->capacity = (u32)capacity;
    }
    if (is_new)
        repeats->counts[number] = 0;
    return repeats->counts[number]++;
}

void export_repeats_free(export_repeats *repeats)
{
    export_numbers_free(&repeats->numbers);
    free(repeats->counts);
    *repeats = (export_repeats){ 0 };
}

void export_numbers_free(export_numbers *numbers)
{
    etlheap_text_free(&numbers->keys);
    free(numbers->ends);
    free(numbers->slots);
    *numbers = (export_numbers){ 0 };
}

/* The slot that has the key, or the free one where it belongs. */
static u32 *slot_of(export_numbers *numbers, etl_bytes key)
{
    const u32 mask = numbers->slot_count - 1;
    u32 at = (u32)hash_of(key) & mask;
    for (; numbers->slots[at] != 0; at = (at + 1) & mask) {
        numbers->slots_seen++;
        const etl_bytes there = export_number_key(numbers, numbers->slots[at] - 1);
        if (there.size == key.size && (key.size == 0 || memcmp(there.at, key.at, key.size) == 0))
            break;
    }
    return &numbers->slots[at];
}

/* Eight bytes at a time. */
static u64 hash_of(etl_bytes key)
{
    u64 hash = key.size ^ etl_hash_seed(&hash_anchor);
    for (size_t at = 0; at < key.size; at += 8) {
        u64 piece = 0;
        memcpy(&piece, key.at + at, key.size - at < 8 ? key.size - at : 8);
        hash = etl_mix_u64(hash ^ piece);
    }
    return hash;
}

/* For one more key; slots are at most half full. */
static bool has_room(export_numbers *numbers)
{
    if (numbers->count >= numbers->slot_count / 2 && !grow_slots(numbers))
        return false;
    if (numbers->count < numbers->capacity)
        return true;
    const u32 capacity = numbers->slot_count / 2;
    size_t *const ends = realloc(numbers->ends, (size_t)capacity * sizeof *ends);
    if (!ends)
        return false;
    numbers->ends = ends;
    numbers->capacity = capacity;
    return true;
}

static bool grow_slots(export_numbers *numbers)
{
    const u32 slot_count = numbers->slot_count == 0 ? SLOTS_FIRST : numbers->slot_count * 2;
    u32 *const slots = slot_count == 0 ? NULL : calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(numbers->slots);
    numbers->slots = slots;
    numbers->slot_count = slot_count;
    for (u32 i = 0; i < numbers->count; i++)
        *slot_of(numbers, export_number_key(numbers, i)) = i + 1;
    return true;
}
