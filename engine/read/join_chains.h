/*
 * join_chains.h - the events of the join that lack a part, by time and thread.
 *
 * Made anew for each slice that has stack pieces, from the events that wait.
 */
#ifndef ETLHEAP_JOIN_CHAINS_H
#define ETLHEAP_JOIN_CHAINS_H

#include "join.h"

/*
 * Where an event that lacks a part is looked for. Chains are oldest first, so
 * parts of events that time and thread do not tell apart go to them in order. A
 * link is spent once its event has the part, or has learned its thread; spent
 * links are dropped when met, so a crowd in one chain is walked once and not
 * once per piece.
 */
typedef enum chain_kind {
    CHAIN_KERNEL, /* by time and thread, for each event_sort: lacks the kernel part */
    CHAIN_KERNEL_LAST = CHAIN_KERNEL + SORT_EXTENT,
    CHAIN_USER, /* likewise; what has the kernel part is in the first one, whatever its sort */
    CHAIN_CPU_KERNEL = CHAIN_USER + SORT_EXTENT + 1, /* without a thread, by time and CPU */
    CHAIN_CPU_USER,
    CHAIN_PROCESS_USER, /* without a thread, by time and process */
    CHAIN_SERVED,       /* by thread: has a kernel part and lacks the user part */
    CHAIN_END
} chain_kind;

typedef struct chain_link {
    u32 event; /* index in `waiting` */
    u32 place; /* place_of its thread, CPU or process */
    u32 next;  /* index + 1 */
    u8 kind;   /* chain_kind */
} chain_link;

typedef struct chain_set {
    ETLHEAP_VECTOR(chain_link) links;
    u32 *buckets; /* index + 1 of the first link */
    u32 mask;
} chain_set;

/* Of all that waits. False without memory; to be freed in any case. */
bool chains_make(chain_set *out, const stack_join *join);
void chains_free(chain_set *chains);

/* Puts an event first into a chain, or into those of the parts that it lacks. False without
 * memory. */
bool chains_link(chain_set *chains, const stack_join *join, chain_kind kind, u32 event);
bool chains_link_missing(chain_set *chains, const stack_join *join, u32 event);

/* The first event of a chain that can take the piece, index + 1; 0: none. What is too late
 * for it is marked as over. */
u32 chains_find(chain_set *chains, const stack_join *join, chain_kind kind,
                const stack_piece *piece);

/* What a piece will look at first misses the cache nearly always: its bucket, the link in
 * it and the event of that. Each is fetched some pieces after the one that leads to it. */
void chains_fetch_bucket(const chain_set *chains, const stack_piece *piece);
void chains_fetch_link(const chain_set *chains, const stack_piece *piece);
void chains_fetch_event(const chain_set *chains, const stack_join *join, const stack_piece *piece);

#endif
