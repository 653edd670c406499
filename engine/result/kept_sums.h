/*
 * kept_sums.h - the sums of the windows of a store that were asked about last.
 *
 * Whoever looks at a window asks several questions about it, each of which adds up the same events:
 * a table, a call tree, totals. The first one makes sums by origin and type, and puts them here.
 * The others take them, or wait for them if they come while the sums are being made.
 *
 *     take ──▶ sums are here ─────────────────────────────────▶ give back
 *         └──▶ nobody has them: the caller makes them ──▶ put ──▶ give back
 *         └──▶ another thread makes them: wait, then take
 */
#ifndef ETLHEAP_KEPT_SUMS_H
#define ETLHEAP_KEPT_SUMS_H

#include "engine/core/type_rule.h"

/* What the sums are of. */
typedef struct kept_window {
    i64 from_ticks, to_ticks;
    u64 size_min_bytes, size_max_bytes; /* of blocks */
    bool exit_frees;
} kept_window;

typedef struct kept_sums kept_sums;

/* Sums that somebody uses. They do not change until they are given back. */
typedef struct kept_use {
    const type_sums *sums; /* [origin * ETLHEAP_TYPE_COUNT + type]; NULL: the caller makes them */
    type_sums *own;        /* too large to be kept: freed when they are given back */
    u32 slot;
} kept_use;

/* Keeps sums of `origins` origins. NULL: memory runs out, or there are so many origins that sums
 * of a single window would be too large to keep. */
kept_sums *kept_sums_open(u64 origins);
void kept_sums_close(kept_sums *kept); /* NULL is allowed */

/* Takes the sums of a window. Then put and give back, or give back, in any case. ETL_ERR_CANCELLED:
 * nothing was taken. */
etl_status kept_sums_take(kept_sums *kept, const kept_window *window, const u32 *cancel,
                          kept_use *out, etl_error *err);

/* Hands over the sums that the caller has made, from malloc; NULL: it could not. */
void kept_sums_put(kept_sums *kept, kept_use *use, type_sums *made);
void kept_sums_give_back(kept_sums *kept, kept_use *use);

/* How often sums were made: for tests. */
u64 kept_sums_made(const kept_sums *kept);

#endif
