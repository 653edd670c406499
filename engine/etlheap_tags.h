/*
 * etlheap_tags.h - stack tags: names for stacks that have certain frames, as WPA
 * has them. The key TAG groups by them. engine.h includes this.
 *
 * Which tag a stack gets:
 *
 *   1. A frame gets the tag of highest priority that has an entry point which
 *      matches its module and function; of equals, the deepest in the hierarchy, and
 *      then the one that was added first. Inlined calls are frames of their own here.
 *   2. The stack gets the tag of its frames with the highest priority; of equals,
 *      that of the innermost frame.
 *   3. The tag of a hint is completed by the module, or module and function, of
 *      the frame beside the entry point: "RPC\wbemcore.dll".
 *
 * All frames count, culled ones too. A stack without such a frame is "Other"
 * (ETLHEAP_TAG_OTHER), a row without a stack has no tag.
 *
 * A handle may be used by one thread at a time, and by several queries after one
 * another.
 */
#ifndef ETLHEAP_TAGS_H
#define ETLHEAP_TAGS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_TAG_OTHER "Other"

/* Which frame beside the entry point completes the tag. */
typedef enum etlheap_tag_hint {
    ETLHEAP_TAG_PLAIN,  /* none: the tag is the same for all stacks */
    ETLHEAP_TAG_CALLEE, /* the one that the entry point calls */
    ETLHEAP_TAG_CALLER  /* the one that calls it */
} etlheap_tag_hint;

typedef struct etlheap_tag {
    const char *path; /* "Allocators\Strings"; not empty */
    u32 depth;        /* in the hierarchy that it is from */
    i32 priority;     /* higher ones win; 0 is usual */
    u8 hint;          /* etlheap_tag_hint */
    bool hint_names_function;
} etlheap_tag;

typedef struct etlheap_tags etlheap_tags;

/* No tags yet. Owned by the caller. ETL_ERR_MEMORY. */
etl_status etlheap_tags_open(etlheap_tags **out, etl_error *err);

/* Adds a tag, *id, and an entry point to a tag. Texts are copied. Module and symbol
 * of an entry point are matched as wholes, with `*` and `?`, case-insensitive; NULL
 * and "*" match also what is not known. Not after a query used the handle.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_ARGUMENT (no path, no such hint or tag). */
etl_status etlheap_tags_add(etlheap_tags *tags, const etlheap_tag *tag, u32 *id, etl_error *err);
etl_status etlheap_tags_add_entry(etlheap_tags *tags, u32 id, const etlheap_pattern *entry,
                                  etl_error *err);

/* How many entry points there are, and how many of them name functions, and so
 * match nothing without symbols. */
u32 etlheap_tags_entries(const etlheap_tags *tags);
u32 etlheap_tags_function_entries(const etlheap_tags *tags);

/* After the tables that were made with it. NULL is allowed. */
void etlheap_tags_close(etlheap_tags *tags);

#ifdef __cplusplus
}
#endif

#endif
