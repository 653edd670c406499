/* pool_heap.c - what a pool block's origin is called; see pool_heap.h. */
#include "pool_heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK          ((u64)13 << 60)
#define MARK_BITS     ((u64)15 << 60)
#define PAGED         ((u64)1 << 56)
#define TAG_PROTECTED 0x80000000u
#define TAG_BYTES     4u

u64 pool_heap(u32 tag, u32 pool_type, u32 session)
{
    return MARK | ((pool_type & 1) != 0 ? PAGED : 0) | (u64)session << KEY_SESSION_SHIFT |
           (tag & ~TAG_PROTECTED);
}

/* Writes a tag that stays readable in every output, without the spaces that fill it up: many tags
 * have three letters. "0x" is left for numbers. False if it would not be readable. */
static bool write_text(u32 tag, char *out)
{
    bool is_text = true;
    for (u32 i = 0; i < TAG_BYTES; i++) {
        out[i] = (char)(tag >> (8 * i) & 0xff);
        is_text = is_text && out[i] >= (i == 0 ? '!' : ' ') && out[i] < 0x7f &&
                  strchr("\"'\\,;<>&/", out[i]) == NULL;
    }
    u32 size = TAG_BYTES;
    while (size > 0 && out[size - 1] == ' ')
        size--;
    out[size] = '\0';
    return is_text && strncmp(out, "0x", 2) != 0;
}

u64 pool_heap_tag(u64 handle)
{
    return (handle & MARK_BITS) == MARK ? MARK | (u32)handle : 0;
}

void pool_heap_tag_text(u64 handle, char out[ETLHEAP_POOL_TAG_SIZE])
{
    if (pool_heap_tag(handle) == 0)
        out[0] = '\0';
    else if (!write_text((u32)handle, out))
        snprintf(out, ETLHEAP_POOL_TAG_SIZE, "0x%08" PRIx32, (u32)handle);
}

bool pool_heap_name(u64 handle, char out[ETLHEAP_HEAP_NAME_SIZE])
{
    const u32 session = key_session(handle);
    char tag[ETLHEAP_POOL_TAG_SIZE], place[12] = "";
    pool_heap_tag_text(handle, tag);
    if (tag[0] == '\0')
        return false;
    if (session == KEY_SESSION_UNKNOWN)
        snprintf(place, sizeof place, "/?");
    else if (session != KEY_SESSION_SYSTEM)
        snprintf(place, sizeof place, "/%" PRIu32, session - 1);
    const char *const type = (handle & PAGED) != 0 ? "paged" : "nonpaged";
    snprintf(out, ETLHEAP_HEAP_NAME_SIZE, "%s %s%s", tag, type, place);
    return true;
}

/* Reads "paged", "nonpaged/3" or "paged/?". */
static bool type_of(const char *word, u64 *out)
{
    const bool is_paged = strncmp(word, "paged", 5) == 0;
    const char *const at = word + (is_paged ? 5 : 8);
    if (!is_paged && strncmp(word, "nonpaged", 8) != 0)
        return false;
    u32 session = KEY_SESSION_SYSTEM;
    if (*at == '/')
        session =
            at[1] == '?' ? KEY_SESSION_UNKNOWN : key_session_of((u32)strtoul(at + 1, NULL, 10));
    *out = (is_paged ? PAGED : 0) | (u64)session << KEY_SESSION_SHIFT;
    return true;
}

/* Reads what pool_heap_name writes for a tag, or anything: the caller compares. */
static u32 tag_of(const char *word, size_t size)
{
    u32 tag = 0;
    if (size > TAG_BYTES)
        return (u32)strtoul(word, NULL, 16);
    for (u32 i = 0; i < TAG_BYTES; i++)
        tag |= (u32)(u8)(i < size ? word[i] : ' ') << (8 * i);
    return tag;
}

u64 pool_heap_of_tag(const char *text)
{
    const u64 found = MARK | tag_of(text, strlen(text));
    char again[ETLHEAP_POOL_TAG_SIZE];
    pool_heap_tag_text(found, again);
    return strcmp(again, text) == 0 ? found : 0;
}

bool pool_heap_of_name(const char *word, u64 *handle)
{
    const char *const space = strrchr(word, ' ');
    char again[ETLHEAP_HEAP_NAME_SIZE];
    u64 type;
    if (space == NULL || !type_of(space + 1, &type))
        return false;
    *handle = MARK | type | tag_of(word, (size_t)(space - word));
    return pool_heap_name(*handle, again) && strcmp(again, word) == 0;
}
