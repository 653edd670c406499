/* suppressions.h - finds the suppression that matches a frame; private to the engine. */
#ifndef ETLHEAP_SUPPRESSIONS_H
#define ETLHEAP_SUPPRESSIONS_H

#include "engine/core/arena.h"
#include "engine/engine.h"

#define SUPPRESSION_NONE UINT32_MAX

typedef struct suppression {
    const char *pattern; /* without `leak:`, never empty */
    const char *stable;  /* its stable form; the pattern itself if nothing is left out */
    const char *file;    /* its file, for the report */
    u32 line;
} suppression;

struct etlheap_suppressions {
    etlheap_arena arena; /* patterns and file names */
    ETLHEAP_VECTOR(suppression) list;
    bool has_unstable; /* a pattern differs from its stable form */
};

/* Finds the first suppression that matches the frame's module, function or source file;
 * SUPPRESSION_NONE if none does. A function also matches if the stable forms of name and pattern do
 * (stable_name.h). False if memory runs out. */
bool suppressions_find(const etlheap_suppressions *suppressions, const etlheap_frame *frame,
                       u32 *found);

/* True if the pattern matches the name. NULL never matches. */
bool suppression_matches(const char *pattern, const char *name);

/* True if the pattern matches the name of a module, ignoring case. */
bool suppression_matches_module(const char *pattern, const char *module);

#endif
