/*
 * diff_builds.h - finds modules that have different builds in different results.
 *
 * Results are runs, numbered from 0. The runs with a module name are divided into groups by build:
 *
 *     run     0      1      2      3
 *     build   A      A      B      A
 *     group   0      0      1      0     ──▶ rebuilt, as there are two groups
 *
 * An offset in one group means nothing in another.
 */
#ifndef ETLHEAP_DIFF_BUILDS_H
#define ETLHEAP_DIFF_BUILDS_H

#include "engine/core/intern.h"
#include "engine/engine.h"

/* Names of modules, ignoring case, as ids of a string pool. Start from {0}. */
typedef struct diff_builds {
    ETLHEAP_VECTOR(u32) rebuilt;        /* ascending */
    ETLHEAP_VECTOR(u32) sides;          /* run_count per rebuilt name: the run's group + 1 */
    ETLHEAP_VECTOR(const char *) mixed; /* plain names that have folders in some runs only */
    u32 run_count;
} diff_builds;

/*
 * Finds the rebuilt modules. A run belongs to the group of the first earlier run that has a module
 * which may be the same build as one of its own, else to a new group: 32-bit and 64-bit copies
 * share a name, and an update of only one is not detected. A name with several groups is rebuilt.
 * Runs without a module of the name count as group 0. GUIDs that are hashes of a name (RFC 4122,
 * versions 3 and 5) do not identify a build if the names differ only in case; then time stamp and
 * size do. Adds names to `names`. False if memory runs out.
 */
bool diff_builds_find(diff_builds *out, etlheap_strings *names,
                      const etlheap_result *const *results, u32 count);
void diff_builds_free(diff_builds *builds);

/* The name by which a module is compared. Namesakes have folders in their names (module_names.c),
 * but only where a run has several: if another run has one alone, all are compared by the plain
 * name. */
const char *diff_builds_module_name(const diff_builds *builds, const char *name);

/* The group of the run + 1 among the builds of a rebuilt name; 0: the name is not rebuilt. */
u32 diff_builds_side(const diff_builds *builds, u32 name, u32 run);

#endif
