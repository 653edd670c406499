/*
 * workload_model.c - computes what a workload's memory did, in the plainest way.
 *
 * In: the operations of a workload. Out: the truth: lifetimes, and sums as JSON.
 *
 * One pass over the operations in time order. Everything that lives is an entry in one array, found
 * by looking at all of them. The rules:
 *
 *   heap   An allocation at an address that still lives in the same heap displaces the older
 *          block: the first Free within a millisecond ends the older one, the second the newer
 *          one; without one, the older block ended when it was displaced. A moving realloc marks
 *          the block that its Alloc opened, and supplies Alloc or Free if one is missing; a block
 *          that another thread was given at the old address within the last millisecond is not
 *          the one that moved. A realloc in place ends the block and opens another one. A Free up
 *          to two milliseconds after the process ended still ends its block.
 *   range  A commit opens lifetimes for what is not yet committed. A decommit ends the part it
 *          covers; what is left of a range goes on beside it, with its own start. A release
 *          without a size covers the reservation.
 *   reservation  One over another replaces all of it: its release was lost. A release ends the
 *          part that it covers. Commits and decommits leave it as it is.
 *   all    A heap's destruction ends its blocks and extents, a process's end everything it has.
 *
 * Invariant: it is computed from operations, never from the bytes of the trace, and shares no code
 * with the engine.
 */
#include "tests/build/workload_inside.h"

#include <stdlib.h>

#define DISPLACED_PER_SECOND 1000u /* 1 ms */
#define LATE_PER_SECOND      500u  /* 2 ms */

/* A lifetime under construction. */
typedef struct living {
    workload_lifetime life;
    i64 displaced; /* time of the allocation over it; 0: none */
    bool open;
} living;

typedef struct model {
    const workload *w;
    living *all;
    u32 count;
    u32 capacity;
    u32 *open; /* indices of the open ones */
    u32 open_count;
    u32 open_capacity;
    u64 *unknown_frees;
    workload_unknown_free *unknown;
    u32 unknown_count, unknown_capacity;
} model;

static void run_op(model *m, const workload_op *op);
static void heap_alloc(model *m, const workload_op *op);
static void heap_free(model *m, const workload_op *op);
static bool free_late(model *m, const workload_op *op);
static void note_unknown(model *m, const workload_op *op);
static void name_freer(workload_lifetime *life, const workload_op *op);
static void heap_realloc(model *m, const workload_op *op);
static void realloc_in_place(model *m, const workload_op *op);
static void realloc_moving(model *m, const workload_op *op);
static void heap_destroy(model *m, const workload_op *op);
static void process_end(model *m, const workload_op *op);
static void virtual_alloc(model *m, const workload_op *op);
static void reserve(model *m, const workload_op *op);
static void virtual_free(model *m, const workload_op *op);
static void commit(model *m, const workload_op *op, workload_kind kind, u64 heap);
static void decommit(model *m, const workload_op *op, workload_kind kind, u64 heap, u64 size);
static void cut(model *m, u32 index, const workload_op *op, u64 to);
static void decide_displaced(model *m, i64 ticks);
static u32 find_block(const model *m, const workload_op *op, u64 address, bool displaced);
static u32 open_life(model *m, const workload_lifetime *life);
static void close_life(model *m, u32 index, i64 ticks, workload_free_type how);
static void free_life(model *m, u32 index, const workload_op *op);
static workload_lifetime life_of(const workload_op *op, workload_kind kind);
static bool is_range_of(const living *l, const workload_op *op, workload_kind kind, u64 heap);
static void *grow(void *array, u32 count, u32 *capacity, size_t element);

workload_truth workload_truth_of(const workload *w)
{
    model m = { .w = w };
    m.unknown_frees = calloc(w->process_count + 1, sizeof *m.unknown_frees);
    if (m.unknown_frees == NULL)
        abort();
    for (u32 i = 0; i < w->op_count; i++) {
        decide_displaced(&m, w->ops[i].ticks);
        run_op(&m, &w->ops[i]);
    }
    decide_displaced(&m, INT64_MAX);

    workload_truth truth = { .unknown_frees = m.unknown_frees,
                             .process_count = w->process_count,
                             .unknown = m.unknown,
                             .unknown_count = m.unknown_count,
                             .capacity = m.count };
    truth.lifetimes = malloc((m.count + 1) * sizeof *truth.lifetimes);
    truth.reservations = malloc((m.count + 1) * sizeof *truth.reservations);
    if (truth.lifetimes == NULL || truth.reservations == NULL)
        abort();
    for (u32 i = 0; i < m.count; i++) {
        if (m.all[i].life.kind == WORKLOAD_KIND_RESERVE)
            truth.reservations[truth.reservation_count++] = m.all[i].life;
        else
            truth.lifetimes[truth.count++] = m.all[i].life;
    }
    free(m.all);
    free(m.open);
    return truth;
}

void workload_truth_free(workload_truth *truth)
{
    free(truth->lifetimes);
    free(truth->reservations);
    free(truth->unknown_frees);
    free(truth->unknown);
    *truth = (workload_truth){ 0 };
}

static void run_op(model *m, const workload_op *op)
{
    switch ((workload_op_kind)op->kind) {
    case WORKLOAD_HEAP_ALLOC:
        heap_alloc(m, op);
        break;
    case WORKLOAD_HEAP_FREE:
        heap_free(m, op);
        break;
    case WORKLOAD_HEAP_REALLOC:
        heap_realloc(m, op);
        break;
    case WORKLOAD_HEAP_DESTROY:
        heap_destroy(m, op);
        break;
    case WORKLOAD_HEAP_EXPAND:
        commit(m, op, WORKLOAD_KIND_EXTENT, op->heap);
        break;
    case WORKLOAD_HEAP_CONTRACT:
        decommit(m, op, WORKLOAD_KIND_EXTENT, op->heap, op->size);
        break;
    case WORKLOAD_VIRTUAL_ALLOC:
        virtual_alloc(m, op);
        break;
    case WORKLOAD_VIRTUAL_FREE:
        virtual_free(m, op);
        break;
    case WORKLOAD_PROCESS_END:
        process_end(m, op);
        break;
    default:
        break;
    }
}

/* --- heap --- */

static void heap_alloc(model *m, const workload_op *op)
{
    const u32 older = find_block(m, op, op->address, false);
    if (older != WORKLOAD_NONE)
        m->all[older].displaced = op->ticks;
    const workload_lifetime life = life_of(op, WORKLOAD_KIND_HEAP);
    open_life(m, &life);
}

static void heap_free(model *m, const workload_op *op)
{
    u32 block = find_block(m, op, op->address, true);
    if (block == WORKLOAD_NONE)
        block = find_block(m, op, op->address, false);
    if (block != WORKLOAD_NONE)
        free_life(m, block, op);
    else if (!free_late(m, op))
        note_unknown(m, op);
}

static void note_unknown(model *m, const workload_op *op)
{
    m->unknown_frees[op->process]++;
    m->unknown = grow(m->unknown, m->unknown_count, &m->unknown_capacity, sizeof *m->unknown);
    m->unknown[m->unknown_count++] =
        (workload_unknown_free){ .process = op->process,
                                 .tid = op->tid,
                                 .stack = op->halves != 0 ? op->stack : WORKLOAD_NONE,
                                 .heap = op->heap,
                                 .address = op->address,
                                 .ticks = op->ticks };
}

/* Applies the Free of a block that its process's end has just closed. */
static bool free_late(model *m, const workload_op *op)
{
    const i64 limit = (i64)(m->w->clock_hz / LATE_PER_SECOND);
    for (u32 i = 0; i < m->count; i++) {
        workload_lifetime *const life = &m->all[i].life;
        const bool same = life->kind == WORKLOAD_KIND_HEAP && life->process == op->process &&
                          life->heap == op->heap && life->address == op->address;
        if (same && life->ft == WORKLOAD_FREE_PROCESS_EXIT && op->ticks - life->f <= limit) {
            life->f = op->ticks;
            life->ft = WORKLOAD_FREE_FREE;
            name_freer(life, op);
            return true;
        }
    }
    return false;
}

static bool is_of_block(const workload_op *op)
{
    return op->kind == WORKLOAD_HEAP_ALLOC || op->kind == WORKLOAD_HEAP_FREE ||
           op->kind == WORKLOAD_HEAP_REALLOC;
}

/* The Free that a moving realloc logged just before itself; NULL if it is lost. */
static const workload_op *free_of_realloc(const model *m, const workload_op *op)
{
    const workload_op *before = op;
    while (before-- > m->w->ops) {
        if (before->tid == op->tid && is_of_block(before))
            return before->kind == WORKLOAD_HEAP_FREE && before->process == op->process &&
                           before->heap == op->heap && before->address == op->old_address
                       ? before
                       : NULL;
    }
    return NULL;
}

/* Without a stack of its own, that Free has the realloc's. */
static void name_mover(model *m, const workload_op *op)
{
    const workload_op *const freed = free_of_realloc(m, op);
    if (freed == NULL || freed->halves != 0 || op->halves == 0)
        return;
    for (u32 i = 0; i < m->count; i++) {
        workload_lifetime *const life = &m->all[i].life;
        if (life->kind == WORKLOAD_KIND_HEAP && life->process == op->process &&
            life->heap == op->heap && life->address == freed->address &&
            life->ft == WORKLOAD_FREE_FREE && life->f == freed->ticks &&
            life->free_tid == freed->tid)
            life->free_stack = op->stack;
    }
    for (u32 i = 0; i < m->unknown_count; i++) {
        workload_unknown_free *const unknown = &m->unknown[i];
        if (unknown->process == op->process && unknown->heap == op->heap &&
            unknown->address == freed->address && unknown->ticks == freed->ticks)
            unknown->stack = op->stack;
    }
}

static void heap_realloc(model *m, const workload_op *op)
{
    if (op->old_address == op->address || op->old_address == 0)
        realloc_in_place(m, op);
    else
        realloc_moving(m, op);
}

static void realloc_in_place(model *m, const workload_op *op)
{
    const u32 block = find_block(m, op, op->address, false);
    if (block != WORKLOAD_NONE)
        free_life(m, block, op);
    workload_lifetime life = life_of(op, WORKLOAD_KIND_HEAP);
    life.is_realloc = true;
    open_life(m, &life);
}

/* Alloc(new) and Free(old) normally came just before. */
static void realloc_moving(model *m, const workload_op *op)
{
    const u32 block = find_block(m, op, op->address, false);
    if (block != WORKLOAD_NONE && m->all[block].life.size == op->size) {
        m->all[block].life.is_realloc = true;
    } else {
        workload_lifetime life = life_of(op, WORKLOAD_KIND_HEAP);
        life.is_realloc = true;
        open_life(m, &life);
    }
    name_mover(m, op);
    const u32 old = find_block(m, op, op->old_address, false);
    if (old == WORKLOAD_NONE)
        return;
    const workload_lifetime *const life = &m->all[old].life;
    const i64 limit = (i64)(m->w->clock_hz / DISPLACED_PER_SECOND);
    if (life->tid == op->tid || op->ticks - life->a > limit)
        free_life(m, old, op);
}

static void heap_destroy(model *m, const workload_op *op)
{
    for (u32 i = m->open_count; i-- > 0;) {
        const living *const l = &m->all[m->open[i]];
        const bool in_heap = l->life.kind != WORKLOAD_KIND_VIRTUALALLOC &&
                             l->life.kind != WORKLOAD_KIND_RESERVE &&
                             l->life.process == op->process && l->life.heap == op->heap;
        if (in_heap && l->displaced != 0)
            close_life(m, m->open[i], l->displaced, WORKLOAD_FREE_FREE);
        else if (in_heap)
            close_life(m, m->open[i], op->ticks, WORKLOAD_FREE_HEAP_DESTROY);
    }
}

static void process_end(model *m, const workload_op *op)
{
    for (u32 i = m->open_count; i-- > 0;) {
        const living *const l = &m->all[m->open[i]];
        if (l->life.process != op->process)
            continue;
        if (l->displaced != 0)
            close_life(m, m->open[i], l->displaced, WORKLOAD_FREE_FREE);
        else
            close_life(m, m->open[i], op->ticks, WORKLOAD_FREE_PROCESS_EXIT);
    }
}

/* Blocks whose Free did not come in time ended when they were displaced. */
static void decide_displaced(model *m, i64 ticks)
{
    const i64 limit = (i64)(m->w->clock_hz / DISPLACED_PER_SECOND);
    for (u32 i = m->open_count; i-- > 0;) {
        const living *const l = &m->all[m->open[i]];
        if (l->displaced != 0 && ticks - limit > l->displaced)
            close_life(m, m->open[i], l->displaced, WORKLOAD_FREE_FREE);
    }
}

/* --- ranges --- */

static void virtual_alloc(model *m, const workload_op *op)
{
    if (op->flags & ETL_BUILD_RESERVE)
        reserve(m, op);
    if (op->flags & ETL_BUILD_COMMIT)
        commit(m, op, WORKLOAD_KIND_VIRTUALALLOC, 0);
}

static void reserve(model *m, const workload_op *op)
{
    for (u32 i = m->open_count; i-- > 0;) {
        const workload_lifetime *const l = &m->all[m->open[i]].life;
        const bool overlaps =
            l->address < op->address + op->size && op->address < l->address + l->size;
        if (overlaps && is_range_of(&m->all[m->open[i]], op, WORKLOAD_KIND_RESERVE, 0))
            close_life(m, m->open[i], op->ticks, WORKLOAD_FREE_FREE);
    }
    const workload_lifetime life = life_of(op, WORKLOAD_KIND_RESERVE);
    open_life(m, &life);
}

static void virtual_free(model *m, const workload_op *op)
{
    u64 size = op->size;
    for (u32 i = 0; i < m->open_count && size == 0; i++) {
        const workload_lifetime *const l = &m->all[m->open[i]].life;
        if (l->address == op->address &&
            is_range_of(&m->all[m->open[i]], op, WORKLOAD_KIND_RESERVE, 0))
            size = l->size;
    }
    if (op->flags & ETL_BUILD_RELEASE)
        decommit(m, op, WORKLOAD_KIND_RESERVE, 0, size);
    decommit(m, op, WORKLOAD_KIND_VIRTUALALLOC, 0, size);
}

/* Walks from gap to gap between the committed ranges. */
static void commit(model *m, const workload_op *op, workload_kind kind, u64 heap)
{
    const u64 end = op->address + op->size;
    u64 at = op->address;
    while (at < end) {
        u64 gap_end = end;
        u64 covered_to = 0;
        for (u32 i = 0; i < m->open_count; i++) {
            const living *const l = &m->all[m->open[i]];
            if (!is_range_of(l, op, kind, heap))
                continue;
            const u64 l_end = l->life.address + l->life.size;
            if (l->life.address <= at && l_end > at)
                covered_to = l_end;
            else if (l->life.address > at && l->life.address < gap_end)
                gap_end = l->life.address;
        }
        if (covered_to > 0) {
            at = covered_to;
            continue;
        }
        workload_lifetime life = life_of(op, kind);
        life.address = at;
        life.size = gap_end - at;
        open_life(m, &life);
        at = gap_end;
    }
}

static void decommit(model *m, const workload_op *op, workload_kind kind, u64 heap, u64 size)
{
    const u64 end = op->address + size;
    const u32 open_count = m->open_count;
    u32 *const hit = malloc((open_count + 1) * sizeof *hit);
    if (hit == NULL)
        abort();
    u32 hit_count = 0;
    for (u32 i = 0; i < open_count; i++) {
        const living *const l = &m->all[m->open[i]];
        const bool meets = l->life.address < end && l->life.address + l->life.size > op->address;
        if (is_range_of(l, op, kind, heap) && meets)
            hit[hit_count++] = m->open[i];
    }
    for (u32 i = 0; i < hit_count; i++)
        cut(m, hit[i], op, end);
    free(hit);
}

/* Ends the part of a range inside [from, to); the rest becomes ranges of its own. */
static void cut(model *m, u32 index, const workload_op *op, u64 to)
{
    const u64 from = op->address;
    const workload_lifetime whole = m->all[index].life;
    const u64 end = whole.address + whole.size;
    const u64 cut_from = from > whole.address ? from : whole.address;
    const u64 cut_to = to < end ? to : end;
    m->all[index].life.address = cut_from;
    m->all[index].life.size = cut_to - cut_from;
    free_life(m, index, op);
    if (cut_from > whole.address) {
        workload_lifetime left = whole;
        left.size = cut_from - whole.address;
        open_life(m, &left);
    }
    if (cut_to < end) {
        workload_lifetime right = whole;
        right.address = cut_to;
        right.size = end - cut_to;
        open_life(m, &right);
    }
}

static bool is_range_of(const living *l, const workload_op *op, workload_kind kind, u64 heap)
{
    return l->life.kind == kind && l->life.process == op->process && l->life.heap == heap;
}

/* --- lifetimes --- */

/* The open block at an address: the displaced one, or the one that lives there. */
static u32 find_block(const model *m, const workload_op *op, u64 address, bool displaced)
{
    for (u32 i = 0; i < m->open_count; i++) {
        const living *const l = &m->all[m->open[i]];
        const bool same = l->life.kind == WORKLOAD_KIND_HEAP && l->life.process == op->process &&
                          l->life.heap == op->heap && l->life.address == address;
        if (same && (l->displaced != 0) == displaced)
            return m->open[i];
    }
    return WORKLOAD_NONE;
}

static workload_lifetime life_of(const workload_op *op, workload_kind kind)
{
    return (workload_lifetime){
        .kind = kind,
        .process = op->process,
        .tid = op->tid,
        .heap = kind == WORKLOAD_KIND_VIRTUALALLOC || kind == WORKLOAD_KIND_RESERVE ? 0 : op->heap,
        .address = op->address,
        .size = op->size,
        .a = op->ticks,
        .stack = op->halves != 0 ? op->stack : WORKLOAD_NONE,
        .free_tid = WORKLOAD_NONE,
        .free_stack = WORKLOAD_NONE,
    };
}

static u32 open_life(model *m, const workload_lifetime *life)
{
    m->all = grow(m->all, m->count, &m->capacity, sizeof *m->all);
    m->open = grow(m->open, m->open_count, &m->open_capacity, sizeof *m->open);
    m->all[m->count] = (living){ .life = *life, .open = true };
    m->open[m->open_count++] = m->count;
    return m->count++;
}

static void close_life(model *m, u32 index, i64 ticks, workload_free_type how)
{
    living *const l = &m->all[index];
    assert(l->open);
    l->open = false;
    l->life.f = ticks;
    l->life.ft = how;
    for (u32 i = 0; i < m->open_count; i++) {
        if (m->open[i] == index) {
            m->open[i] = m->open[--m->open_count];
            return;
        }
    }
}

static void name_freer(workload_lifetime *life, const workload_op *op)
{
    life->free_tid = op->tid;
    life->free_stack = op->halves != 0 ? op->stack : WORKLOAD_NONE;
}

/* Ends a lifetime by an operation, not by the end of a heap, a process or by another block. */
static void free_life(model *m, u32 index, const workload_op *op)
{
    name_freer(&m->all[index].life, op);
    close_life(m, index, op->ticks, WORKLOAD_FREE_FREE);
}

static void *grow(void *array, u32 count, u32 *capacity, size_t element)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 256;
    void *const grown = realloc(array, *capacity * element);
    if (grown == NULL)
        abort();
    return grown;
}
