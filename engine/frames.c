/* frames.c - see frames.h. */
#include "frames.h"

#include <stdlib.h>

#define RECENT_BITS 14u

static bool find_canonical(frame_table *table);
static bool resolve_new(frame_table *table, const frame_cache *key, i64 ticks, u32 *id);
static bool find_frame(frame_table *table, const frame_cache *key, u64 address, i64 ticks,
                       u32 *frame);
static bool add_frame(frame_table *table, u32 process, u64 address, i64 ticks, u32 *frame);
static u32 cull(const frame_table *table, const u32 *frames, u32 count);
static bool is_wanted(const frame_table *table, const u32 *frames, u32 count);
static bool add_stack(frame_table *table, const u32 *frames, u32 count, bool wanted, u32 *id);

bool frames_open(frame_table *out, const etlheap_result *result, const etlheap_query *query)
{
    *out = (frame_table){ .result = result, .query = query };
    out->recent = calloc((size_t)1 << RECENT_BITS, sizeof *out->recent);
    if (out->recent == NULL || !find_canonical(out)) {
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
    ETLHEAP_VECTOR_FREE(&table->frames);
    ETLHEAP_VECTOR_FREE(&table->pool);
    ETLHEAP_VECTOR_FREE(&table->stacks);
    ETLHEAP_VECTOR_FREE(&table->cache);
    etlheap_index_free(&table->frame_index);
    etlheap_index_free(&table->stack_index);
    etlheap_index_free(&table->cache_index);
    *table = (frame_table){ 0 };
}

static const char *path_of(const etlheap_module_info *module)
{
    return module->path;
}

static const char *name_of(const etlheap_module_info *module)
{
    return module->name;
}

typedef const char *text_fn(const etlheap_module_info *module);

typedef struct namesake_search {
    const etlheap_result *result;
    text_fn *text;
} namesake_search;

static bool same_text(const void *owner, u32 id, const void *key)
{
    const namesake_search *const search = owner;
    return strcmp(search->text(&search->result->modules.list.at[id - 1]), key) == 0;
}

/* first[i]: the first module with module i's text. */
static bool find_first(const frame_table *table, text_fn *text, u32 *first)
{
    const namesake_search search = { table->result, text };
    etlheap_index index = { 0 };
    bool ok = first != NULL;
    for (u32 i = 0; ok && i < table->result->modules.list.count; i++) {
        const char *const wanted = text(&table->result->modules.list.at[i]);
        const u64 hash = etlheap_hash_bytes(wanted, strlen(wanted));
        const u32 id = etlheap_index_find(&index, hash, same_text, &search, wanted);
        first[i] = id == 0 ? i : id - 1;
        ok = id != 0 || etlheap_index_add(&index, hash, i + 1);
    }
    etlheap_index_free(&index);
    return ok;
}

static bool find_canonical(frame_table *table)
{
    const size_t count = table->result->modules.list.count;
    table->canonical = calloc(count + 1, sizeof *table->canonical);
    table->namesakes = calloc(count + 1, sizeof *table->namesakes);
    return find_first(table, path_of, table->canonical) &&
           find_first(table, name_of, table->namesakes);
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

static bool resolve_new(frame_table *table, const frame_cache *key, i64 ticks, u32 *id)
{
    u32 frames[2 * STACK_FRAMES_MAX];
    const etlheap_frames raw = stack_get(&table->result->stacks, key->stack);
    assert(raw.count > 0 && raw.count <= ETL_COUNT_OF(frames));
    for (u32 i = 0; i < raw.count; i++) {
        if (!find_frame(table, key, raw.addresses[i], ticks, &frames[i]))
            return false;
    }
    const u32 culled = cull(table, frames, raw.count);
    const bool wanted = is_wanted(table, frames, raw.count);
    return add_stack(table, frames + culled, raw.count - culled, wanted, id);
}

static bool find_frame(frame_table *table, const frame_cache *key, u64 address, i64 ticks,
                       u32 *frame)
{
    const u64 mixed = (address ^ (u64)key->process << 48) * 0x9E3779B97F4A7C15u;
    recent_frame *const recent = &table->recent[mixed >> (64 - RECENT_BITS)];
    if (recent->frame == 0 || recent->address != address || recent->process != key->process ||
        recent->epoch != key->epoch || recent->kernel_epoch != key->kernel_epoch) {
        if (!add_frame(table, key->process, address, ticks, frame))
            return false;
        *recent =
            (recent_frame){ address, key->process, key->epoch, key->kernel_epoch, *frame + 1 };
    }
    *frame = recent->frame - 1;
    return true;
}

static bool same_frame(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_row *const a = &table->frames.at[id - 1], *const b = key;
    return a->module == b->module && a->offset == b->offset;
}

static bool add_frame(frame_table *table, u32 process, u64 address, i64 ticks, u32 *frame)
{
    const module_table *const modules = &table->result->modules;
    const u32 pid = table->result->processes.at[process - 1].pid;
    const u32 module = modules_find(modules, pid, address, ticks);
    frame_row row = { FRAME_NONE, address, address };
    if (module != FRAME_NONE) {
        row.module = table->canonical[module];
        row.offset = address - modules->list.at[module].base;
    }
    const u64 hash = etlheap_hash_u64(row.offset ^ (u64)row.module << 40);
    u32 id = etlheap_index_find(&table->frame_index, hash, same_frame, table, &row);
    if (id == 0) {
        if (table->frames.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->frames, row))
            return false;
        id = (u32)table->frames.count;
        if (!etlheap_index_add(&table->frame_index, hash, id))
            return false;
    }
    frame_row *const kept = &table->frames.at[id - 1];
    kept->address = kept->address < address ? kept->address : address;
    *frame = id - 1;
    return true;
}

static bool matches_any(const frame_table *table, const etlheap_pattern *patterns, u32 count,
                        u32 frame)
{
    const char *const module = frames_module(table, frame);
    for (u32 i = 0; i < count; i++) {
        if (query_frame_matches(&patterns[i], module, NULL))
            return true;
    }
    return false;
}

/* How many innermost frames go: the run that matches, but never the last. */
static u32 cull(const frame_table *table, const u32 *frames, u32 count)
{
    const etlheap_query *const query = table->query;
    u32 culled = 0;
    while (culled + 1 < count &&
           matches_any(table, query->cull_frames, query->cull_frame_count, frames[culled]))
        culled++;
    return culled;
}

static bool is_wanted(const frame_table *table, const u32 *frames, u32 count)
{
    const etlheap_query *const query = table->query;
    bool wanted = query->require_frame_count == 0;
    for (u32 i = 0; i < count && !wanted; i++)
        wanted = matches_any(table, query->require_frames, query->require_frame_count, frames[i]);
    return wanted;
}

typedef struct stack_wanted {
    const u32 *frames;
    u32 count;
    bool wanted;
} stack_wanted;

static bool same_stack(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_stack *const a = &table->stacks.at[id - 1];
    const stack_wanted *const b = key;
    return a->count == b->count && a->wanted == b->wanted &&
           memcmp(table->pool.at + a->start, b->frames, b->count * sizeof(u32)) == 0;
}

static bool add_stack(frame_table *table, const u32 *frames, u32 count, bool wanted, u32 *id)
{
    const stack_wanted key = { frames, count, wanted };
    const u64 hash = etlheap_hash_bytes(frames, count * sizeof *frames);
    *id = etlheap_index_find(&table->stack_index, hash, same_stack, table, &key);
    if (*id != 0)
        return true;
    const frame_stack row = { (u32)table->pool.count, count, wanted };
    if (table->pool.count + count > UINT32_MAX || !ETLHEAP_RESERVE(&table->pool, count) ||
        !ETLHEAP_PUSH(&table->stacks, row))
        return false;
    memcpy(table->pool.at + table->pool.count, frames, count * sizeof *frames);
    table->pool.count += count;
    *id = (u32)table->stacks.count;
    return etlheap_index_add(&table->stack_index, hash, *id);
}

u32 frames_innermost(const frame_table *table, u32 id)
{
    return id == 0 ? FRAME_NONE : table->pool.at[table->stacks.at[id - 1].start];
}

const char *frames_module(const frame_table *table, u32 frame)
{
    if (frame == FRAME_NONE || table->frames.at[frame].module == FRAME_NONE)
        return NULL;
    return table->result->modules.list.at[table->frames.at[frame].module].name;
}

static int compare_rows(const frame_table *table, u32 a, u32 b)
{
    const char *const module_a = frames_module(table, a), *const module_b = frames_module(table, b);
    if (module_a == NULL || module_b == NULL) {
        if (module_a != module_b)
            return module_a == NULL ? -1 : 1;
    } else {
        const int order = strcmp(module_a, module_b);
        if (order != 0)
            return order;
    }
    const frame_row *const x = &table->frames.at[a], *const y = &table->frames.at[b];
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->module == y->module)
        return 0;
    return strcmp(table->result->modules.list.at[x->module].path,
                  table->result->modules.list.at[y->module].path);
}

/* Merge sort: qsort has no room for the table, and globals are not to be
 * written. */
static void merge_frames(const frame_table *table, const u32 *from, u32 *to, size_t count,
                         size_t width)
{
    for (size_t start = 0; start < count; start += 2 * width) {
        const size_t middle = start + width < count ? start + width : count;
        const size_t end = start + 2 * width < count ? start + 2 * width : count;
        size_t left = start, right = middle;
        for (size_t at = start; at < end; at++) {
            const bool take_left =
                right >= end ||
                (left < middle && compare_rows(table, from[left], from[right]) <= 0);
            to[at] = take_left ? from[left++] : from[right++];
        }
    }
}

bool frames_rank(frame_table *table)
{
    const size_t count = table->frames.count;
    u32 *from = malloc((count + 1) * sizeof *from), *to = malloc((count + 1) * sizeof *to);
    u32 *const ranks = malloc((count + 1) * sizeof *ranks);
    const bool ok = from != NULL && to != NULL && ranks != NULL;
    for (u32 i = 0; ok && i < count; i++)
        from[i] = i;
    for (size_t width = 1; ok && width < count; width *= 2) {
        merge_frames(table, from, to, count, width);
        u32 *const swap = from;
        from = to;
        to = swap;
    }
    for (u32 i = 0; ok && i < count; i++)
        ranks[from[i]] = i;
    free(from);
    free(to);
    free(table->ranks);
    table->ranks = ok ? ranks : NULL;
    if (!ok)
        free(ranks);
    return ok;
}

/* No frame comes before every frame. */
static u32 rank_of(const frame_table *table, u32 frame)
{
    return frame == FRAME_NONE ? 0 : table->ranks[frame] + 1;
}

int frames_compare(const frame_table *table, u32 a, u32 b)
{
    const u32 x = rank_of(table, a), y = rank_of(table, b);
    return (x > y) - (x < y);
}

u64 frames_prefix(const frame_table *table, u32 id)
{
    if (id == 0)
        return 0;
    const frame_stack *const stack = &table->stacks.at[id - 1];
    const u32 *const frames = table->pool.at + stack->start;
    const u32 second = stack->count < 2 ? 0 : rank_of(table, frames[1]);
    return (u64)rank_of(table, frames[0]) << 32 | second;
}

int frames_compare_stacks(const frame_table *table, u32 a, u32 b)
{
    if (a == 0 || b == 0 || a == b)
        return (a != 0) - (b != 0);
    const frame_stack *const x = &table->stacks.at[a - 1], *const y = &table->stacks.at[b - 1];
    for (u32 i = 0; i < x->count && i < y->count; i++) {
        const int order =
            frames_compare(table, table->pool.at[x->start + i], table->pool.at[y->start + i]);
        if (order != 0)
            return order;
    }
    return (x->count > y->count) - (x->count < y->count);
}
