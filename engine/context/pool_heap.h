/*
 * pool_heap.h - the origin of a pool block, its tag, as the number of a heap.
 *
 *     63..60   1101, which neither addresses nor custom heaps begin with
 *     56       1: paged
 *     55..32   the session (key_words.h)
 *     31..0    the tag; its first character is in the lowest byte
 */
#ifndef ETLHEAP_POOL_HEAP_H
#define ETLHEAP_POOL_HEAP_H

#include "engine/engine.h"

#include "key_words.h"

/* `pool_type` as in the event; `session` as from key_session_of. */
u64 pool_heap(u32 tag, u32 pool_type, u32 session);

/* Writes the name, such as "Etwr paged" or "0x00000001 nonpaged/3". False if the handle does not
 * stand for a pool. Spaces that fill a tag up are left out: "Irp paged". A tag with other characters
 * than letters, digits, punctuation and inner spaces is written as a number. */
bool pool_heap_name(u64 handle, char out[ETLHEAP_HEAP_NAME_SIZE]);

/* The part of a number that is the same for all blocks with the tag; 0: it is no pool. */
u64 pool_heap_tag(u64 handle);

/* Writes the text of a number's tag, "Etwr" or "0x00000001"; "": it is no pool. */
void pool_heap_tag_text(u64 handle, char out[ETLHEAP_POOL_TAG_SIZE]);

/* The number that pool_heap_tag gives for a tag's text; 0: it is no tag. */
u64 pool_heap_of_tag(const char *text);

/* Finds the number of a name; false if no pool has it. */
bool pool_heap_of_name(const char *word, u64 *handle);

#endif
