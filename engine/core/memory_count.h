/*
 * memory_count.h - the memory that a question holds, and the limit for it.
 *
 * Whoever makes something large for a question says how large it is before it is made, or once a
 * batch while it grows, and 0 when it is freed. Threads may count at the same time.
 */
#ifndef ETLHEAP_MEMORY_COUNT_H
#define ETLHEAP_MEMORY_COUNT_H

#include "parser/base.h"
#include "parser/parser.h"

typedef struct memory_count {
    u64 held_bytes;
    u64 limit_bytes; /* 0: none */
} memory_count;

/* Sets what one owner holds. `own` is what it held before; only the owner's thread uses it.
 * ETL_ERR_LIMIT: that is more, and all owners together hold more than allowed. */
etl_status memory_hold(memory_count *count, u64 *own, u64 bytes, etl_error *err);

#endif
