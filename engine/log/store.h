/*
 * store.h - the allocation store: lifetimes as columns.
 *
 * Rows are kept in segments of up to 64 Ki. A segment is one block of memory with its columns one
 * after the other. Rows never move, and full segments never change, so a segment is the unit of
 * parallel work.
 */
#ifndef ETLHEAP_STORE_H
#define ETLHEAP_STORE_H

#include "engine/context/stacks.h"

/* A closed lifetime, or one still open at the end of the run. */
typedef struct lifetime {
    i64 alloc_ticks, free_ticks;
    u64 address, size, heap;
    u32 process;
    stack_ref stack;
    u32 thread;
    stack_ref free_stack; /* if a question asks who freed; else STACK_NONE and ETL_NO_ID */
    u32 free_thread;
    u8 kind;      /* etlheap_kind */
    u8 free_type; /* etlheap_free_type */
    bool is_realloc;
} lifetime;

typedef struct store_segment {
    u32 rows, capacity;
    i64 *alloc_ticks, *free_ticks;
    u64 *address, *size_bytes, *heap_handle;
    u32 *process, *stack, *thread, *free_stack, *free_thread;
    u8 *kind, *free_type, *is_realloc;
    void *memory;
} store_segment;

typedef struct lifetime_table {
    ETLHEAP_VECTOR(store_segment) segments;
    u64 rows;
} lifetime_table;

/* Appends rows in order. False if memory runs out. */
bool store_append(lifetime_table *store, const lifetime *rows, size_t count);
/* Adds an empty segment for exactly `rows` rows, valid until the next is added. The caller fills
 * its columns, sets its row count and adds it to the store's. NULL if memory runs out. */
store_segment *store_add_segment(lifetime_table *store, u32 rows);
void store_free(lifetime_table *store);

etlheap_segment store_view(const store_segment *segment);

#endif
