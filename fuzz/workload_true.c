/*
 * workload_true.c - writes what is true as lines of text: lifetimes, rows, cells and buckets, from
 * a world's lives by the definitions.
 *
 * In: the lives of a world, and a question. Out: lines, for comparison with those of
 * workload_told.c. Every lifetime is looked at for every question, and every allocation for every
 * peak; nothing is clever. Invariant: no code of the engine is used here, or both would make the
 * same mistake.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "workload_answers.h"

#define NS_PER_TICK 100

/* Lifetimes of one key. */
typedef struct true_group {
    char *key;
    ETLHEAP_VECTOR(const world_life *) lives;
} true_group;

typedef struct true_groups {
    const world *w;
    const workload_asked *question;
    ETLHEAP_VECTOR(true_group) at;
} true_groups;

static i64 ns_of(const world *w, i64 ticks)
{
    if (ticks == ETLHEAP_TICKS_BEFORE)
        return INT64_MIN;
    return ticks == ETLHEAP_TICKS_NEVER ? INT64_MAX : (ticks - w->start) * NS_PER_TICK;
}

static i64 end_of(const world *w, const workload_asked *question, const world_life *life)
{
    if (life->free_type == ETLHEAP_FREE_PROCESS_EXIT && !question->exit_frees)
        return INT64_MAX;
    return ns_of(w, life->free_ticks);
}

/* --- lifetimes ------------------------------------------------------------------------- */

void workload_true_lifetimes(const world *w, workload_lines *out)
{
    for (size_t i = 0; i < w->lives.count; i++) {
        const world_life *const life = &w->lives.at[i];
        const world_id *const id = &w->ids.at[life->process];
        workload_text text = { .count = 0 };
        workload_put(&text,
                     "%s %s %u %" PRIx64 " %" PRIx64 " size %" PRIu64 " %" PRId64 "..%" PRId64
                     " %s %d tid %d:",
                     etlheap_kind_name(life->kind), id->name, id->pid, life->heap, life->address,
                     life->size, life->alloc_ticks, life->free_ticks,
                     etlheap_free_type_name(life->free_type), life->is_realloc, (int)life->tid);
        u64 frames[2 * WORLD_FRAMES_MAX];
        const u32 count = world_frames(w, life->walk, frames);
        for (u32 f = 0; f < count; f++)
            workload_put(&text, " %" PRIx64, frames[f]);
        workload_line(out, "%s", text.at);
    }
}

/* --- groups ---------------------------------------------------------------------------- */

static etlheap_type type_of(const world *w, const workload_asked *question, const world_life *life)
{
    const bool inside = life->alloc_ticks != ETLHEAP_TICKS_BEFORE &&
                        ns_of(w, life->alloc_ticks) >= question->from_ns;
    const i64 end = end_of(w, question, life);
    const bool freed = end != INT64_MAX && end < question->to_ns;
    return inside ? (freed ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO)
                  : (freed ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AOFO);
}

static bool concerns(const world *w, const workload_asked *question, const world_life *life)
{
    return ns_of(w, life->alloc_ticks) < question->to_ns &&
           end_of(w, question, life) >= question->from_ns;
}

static u64 class_of(u64 size)
{
    u64 class = size == 0 ? 0 : 1;
    while (class != 0 && class <= size / 2)
        class *= 2;
    return class;
}

static void put_key(const true_groups *groups, const world_life *life, etlheap_key key,
                    workload_text *text)
{
    const world *const w = groups->w;
    const world_id *const id = &w->ids.at[life->process];
    u64 frames[2 * WORLD_FRAMES_MAX];
    u32 walk = life->walk;
    if (key == ETLHEAP_KEY_IMPACTING_STACK &&
        type_of(w, groups->question, life) == ETLHEAP_TYPE_AOFI)
        walk = life->free_walk;
    switch (key) {
    case ETLHEAP_KEY_KIND:
        workload_put(text, "%s ", etlheap_kind_name(life->kind));
        break;
    case ETLHEAP_KEY_PROCESS:
        workload_put(text, "%s %u ", id->name, id->pid);
        break;
    case ETLHEAP_KEY_HEAP:
        workload_put(text, "heap %" PRIx64 " ", life->heap);
        break;
    case ETLHEAP_KEY_TYPE:
        workload_put(text, "%s ", etlheap_type_name(type_of(w, groups->question, life)));
        break;
    case ETLHEAP_KEY_FREE_TYPE:
        workload_put(text, "%s ", etlheap_free_type_name(life->free_type));
        break;
    case ETLHEAP_KEY_THREAD:
        workload_put(text, "tid %d ", (int)life->tid);
        break;
    case ETLHEAP_KEY_SIZE_CLASS:
        workload_put(text, "class %" PRIu64 " ", class_of(life->size));
        break;
    default:
        workload_put(text, "[");
        for (u32 i = 0, count = world_frames(w, walk, frames); i < count; i++)
            workload_put(text, "%" PRIx64 " ", frames[i]);
        workload_put(text, "] ");
        break;
    }
}

static true_group *group_of(true_groups *groups, const world_life *life)
{
    workload_text key = { .count = 0 };
    for (u32 i = 0; i < groups->question->key_count; i++)
        put_key(groups, life, groups->question->keys[i], &key);
    for (size_t i = 0; i < groups->at.count; i++) {
        if (strcmp(groups->at.at[i].key, key.at) == 0)
            return &groups->at.at[i];
    }
    true_group fresh = { .key = malloc(key.count + 1) };
    if (fresh.key == NULL || !ETLHEAP_PUSH(&groups->at, fresh))
        abort();
    memcpy(fresh.key, key.at, key.count + 1);
    return &groups->at.at[groups->at.count - 1];
}

static true_groups group_all(const world *w, const workload_asked *question)
{
    true_groups groups = { .w = w, .question = question };
    for (size_t i = 0; i < w->lives.count; i++) {
        const world_life *const life = &w->lives.at[i];
        if (concerns(w, question, life) && !ETLHEAP_PUSH(&group_of(&groups, life)->lives, life))
            abort();
    }
    return groups;
}

static void free_groups(true_groups *groups)
{
    for (size_t i = 0; i < groups->at.count; i++) {
        free(groups->at.at[i].key);
        ETLHEAP_VECTOR_FREE(&groups->at.at[i].lives);
    }
    ETLHEAP_VECTOR_FREE(&groups->at);
}

/* --- sums ------------------------------------------------------------------------------ */

static void outstanding_at(const true_groups *groups, const true_group *group, i64 ns, i64 *count,
                           i64 *size)
{
    *count = *size = 0;
    for (size_t i = 0; i < group->lives.count; i++) {
        const world_life *const life = group->lives.at[i];
        if (ns_of(groups->w, life->alloc_ticks) > ns ||
            end_of(groups->w, groups->question, life) <= ns)
            continue;
        *count += 1;
        *size += (i64)life->size;
    }
}

/* Finds the peak: the curve is highest when the window begins, or after an allocation in it. */
static void find_peak(const true_groups *groups, const true_group *group,
                      const etlheap_time_range *range, i64 *peak_count, i64 *peak_size)
{
    const i64 before = range->from_ns > INT64_MIN ? range->from_ns - 1 : INT64_MIN;
    outstanding_at(groups, group, before, peak_count, peak_size);
    for (size_t i = 0; i < group->lives.count; i++) {
        const i64 ns = ns_of(groups->w, group->lives.at[i]->alloc_ticks);
        if (ns == INT64_MIN || ns < range->from_ns || ns >= range->to_ns)
            continue;
        i64 count, size;
        outstanding_at(groups, group, ns, &count, &size);
        *peak_count = count > *peak_count ? count : *peak_count;
        *peak_size = size > *peak_size ? size : *peak_size;
    }
}

static void add_life(const true_groups *groups, const world_life *life, i64 *measures)
{
    const etlheap_type type = type_of(groups->w, groups->question, life);
    const bool stays = type == ETLHEAP_TYPE_AIFO || type == ETLHEAP_TYPE_AOFO;
    const i64 size = (i64)life->size;
    measures[ETLHEAP_MEASURE_COUNT]++;
    measures[ETLHEAP_MEASURE_SIZE] += size;
    measures[ETLHEAP_MEASURE_IMPACTING_SIZE] += type == ETLHEAP_TYPE_AIFO   ? size
                                                : type == ETLHEAP_TYPE_AOFI ? -size
                                                                            : 0;
    measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] += stays;
    measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] += stays ? size : 0;
    measures[ETLHEAP_MEASURE_REALLOC_COUNT] += life->is_realloc;
}

static void put_measures(workload_text *text, const i64 *measures, u32 last)
{
    for (u32 m = ETLHEAP_MEASURE_COUNT; m <= last; m++)
        workload_put(text, " %" PRId64, measures[m]);
}

void workload_true_rows(const world *w, const workload_asked *question, bool with_peaks,
                        workload_lines *out)
{
    true_groups groups = group_all(w, question);
    i64 totals[ETLHEAP_KIND_COUNT][ETLHEAP_MEASURES_COUNT] = { { 0 } };
    const etlheap_time_range range = { question->from_ns, question->to_ns };
    for (size_t g = 0; g < groups.at.count; g++) {
        const true_group *const group = &groups.at.at[g];
        i64 measures[ETLHEAP_MEASURES_COUNT] = { 0 };
        for (size_t i = 0; i < group->lives.count; i++) {
            add_life(&groups, group->lives.at[i], measures);
            add_life(&groups, group->lives.at[i], totals[group->lives.at[i]->kind]);
        }
        find_peak(&groups, group, &range, &measures[ETLHEAP_MEASURE_PEAK_COUNT],
                  &measures[ETLHEAP_MEASURE_PEAK_SIZE]);
        workload_text text = { .count = 0 };
        put_measures(&text, measures,
                     with_peaks ? ETLHEAP_MEASURE_PEAK_SIZE : ETLHEAP_MEASURE_REALLOC_COUNT);
        workload_line(out, "row %s%s", group->key, text.at);
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        u64 unknown = 0;
        for (size_t i = 0; i < w->ids.count; i++)
            unknown += w->ids.at[i].unknown[kind];
        workload_text text = { .count = 0 };
        put_measures(&text, totals[kind], ETLHEAP_MEASURE_REALLOC_COUNT);
        workload_line(out, "total %s%s unknown frees %" PRIu64, etlheap_kind_name((u8)kind),
                      text.at, unknown);
    }
    free_groups(&groups);
}

/* --- windows --------------------------------------------------------------------------- */

static void true_cell(const true_groups *groups, const true_group *group, u32 window,
                      const etlheap_time_range *range, workload_lines *out)
{
    const workload_asked inside = { .from_ns = range->from_ns,
                                    .to_ns = range->to_ns,
                                    .exit_frees = groups->question->exit_frees };
    etlheap_cell cell = { .peak_count = 0 };
    bool is_there = false;
    for (size_t i = 0; i < group->lives.count; i++) {
        const world_life *const life = group->lives.at[i];
        if (!concerns(groups->w, &inside, life))
            continue;
        const etlheap_type type = type_of(groups->w, &inside, life);
        cell.count[type]++;
        cell.size[type] += (i64)life->size;
        is_there = true;
    }
    if (!is_there)
        return;
    find_peak(groups, group, range, &cell.peak_count, &cell.peak_size);
    workload_text text = { .count = 0 };
    for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
        workload_put(&text, " %" PRId64 "/%" PRId64, cell.count[t], cell.size[t]);
    workload_line(
        out,
        "window %u %s%s out %" PRId64 "/%" PRId64 " peak %" PRId64 "/%" PRId64 " impact %" PRId64,
        window, group->key, text.at, cell.count[ETLHEAP_TYPE_AIFO] + cell.count[ETLHEAP_TYPE_AOFO],
        cell.size[ETLHEAP_TYPE_AIFO] + cell.size[ETLHEAP_TYPE_AOFO], cell.peak_count,
        cell.peak_size, cell.size[ETLHEAP_TYPE_AIFO] - cell.size[ETLHEAP_TYPE_AOFI]);
}

void workload_true_cells(const world *w, const workload_asked *question,
                         const etlheap_windows *windows, workload_lines *out)
{
    true_groups groups = group_all(w, question);
    for (size_t g = 0; g < groups.at.count; g++) {
        for (u32 i = 0; i < windows->window_count; i++)
            true_cell(&groups, &groups.at.at[g], i, &windows->windows[i], out);
    }
    free_groups(&groups);
}

/* --- histograms ------------------------------------------------------------------------ */

/* The largest of 0, 1, 2, 5, 10, 20, ... that is not above a length of time. */
static u64 step_of(u64 ns)
{
    static const u64 factors[] = { 5, 2, 1 };
    u64 power = 1;
    while (ns / power >= 10)
        power *= 10;
    for (size_t i = 0; i < ETL_COUNT_OF(factors); i++) {
        if (factors[i] * power <= ns)
            return factors[i] * power;
    }
    return 0;
}

static void put_bucket_key(const true_groups *groups, const world_life *life,
                           etlheap_histogram_by by, bool by_process, workload_text *key)
{
    const world_id *const id = &groups->w->ids.at[life->process];
    const i64 end = end_of(groups->w, groups->question, life);
    const bool is_open = by == ETLHEAP_HISTOGRAM_LIFETIME &&
                         (end == INT64_MAX || life->alloc_ticks == ETLHEAP_TICKS_BEFORE);
    u64 from = by == ETLHEAP_HISTOGRAM_SIZE ? class_of(life->size) : 0;
    if (by == ETLHEAP_HISTOGRAM_LIFETIME && !is_open)
        from = step_of((u64)(end - ns_of(groups->w, life->alloc_ticks)));
    workload_put(key, "%s %s %u %d from %" PRIu64 ":", etlheap_kind_name(life->kind),
                 by_process ? id->name : "-", by_process ? id->pid : 0, is_open, from);
}

static void add_bucket(true_groups *groups, const char *key, const world_life *life)
{
    for (size_t i = 0; i < groups->at.count; i++) {
        if (strcmp(groups->at.at[i].key, key) == 0) {
            if (!ETLHEAP_PUSH(&groups->at.at[i].lives, life))
                abort();
            return;
        }
    }
    true_group fresh = { .key = malloc(strlen(key) + 1) };
    if (fresh.key == NULL || !ETLHEAP_PUSH(&fresh.lives, life) || !ETLHEAP_PUSH(&groups->at, fresh))
        abort();
    memcpy(fresh.key, key, strlen(key) + 1);
}

void workload_true_buckets(const world *w, const workload_asked *question, etlheap_histogram_by by,
                           workload_lines *out)
{
    true_groups groups = { .w = w, .question = question };
    bool has_process = false;
    for (u32 i = 0; i < question->key_count; i++)
        has_process |= question->keys[i] == ETLHEAP_KEY_PROCESS;
    for (size_t i = 0; i < w->lives.count; i++) {
        workload_text key = { .count = 0 };
        if (!concerns(w, question, &w->lives.at[i]))
            continue;
        put_bucket_key(&groups, &w->lives.at[i], by, has_process, &key);
        add_bucket(&groups, key.at, &w->lives.at[i]);
    }
    for (size_t g = 0; g < groups.at.count; g++) {
        i64 measures[ETLHEAP_MEASURES_COUNT] = { 0 };
        for (size_t i = 0; i < groups.at.at[g].lives.count; i++)
            add_life(&groups, groups.at.at[g].lives.at[i], measures);
        workload_line(out, "%s %" PRId64 "/%" PRId64 " out %" PRId64 "/%" PRId64,
                      groups.at.at[g].key, measures[ETLHEAP_MEASURE_COUNT],
                      measures[ETLHEAP_MEASURE_SIZE], measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT],
                      measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE]);
    }
    free_groups(&groups);
}
