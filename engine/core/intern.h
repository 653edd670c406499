/*
 * intern.h - a hash index from content to dense ids, and interned strings.
 *
 * The index keeps only half of each hash, and an id. The owner keeps the content, and compares it
 * with the key if these halves are equal. Ids start at 1; 0 means not found.
 */
#ifndef ETLHEAP_INTERN_H
#define ETLHEAP_INTERN_H

#include "arena.h"

typedef struct etlheap_index {
    struct etlheap_slot *slots;
    u32 mask;  /* slot count - 1; 0 while empty */
    u32 count; /* used slots */
} etlheap_index;

#define ETLHEAP_SLOT_BYTES 8u

static inline u64 etlheap_index_bytes(const etlheap_index *index)
{
    return index->slots == NULL ? 0 : (index->mask + (u64)1) * ETLHEAP_SLOT_BYTES;
}

/* True if the content of `id` equals `key`. */
typedef bool etlheap_same_fn(const void *owner, u32 id, const void *key);

/* The id stored for `hash` and `key`, or 0. */
u32 etlheap_index_find(const etlheap_index *index, u64 hash, etlheap_same_fn *same,
                       const void *owner, const void *key);

/* For many look-ups in a row: etlheap_index_prefetch fetches the slot that a find will read.
 * etlheap_index_peek returns the first id whose upper 32 hash bits match, unverified, or 0, so that
 * the caller can prefetch its content. */
void etlheap_index_prefetch(const etlheap_index *index, u64 hash);
u32 etlheap_index_peek(const etlheap_index *index, u64 hash);

/* Reserves space for `count` ids in total, to avoid repeated rehashing. Does nothing if memory
 * is short. */
void etlheap_index_expect(etlheap_index *index, size_t count);

/* Adds an id for content that the index does not have yet, which is not checked. False if memory
 * runs out. */
bool etlheap_index_add(etlheap_index *index, u64 hash, u32 id);

void etlheap_index_free(etlheap_index *index);

/* Unseeded hashes of an integer and of bytes (XXH3), stable across runs, for values stored in
 * files. */
static inline u64 etlheap_mix_u64(u64 value)
{
    return etl_mix_u64(value);
}

u64 etlheap_mix_bytes(const void *bytes, size_t size);

/* Hashes for tables in memory, with a seed that differs in each run. */
extern const char etlheap_hash_anchor;

static inline u64 etlheap_hash_seed(void)
{
    return etl_hash_seed(&etlheap_hash_anchor);
}

static inline u64 etlheap_hash_u64(u64 value)
{
    return etlheap_mix_u64(value ^ etlheap_hash_seed());
}

u64 etlheap_hash_bytes(const void *bytes, size_t size);

/* Strings, NUL-terminated UTF-8; id 0 is the empty string. */
typedef struct etlheap_strings {
    etlheap_arena arena;
    etlheap_index index;
    ETLHEAP_VECTOR(const char *) list; /* list.at[id - 1] */
} etlheap_strings;

/* Finds or adds a text, which ends at a NUL. False if memory runs out. */
bool etlheap_strings_add(etlheap_strings *strings, const char *text, size_t size, u32 *id);
bool etlheap_strings_add_utf16(etlheap_strings *strings, etl_bytes utf16, u32 *id);
bool etlheap_strings_add_text(etlheap_strings *strings, etl_bytes text, u32 *id);

/* Adds a name folded by parser/system/name_fold.h: names that differ only in case share an id. NULL
 * has id 0. */
bool etlheap_strings_add_name(etlheap_strings *strings, const char *name, u32 *id);

/* The text of an id, valid as long as the pool; "" for 0. */
const char *etlheap_strings_get(const etlheap_strings *strings, u32 id);

void etlheap_strings_free(etlheap_strings *strings);

#endif
