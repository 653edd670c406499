/* frames.c - see frames.h. */
#include "frames.h"

#include <stdlib.h>

/* Places for recent frames, by the number of stacks: 12 MiB at most. */
#define RECENT_BITS_MIN  10u
#define RECENT_BITS_MAX  19u
#define RECENT_PER_STACK 8u

#define FRAME_BATCH 32u /* frames looked up at once */

static bool find_canonical(frame_table *table);
static bool resolve_new(frame_table *table, const frame_cache *key, i64 ticks, u32 *id);
static bool find_frames(frame_table *table, const frame_cache *key, etlheap_frames raw, i64 ticks,
                        u32 *frames);
static u64 hash_frame(const frame_row *row);
static frame_row frame_of(const frame_table *table, u32 process, u64 address, i64 ticks);
static bool intern_frame(frame_table *table, const frame_row *row, u64 hash, u32 *frame);
static u32 cull(const frame_table *table, const u32 *frames, u32 count);
static bool is_wanted(const frame_table *table, const u32 *frames, u32 count);

bool frames_open(frame_table *out, const etlheap_result *result, const etlheap_query *query)
{
    const size_t count = result->modules.list.count;
    *out = (frame_table){ .result = result, .query = query };
    out->cull = (frame_patterns){ query->cull_frames, query->cull_frame_count,
                                  calloc(count + 1, sizeof *out->cull.verdicts) };
    out->require = (frame_patterns){ query->require_frames, query->require_frame_count,
                                     calloc(count + 1, sizeof *out->require.verdicts) };
    out->recent_bits = RECENT_BITS_MIN;
    while (out->recent_bits < RECENT_BITS_MAX &&
           (size_t)1 << out->recent_bits < result->stacks.list.count * RECENT_PER_STACK)
        out->recent_bits++;
    out->recent = calloc((size_t)1 << out->recent_bits, sizeof *out->recent);
    const bool by_tag = query_groups_by(query, ETLHEAP_KEY_TAG);
    if (out->recent == NULL || out->cull.verdicts == NULL || out->require.verdicts == NULL ||
        !find_canonical(out) || (by_tag && !tag_matcher_open(&out->tags, query->tags, count))) {
        frames_close(out);
        return false;
    }
    return true;
}

void frames_close(frame_table *table)
{
    free(table->canonical);
    free(table->namesakes);
    free(table->recent);
    free(table->ranks);
    free(table->cull.verdicts);
    free(table->require.verdicts);
    free(table->settled);
    free(table->alloc_types);
    free(table->sites);
    tag_matcher_close(&table->tags);
    ETLHEAP_VECTOR_FREE(&table->frame_tags);
    ETLHEAP_VECTOR_FREE(&table->functions);
    ETLHEAP_VECTOR_FREE(&table->frames);
    ETLHEAP_VECTOR_FREE(&table->pool);
    ETLHEAP_VECTOR_FREE(&table->stacks);
    ETLHEAP_VECTOR_FREE(&table->cache);
    etlheap_index_free(&table->frame_index);
    etlheap_index_free(&table->stack_index);
    etlheap_index_free(&table->cache_index);
    *table = (frame_table){ 0 };
}

/* Which modules are the same. */
typedef struct module_search {
    const etlheap_module_info *modules;
    bool by_build; /* else by name */
} module_search;

/* Programs are rebuilt and installed over one another; then one path is two
 * modules. */
static bool same_module(const void *owner, u32 id, const void *key)
{
    const module_search *const search = owner;
    const etlheap_module_info *const a = &search->modules[id - 1], *const b = key;
    if (!search->by_build)
        return strcmp(a->name, b->name) == 0;
    return a->size_bytes == b->size_bytes && a->time_date_stamp == b->time_date_stamp &&
           strcmp(a->path, b->path) == 0;
}

static u64 hash_module(const module_search *search, const etlheap_module_info *module)
{
    const char *const text = search->by_build ? module->path : module->name;
    const u64 hash = etlheap_hash_bytes(text, strlen(text));
    const u64 build = module->size_bytes ^ (u64)module->time_date_stamp << 32;
    return search->by_build ? etlheap_hash_u64(hash ^ build) : hash;
}

/* first[i]: the first module that is the same as module i. */
static bool find_first(const frame_table *table, bool by_build, u32 *first)
{
    const module_search search = { table->result->modules.list.at, by_build };
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

/* The identity of a PDB may be known for one process's copy of a module and lost
 * for another's: the one that has it stands for all. */
static bool find_canonical(frame_table *table)
{
    const etlheap_module_info *const modules = table->result->modules.list.at;
    const size_t count = table->result->modules.list.count;
    u32 *const identified = calloc(count + 1, sizeof *identified);
    table->canonical = calloc(count + 1, sizeof *table->canonical);
    table->namesakes = calloc(count + 1, sizeof *table->namesakes);
    const bool ok = identified != NULL && find_first(table, true, table->canonical) &&
                    find_first(table, false, table->namesakes);
    for (u32 i = 0; ok && i < count; i++) {
        u32 *const best = &identified[table->canonical[i]];
        if (*best == 0 && modules[i].has_rsds)
            *best = i + 1;
    }
    for (u32 i = 0; ok && i < count; i++) {
        const u32 best = identified[table->canonical[i]];
        table->canonical[i] = best == 0 ? table->canonical[i] : best - 1;
    }
    free(identified);
    return ok;
}

static bool same_cache(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_cache *const a = &table->cache.at[id - 1], *const b = key;
    return a->process == b->process && a->stack == b->stack && a->epoch == b->epoch &&
           a->kernel_epoch == b->kernel_epoch;
}

bool frames_resolve(frame_table *table, u32 process, u32 stack, i64 ticks, u32 *id)
{
    *id = 0;
    if (stack == 0)
        return true;
    const module_table *const modules = &table->result->modules;
    const u32 pid = table->result->processes.at[process - 1].pid;
    frame_cache key = { .process = process, .stack = stack };
    if (modules->epochs.count > 0) {
        key.epoch = modules_epoch(modules, pid, ticks);
        key.kernel_epoch = modules_epoch(modules, 0, ticks);
    }
    const u64 hash = etlheap_hash_bytes(&key, offsetof(frame_cache, resolved));
    const u32 cached = etlheap_index_find(&table->cache_index, hash, same_cache, table, &key);
    if (cached != 0) {
        *id = table->cache.at[cached - 1].resolved;
        return true;
    }
    if (!resolve_new(table, &key, ticks, id))
        return false;
    key.resolved = *id;
    return ETLHEAP_PUSH(&table->cache, key) &&
           etlheap_index_add(&table->cache_index, hash, (u32)table->cache.count);
}

/* Where the frame of an address is kept while it is recent. */
static inline recent_frame *recent_of(const frame_table *table, u32 process, u64 address)
{
    const u64 mixed = (address ^ (u64)process << 48) * 0x9E3779B97F4A7C15u;
    return &table->recent[mixed >> (64 - table->recent_bits)];
}

static bool resolve_new(frame_table *table, const frame_cache *key, i64 ticks, u32 *id)
{
    u32 frames[2 * STACK_FRAMES_MAX];
    const etlheap_frames raw = stack_get(&table->result->stacks, key->stack);
    assert(raw.count > 0 && raw.count <= ETL_COUNT_OF(frames));
    for (u32 i = 0; i < raw.count; i++)
        __builtin_prefetch(recent_of(table, key->process, raw.addresses[i]));
    for (u32 i = 0; i < raw.count; i += FRAME_BATCH) {
        const u32 left = raw.count - i;
        const etlheap_frames part = { raw.addresses + i, left < FRAME_BATCH ? left : FRAME_BATCH };
        if (!find_frames(table, key, part, ticks, frames + i))
            return false;
    }
    frame_stack row = { .count = raw.count };
    if (table->query->symbols != NULL)
        return frames_add_stack(table, frames, &row, id);
    if (table->tags.tags != NULL && !frames_tag(table, frames, raw.count, &row.tag))
        return false;
    const u32 culled = cull(table, frames, raw.count);
    row.count -= culled;
    row.wanted = is_wanted(table, frames, raw.count);
    return frames_add_stack(table, frames + culled, &row, id);
}

static bool is_recent(const recent_frame *recent, const frame_cache *key, u64 address)
{
    return recent->frame != 0 && recent->address == address && recent->process == key->process &&
           recent->epoch == key->epoch && recent->kernel_epoch == key->kernel_epoch;
}

/* Of up to FRAME_BATCH addresses. What the index will be asked for misses the cache
 * nearly always, so all of it is fetched before the first answer is needed. */
static bool find_frames(frame_table *table, const frame_cache *key, etlheap_frames raw, i64 ticks,
                        u32 *frames)
{
    frame_row rows[FRAME_BATCH];
    u64 hashes[FRAME_BATCH];
    u32 places[FRAME_BATCH], missing = 0;
    for (u32 i = 0; i < raw.count; i++) {
        const recent_frame *const recent = recent_of(table, key->process, raw.addresses[i]);
        if (is_recent(recent, key, raw.addresses[i])) {
            frames[i] = recent->frame - 1;
            continue;
        }
        rows[missing] = frame_of(table, key->process, raw.addresses[i], ticks);
        hashes[missing] = hash_frame(&rows[missing]);
        etlheap_index_prefetch(&table->frame_index, hashes[missing]);
        places[missing++] = i;
    }
    for (u32 k = 0; k < missing; k++) {
        const u32 id = etlheap_index_peek(&table->frame_index, hashes[k]);
        if (id != 0)
            __builtin_prefetch(&table->frames.at[id - 1]);
    }
    for (u32 k = 0; k < missing; k++) {
        const u64 address = raw.addresses[places[k]];
        u32 *const frame = &frames[places[k]];
        if (!intern_frame(table, &rows[k], hashes[k], frame))
            return false;
        *recent_of(table, key->process, address) =
            (recent_frame){ address, key->process, key->epoch, key->kernel_epoch, *frame + 1 };
    }
    return true;
}

static u64 hash_frame(const frame_row *row)
{
    return etlheap_hash_u64(row->offset ^ (u64)row->module << 40 ^ (u64)row->skip << 32);
}

static bool same_frame(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_row *const a = &table->frames.at[id - 1], *const b = key;
    return a->module == b->module && a->offset == b->offset && a->skip == b->skip;
}

static frame_row frame_of(const frame_table *table, u32 process, u64 address, i64 ticks)
{
    const module_table *const modules = &table->result->modules;
    const u32 pid = table->result->processes.at[process - 1].pid;
    const u32 module = modules_find(modules, pid, address, ticks);
    frame_row row = { .offset = address, .address = address, .module = FRAME_NONE };
    if (module != FRAME_NONE) {
        row.module = table->canonical[module];
        row.offset = address - modules->list.at[module].base;
    }
    return row;
}

/* Of equal frames the lowest address is kept. */
static bool intern_frame(frame_table *table, const frame_row *row, u64 hash, u32 *frame)
{
    u32 id = etlheap_index_find(&table->frame_index, hash, same_frame, table, row);
    if (id == 0) {
        if (table->frames.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->frames, *row))
            return false;
        id = (u32)table->frames.count;
        if (!etlheap_index_add(&table->frame_index, hash, id))
            return false;
    }
    frame_row *const kept = &table->frames.at[id - 1];
    kept->address = kept->address < row->address ? kept->address : row->address;
    *frame = id - 1;
    return true;
}

bool frames_add_skipped(frame_table *table, u32 frame, u32 skip, u32 *out)
{
    frame_row row = table->frames.at[frame];
    row.skip = skip;
    return intern_frame(table, &row, hash_frame(&row), out);
}

/* Without symbols no function is known, and a verdict is never "by name". */
static frame_verdict judge(const frame_table *table, const frame_patterns *patterns,
                           const char *module)
{
    frame_verdict verdict = FRAME_VERDICT_NONE;
    for (u32 i = 0; i < patterns->count; i++) {
        const etlheap_pattern *const pattern = &patterns->at[i];
        const bool by_name = pattern->symbol != NULL || pattern->unnamed_only;
        if (by_name && module != NULL && table->query->symbols != NULL) {
            if (query_module_matches(pattern, module))
                verdict = FRAME_VERDICT_BY_NAME;
        } else if (query_frame_matches(pattern, module, NULL)) {
            return FRAME_VERDICT_ALL;
        }
    }
    return verdict;
}

frame_verdict frames_verdict(const frame_table *table, const frame_patterns *patterns, u32 frame)
{
    const u32 module = table->frames.at[frame].module;
    const size_t slot = module == FRAME_NONE ? table->result->modules.list.count : module;
    u8 *const verdict = &patterns->verdicts[slot];
    if (*verdict == FRAME_VERDICT_UNKNOWN)
        *verdict = (u8)judge(table, patterns, frames_module(table, frame));
    return (frame_verdict)*verdict;
}

bool frames_match(const frame_patterns *patterns, const char *module, const char *symbol,
                  bool is_guess)
{
    const bool is_known = symbol != NULL && !is_guess;
    for (u32 i = 0; i < patterns->count; i++) {
        const etlheap_pattern *const pattern = &patterns->at[i];
        if (!(pattern->unnamed_only && is_known) && query_frame_matches(pattern, module, symbol))
            return true;
    }
    return false;
}

/* How many innermost frames go: the run that matches, but never the last. */
static u32 cull(const frame_table *table, const u32 *frames, u32 count)
{
    u32 culled = 0;
    while (culled + 1 < count &&
           frames_verdict(table, &table->cull, frames[culled]) == FRAME_VERDICT_ALL)
        culled++;
    return culled;
}

static bool is_wanted(const frame_table *table, const u32 *frames, u32 count)
{
    bool wanted = table->require.count == 0;
    for (u32 i = 0; i < count && !wanted; i++)
        wanted = frames_verdict(table, &table->require, frames[i]) == FRAME_VERDICT_ALL;
    return wanted;
}

typedef struct stack_wanted {
    const u32 *frames;
    const frame_stack *row;
} stack_wanted;

static bool same_stack(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_stack *const a = &table->stacks.at[id - 1];
    const stack_wanted *const b = key;
    return a->count == b->row->count && a->wanted == b->row->wanted && a->tag == b->row->tag &&
           memcmp(table->pool.at + a->start, b->frames, a->count * sizeof(u32)) == 0;
}

bool frames_add_stack(frame_table *table, const u32 *frames, const frame_stack *row, u32 *id)
{
    const stack_wanted key = { frames, row };
    const u32 count = row->count;
    const u64 hash = etlheap_hash_bytes(frames, count * sizeof *frames);
    *id = etlheap_index_find(&table->stack_index, hash, same_stack, table, &key);
    if (*id != 0)
        return true;
    frame_stack added = *row;
    added.start = (u32)table->pool.count;
    if (table->pool.count + count > UINT32_MAX || !ETLHEAP_RESERVE(&table->pool, count) ||
        !ETLHEAP_PUSH(&table->stacks, added))
        return false;
    memcpy(table->pool.at + table->pool.count, frames, count * sizeof *frames);
    table->pool.count += count;
    *id = (u32)table->stacks.count;
    return etlheap_index_add(&table->stack_index, hash, *id);
}

frame_calls frames_calls(const frame_table *table, u32 frame)
{
    const u32 id = table->frames.at[frame].name;
    const symbol_name *const name = id == 0 ? NULL : symbols_name(table->query->symbols, id);
    if (name == NULL || name->level_count == 0)
        return (frame_calls){ NULL, 1, SYMBOL_QUALITY_NONE };
    return (frame_calls){ symbols_levels(table->query->symbols, name), name->level_count,
                          name->quality };
}

u32 frames_innermost(const frame_table *table, u32 id)
{
    return id == 0 ? FRAME_NONE : table->pool.at[table->stacks.at[id - 1].start];
}

u32 frames_site(const frame_table *table, u32 id)
{
    return table->sites == NULL || id == 0 ? frames_innermost(table, id) : table->sites[id];
}

const char *frames_module(const frame_table *table, u32 frame)
{
    if (frame == FRAME_NONE || table->frames.at[frame].module == FRAME_NONE)
        return NULL;
    return table->result->modules.list.at[table->frames.at[frame].module].name;
}
