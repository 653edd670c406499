/*
 * pool_tags.c - finds the description of a pool tag.
 *
 * In: patterns and descriptions, later tags. Out: a description.
 *
 *     tag ──▶ index of patterns without wildcards ──none──▶ the others, most characters first
 *
 * A pattern is kept as four characters, as a tag is. Invariant: patterns with wildcards are few and
 * sorted by precedence, so the first that fits is the answer, and a hostile file costs little.
 */
#include "engine/context/pool_heap.h"
#include "engine/core/intern.h"
#include "engine/engine.h"

#include <stdlib.h>

#define TAG_BYTES    4u
#define TAGS_MAX     (1u << 20)
#define PATTERNS_MAX 1024u

/* A description: id of a text. */
typedef struct tag_description {
    char pattern[TAG_BYTES];
    u32 text;
} tag_description;

struct etlheap_pool_tags {
    etlheap_strings texts;
    ETLHEAP_VECTOR(tag_description) exact;
    etlheap_index index;                   /* of exact */
    ETLHEAP_VECTOR(tag_description) globs; /* by precedence */
};

etl_status etlheap_pool_tags_open(etlheap_pool_tags **out, etl_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? ETL_OK : etl_no_memory(err);
}

void etlheap_pool_tags_close(etlheap_pool_tags *tags)
{
    if (tags == NULL)
        return;
    etlheap_strings_free(&tags->texts);
    ETLHEAP_VECTOR_FREE(&tags->exact);
    ETLHEAP_VECTOR_FREE(&tags->globs);
    etlheap_index_free(&tags->index);
    free(tags);
}

u32 etlheap_pool_tags_count(const etlheap_pool_tags *tags)
{
    return (u32)(tags->exact.count + tags->globs.count);
}

static u64 hash_of(const char tag[TAG_BYTES])
{
    u32 word;
    memcpy(&word, tag, sizeof word);
    return etlheap_hash_u64(word);
}

static bool same_tag(const void *owner, u32 id, const void *key)
{
    const etlheap_pool_tags *const tags = owner;
    return memcmp(tags->exact.at[id - 1].pattern, key, TAG_BYTES) == 0;
}

static u32 find_exact(const etlheap_pool_tags *tags, const char tag[TAG_BYTES])
{
    return etlheap_index_find(&tags->index, hash_of(tag), same_tag, tags, tag);
}

/* The characters before the first wildcard. */
static u32 literal_count(const char pattern[TAG_BYTES])
{
    u32 count = 0;
    while (count < TAG_BYTES && pattern[count] != '?' && pattern[count] != '*')
        count++;
    return count;
}

static bool matches(const char pattern[TAG_BYTES], const char tag[TAG_BYTES])
{
    for (u32 i = 0; i < TAG_BYTES; i++) {
        if (pattern[i] == '*')
            return true;
        if (pattern[i] != '?' && pattern[i] != tag[i])
            return false;
    }
    return true;
}

static bool add_exact(etlheap_pool_tags *tags, const tag_description *row)
{
    return find_exact(tags, row->pattern) != 0 ||
           (ETLHEAP_PUSH(&tags->exact, *row) &&
            etlheap_index_add(&tags->index, hash_of(row->pattern), (u32)tags->exact.count));
}

static bool add_glob(etlheap_pool_tags *tags, const tag_description *row)
{
    size_t at = tags->globs.count;
    if (!ETLHEAP_PUSH(&tags->globs, *row))
        return false;
    for (; at > 0 && literal_count(tags->globs.at[at - 1].pattern) < literal_count(row->pattern);
         at--)
        tags->globs.at[at] = tags->globs.at[at - 1];
    tags->globs.at[at] = *row;
    return true;
}

etl_status etlheap_pool_tags_add(etlheap_pool_tags *tags, const char *pattern,
                                 const char *description, etl_error *err)
{
    const size_t size = strlen(pattern);
    tag_description row = { .pattern = { ' ', ' ', ' ', ' ' } };
    if (size == 0 || size > TAG_BYTES || pattern[0] == ' ')
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a pool tag has one to four characters, and begins with no space");
    memcpy(row.pattern, pattern, size);
    const bool is_exact = literal_count(row.pattern) == TAG_BYTES;
    if (is_exact ? tags->exact.count >= TAGS_MAX : tags->globs.count >= PATTERNS_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "too many pool tags, or ones with wildcards");
    const bool ok =
        etlheap_strings_add(&tags->texts, description, strlen(description), &row.text) &&
        (is_exact ? add_exact(tags, &row) : add_glob(tags, &row));
    return ok ? ETL_OK : etl_no_memory(err);
}

const char *etlheap_pool_tags_describe(const etlheap_pool_tags *tags, const char *tag)
{
    const u32 word = (u32)pool_heap_of_tag(tag);
    char bytes[TAG_BYTES];
    if (pool_heap_of_tag(tag) == 0)
        return NULL;
    for (u32 i = 0; i < TAG_BYTES; i++)
        bytes[i] = (char)(word >> (8 * i) & 0xff);
    const u32 exact = find_exact(tags, bytes);
    if (exact != 0)
        return etlheap_strings_get(&tags->texts, tags->exact.at[exact - 1].text);
    for (size_t i = 0; i < tags->globs.count; i++) {
        if (matches(tags->globs.at[i].pattern, bytes))
            return etlheap_strings_get(&tags->texts, tags->globs.at[i].text);
    }
    return NULL;
}
