/* frame_patterns.h - a list of patterns for frames, with the verdict of each module. */
#ifndef ETLHEAP_FRAME_PATTERNS_H
#define ETLHEAP_FRAME_PATTERNS_H

#include "engine/core/pattern_index.h"
#include "engine/engine.h"
#include "parser/base.h"

/* Finds the patterns that match a function. Those with a function are searched by its name, the
 * others by the module's. */
typedef struct frame_pattern_finder {
    const etlheap_pattern *patterns;
    pattern_index symbols, modules;
    pattern_search in_symbols, in_modules;
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

#endif
