/*
 * row_identity.h - decides when rows of tables are the same group: see etlheap_diff.h.
 *
 *     row ──▶ identity_key {process, stack, frame, ...} ──▶ identity, a dense id
 *                               │
 *                stack: a list of identity_frame {module, function or offset}
 *
 * Everything is interned, so equal things have equal numbers. Numbers follow the order in which
 * rows come; row_identities_rank gives an order that does not depend on it.
 */
#ifndef ETLHEAP_ROW_IDENTITY_H
#define ETLHEAP_ROW_IDENTITY_H

#include "engine/query/keys.h"
#include "diff_builds.h"

/* A frame. Strings are ids of the pool; those of functions and types are stable forms
 * (stable_name.h). Compared and hashed as bytes, as are keys. */
typedef struct identity_frame {
    u64 offset; /* in the module; 0 if the symbol counts */
    u32 module; /* ignoring case; 0: outside all modules */
    u32 symbol; /* 0: the offset counts */
    u32 side;   /* 0: comparable; else an offset in the builds of that side (diff_builds) */
    u32 padding;
} identity_frame;

typedef struct identity_stack {
    u32 start, count; /* into pool */
} identity_stack;

/* What the keys of the table read of a row: numbers, or ids of strings, stacks and frames; 0: none,
 * or not a key. */
typedef struct identity_key {
    u32 parts[KEY_READS_COMPARED];
} identity_key;

static_assert(sizeof(identity_frame) == 24, "no hidden padding: hashed as bytes");

/* The spelling of names where they first occurred, by id of the name; NULL: not yet. */
typedef ETLHEAP_VECTOR(const char *) name_spellings;

/* Start from {0}. Ids are indices + 1. */
typedef struct row_identities {
    etlheap_strings strings;
    diff_builds builds;
    ETLHEAP_VECTOR(bool) is_lone; /* by run: its only process has no name */
    ETLHEAP_VECTOR(identity_frame) frames;
    ETLHEAP_VECTOR(u32) pool; /* frame ids of all stacks, innermost first */
    ETLHEAP_VECTOR(identity_stack) stacks;
    ETLHEAP_VECTOR(identity_key) keys;
    ETLHEAP_VECTOR(u32) rebuilt; /* names of rebuilt modules in rows */
    name_spellings processes, modules;
    name_spellings names; /* of functions, types and tags, by stable form */
    ETLHEAP_VECTOR(char) stable;
    ETLHEAP_VECTOR(u8) is_merged; /* by identity - 1; see merged_count */
    u32 merged_count; /* identities for which rows of a run differ only in their unstable names */
    etlheap_index frame_index, stack_index, key_index;
} row_identities;

/* Takes notes of the runs of which tables will be added: builds of modules, and processes. Without
 * it, all builds are the same. False if memory runs out. */
bool row_identities_open(row_identities *identities, const etlheap_result *const *results,
                         u32 count);

void row_identities_free(row_identities *identities);

/* Finds the identity of every row of a run's table, ids[row_count]. Runs count from 0, in the order
 * of diff_builds_find. False if memory runs out. */
bool row_identities_add(row_identities *identities, const etlheap_table *table, u32 run, u32 *ids);

/* True if the row of a run is compared by the id of its process, which has no name: nothing says
 * that two such processes run the same program, unless each is the only one of its run. */
bool row_identities_by_pid(const row_identities *identities, const etlheap_row *row, u32 run);

/* True if the only process of the result with memory events has no name. */
bool row_identities_is_lone(const etlheap_result *result);

/* Replaces a name of an added table with its spelling in the first run that has it. `spellings` is
 * that of processes or modules. NULL stays NULL. Tables are borrowed. False if memory runs out. */
bool row_identities_spell(row_identities *identities, name_spellings *spellings, const char **name);

/* The same for the name of a function, a type or a tag: names with one stable form get the spelling
 * that came first. */
bool row_identities_spell_name(row_identities *identities, const char **name);

/* Interns the stable form of a name, and keeps the name if it is the first; NULL is 0. False if
 * memory runs out. */
bool row_identities_add_name(row_identities *identities, const char *name, u32 *id);

/* Counts the identities of a run's rows that add up different names. False if memory runs out. */
bool row_identities_count_merged(row_identities *identities, const etlheap_table *table,
                                 const u32 *ids);

/* Adds the names of rebuilt modules that occur in rows without a function name, in order. False if
 * memory runs out. */
bool row_identities_rebuilt(const row_identities *identities, name_spellings *names);

/* Computes ranks[id - 1] of every identity: by kind, process and so on, stacks by module, function
 * and offset. False if memory runs out. */
bool row_identities_rank(const row_identities *identities, u32 *ranks);

#endif
