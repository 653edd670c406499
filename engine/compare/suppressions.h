/*
 * suppressions.h - known leaks: which suppression matches a frame; private to the
 * engine.
 */
#ifndef ETLHEAP_SUPPRESSIONS_H
#define ETLHEAP_SUPPRESSIONS_H

#include "engine/core/arena.h"
#include "engine/engine.h"

#define SUPPRESSION_NONE UINT32_MAX

typedef struct suppression {
    const char *pattern; /* without `leak:`, never empty */
    const char *file;    /* where it stands, for the report */
    u32 line;
} suppression;

struct etlheap_suppressions {
    etlheap_arena arena; /* patterns and file names */
    ETLHEAP_VECTOR(suppression) list;
};

/* The first suppression that matches the frame's module, else its function or
 * source file; SUPPRESSION_NONE. */
u32 suppressions_find(const etlheap_suppressions *suppressions, const etlheap_frame *frame);

/* Whether a pattern matches a name, which may be NULL and then is none. */
bool suppression_matches(const char *pattern, const char *name);

/* The same for a name of a module: without case. */
bool suppression_matches_module(const char *pattern, const char *module);

#endif
