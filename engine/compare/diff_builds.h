/*
 * diff_builds.h - of which modules two results have different builds.
 */
#ifndef ETLHEAP_DIFF_BUILDS_H
#define ETLHEAP_DIFF_BUILDS_H

#include "engine/core/intern.h"
#include "engine/engine.h"

/* Names of modules without case, as ids of a string pool. Start from {0}. */
typedef struct diff_builds {
    ETLHEAP_VECTOR(u32) rebuilt; /* ascending */
} diff_builds;

/*
 * A name is rebuilt when both results have modules of it, and none of the one side
 * may be the build of any of the other: 32-bit and 64-bit copies share a name, and
 * an update of one is not told apart. GUIDs that are hashes of a name (RFC 4122,
 * versions 3 and 5) and whose names differ in case alone tell no builds apart: then
 * stamp and size do. Names are added to `names`; false without
 * memory.
 */
bool diff_builds_find(diff_builds *out, etlheap_strings *names, const etlheap_result *base,
                      const etlheap_result *now);
void diff_builds_free(diff_builds *builds);

bool diff_builds_has(const diff_builds *builds, u32 name);

#endif
