/*
 * frames.c - resolves raw stacks to frames (module and offset), culls them, and gives equal
 * results one id.
 *
 * In: (process, stack, time). Out: ids of interned stacks, each a list of interned frames.
 *
 *     stack id + process + module epochs --cache--> frame_stack id
 *
 * The same code in two processes, or loaded at two addresses, must become one frame, so modules
 * are mapped to a canonical module of the same build first (find_canonical). Invariant: the cache
 * key contains everything that the result depends on: stack, process, and the epochs of the
 * process's and the kernel's modules.
 */
#include "frames.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

static bool find_canonical(frame_table *table);
static frame_cache *resolve_again(frame_table *table, frame_cache *key, i64 ticks);
static bool resolve_new(frame_table *table, frame_cache *key, i64 ticks);
static u32 cull(const frame_table *table, const u32 *frames, u32 count);
static bool has_match(const frame_table *table, const frame_patterns *patterns, const u32 *frames,
                      u32 count);

bool frames_open(frame_table *out, const etlheap_result *result, const etlheap_query *query)
{
    const size_t count = result->modules.list.count;
    *out = (frame_table){ .result = result, .query = query };
    out->first_count = (u32)result->stacks.list.count;
    out->firsts = calloc((size_t)out->first_count + 1, sizeof *out->firsts);
    const bool by_tag = query_groups_by(query, ETLHEAP_KEY_TAG);
    if (out->firsts == NULL ||
        !frame_patterns_open(&out->cull, query->cull_frames, query->cull_frame_count, count) ||
        !frame_patterns_open(&out->require, query->require_frames, query->require_frame_count,
                             count) ||
        !frame_patterns_open(&out->exclude, query->exclude_frames, query->exclude_frame_count,
                             count) ||
        !frames_fold_open(out) || !find_canonical(out) || !frames_finder_open(out) ||
        (by_tag && !tag_matcher_open(&out->tags, query->tags, count))) {
        frames_close(out);
        return false;
    }
    return true;
}

void frames_close(frame_table *table)
{
    free(table->canonical);
    free(table->namesakes);
    free(table->firsts);
    frames_finder_close(&table->finder);
    free(table->ranks);
    frame_patterns_close(&table->cull);
    frame_patterns_close(&table->require);
    frame_patterns_close(&table->exclude);
    frame_patterns_close(&table->fold);
    free(table->folded);
    free(table->finished);
    free(table->alloc_types);
    free(table->sites);
    free(table->source_lines);
    free(table->functions_of.starts);
    ETLHEAP_VECTOR_FREE(&table->functions_of.frames);
    tag_matcher_close(&table->tags);
    ETLHEAP_VECTOR_FREE(&table->frame_tags);
    ETLHEAP_VECTOR_FREE(&table->functions);
    ETLHEAP_VECTOR_FREE(&table->function_lines);
    ETLHEAP_VECTOR_FREE(&table->frames);
    ETLHEAP_VECTOR_FREE(&table->pool);
    ETLHEAP_VECTOR_FREE(&table->stacks);
    ETLHEAP_VECTOR_FREE(&table->cache);
    ETLHEAP_VECTOR_FREE(&table->spans);
    etlheap_index_free(&table->frame_index);
    etlheap_index_free(&table->stack_index);
    etlheap_index_free(&table->cache_index);
    *table = (frame_table){ 0 };
}

typedef enum module_sameness {
    SAME_NAME,
    SAME_IMAGE, /* path and size */
    SAME_BUILD  /* and time stamp, and what it says of its PDB */
} module_sameness;

/* Finds modules that are the same. */
typedef struct module_search {
    const etlheap_module_info *modules;
    module_sameness by;
} module_search;

static bool same_identity(const etlheap_module_info *a, const etlheap_module_info *b)
{
    if (!a->has_rsds || !b->has_rsds)
        return a->has_rsds == b->has_rsds;
    return a->age == b->age && memcmp(&a->guid, &b->guid, sizeof a->guid) == 0;
}

static bool same_function(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Programs are rebuilt and installed over one another, so one path may be two modules. */
static bool same_module(const void *owner, u32 id, const void *key)
{
    const module_search *const search = owner;
    const etlheap_module_info *const a = &search->modules[id - 1], *const b = key;
    if (search->by == SAME_NAME)
        return etl_name_same(a->name, b->name);
    return a->size_bytes == b->size_bytes && etl_name_same(a->path, b->path) &&
           same_function(modules_function(a), modules_function(b)) &&
           (search->by == SAME_IMAGE ||
            (a->time_date_stamp == b->time_date_stamp && same_identity(a, b)));
}

static u64 hash_module(const module_search *search, const etlheap_module_info *module)
{
    const char *const text = search->by == SAME_NAME ? module->name : module->path;
    const u64 hash = etl_name_hash(text, etlheap_hash_seed());
    if (search->by == SAME_NAME)
        return hash;
    const char *const function = modules_function(module);
    if (function != NULL)
        return etlheap_hash_u64(hash ^ etlheap_hash_bytes(function, strlen(function)));
    const u64 stamp = search->by == SAME_BUILD ? module->time_date_stamp : 0;
    return etlheap_hash_u64(hash ^ module->size_bytes ^ stamp << 32);
}

/* first[i]: the first module that is the same as module i. */
static bool find_first(const frame_table *table, module_sameness by, u32 *first)
{
    const module_search search = { table->result->modules.list.at, by };
    etlheap_index index = { 0 };
    bool ok = first != NULL;
    for (u32 i = 0; ok && i < table->result->modules.list.count; i++) {
        const etlheap_module_info *const wanted = &search.modules[i];
        const u64 hash = hash_module(&search, wanted);
        const u32 id = etlheap_index_find(&index, hash, same_module, &search, wanted);
        first[i] = id == 0 ? i : id - 1;
        ok = id != 0 || etlheap_index_add(&index, hash, i + 1);
    }
    etlheap_index_free(&index);
    return ok;
}

/* How much is known about a module's build. Rundowns of modules loaded earlier have no time stamp
 * (docs/format/events.md, 6), and what a merge wrote about a PDB may be lost for one process and
 * not for another. */
static u32 known_of(const etlheap_module_info *module)
{
    return (u32)module->has_rsds * 2 + (module->time_date_stamp != 0);
}

/* Can both be the same build, by all that is known? */
static bool may_be_same(const etlheap_module_info *a, const etlheap_module_info *b)
{
    const bool other_stamp = a->time_date_stamp != 0 && b->time_date_stamp != 0 &&
                             a->time_date_stamp != b->time_date_stamp;
    return !other_stamp && (!a->has_rsds || !b->has_rsds || same_identity(a, b));
}

/* The only build in the chain that the module can be, among those about which more is known: index
 * + 1. 0 if there is none, or several. */
static u32 only_build(const frame_table *table, const u32 *next, u32 head, u32 module)
{
    const etlheap_module_info *const modules = table->result->modules.list.at;
    u32 only = 0;
    for (u32 at = head; at != 0; at = next[at - 1]) {
        const bool is_build = table->canonical[at - 1] == at - 1;
        if (!is_build || known_of(&modules[at - 1]) <= known_of(&modules[module]) ||
            !may_be_same(&modules[at - 1], &modules[module]))
            continue;
        if (only != 0)
            return 0;
        only = at;
    }
    return only;
}

/* Joins a module about which little is known to the build of the same path and size about which
 * more is known, if there is only one; else it stands for itself. `heads` and `next` are zero. */
static void join_unidentified(const frame_table *table, const u32 *images, u32 *heads, u32 *next)
{
    const etlheap_module_info *const modules = table->result->modules.list.at;
    const u32 count = (u32)table->result->modules.list.count;
    for (u32 i = count; i > 0; i--) {
        if (table->canonical[i - 1] != i - 1)
            continue;
        next[i - 1] = heads[images[i - 1]];
        heads[images[i - 1]] = i;
    }
    for (u32 known = 3; known-- > 0;) {
        for (u32 i = 0; i < count; i++) {
            const bool is_asked = table->canonical[i] == i && known_of(&modules[i]) == known;
            const u32 build = is_asked ? only_build(table, next, heads[images[i]], i) : 0;
            if (build != 0)
                table->canonical[i] = build - 1;
        }
    }
    for (u32 i = 0; i < count; i++) {
        while (table->canonical[i] != table->canonical[table->canonical[i]])
            table->canonical[i] = table->canonical[table->canonical[i]];
    }
}

static bool find_canonical(frame_table *table)
{
    const size_t count = table->result->modules.list.count;
    u32 *const images = calloc(count + 1, sizeof *images);
    u32 *const heads = calloc(count + 1, sizeof *heads), *const next =
                                                             calloc(count + 1, sizeof *next);
    table->canonical = calloc(count + 1, sizeof *table->canonical);
    table->namesakes = calloc(count + 1, sizeof *table->namesakes);
    const bool ok = heads != NULL && next != NULL && find_first(table, SAME_IMAGE, images) &&
                    find_first(table, SAME_BUILD, table->canonical) &&
                    find_first(table, SAME_NAME, table->namesakes);
    if (ok)
        join_unidentified(table, images, heads, next);
    free(images);
    free(heads);
    free(next);
    return ok;
}

static bool same_cache(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_cache *const a = &table->cache.at[id - 1], *const b = key;
    return a->context == b->context && a->stack == b->stack;
}

/* Resolves a stack. Nearly every stack occurs in only one context. */
bool frames_resolve(frame_table *table, u32 process, u32 stack, i64 ticks, u32 *id)
{
    u32 context;
    *id = 0;
    if (stack == 0)
        return true;
    const stack_place asked = frames_asked(table, (stack_place){ ticks, process, stack });
    ticks = asked.ticks;
    if (!frames_context(table, asked.process, ticks, &context))
        return false;
    frame_cache key = { .context = context + 1, .stack = stack };
    frame_cache *entry = stack <= table->first_count ? &table->firsts[stack] : NULL;
    if (entry == NULL || (entry->context != 0 && entry->context != context + 1)) {
        entry = resolve_again(table, &key, ticks);
    } else if (entry->context == 0) {
        if (!resolve_new(table, &key, ticks))
            return false;
        *entry = key;
    }
    if (entry == NULL || !frames_note_guess(table, entry, ticks))
        return false;
    *id = entry->resolved;
    return true;
}

/* The frames of the stack in another context; NULL without memory. */
static frame_cache *resolve_again(frame_table *table, frame_cache *key, i64 ticks)
{
    const u64 hash = etlheap_hash_u64((u64)key->context << 32 | key->stack);
    u32 cached = etlheap_index_find(&table->cache_index, hash, same_cache, table, key);
    if (cached == 0) {
        if (!resolve_new(table, key, ticks) || !ETLHEAP_PUSH(&table->cache, *key) ||
            !etlheap_index_add(&table->cache_index, hash, (u32)table->cache.count))
            return NULL;
        cached = (u32)table->cache.count;
    }
    return &table->cache.at[cached - 1];
}

static bool resolve_new(frame_table *table, frame_cache *key, i64 ticks)
{
    u32 frames[2 * STACK_FRAMES_MAX];
    const u32 count = stack_get(&table->result->stacks, key->stack).count;
    assert(count > 0 && count <= ETL_COUNT_OF(frames));
    if (!frames_find(table, key->context - 1, key->stack, ticks, frames))
        return false;
    frame_stack row = frames_row(table, frames, count, cull(table, frames, count));
    if (table->query->symbols == NULL && table->tags.tags != NULL &&
        !frames_tag(table, frames, count, &row.tag))
        return false;
    u32 *const left = frames + (count - row.count);
    if (table->query->symbols == NULL) {
        if (!frames_fold_prepare(table, frames, count))
            return false;
        row.count = frames_fold(table, left, row.count);
    }
    return frames_add_stack(table, left, &row, &key->resolved);
}

/* With symbols culling comes later, and so does folding. */
frame_stack frames_row(const frame_table *table, const u32 *frames, u32 count, u32 culled)
{
    frame_stack row = { .count = count };
    if (table->query->symbols == NULL) {
        row.count -= culled;
        row.wanted =
            query_selects_stack(table->query, has_match(table, &table->require, frames, count),
                                has_match(table, &table->exclude, frames, count));
    }
    return row;
}

/* The number of innermost frames to cull without symbols: the run that matches, but never the last
 * frame. */
static u32 cull(const frame_table *table, const u32 *frames, u32 count)
{
    u32 culled = 0;
    while (table->query->symbols == NULL && culled + 1 < count &&
           frames_verdict(table, &table->cull, frames[culled]) == FRAME_VERDICT_ALL)
        culled++;
    return culled;
}

static bool has_match(const frame_table *table, const frame_patterns *patterns, const u32 *frames,
                      u32 count)
{
    bool found = false;
    for (u32 i = 0; i < count && !found && patterns->count > 0; i++)
        found = frames_verdict(table, patterns, frames[i]) == FRAME_VERDICT_ALL;
    return found;
}
