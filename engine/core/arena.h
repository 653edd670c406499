/*
 * arena.h - bump memory that is freed whole, and growable arrays.
 *
 * An arena hands out memory in chunks, of 16 KiB at first and of 1 MiB once it has
 * as much; nothing is freed singly. A vector is {at, count, capacity}
 * and doubles; its elements move when it grows, so nobody keeps pointers into one
 * that still does. Neither is shared between threads. Both report "no memory" by
 * their result and stay usable.
 */
#ifndef ETLHEAP_ARENA_H
#define ETLHEAP_ARENA_H

#include "parser/base.h"
#include "parser/parser.h"

#include "machine.h"

typedef struct etlheap_arena {
    struct etlheap_chunk *chunks; /* newest first */
    size_t left;                  /* bytes left in the newest */
    size_t total_bytes;           /* of all chunks */
} etlheap_arena;

/* `size` bytes aligned to 16, not zeroed; NULL without memory. */
void *etlheap_arena_alloc(etlheap_arena *arena, size_t size);

/* A copy of the bytes; an empty view stays empty. False without memory. */
bool etlheap_arena_copy(etlheap_arena *arena, etl_bytes bytes, etl_bytes *out);

void etlheap_arena_free(etlheap_arena *arena); /* leaves an empty arena */

/*
 * As calloc, for tables that are read before they are written: a page that is read
 * first is mapped twice, and the second time stops all threads. free() it.
 */
void *etlheap_touched_calloc(size_t count, size_t element_size);

#define ETLHEAP_VECTOR(type)                                                                       \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `more` elements of `element_size`. `vector` points to an
 * ETLHEAP_VECTOR struct. False without memory; the vector is then unchanged. */
bool etlheap_vector_reserve(void *vector, size_t element_size, size_t more);

#define ETLHEAP_RESERVE(vector, more)                                                              \
    ((vector)->capacity - (vector)->count >= (size_t)(more) ||                                     \
     etlheap_vector_reserve((vector), sizeof *(vector)->at, (more)))

/* The same when nearly all of it will be used soon, as far as that is known: where
 * there is no memory for so much, what is needed is found out on the way. */
#define ETLHEAP_EXPECT(vector, more)                                                               \
    (ETLHEAP_RESERVE((vector), (more))                                                             \
         ? machine_expect_use((vector)->at, (vector)->capacity * sizeof *(vector)->at)             \
         : (void)0)

/* Appends; false without memory. */
#define ETLHEAP_PUSH(vector, ...)                                                                  \
    (ETLHEAP_RESERVE(vector, 1) ? ((vector)->at[(vector)->count++] = (__VA_ARGS__), true) : false)

/* Frees the elements and empties the vector. */
#define ETLHEAP_VECTOR_FREE(vector)                                                                \
    (free((vector)->at), (vector)->at = NULL, (vector)->count = (vector)->capacity = 0)

#endif
