/*
 * intern.c - a hash index from content to dense ids, and interned strings on top of it.
 *
 * In: find takes a hash and a key; the owner keeps the content and supplies the comparison. Strings
 * take UTF-8, UTF-16, 8-bit text, or names to fold. Out: the id of equal content, or 0 (peek: an id
 * that is not verified). Strings are copied to an arena, so pointers to them stay valid.
 *
 *     slots    | tag, id | 0 | tag, id | tag, id | 0 | ...     a power of two, at most 3/4 full
 *                `tag` (upper half of the hash) & mask is where a probe starts; it goes on to
 *                the next slot until the content is equal or a slot is free
 *
 * The position follows from the tag, so the table grows without hashing any content again.
 * Invariants: nothing is ever removed, or probes would stop too early. Equal tags prove nothing, so
 * find compares content. Add does not look for duplicates, so callers find first.
 */
#include "intern.h"

#include <stdlib.h>
#include <xxhash.h>

#include "parser/system/name_fold.h"

#define SLOTS_MIN 64u
#define SLOTS_MAX ((u32)1 << 31)

struct etlheap_slot {
    u32 tag; /* upper half of the hash: gives the position, and avoids most comparisons */
    u32 id;  /* 0: free */
};

static_assert(sizeof(struct etlheap_slot) == ETLHEAP_SLOT_BYTES, "as others count it");

static bool grow(etlheap_index *index, u32 old_count, u32 new_count);

u32 etlheap_index_find(const etlheap_index *index, u64 hash, etlheap_same_fn *same,
                       const void *owner, const void *key)
{
    if (index->mask == 0)
        return 0;
    const u32 tag = (u32)(hash >> 32);
    for (u32 at = tag & index->mask;; at = (at + 1) & index->mask) {
        const struct etlheap_slot slot = index->slots[at];
        if (slot.id == 0)
            return 0;
        if (slot.tag == tag && same(owner, slot.id, key))
            return slot.id;
    }
}

void etlheap_index_prefetch(const etlheap_index *index, u64 hash)
{
    if (index->mask != 0)
        __builtin_prefetch(&index->slots[(u32)(hash >> 32) & index->mask]);
}

u32 etlheap_index_peek(const etlheap_index *index, u64 hash)
{
    if (index->mask == 0)
        return 0;
    const u32 tag = (u32)(hash >> 32);
    u32 at = tag & index->mask;
    while (index->slots[at].id != 0 && index->slots[at].tag != tag)
        at = (at + 1) & index->mask;
    return index->slots[at].id;
}

static void place(struct etlheap_slot *slots, u32 mask, struct etlheap_slot slot)
{
    u32 at = slot.tag & mask;
    while (slots[at].id != 0)
        at = (at + 1) & mask;
    slots[at] = slot;
}

void etlheap_index_expect(etlheap_index *index, size_t count)
{
    const u32 old_count = index->mask == 0 ? 0 : index->mask + 1;
    u32 new_count = old_count == 0 ? SLOTS_MIN : old_count;
    while (new_count < SLOTS_MAX && count > (new_count - 1) / 4 * 3)
        new_count *= 2;
    if (new_count > old_count)
        (void)grow(index, old_count, new_count);
}

bool etlheap_index_add(etlheap_index *index, u64 hash, u32 id)
{
    assert(id != 0);
    if (index->mask == 0 || index->count >= index->mask / 4 * 3) {
        const u32 count = index->mask == 0 ? 0 : index->mask + 1;
        if (count >= SLOTS_MAX || !grow(index, count, count == 0 ? SLOTS_MIN : count * 2))
            return false;
    }
    place(index->slots, index->mask, (struct etlheap_slot){ (u32)(hash >> 32), id });
    index->count++;
    return true;
}

static bool grow(etlheap_index *index, u32 old_count, u32 new_count)
{
    struct etlheap_slot *const slots = etlheap_touched_calloc(new_count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (u32 i = 0; i < old_count; i++) {
        if (index->slots[i].id != 0)
            place(slots, new_count - 1, index->slots[i]);
    }
    free(index->slots);
    index->slots = slots;
    index->mask = new_count - 1;
    return true;
}

void etlheap_index_free(etlheap_index *index)
{
    free(index->slots);
    *index = (etlheap_index){ 0 };
}

const char etlheap_hash_anchor = 0;

u64 etlheap_mix_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

u64 etlheap_hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, etlheap_hash_seed());
}

typedef struct text_key {
    const char *text;
    size_t size;
} text_key;

static bool same_text(const void *owner, u32 id, const void *key)
{
    const etlheap_strings *const strings = owner;
    const text_key *const wanted = key;
    const char *const text = strings->list.at[id - 1];
    return strncmp(text, wanted->text, wanted->size) == 0 && text[wanted->size] == '\0';
}

bool etlheap_strings_add(etlheap_strings *strings, const char *text, size_t size, u32 *id)
{
    *id = 0;
    size = strnlen(text, size);
    if (size == 0)
        return true;
    const u64 hash = etlheap_hash_bytes(text, size);
    const text_key key = { text, size };
    *id = etlheap_index_find(&strings->index, hash, same_text, strings, &key);
    if (*id != 0)
        return true;
    char *const copy = etlheap_arena_alloc(&strings->arena, size + 1);
    if (copy == NULL || strings->list.count >= UINT32_MAX - 1)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (!ETLHEAP_PUSH(&strings->list, copy))
        return false;
    *id = (u32)strings->list.count;
    return etlheap_index_add(&strings->index, hash, *id);
}

typedef size_t convert_fn(etl_bytes in, char *out, size_t capacity);

/* Converts into a stack buffer large enough for nearly every name, otherwise into a heap buffer. */
static bool add_converted(etlheap_strings *strings, convert_fn *convert, etl_bytes in, u32 *id)
{
    char small[512];
    *id = 0;
    const size_t size = convert(in, small, sizeof small);
    if (size < sizeof small)
        return etlheap_strings_add(strings, small, size, id);
    char *const large = malloc(size + 1);
    if (large == NULL)
        return false;
    (void)convert(in, large, size + 1);
    const bool added = etlheap_strings_add(strings, large, size, id);
    free(large);
    return added;
}

bool etlheap_strings_add_utf16(etlheap_strings *strings, etl_bytes utf16, u32 *id)
{
    return add_converted(strings, etl_utf16_to_utf8, utf16, id);
}

bool etlheap_strings_add_text(etlheap_strings *strings, etl_bytes text, u32 *id)
{
    return add_converted(strings, etl_text_to_utf8, text, id);
}

bool etlheap_strings_add_name(etlheap_strings *strings, const char *name, u32 *id)
{
    char small[512];
    *id = 0;
    if (name == NULL)
        return true;
    const size_t capacity = ETL_NAME_FOLDED_SIZE(strlen(name));
    char *const folded = capacity <= sizeof small ? small : malloc(capacity);
    if (folded == NULL)
        return false;
    const size_t size = etl_name_fold(name, folded);
    const bool added = etlheap_strings_add(strings, folded, size, id);
    if (folded != small)
        free(folded);
    return added;
}

const char *etlheap_strings_get(const etlheap_strings *strings, u32 id)
{
    return id == 0 ? "" : strings->list.at[id - 1];
}

void etlheap_strings_free(etlheap_strings *strings)
{
    etlheap_arena_free(&strings->arena);
    etlheap_index_free(&strings->index);
    ETLHEAP_VECTOR_FREE(&strings->list);
}
