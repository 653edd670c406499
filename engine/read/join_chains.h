/*
 * join_chains.h - waiting events of the join, indexed by time and thread.
 *
 * Built anew for each slice with stack pieces, from the events that wait.
 */
#ifndef ETLHEAP_JOIN_CHAINS_H
#define ETLHEAP_JOIN_CHAINS_H

#include "join.h"

/*
 * The chains in which an event that lacks a part is looked up. Chains are oldest first, so if
 * events have the same time and thread, parts go to them in order. A link is spent when its event
 * has the part or has learned its thread. Spent links are dropped when met, so a crowded chain is
 * walked once, not once per piece.
 */
typedef enum chain_kind {
    CHAIN_KERNEL, /* by time, thread and event_sort: lacks the kernel part */
    CHAIN_KERNEL_LAST = CHAIN_KERNEL + SORT_EXTENT,
    CHAIN_USER, /* the same for the user part; events with a kernel part are in the first one */
    CHAIN_CPU_KERNEL = CHAIN_USER + SORT_EXTENT + 1, /* without a thread, by time and CPU */
    CHAIN_CPU_USER,
    CHAIN_PROCESS_USER, /* without a thread, by time and process */
    CHAIN_SERVED,       /* by thread: has a kernel part and lacks the user part */
    CHAIN_END
} chain_kind;

/* The chain of one sort of events: CHAIN_KERNEL or CHAIN_USER, and the sort. */
#define CHAIN_OF(part, sort) ((chain_kind)((u32)(part) + (u32)(sort)))

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

/* Builds the chains of all waiting events. False if memory runs out; free the set in any case. */
bool chains_make(chain_set *out, const stack_join *join);
void chains_free(chain_set *chains);

/* Puts an event at the front of a chain, or of the chains of the parts it lacks. False if memory
 * runs out. */
bool chains_link(chain_set *chains, const stack_join *join, chain_kind kind, u32 event);
bool chains_link_missing(chain_set *chains, const stack_join *join, u32 event);

/* The index + 1 of the first event of a chain that can take the piece; 0: none. Marks events as
 * over if the piece is too late for them. */
u32 chains_find(chain_set *chains, const stack_join *join, chain_kind kind,
                const stack_piece *piece);

/* Prefetches for pieces that follow: the bucket, then its first link, then that link's event, each
 * some pieces after the one before, because nearly every access misses the cache. */
void chains_fetch_bucket(const chain_set *chains, const stack_piece *piece);
void chains_fetch_link(const chain_set *chains, const stack_piece *piece);
void chains_fetch_event(const chain_set *chains, const stack_join *join, const stack_piece *piece);

#endif
