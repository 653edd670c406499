/*
 * etlheap_tags.h - stack tags: names for stacks that contain certain frames, as in WPA. Part of
 * engine.h.
 *
 * Fill a handle with etlheap_tags_add, or from WPA's files with etlheap_stack_tags_read
 * (formats/formats.h), set it as etlheap_query.tags and group by the key TAG. A stack gets its tag
 * as follows:
 *
 *     1. A frame gets the tag of the highest priority that has an entry point matching its module
 *        and function. Of equal tags, the deepest in the hierarchy wins, then the one added first.
 *        Inlined calls count as frames.
 *     2. A stack gets the tag of its frame with the highest priority; of equal ones, the innermost.
 *     3. A tag with a hint is extended by the module, or module and function, of the frame next to
 *        the entry point: "RPC\wbemcore.dll".
 *
 * All frames count, including culled ones. A stack without such a frame has the tag "Other"
 * (ETLHEAP_TAG_OTHER). A row without a stack has no tag.
 *
 * Only one thread may use a handle at a time. Several queries may use it one after the other.
 */
#ifndef ETLHEAP_TAGS_H
#define ETLHEAP_TAGS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_TAG_OTHER "Other"

/* Which frame next to the entry point extends the tag. */
typedef enum etlheap_tag_hint {
    ETLHEAP_TAG_PLAIN,  /* none: the tag is the same for all stacks */
    ETLHEAP_TAG_CALLEE, /* the frame that the entry point calls */
    ETLHEAP_TAG_CALLER  /* the frame that calls the entry point */
} etlheap_tag_hint;

/* A tag. Copied by etlheap_tags_add. */
typedef struct etlheap_tag {
    const char *path; /* "Allocators\Strings"; not empty */
    uint32_t depth;   /* depth in the hierarchy */
    int32_t priority; /* the highest wins; usually 0 */
    uint8_t hint;     /* etlheap_tag_hint */
    bool hint_names_function;
} etlheap_tag;

typedef struct etlheap_tags etlheap_tags;

/* Makes an empty set of tags, owned by the caller (etlheap_tags_close). ETL_ERR_MEMORY. */
etl_status etlheap_tags_open(etlheap_tags **out, etl_error *err);

/* Add a tag and set *id, and add an entry point to the tag `id`. Texts are copied. Module and
 * symbol of an entry point match whole names, with the wildcards `*` and `?`, ignoring case; NULL
 * and "*" also match unknown names. Must not be called after a query used the handle.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_ARGUMENT (no path, or no such hint or tag). */
etl_status etlheap_tags_add(etlheap_tags *tags, const etlheap_tag *tag, uint32_t *id,
                            etl_error *err);
etl_status etlheap_tags_add_entry(etlheap_tags *tags, uint32_t id, const etlheap_pattern *entry,
                                  etl_error *err);

/* The number of entry points, and of those with a function name, which match nothing without
 * symbols. */
uint32_t etlheap_tags_entries(const etlheap_tags *tags);
uint32_t etlheap_tags_function_entries(const etlheap_tags *tags);

/* Call it after freeing the tables that were made with it. NULL is allowed. */
void etlheap_tags_close(etlheap_tags *tags);

#ifdef __cplusplus
}
#endif

#endif
