/*
 * diff_builds.h - of which modules results have different builds.
 *
 * Results are runs, numbered from 0. The runs of a name are put into groups:
 *
 *     run     0      1      2      3
 *     build   A      A      B      A
 *     group   0      0      1      0     ──▶ rebuilt, as there are two groups
 *
 * An offset of one group means nothing in another.
 */
#ifndef ETLHEAP_DIFF_BUILDS_H
#define ETLHEAP_DIFF_BUILDS_H

#include "engine/core/intern.h"
#include "engine/engine.h"

/* Names of modules without case, as ids of a string pool. Start from {0}. */
typedef struct diff_builds {
    ETLHEAP_VECTOR(u32) rebuilt; /* ascending */
    ETLHEAP_VECTOR(u32) sides;   /* of each of them run_count: the run's group + 1 */
    u32 run_count;
} diff_builds;

/*
 * A run belongs to the group of the first earlier run that has a module which may be the
 * same build as one of its own, else to a group of its own: 32-bit and 64-bit copies share
 * a name, and an update of one is not told apart. A name of more than one group is rebuilt.
 * Runs without modules of a name count as group 0. GUIDs that are hashes of a name (RFC 4122,
 * versions 3 and 5) and whose names differ in case alone tell no builds apart: then
 * stamp and size do. Names are added to `names`; false without
 * memory.
 */
bool diff_builds_find(diff_builds *out, etlheap_strings *names,
                      const etlheap_result *const *results, u32 count);
void diff_builds_free(diff_builds *builds);

/* Group of the run + 1 among the builds of a rebuilt name; 0: the name is not rebuilt. */
u32 diff_builds_side(const diff_builds *builds, u32 name, u32 run);

#endif
