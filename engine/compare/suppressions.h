/* suppressions.h - finds the suppression that matches a frame; private to the engine. */
#ifndef ETLHEAP_SUPPRESSIONS_H
#define ETLHEAP_SUPPRESSIONS_H

#include "engine/core/pattern_index.h"
#include "engine/engine.h"

#define SUPPRESSION_NONE PATTERN_NONE

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
    bool has_folders;  /* a pattern has a backslash */
};

/* A module name without folders, and the suppression that matches the paths of all its files. */
typedef struct suppression_file {
    const char *name;
    u32 found; /* SUPPRESSION_NONE */
} suppression_file;

/* Finds suppressions by their pieces: a trace may have a million frames, and a file thousands of
 * lines. For one thread. */
typedef struct suppression_finder {
    const etlheap_suppressions *suppressions;
    pattern_index modules, names;
    pattern_index stables;                  /* only if has_unstable */
    pattern_index paths;                    /* only if has_folders: patterns with a backslash */
    ETLHEAP_VECTOR(suppression_file) files; /* by name */
} suppression_finder;

/* Sets up a finder of suppressions, which are borrowed. Call suppression_finder_close even after a
 * failure. False if memory runs out. */
bool suppression_finder_open(suppression_finder *out, const etlheap_suppressions *suppressions);
void suppression_finder_close(suppression_finder *finder);

/* The work done so far; tests bound it. */
u64 suppression_finder_steps(const suppression_finder *finder);

/* Takes notes of the paths of a result's modules, for patterns with folders. Borrows the names.
 * Call it for all results before the first search. False if memory runs out. */
bool suppression_finder_add_files(suppression_finder *finder, const etlheap_result *result);

/* Finds the first suppression that matches the frame's module, function or source file;
 * SUPPRESSION_NONE if none does. A function also matches if the stable forms of name and pattern do
 * (stable_name.h). False if memory runs out. */
bool suppressions_find(suppression_finder *finder, const etlheap_frame *frame, u32 *found);

/* True if the pattern matches the name. NULL never matches. */
bool suppression_matches(const char *pattern, const char *name);

/* True if the pattern matches the name of a module, ignoring case. */
bool suppression_matches_module(const char *pattern, const char *module);

#endif
