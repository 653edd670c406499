/*
 * arena.c - memory that is freed all at once, and growable arrays.
 *
 * In: sizes. Out: uninitialized memory from chunks; room in a vector. Invariant: pieces of an arena
 * never move, elements of a vector do; both report missing memory and stay usable.
 */
#include "arena.h"

#include <stdlib.h>

#define CHUNK_BYTES_MIN ((size_t)16 << 10)
#define CHUNK_BYTES_MAX ((size_t)1 << 20)
#define ALIGNMENT       16
#define PAGE_BYTES      4096 /* or a part of one */

struct etlheap_chunk {
    struct etlheap_chunk *older;
    size_t size; /* of data[], so that data[] stays 16-byte aligned */
    u8 data[];
};

static_assert(sizeof(struct etlheap_chunk) % ALIGNMENT == 0, "chunk data must be aligned");

/* As much again as there is: most arenas of a small trace hold next to nothing. */
static size_t next_chunk_size(const etlheap_arena *arena)
{
    return arena->total_bytes < CHUNK_BYTES_MIN   ? CHUNK_BYTES_MIN
           : arena->total_bytes > CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX
                                                  : arena->total_bytes;
}

void *etlheap_arena_alloc(etlheap_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    const size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (arena->chunks == NULL || rounded > arena->left) {
        const size_t chunk_size = next_chunk_size(arena);
        const size_t data_size = rounded > chunk_size ? rounded : chunk_size;
        struct etlheap_chunk *const chunk = malloc(sizeof *chunk + data_size);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct etlheap_chunk){ arena->chunks, data_size };
        arena->chunks = chunk;
        arena->left = data_size;
        arena->total_bytes += data_size;
    }
    struct etlheap_chunk *const newest = arena->chunks;
    void *const result = newest->data + (newest->size - arena->left);
    arena->left -= rounded;
    return result;
}

bool etlheap_arena_copy(etlheap_arena *arena, etl_bytes bytes, etl_bytes *out)
{
    *out = (etl_bytes){ NULL, 0 };
    if (bytes.size == 0)
        return true;
    u8 *const copy = etlheap_arena_alloc(arena, bytes.size);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes.at, bytes.size);
    *out = (etl_bytes){ copy, bytes.size };
    return true;
}

void etlheap_arena_free(etlheap_arena *arena)
{
    struct etlheap_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct etlheap_chunk *const older = chunk->older;
        free(chunk);
        chunk = older;
    }
    *arena = (etlheap_arena){ 0 };
}

void *etlheap_touched_calloc(size_t count, size_t element_size)
{
    u8 *const memory = calloc(count, element_size);
    machine_expect_use(memory, count * element_size);
    /* Volatile, or compilers leave out what writes a zero over a zero. */
    for (size_t at = 0; memory != NULL && at < count * element_size; at += PAGE_BYTES)
        *(volatile u8 *)(memory + at) = 0;
    return memory;
}

/* The layout every ETLHEAP_VECTOR shares; element pointers have one size. */
typedef struct any_vector {
    void *at;
    size_t count, capacity;
} any_vector;

bool etlheap_vector_reserve(void *vector, size_t element_size, size_t more)
{
    any_vector copy;
    memcpy(&copy, vector, sizeof copy);
    if (copy.capacity - copy.count >= more)
        return true;
    /* Who reserves much at once mostly knows how much there will be, so no more is added. */
    size_t capacity, bytes;
    if (more > SIZE_MAX - copy.count || !etl_mul_size(copy.capacity, 2, &capacity))
        return false;
    capacity = capacity < 16 ? 16 : capacity;
    capacity = capacity < copy.count + more ? copy.count + more : capacity;
    if (!etl_mul_size(capacity, element_size, &bytes))
        return false;
    void *const at = realloc(copy.at, bytes);
    if (at == NULL)
        return false;
    copy.at = at;
    copy.capacity = capacity;
    memcpy(vector, &copy, sizeof copy);
    return true;
}

void etlheap_vector_trim(void *vector, size_t element_size)
{
    any_vector copy;
    memcpy(&copy, vector, sizeof copy);
    const size_t capacity = copy.count == 0 ? 1 : copy.count;
    if (copy.at == NULL || copy.capacity <= capacity)
        return;
    void *const at = realloc(copy.at, capacity * element_size);
    if (at == NULL)
        return;
    copy.at = at;
    copy.capacity = capacity;
    memcpy(vector, &copy, sizeof copy);
}
