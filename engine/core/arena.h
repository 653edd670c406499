/*
 * arena.h - memory that is freed all at once, and growable arrays.
 *
 * An arena hands out memory from chunks, of 16 KiB at first and of 1 MiB once it has that much.
 * Single pieces are never freed. A vector is {at, count, capacity} and doubles when it is full. Its
 * elements move then, so keep no pointers into a vector that still grows. Neither may be shared
 * between threads. Both report missing memory by their result and stay usable.
 */
#ifndef ETLHEAP_ARENA_H
#define ETLHEAP_ARENA_H

#include "parser/base.h"
#include "parser/parser.h"

#include "machine.h"

#include <stdlib.h>

typedef struct etlheap_arena {
    struct etlheap_chunk *chunks; /* newest first */
    size_t left;                  /* bytes left in the newest */
    size_t total_bytes;           /* of all chunks */
} etlheap_arena;

/* Allocates `size` bytes aligned to 16, not zeroed; NULL if memory runs out. */
void *etlheap_arena_alloc(etlheap_arena *arena, size_t size);

/* Copies bytes into the arena; an empty view stays empty. False if memory runs out. */
bool etlheap_arena_copy(etlheap_arena *arena, etl_bytes bytes, etl_bytes *out);

void etlheap_arena_free(etlheap_arena *arena); /* the arena is then empty */

/*
 * Like calloc, for tables that are read before they are written. A page that is read first is
 * mapped twice, and the second time stops all threads. This touches the pages once. Release it with
 * free().
 */
void *etlheap_touched_calloc(size_t count, size_t element_size);

#define ETLHEAP_VECTOR(type)                                                                       \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `more` elements of `element_size`. `vector` points to an ETLHEAP_VECTOR struct. If
 * memory runs out, returns false and leaves the vector unchanged. */
bool etlheap_vector_reserve(void *vector, size_t element_size, size_t more);

#define ETLHEAP_RESERVE(vector, more)                                                              \
    ((vector)->capacity - (vector)->count >= (size_t)(more) ||                                     \
     etlheap_vector_reserve((vector), sizeof *(vector)->at, (more)))

/* Gives back the room that is not used, if that is possible. */
void etlheap_vector_trim(void *vector, size_t element_size);

#define ETLHEAP_TRIM(vector) etlheap_vector_trim((vector), sizeof *(vector)->at)

/* Like reserve, if nearly all elements will be used soon. Does nothing if there is not enough
 * memory; then the vector grows as usual. */
#define ETLHEAP_EXPECT(vector, more)                                                               \
    (ETLHEAP_RESERVE((vector), (more))                                                             \
         ? machine_expect_use((vector)->at, (vector)->capacity * sizeof *(vector)->at)             \
         : (void)0)

/* Appends an element; false if memory runs out. */
#define ETLHEAP_PUSH(vector, ...)                                                                  \
    (ETLHEAP_RESERVE(vector, 1) ? ((vector)->at[(vector)->count++] = (__VA_ARGS__), true) : false)

/* Frees the elements and empties the vector. */
#define ETLHEAP_VECTOR_FREE(vector)                                                                \
    (free((vector)->at), (vector)->at = NULL, (vector)->count = (vector)->capacity = 0)

#endif
