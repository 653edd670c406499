/*
 * tags.h - stack tags prepared for a query; private to the engine.
 *
 * Three steps, each done once: which entry points fit a module, which of them fit a frame (tags.c),
 * and which frame decides for a stack (frames_tags.c).
 */
#ifndef ETLHEAP_TAGS_INSIDE_H
#define ETLHEAP_TAGS_INSIDE_H

#include "engine/core/intern.h"
#include "engine/engine.h"

#define TAG_NONE UINT32_MAX

/* A tag. Texts are ids of the handle's strings. */
typedef struct tag_row {
    u32 path;
    u32 depth;
    i32 priority;
    u8 hint;
    bool hint_names_function;
} tag_row;

typedef struct tag_entry {
    u32 tag;
    u32 module, symbol; /* patterns; 0: any */
} tag_entry;

struct etlheap_tags {
    etlheap_strings strings; /* texts of the tags, and tags of rows */
    ETLHEAP_VECTOR(tag_row) rows;
    ETLHEAP_VECTOR(tag_entry) entries;
    u32 function_entries;
    u32 other; /* ETLHEAP_TAG_OTHER */
};

/* The entry points that fit a module, best first, as a run of the matcher's pool. */
typedef struct tag_candidates {
    u32 start, count;
    bool is_known;
} tag_candidates;

typedef struct tag_matcher {
    etlheap_tags *tags;
    u32 *order;                 /* entries, best first */
    tag_candidates *candidates; /* by module; after the last: for no module */
    ETLHEAP_VECTOR(u32) pool;
} tag_matcher;

/* Opens a matcher. False if memory runs out; close it in any case. */
bool tag_matcher_open(tag_matcher *out, etlheap_tags *tags, size_t module_count);
void tag_matcher_close(tag_matcher *matcher);

/* Finds the entry points for a module, which may be NULL. False if memory runs out. */
bool tag_matcher_prepare(tag_matcher *matcher, size_t slot, const char *module);

/* For a prepared module: true if the tag depends on the function, or on the frame next to the entry
 * point. */
bool tag_depends_on_function(const tag_matcher *matcher, size_t slot);

/* For a prepared module: the tag of a function (NULL: unknown), or TAG_NONE. */
u32 tag_of_function(const tag_matcher *matcher, size_t slot, const char *symbol);

/* Finds the id of a tag's text: the path, extended for hints by the module and symbol next to
 * the entry point. NULL: the frame does not exist, or its function is unknown. False if memory
 * runs out. */
bool tag_text(tag_matcher *matcher, u32 tag, const char *module, const char *symbol, u32 *text);

#endif
