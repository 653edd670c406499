/* frames.c - see frames.h. */
#include "frames.h"

#include <stdlib.h>

#include "symbols.h"

/* Places for recent frames, by the number of stacks: 12 MiB at most. */
#define RECENT_BITS_MIN  10u
#define RECENT_BITS_MAX  19u
#define RECENT_PER_STACK 8u

static bool find_canonical(frame_table *table);
static bool resolve_new(frame_table *table, const frame_cache *key, i64 ticks, u32 *id);
static bool find_frame(frame_table *table, const frame_cache *key, u64 address, i64 ticks,
                       u32 *frame);
static bool add_frame(frame_table *table, u32 process, u64 address, i64 ticks, u32 *frame);
static bool intern_frame(frame_table *table, const frame_row *row, u32 *frame);
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
    if (out->recent == NULL || out->cull.verdicts == NULL || out->require.verdicts == NULL ||
        !find_canonical(out)) {
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
    for (u32 i = 0; i < raw.count; i++) {
        if (!find_frame(table, key, raw.addresses[i], ticks, &frames[i]))
            return false;
    }
    if (table->query->symbols != NULL)
        return frames_add_stack(table, frames, raw.count, false, id);
    const u32 culled = cull(table, frames, raw.count);
    const bool wanted = is_wanted(table, frames, raw.count);
    return frames_add_stack(table, frames + culled, raw.count - culled, wanted, id);
}

static bool find_frame(frame_table *table, const frame_cache *key, u64 address, i64 ticks,
                       u32 *frame)
{
    recent_frame *const recent = recent_of(table, key->process, address);
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
    return a->module == b->module && a->offset == b->offset && a->skip == b->skip;
}

static bool add_frame(frame_table *table, u32 process, u64 address, i64 ticks, u32 *frame)
{
    const module_table *const modules = &table->result->modules;
    const u32 pid = table->result->processes.at[process - 1].pid;
    const u32 module = modules_find(modules, pid, address, ticks);
    frame_row row = { .offset = address, .address = address, .module = FRAME_NONE };
    if (module != FRAME_NONE) {
        row.module = table->canonical[module];
        row.offset = address - modules->list.at[module].base;
    }
    return intern_frame(table, &row, frame);
}

/* Of equal frames the lowest address is kept. */
static bool intern_frame(frame_table *table, const frame_row *row, u32 *frame)
{
    const u64 hash = etlheap_hash_u64(row->offset ^ (u64)row->module << 40 ^ (u64)row->skip << 32);
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
    return intern_frame(table, &row, out);
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

bool frames_add_stack(frame_table *table, const u32 *frames, u32 count, bool wanted, u32 *id)
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

static const char *function_name(const frame_table *table, const frame_row *row)
{
    if (row->function == 0)
        return "";
    return symbols_text(table->query->symbols, table->functions.at[row->function - 1].symbol);
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
    const int order = x->module == y->module
                          ? 0
                          : strcmp(table->result->modules.list.at[x->module].path,
                                   table->result->modules.list.at[y->module].path);
    if (order != 0)
        return order;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->skip != y->skip)
        return x->skip < y->skip ? -1 : 1;
    return strcmp(function_name(table, x), function_name(table, y));
}

/* What decides the order of nearly all frames, without looking further. */
typedef struct rank_row {
    u64 offset;
    u32 name; /* place of the module's name among the names; 0: no module */
    u32 frame;
} rank_row;

static int compare_ranks(const frame_table *table, const rank_row *a, const rank_row *b)
{
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return compare_rows(table, a->frame, b->frame);
}

/* Merge sort: qsort has no room for the table, and globals are not to be
 * written. */
static void merge_ranks(const frame_table *table, const rank_row *from, rank_row *to, size_t count,
                        size_t width)
{
    for (size_t start = 0; start < count; start += 2 * width) {
        const size_t middle = start + width < count ? start + width : count;
        const size_t end = start + 2 * width < count ? start + 2 * width : count;
        size_t left = start, right = middle;
        for (size_t at = start; at < end; at++) {
            const bool take_left =
                right >= end ||
                (left < middle && compare_ranks(table, &from[left], &from[right]) <= 0);
            to[at] = take_left ? from[left++] : from[right++];
        }
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names[i]: place of module i's name among all names, from 1; equal ones alike. */
static bool rank_names(const frame_table *table, u32 *names)
{
    const size_t count = table->result->modules.list.count;
    const char **const sorted = calloc(count + 1, sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = table->result->modules.list.at[i].name;
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 0; i < count; i++) {
        const char *const name = table->result->modules.list.at[i].name;
        size_t low = 0, high = count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (strcmp(sorted[middle], name) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        names[i] = (u32)low + 1;
    }
    free(sorted);
    return true;
}

bool frames_rank(frame_table *table)
{
    const size_t count = table->frames.count;
    rank_row *const rows = malloc((2 * count + 1) * sizeof *rows);
    u32 *const names = calloc(table->result->modules.list.count + 1, sizeof *names);
    u32 *const ranks = malloc((count + 1) * sizeof *ranks);
    const bool ok = rows != NULL && names != NULL && ranks != NULL && rank_names(table, names);
    rank_row *from = rows, *to = rows + (ok ? count : 0);
    for (u32 i = 0; ok && i < count; i++) {
        const frame_row *const frame = &table->frames.at[i];
        const u32 name = frame->module == FRAME_NONE ? 0 : names[frame->module];
        from[i] = (rank_row){ frame->offset, name, i };
    }
    for (size_t width = 1; ok && width < count; width *= 2) {
        merge_ranks(table, from, to, count, width);
        rank_row *const swap = from;
        from = to;
        to = swap;
    }
    for (u32 i = 0; ok && i < count; i++)
        ranks[from[i].frame] = i;
    free(rows);
    free(names);
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
