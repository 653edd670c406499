/* globs.c - a list of patterns with wildcards; see etlheap_query_words.h. */
#include "globs.h"

#include <stdlib.h>

#include "engine/core/pattern_index.h"
#include "parser/system/name_fold.h"

struct etlheap_globs {
    pattern_index index;
    const char *const *patterns;
};

static bool glob_matches(const void *patterns, u32 pattern, const char *name)
{
    const etlheap_globs *const globs = patterns;
    return etl_name_glob(globs->patterns[pattern], name);
}

etlheap_globs *etlheap_globs_open(const char *const *patterns, u32 count)
{
    etlheap_globs *const globs = calloc(1, sizeof *globs);
    bool ok = globs != NULL;
    if (ok)
        *globs = (etlheap_globs){ .index = { .ignores_case = true }, .patterns = patterns };
    for (u32 i = 0; ok && i < count; i++)
        ok = pattern_index_add_glob(&globs->index, i, patterns[i]);
    if (ok && pattern_index_finish(&globs->index, glob_matches, globs))
        return globs;
    etlheap_globs_free(globs);
    return NULL;
}

void etlheap_globs_free(etlheap_globs *globs)
{
    if (globs != NULL)
        pattern_index_free(&globs->index);
    free(globs);
}

bool etlheap_globs_match(etlheap_globs *globs, const char *name)
{
    return pattern_index_first(&globs->index, name) != PATTERN_NONE;
}

u64 globs_steps(const etlheap_globs *globs)
{
    return globs->index.steps;
}
