/* logged_names.c - names of numbers in place of a heap; see logged_names.h. */
#include "logged_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK         ((u64)14 << 60)
#define MARK_BITS    ((u64)15 << 60)
#define NUMBER_SHIFT 56
#define NUMBER_MAX   15u
#define KEY_BITS     (((u64)1 << NUMBER_SHIFT) - 1)
#define KEY_SIGN     ((u64)1 << (NUMBER_SHIFT - 1))

u64 logged_heap(u32 number, u64 key)
{
    assert(number <= NUMBER_MAX);
    return MARK | (u64)number << NUMBER_SHIFT | (key & KEY_BITS);
}

bool logged_heap_is(u64 heap)
{
    return (heap & MARK_BITS) == MARK;
}

/* The word of the kind with this number in stores; NULL: no kind has it. */
static const char *word_of_number(u32 number)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
        if (row->lane == number)
            return row->word;
    }
    return NULL;
}

bool logged_heap_word(u64 heap, char out[ETLHEAP_HEAP_NAME_SIZE])
{
    const char *const word =
        logged_heap_is(heap) ? word_of_number((u32)(heap >> NUMBER_SHIFT) & NUMBER_MAX) : NULL;
    const u64 key = heap & KEY_BITS;
    if (word == NULL)
        return false;
    snprintf(out, ETLHEAP_HEAP_NAME_SIZE, "%.12s 0x%" PRIx64, word,
             (key & KEY_SIGN) != 0 ? key | ~KEY_BITS : key);
    return true;
}

bool logged_heap_of_word(const char *word, u64 *heap)
{
    const char *const key = strstr(word, " 0x");
    char again[ETLHEAP_HEAP_NAME_SIZE];
    if (key == NULL)
        return false;
    for (u32 number = 0; number <= NUMBER_MAX; number++) {
        *heap = logged_heap(number, strtoull(key + 1, NULL, 16));
        if (logged_heap_word(*heap, again) && strcmp(again, word) == 0)
            return true;
    }
    return false;
}

static bool same_heap(const void *owner, u32 id, const void *key)
{
    return ((const logged_names *)owner)->list.at[id - 1].heap == *(const u64 *)key;
}

bool logged_names_add_text(logged_names *names, u64 heap, const char *name)
{
    const u64 hash = etlheap_hash_u64(heap);
    const logged_name row = { heap, name };
    const u32 id = etlheap_index_find(&names->index, hash, same_heap, names, &heap);
    if (id == 0)
        return ETLHEAP_PUSH(&names->list, row) &&
               etlheap_index_add(&names->index, hash, (u32)names->list.count);
    logged_name *const known = &names->list.at[id - 1];
    if (known->name != NULL && strcmp(known->name, name) != 0)
        known->name = NULL;
    return true;
}

bool logged_names_add(logged_names *names, u64 heap, etl_bytes name, etlheap_strings *strings)
{
    u32 text;
    if (!etlheap_strings_add_utf16(strings, name, &text))
        return false;
    return text == 0 || logged_names_add_text(names, heap, etlheap_strings_get(strings, text));
}

static int by_heap(const void *a, const void *b)
{
    const logged_name *const x = a, *const y = b;
    return (x->heap > y->heap) - (x->heap < y->heap);
}

void logged_names_finish(logged_names *names)
{
    size_t kept = 0;
    etlheap_index_free(&names->index);
    for (size_t i = 0; i < names->list.count; i++) {
        if (names->list.at[i].name != NULL)
            names->list.at[kept++] = names->list.at[i];
    }
    names->list.count = kept;
    if (kept > 0)
        qsort(names->list.at, kept, sizeof *names->list.at, by_heap);
}

const char *logged_names_find(const logged_names *names, u64 heap)
{
    size_t low;
    if (!logged_heap_is(heap))
        return NULL;
    ETL_BISECT(low, 0, names->list.count, names->list.at[low].heap < heap);
    const bool is_found = low < names->list.count && names->list.at[low].heap == heap;
    return is_found ? names->list.at[low].name : NULL;
}

void logged_names_free(logged_names *names)
{
    ETLHEAP_VECTOR_FREE(&names->list);
    etlheap_index_free(&names->index);
}
