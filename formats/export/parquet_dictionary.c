/*
 * parquet_dictionary.c - numbers the distinct values of a column in a row group, in order of first
 * use.
 *
 * In: numbers or texts. Out: their entry, and all entries for the dictionary page. Running out of
 * memory is sticky; entries are 0 then.
 */
#include "parquet_dictionary.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64

static const char hash_anchor = 0;

static bool make_room(parquet_dictionary *dictionary);
static bool rebuild(parquet_dictionary *dictionary);
static u32 add_entry(parquet_dictionary *dictionary, u32 slot, u64 hash, u64 item);
static u64 hash_number(u64 value);
static u64 hash_text(const char *text, size_t size);

u32 parquet_dictionary_number(parquet_dictionary *dictionary, u64 value)
{
    const u64 hash = hash_number(value);
    if (!make_room(dictionary))
        return 0;
    u32 slot = (u32)hash & (dictionary->slot_count - 1);
    while (dictionary->slots[slot] != 0) {
        const u32 entry = dictionary->slots[slot] - 1;
        if (dictionary->items[entry] == value)
            return entry;
        slot = (slot + 1) & (dictionary->slot_count - 1);
    }
    return add_entry(dictionary, slot, hash, value);
}

u32 parquet_dictionary_text(parquet_dictionary *dictionary, const char *text, size_t size)
{
    const u64 hash = hash_text(text, size);
    if (!make_room(dictionary))
        return 0;
    u32 slot = (u32)hash & (dictionary->slot_count - 1);
    while (dictionary->slots[slot] != 0) {
        const u32 entry = dictionary->slots[slot] - 1;
        const etl_bytes known = parquet_dictionary_text_of(dictionary, entry);
        if (dictionary->hashes[entry] == hash && known.size == size &&
            (size == 0 || memcmp(known.at, text, size) == 0))
            return entry;
        slot = (slot + 1) & (dictionary->slot_count - 1);
    }
    etlheap_text_add(&dictionary->bytes, text, size);
    dictionary->failed |= dictionary->bytes.failed;
    return add_entry(dictionary, slot, hash, dictionary->bytes.size);
}

etl_bytes parquet_dictionary_text_of(const parquet_dictionary *dictionary, u32 entry)
{
    assert(entry < dictionary->count);
    const u64 start = entry == 0 ? 0 : dictionary->items[entry - 1];
    const u8 *const bytes = (const u8 *)etlheap_text_of(&dictionary->bytes);
    return (etl_bytes){ bytes + start, dictionary->items[entry] - start };
}

void parquet_dictionary_clear(parquet_dictionary *dictionary)
{
    if (dictionary->slots)
        memset(dictionary->slots, 0, dictionary->slot_count * sizeof *dictionary->slots);
    dictionary->count = 0;
    etlheap_text_clear(&dictionary->bytes);
}

void parquet_dictionary_free(parquet_dictionary *dictionary)
{
    free(dictionary->items);
    free(dictionary->hashes);
    free(dictionary->slots);
    etlheap_text_free(&dictionary->bytes);
    *dictionary = (parquet_dictionary){ 0 };
}

/* For one more entry. */
static bool make_room(parquet_dictionary *dictionary)
{
    if (dictionary->count < dictionary->capacity)
        return true;
    if (!dictionary->failed)
        dictionary->failed = !rebuild(dictionary);
    return !dictionary->failed;
}

static bool rebuild(parquet_dictionary *dictionary)
{
    const u64 wanted = dictionary->capacity == 0 ? FIRST_CAPACITY : (u64)dictionary->capacity * 2;
    if (wanted > UINT32_MAX / 4)
        return false;
    const u32 capacity = (u32)wanted;
    u64 *const items = realloc(dictionary->items, capacity * sizeof *items);
    if (items)
        dictionary->items = items;
    u64 *const hashes = realloc(dictionary->hashes, capacity * sizeof *hashes);
    if (hashes)
        dictionary->hashes = hashes;
    u32 *const slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (!items || !hashes || !slots) {
        free(slots);
        return false;
    }
    for (u32 entry = 0; entry < dictionary->count; entry++) {
        u32 slot = (u32)hashes[entry] & (capacity * 2 - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (capacity * 2 - 1);
        slots[slot] = entry + 1;
    }
    free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = capacity * 2;
    dictionary->capacity = capacity;
    return true;
}

static u32 add_entry(parquet_dictionary *dictionary, u32 slot, u64 hash, u64 item)
{
    const u32 entry = dictionary->count++;
    dictionary->items[entry] = item;
    dictionary->hashes[entry] = hash;
    dictionary->slots[slot] = entry + 1;
    return entry;
}

static u64 hash_number(u64 value)
{
    return etl_mix_u64(value ^ etl_hash_seed(&hash_anchor));
}

/* Eight bytes at a time: stacks are long. */
static u64 hash_text(const char *text, size_t size)
{
    u64 hash = size ^ etl_hash_seed(&hash_anchor);
    for (; size >= 8; size -= 8, text += 8) {
        u64 word;
        memcpy(&word, text, 8);
        hash = etl_mix_u64(hash ^ word);
    }
    u64 rest = 0;
    if (size > 0)
        memcpy(&rest, text, size);
    return etl_mix_u64(hash ^ rest);
}
