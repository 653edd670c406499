/* frame_patterns.h - a list of patterns for frames, with the verdict of each module. */
#ifndef ETLHEAP_FRAME_PATTERNS_H
#define ETLHEAP_FRAME_PATTERNS_H

#include "engine/core/pattern_index.h"
#include "engine/engine.h"
#include "parser/base.h"

/* The result of a list of patterns for the frames of a module, whatever their functions. */
typedef enum frame_verdict {
    FRAME_VERDICT_UNKNOWN, /* not determined yet */
    FRAME_VERDICT_NONE,
    FRAME_VERDICT_ALL,
    FRAME_VERDICT_BY_NAME /* depends on the function */
} frame_verdict;

/* Finds the patterns that match a function. Those with a function are searched by its name, the
 * others by the module's. */
typedef struct frame_pattern_finder {
    const etlheap_pattern *patterns;
    pattern_index symbols, modules;
    pattern_index by_name;       /* modules of the patterns that functions decide */
    const char *module, *symbol; /* of the current search */
    bool is_known;
} frame_pattern_finder;

typedef struct frame_patterns {
    const etlheap_pattern *at;
    u32 count;
    u8 *verdicts; /* frame_verdict by module; after the last: for no module */
    frame_pattern_finder *finder;
} frame_patterns;

/* The patterns are borrowed. Call frame_patterns_close even after a failure. False if memory runs
 * out. */
bool frame_patterns_open(frame_patterns *out, const etlheap_pattern *at, u32 count,
                         size_t module_count);
void frame_patterns_close(frame_patterns *patterns);

/* True if a pattern matches the module and a function. Names may be NULL. A guess counts as no name
 * for patterns that are only for frames without one. */
bool frame_patterns_match(const frame_patterns *patterns, const char *module, const char *symbol,
                          bool is_guess);

/* What the patterns say of a module, which may be NULL, before its functions are known. Without
 * symbols none ever is, so the verdict is never "by name". */
frame_verdict frame_patterns_judge(const frame_patterns *patterns, const char *module,
                                   bool has_symbols);

#endif
