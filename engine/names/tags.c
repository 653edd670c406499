/*
 * tags.c - matches frames with the entry points of stack tags. etlheap_tags.h and tags.h define
 * tags and the steps.
 *
 * In: the tags of files, later (module, function) of frames. Out: the tag of a frame, and whether
 * it depends on the function.
 *
 *     all entry points, best first ──once for each module──▶ those that fit the module's name
 *                                                              └──▶ first that fits the function
 *
 * Trying every entry point on every frame would be thousands times hundreds of thousands. But few
 * entry points are about one module, and a stack has few modules. Invariant: entry points are
 * sorted by precedence (priority, file loaded last), so the first match is the answer.
 */
#include "tags.h"

#include <stdlib.h>

#include "engine/query/query.h"
#include "parser/system/name_fold.h"

static bool add_pattern(etlheap_tags *tags, const char *pattern, u32 *id);
static int best_first(const void *a, const void *b);

etl_status etlheap_tags_open(etlheap_tags **out, etl_error *err)
{
    etlheap_tags *const tags = calloc(1, sizeof *tags);
    *out = tags;
    if (tags != NULL && etlheap_strings_add(&tags->strings, ETLHEAP_TAG_OTHER,
                                            sizeof ETLHEAP_TAG_OTHER - 1, &tags->other))
        return ETL_OK;
    etlheap_tags_close(tags);
    *out = NULL;
    return etl_no_memory(err);
}

void etlheap_tags_close(etlheap_tags *tags)
{
    if (tags == NULL)
        return;
    etlheap_strings_free(&tags->strings);
    ETLHEAP_VECTOR_FREE(&tags->rows);
    ETLHEAP_VECTOR_FREE(&tags->entries);
    free(tags);
}

u32 etlheap_tags_entries(const etlheap_tags *tags)
{
    return (u32)tags->entries.count;
}

u32 etlheap_tags_function_entries(const etlheap_tags *tags)
{
    return tags->function_entries;
}

etl_status etlheap_tags_add(etlheap_tags *tags, const etlheap_tag *tag, u32 *id, etl_error *err)
{
    tag_row row = { .depth = tag->depth,
                    .priority = tag->priority,
                    .hint = tag->hint,
                    .hint_names_function = tag->hint_names_function };
    if (tag->path[0] == '\0' || tag->hint > ETLHEAP_TAG_CALLER)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a stack tag has no name, or an unknown hint");
    if (tags->rows.count >= TAG_NONE)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "too many stack tags");
    if (!etlheap_strings_add(&tags->strings, tag->path, strlen(tag->path), &row.path) ||
        !ETLHEAP_PUSH(&tags->rows, row))
        return etl_no_memory(err);
    *id = (u32)tags->rows.count - 1;
    return ETL_OK;
}

etl_status etlheap_tags_add_entry(etlheap_tags *tags, u32 id, const etlheap_pattern *entry,
                                  etl_error *err)
{
    tag_entry row = { .tag = id };
    if (id >= tags->rows.count)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown stack tag");
    if (tags->entries.count >= UINT32_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "too many entry points of stack tags");
    if (!add_pattern(tags, entry->module, &row.module) ||
        !add_pattern(tags, entry->symbol, &row.symbol) || !ETLHEAP_PUSH(&tags->entries, row))
        return etl_no_memory(err);
    tags->function_entries += row.symbol != 0;
    return ETL_OK;
}

/* Adds a pattern. A pattern that matches everything also matches unknown names. */
static bool add_pattern(etlheap_tags *tags, const char *pattern, u32 *id)
{
    *id = 0;
    if (pattern == NULL || strcmp(pattern, "*") == 0)
        return true;
    return etlheap_strings_add(&tags->strings, pattern, strlen(pattern), id);
}

/* --- made ready for a query ------------------------------------------------------- */

typedef struct entry_rank {
    i32 priority;
    u32 depth, tag, entry;
} entry_rank;

bool tag_matcher_open(tag_matcher *out, etlheap_tags *tags, size_t module_count)
{
    const size_t count = tags->entries.count;
    entry_rank *const ranks = calloc(count + 1, sizeof *ranks);
    *out = (tag_matcher){ .tags = tags,
                          .order = calloc(count + 1, sizeof *out->order),
                          .candidates = calloc(module_count + 1, sizeof *out->candidates) };
    const bool ok = ranks != NULL && out->order != NULL && out->candidates != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        const u32 tag = tags->entries.at[i].tag;
        ranks[i] = (entry_rank){ tags->rows.at[tag].priority, tags->rows.at[tag].depth, tag, i };
    }
    if (ok)
        qsort(ranks, count, sizeof *ranks, best_first);
    for (size_t i = 0; ok && i < count; i++)
        out->order[i] = ranks[i].entry;
    free(ranks);
    return ok;
}

static int best_first(const void *a, const void *b)
{
    const entry_rank *const x = a, *const y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

void tag_matcher_close(tag_matcher *matcher)
{
    free(matcher->order);
    free(matcher->candidates);
    ETLHEAP_VECTOR_FREE(&matcher->pool);
    *matcher = (tag_matcher){ 0 };
}

static bool pattern_matches(const etlheap_tags *tags, u32 pattern, const char *text)
{
    if (pattern == 0)
        return true;
    return text != NULL && etl_name_glob(etlheap_strings_get(&tags->strings, pattern), text);
}

/* No entry point after one for all functions is ever reached, so the list ends there. */
bool tag_matcher_prepare(tag_matcher *matcher, size_t slot, const char *module)
{
    const etlheap_tags *const tags = matcher->tags;
    tag_candidates *const made = &matcher->candidates[slot];
    if (made->is_known)
        return true;
    *made = (tag_candidates){ .start = (u32)matcher->pool.count, .is_known = true };
    for (size_t i = 0; i < tags->entries.count; i++) {
        const tag_entry *const entry = &tags->entries.at[matcher->order[i]];
        if (!pattern_matches(tags, entry->module, module))
            continue;
        if (matcher->pool.count >= UINT32_MAX || !ETLHEAP_PUSH(&matcher->pool, matcher->order[i]))
            return false;
        made->count++;
        if (entry->symbol == 0)
            break;
    }
    return true;
}

static const tag_entry *candidate(const tag_matcher *matcher, size_t slot, u32 at)
{
    const tag_candidates *const list = &matcher->candidates[slot];
    assert(list->is_known && at < list->count);
    return &matcher->tags->entries.at[matcher->pool.at[list->start + at]];
}

bool tag_depends_on_function(const tag_matcher *matcher, size_t slot)
{
    if (matcher->candidates[slot].count == 0)
        return false;
    const tag_entry *const best = candidate(matcher, slot, 0);
    return best->symbol != 0 || matcher->tags->rows.at[best->tag].hint != ETLHEAP_TAG_PLAIN;
}

u32 tag_of_function(const tag_matcher *matcher, size_t slot, const char *symbol)
{
    for (u32 i = 0; i < matcher->candidates[slot].count; i++) {
        const tag_entry *const entry = candidate(matcher, slot, i);
        if (pattern_matches(matcher->tags, entry->symbol, symbol))
            return entry->tag;
    }
    return TAG_NONE;
}

/* "RPC", "RPC\wbemcore.dll", "RPC\wbemcore.dll\CWbemLevel1Login::NTLMLogin" */
bool tag_text(tag_matcher *matcher, u32 tag, const char *module, const char *symbol, u32 *text)
{
    etlheap_strings *const strings = &matcher->tags->strings;
    const tag_row *const row = &matcher->tags->rows.at[tag];
    *text = row->path;
    if (row->hint == ETLHEAP_TAG_PLAIN || module == NULL)
        return true;
    const char *const path = etlheap_strings_get(strings, row->path);
    const bool with_symbol = row->hint_names_function && symbol != NULL;
    const char *const parts[] = { path, module, with_symbol ? symbol : "" };
    const size_t count = with_symbol ? 3 : 2;
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(parts[i]) + 1;
    char *const joined = malloc(size);
    if (joined == NULL)
        return false;
    char *at = joined;
    for (size_t i = 0; i < count; i++) {
        const size_t part = strlen(parts[i]);
        memcpy(at, parts[i], part);
        at += part;
        *at++ = '\\';
    }
    const bool ok = etlheap_strings_add(strings, joined, size - 1, text);
    free(joined);
    return ok;
}
