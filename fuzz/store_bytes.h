/*
 * store_bytes.h - a store that is written to memory.
 */
#ifndef ETLHEAP_STORE_BYTES_H
#define ETLHEAP_STORE_BYTES_H

#include <stdlib.h>

#include "parser/base.h"

/* Starts as {0}; the owner frees `at`. */
typedef struct store_bytes {
    u8 *at;
    size_t size, capacity;
} store_bytes;

/* An etlheap_write_fn: `user` is the store_bytes. */
static inline bool store_bytes_keep(void *user, const void *bytes, size_t size)
{
    store_bytes *const store = user;
    if (size > store->capacity - store->size) {
        const size_t capacity = 2 * (store->size + size);
        u8 *const grown = realloc(store->at, capacity);
        if (grown == NULL)
            return false;
        store->at = grown;
        store->capacity = capacity;
    }
    memcpy(store->at + store->size, bytes, size);
    store->size += size;
    return true;
}

#endif
