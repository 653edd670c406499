/*
 * keyed.h - stacks that become known later: stack keys, and pairs of kernel and user parts.
 *
 * A session with stack caching writes a short key with each event. It writes the frames of the key
 * only when the cache entry is evicted, or at the end. Keys are addresses of cache entries and are
 * reused. The rule (docs/format/events.md, 3, observed for 21,279 of 21,279 references): a
 * reference belongs to the first definition of its key, of the same processor mode, at or after it.
 *
 * The definitions of a slice are known before its references are read. If a later definition lies
 * in the same slice, the reference is resolved at once. Otherwise it gets the open node of its key,
 * and the next slice that defines the key resolves the node. There are few nodes: one per key and
 * definition, not one per event.
 *
 * A process can allocate memory in another process. The addresses of its stack then do not belong
 * to the owner. A node records which process they belong to and when, and at the end the stack gets
 * a separate id for that process. It has one id per epoch of modules, as an origin belongs to one
 * epoch of its owner.
 */
#ifndef ETLHEAP_KEYED_H
#define ETLHEAP_KEYED_H

#include "stages.h"

/* A node. Reference STACK_TAG_KEYED | (i + 1) means node i + 1. */
typedef struct keyed_node {
    stack_ref first; /* key: the stack, once defined; pair: kernel part; foreign: the whole stack */
    stack_ref second; /* pair: user part; foreign: the epoch of its addresses */
    bool is_pair;
    u32 process; /* foreign: id of the process that the addresses belong to; else 0 */
    i64 ticks;   /* foreign: time of the first event, at which the addresses are looked up */
} keyed_node;

typedef struct open_key {
    u64 key;
    u64 uses;   /* references to the open node */
    u64 passed; /* references of stacks that no question needs */
    u32 node;   /* 0: none open */
    bool is_kernel;
} open_key;

typedef struct key_counts {
    u64 referenced, resolved;
} key_counts;

/* Few slices define many keys, so this bit filter answers most look-ups. */
#define KEYED_FILTER_BITS 65536u

typedef struct keyed_stacks {
    struct trace_context *context; /* NULL: no stack is foreign */
    ETLHEAP_VECTOR(keyed_node) nodes;
    ETLHEAP_VECTOR(open_key) keys;
    etlheap_index key_index;
    etlheap_index pair_index;
    const key_definition *definitions; /* of the slice, sorted */
    size_t definition_count;
    u64 may_define[KEYED_FILTER_BITS / 64]; /* bit by hash: the slice may define the key */
    u64 keys_referenced, keys_resolved;     /* resolved: in the same slice */
    bool counts_passed;
    key_counts passed;      /* the same for keyed_pass */
    foreign_stacks foreign; /* filled by keyed_finish */
} keyed_stacks;

/* Sorts the slice's definitions in place, keeps a pointer to them until the next call, and resolves
 * the open nodes of the keys they define. False if memory runs out. */
bool keyed_define(keyed_stacks *keyed, key_definition *definitions, size_t count);

/* A look-up of a user key misses the cache twice. If you have many, prefetch each with the first of
 * these, and some keys later with the second. */
void keyed_fetch_place(const keyed_stacks *keyed, u64 key);
void keyed_fetch_key(const keyed_stacks *keyed, u64 key);

/* Finds the reference for a key that is used at `ticks`. False if memory runs out, here and
 * below. */
bool keyed_use(keyed_stacks *keyed, u64 key, bool is_kernel, i64 ticks, stack_ref *out);

/* Like keyed_use, without counting: for stacks of frees, whose keys are counted elsewhere. */
bool keyed_use_again(keyed_stacks *keyed, u64 key, bool is_kernel, i64 ticks, stack_ref *out);

/* Counts a key of a stack that no question needs, with counts_passed. */
bool keyed_pass(keyed_stacks *keyed, u64 key, bool is_kernel, i64 ticks);

/* Makes the reference for kernel frames followed by user frames. Either may be none. */
bool keyed_pair(keyed_stacks *keyed, stack_ref kernel, stack_ref user, stack_ref *out);

/* Makes the reference for a stack that ran in process `pid` at `ticks`, not in the owner of the
 * memory. */
bool keyed_foreign(keyed_stacks *keyed, stack_ref stack, u32 pid, i64 ticks, stack_ref *out);

/*
 * Call it at the end of the run. Turns every node into an id of `stacks`: ids[node], with ids[0] =
 * 0. The caller frees the array. Sets *unresolved to the number of key references without a
 * definition. Lists foreign stacks.
 */
bool keyed_finish(keyed_stacks *keyed, stack_table *stacks, u32 **ids, u64 *unresolved);

void keyed_free(keyed_stacks *keyed);

#endif
