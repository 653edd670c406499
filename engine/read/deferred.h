/*
 * deferred.h - stacks that are known later: keys, and kernel + user halves.
 *
 * Sessions with stack caching write a short key with each event and the frames
 * of the key only when its cache entry is evicted, or at the end. Keys are
 * addresses of cache entries and are reused. The rule (docs/format/events.md, 3,
 * observed for 21,279 of 21,279 references): a reference belongs to the first
 * definition of its key, of the same processor mode, at or after it.
 *
 * A slice's definitions are known before its references are looked at. So a
 * reference is resolved at once when a later definition lies in the same slice;
 * otherwise it gets the node its key holds open, which the next slice that
 * defines the key settles. Nodes are few: one per key and definition, not one
 * per event.
 *
 * A process may allocate memory in another one. Its stack's addresses are then not
 * the owner's: a node says whose they are and when, and at the end the stack gets an id of
 * its own for that. It has one for each epoch of modules, as slots are of one epoch of
 * their owner alone.
 */
#ifndef ETLHEAP_DEFERRED_H
#define ETLHEAP_DEFERRED_H

#include "stages.h"

/* Node i + 1 is reference STACK_TAG_DEFERRED | (i + 1). */
typedef struct deferred_node {
    stack_ref first;  /* key: its stack once defined; pair: kernel part; foreign: all of it */
    stack_ref second; /* pair: user part; foreign: the epoch of its addresses */
    bool is_pair;
    u32 process; /* foreign: the run's id of the process whose addresses they are; else 0 */
    i64 ticks;   /* foreign: the first event, when its addresses are looked up */
} deferred_node;

typedef struct open_key {
    u64 key;
    u64 uses;   /* references to the open node */
    u64 passed; /* references of stacks that nobody asks for */
    u32 node;   /* 0: none open */
    bool is_kernel;
} open_key;

typedef struct key_counts {
    u64 referenced, resolved;
} key_counts;

/* Few slices define many keys: most look-ups end at one bit. */
#define DEFERRED_FILTER_BITS 65536u

typedef struct deferred_stacks {
    struct trace_context *context; /* NULL: no stack is foreign */
    ETLHEAP_VECTOR(deferred_node) nodes;
    ETLHEAP_VECTOR(open_key) keys;
    etlheap_index key_index;
    etlheap_index pair_index;
    const key_definition *definitions; /* of the slice, sorted */
    size_t definition_count;
    u64 may_define[DEFERRED_FILTER_BITS / 64]; /* by hash: does the slice define the key? */
    u64 keys_referenced, keys_resolved;        /* resolved: in the same slice */
    bool counts_passed;
    key_counts passed;      /* likewise, of deferred_pass */
    foreign_stacks foreign; /* when it is finished */
} deferred_stacks;

/* Sorts the slice's definitions in place, keeps the pointer until the next call,
 * and settles the open nodes of the keys they define. False without memory. */
bool deferred_define(deferred_stacks *deferred, key_definition *definitions, size_t count);

/* A look-up of a user key misses the cache twice; many at hand are announced, first
 * to the one of these and then to the other. */
void deferred_fetch_place(const deferred_stacks *deferred, u64 key);
void deferred_fetch_key(const deferred_stacks *deferred, u64 key);

/* The reference for a key used at `ticks`. */
bool deferred_use(deferred_stacks *deferred, u64 key, bool is_kernel, i64 ticks, stack_ref *out);

/* The same of a key that is counted elsewhere: a stack that ended something. */
bool deferred_use_again(deferred_stacks *deferred, u64 key, bool is_kernel, i64 ticks,
                        stack_ref *out);

/* Counts a key of a stack that nobody asks for, with counts_passed. False without memory. */
bool deferred_pass(deferred_stacks *deferred, u64 key, bool is_kernel, i64 ticks);

/* The reference for kernel frames followed by user frames; either may be none. */
bool deferred_pair(deferred_stacks *deferred, stack_ref kernel, stack_ref user, stack_ref *out);

/* The reference for a stack of a process id's code at a moment, none of the owner's. */
bool deferred_foreign(deferred_stacks *deferred, stack_ref stack, u32 pid, i64 ticks,
                      stack_ref *out);

/*
 * At the end of the run: turns every node into an id of `stacks`, written to
 * ids[node], ids[0] = 0; the array is the caller's (free). unresolved counts
 * key references left without a definition. Foreign stacks are listed.
 */
bool deferred_finish(deferred_stacks *deferred, stack_table *stacks, u32 **ids, u64 *unresolved);

void deferred_free(deferred_stacks *deferred);

#endif
