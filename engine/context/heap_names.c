/*
 * heap_names.c - what a heap is called.
 *
 * A heap of Windows is its handle, an address. A heap of the program's own allocator has
 * no handle, so it is given a number that no address can be and that has its name in it:
 * two runs, a store and a summary agree on the number without having seen each other.
 *
 *     63..60   1100, which neither user nor kernel addresses begin with
 *     59       the allocator tells heaps apart
 *     58       its number of the heap was too large, and is a hash
 *     57..54   characters of the name
 *     53..0    the name, six bits a character; with 59, 53..18 are: 17..0 is the number
 */
#include "engine/core/intern.h"
#include "engine/engine.h"
#include "logged_names.h"
#include "pool_heap.h"

#include <inttypes.h>
#include <stdio.h>

#define MARK       ((u64)12 << 60)
#define MARK_BITS  ((u64)15 << 60)
#define HAS_HEAP   ((u64)1 << 59)
#define IS_HASH    ((u64)1 << 58)
#define SIZE_SHIFT 54
#define NAME_SHIFT 48 /* of the first character */
#define HEAP_BITS  (((u64)1 << 18) - 1)

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

u64 etlheap_custom_heap(const char *name, const u64 *heap)
{
    const size_t size_max = heap == NULL ? ETL_CUSTOM_NAME_MAX : ETL_CUSTOM_HEAP_NAME_MAX;
    u64 handle = MARK;
    size_t size = 0;
    for (; size < size_max && name[size] != '\0'; size++) {
        const char *const letter = strchr(letters, name[size]);
        const u64 number = letter == NULL ? sizeof letters - 2 : (u64)(letter - letters);
        handle |= number << (NAME_SHIFT - 6 * size);
    }
    handle |= (u64)size << SIZE_SHIFT;
    if (heap == NULL)
        return handle;
    const bool is_large = *heap > HEAP_BITS;
    const u64 number = is_large ? etlheap_hash_u64(*heap) & HEAP_BITS : *heap;
    return handle | HAS_HEAP | (is_large ? IS_HASH : 0) | number;
}

void etlheap_heap_name(u64 handle, char out[ETLHEAP_HEAP_NAME_SIZE])
{
    const bool has_heap = (handle & HAS_HEAP) != 0;
    const u32 size_max = has_heap ? ETL_CUSTOM_HEAP_NAME_MAX : ETL_CUSTOM_NAME_MAX;
    const u32 size = (u32)(handle >> SIZE_SHIFT) & 15;
    if (pool_heap_name(handle, out) || logged_heap_word(handle, out))
        return;
    if ((handle & MARK_BITS) != MARK || size == 0 || size > size_max) {
        snprintf(out, ETLHEAP_HEAP_NAME_SIZE, "0x%" PRIx64, handle);
        return;
    }
    for (u32 i = 0; i < size; i++)
        out[i] = letters[handle >> (NAME_SHIFT - 6 * i) & 63];
    out[size] = '\0';
    if (has_heap && (handle & IS_HASH) != 0)
        snprintf(out + size, ETLHEAP_HEAP_NAME_SIZE - size, " ~%05" PRIx64, handle & HEAP_BITS);
    else if (has_heap)
        snprintf(out + size, ETLHEAP_HEAP_NAME_SIZE - size, " %" PRIu64, handle & HEAP_BITS);
}

/* The only number whose name is the word, as nothing else is in it than the name is. */
bool etlheap_heap_of_name(const char *word, u64 *handle)
{
    char name[ETL_CUSTOM_NAME_MAX + 1] = "", again[ETLHEAP_HEAP_NAME_SIZE];
    const size_t size = strcspn(word, " ");
    if (pool_heap_of_name(word, handle) || logged_heap_of_word(word, handle))
        return true;
    if (size == 0 || size > ETL_CUSTOM_NAME_MAX)
        return false;
    memcpy(name, word, size);
    const char *at = word + size + (word[size] == ' ');
    const bool is_hash = *at == '~';
    u64 heap = 0;
    for (at += is_hash; *at != '\0' && heap <= HEAP_BITS; at++) {
        const char *const digits = "0123456789abcdef";
        const char *const digit = strchr(digits, *at);
        heap = heap * (is_hash ? 16 : 10) + (digit == NULL ? HEAP_BITS + 1 : (u64)(digit - digits));
    }
    *handle = etlheap_custom_heap(name, word[size] == ' ' && !is_hash ? &heap : NULL);
    if (is_hash) {
        const u64 none = 0;
        *handle = etlheap_custom_heap(name, &none) | IS_HASH | (heap & HEAP_BITS);
    }
    etlheap_heap_name(*handle, again);
    return strcmp(again, word) == 0;
}
