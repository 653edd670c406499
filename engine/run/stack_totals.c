/*
 * stack_totals.c - sums of lifetimes by stack and type, over columns in memory.
 *
 * In: segments of columns and a window. Out: count and size for each type and stack.
 *
 *     rows of a segment ──no branches, vectors──▶ place = type and stack ──▶ totals[place] += size
 *
 * Stack ids are small integers, so a total is a place in an array. A segment is read in blocks of
 * rows: first the place of every row is worked out, then rows are added up. Rows outside the window
 * have a place of their own, which nobody reads. Each thread adds to its own array; sums of
 * integers do not depend on who added what. Invariant: that holds only if no sum overflows. If
 * sizes could (may_overflow), one thread adds in the order of rows and stops at the largest number.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "engine/core/workers.h"
#include "engine/query/query.h"

#define BLOCK_ROWS 512u
#define AHEAD      24u /* rows whose totals are fetched before they are added to */

/* The state of a thread. totals has one place more, for rows that are not selected. */
typedef struct adder {
    etlheap_stack_total *totals;
    u64 size_bits; /* of all sizes, or-ed */
} adder;

typedef struct totals_work {
    const query_plan *plan;
    bool is_plain; /* the window is all that selects */
    u32 places;    /* that are wanted */
    _Atomic u32 next_segment;
    adder *adders;
} totals_work;

static bool is_plain(const etlheap_result *result, const etlheap_query *query);
static void add_segments(void *context, u32 task);
static bool may_overflow(const totals_work *work, u32 jobs, u64 rows);
static void add_saturating(totals_work *work, adder *to);

etl_status etlheap_stack_totals(const etlheap_result *result, const etlheap_query *given,
                                etlheap_stack_total **out, etl_error *err)
{
    *out = NULL;
    etlheap_query own;
    const etlheap_query *const query = &own;
    query_plan plan;
    etl_status status = result_answers(result, RESULT_ASK_COLUMNS, err);
    if (status == ETL_OK)
        status = query_read(given, &own, err);
    if (status != ETL_OK)
        return status;
    status = query_open(&plan, result, query, err);
    if (status != ETL_OK)
        return status;
    u32 jobs = etlheap_workers_jobs(query->jobs);
    jobs = (u32)etl_max_u64(1, etl_min_u64(jobs, result->store.segments.count));
    totals_work work = { .plan = &plan,
                         .is_plain = is_plain(result, query),
                         .places = (etlheap_stack_count(result) + 1) * ETLHEAP_TYPE_CAPACITY,
                         .adders = calloc(jobs, sizeof *work.adders) };
    bool ok = work.adders != NULL;
    for (u32 i = 0; ok && i < jobs; i++) {
        work.adders[i].totals = calloc(work.places + (size_t)1, sizeof *work.adders[i].totals);
        ok = work.adders[i].totals != NULL;
    }
    if (ok) {
        etlheap_workers_run(jobs, jobs, add_segments, &work);
        adder *const sum = &work.adders[0];
        for (u32 i = 1; i < jobs; i++) {
            for (u32 p = 0; p < work.places; p++) {
                sum->totals[p].count += work.adders[i].totals[p].count;
                sum->totals[p].size_bytes += work.adders[i].totals[p].size_bytes;
            }
        }
        if (may_overflow(&work, jobs, result->store.rows))
            add_saturating(&work, sum);
        *out = sum->totals;
        sum->totals = NULL;
    } else {
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    }
    for (u32 i = 0; work.adders != NULL && i < jobs; i++)
        free(work.adders[i].totals);
    free(work.adders);
    query_close(&plan);
    return status;
}

void etlheap_stack_totals_free(etlheap_stack_total *totals)
{
    free(totals);
}

/* Does only the window select? Reservations are not part of the default. */
static bool is_plain(const etlheap_result *result, const etlheap_query *query)
{
    return !result->abilities.reserve && query->kind_to_ticks == NULL && query->kinds == 0 &&
           query->types == 0 && !query->at_end && query->process_count == 0 &&
           query->heap_count == 0 && !query_selects_threads(query) && query->lifetime_min_ns <= 0 &&
           query->lifetime_max_ns == INT64_MAX && query->size_min_bytes == 0 &&
           query->size_max_bytes == UINT64_MAX;
}

static inline u32 place_of(u32 stack, etlheap_type type)
{
    return stack * ETLHEAP_TYPE_CAPACITY + (u32)type;
}

/* AIFO 0, AIFI 1, AOFI 2, AOFO 3: the bits are "outside" and "freed xor outside". */
static void find_places(const query_plan *plan, const etlheap_segment *segment, u32 first,
                        u32 nowhere, u32 places[BLOCK_ROWS])
{
    static_assert(ETLHEAP_TYPE_AIFO == 0 && ETLHEAP_TYPE_AIFI == 1 && ETLHEAP_TYPE_AOFI == 2 &&
                      ETLHEAP_TYPE_AOFO == 3,
                  "types are computed");
    const i64 *const allocs = segment->alloc_ticks + first;
    const i64 *const frees = segment->free_ticks + first;
    const u8 *const how = segment->free_type + first;
    const u32 *const stacks = segment->stack + first;
    const i64 from = plan->from_ticks, to = plan->to_ticks;
    const bool exits_free = plan->query->at_exit_freed;
    for (u32 i = 0; i < BLOCK_ROWS; i++) {
        const bool is_exit = how[i] == ETLHEAP_FREE_PROCESS_EXIT;
        const i64 freed_ticks = (is_exit & !exits_free) != 0 ? ETLHEAP_TICKS_NEVER : frees[i];
        const u32 outside = allocs[i] < from;
        const u32 freed = freed_ticks < to;
        const u32 place = stacks[i] * ETLHEAP_TYPE_CAPACITY + (outside << 1 | (freed ^ outside));
        const bool selected = (allocs[i] < to) & (freed_ticks >= from);
        places[i] = selected ? place : nowhere;
    }
}

static void add_row(const totals_work *work, const etlheap_segment *segment, u32 at, adder *to)
{
    query_row row;
    if (!query_select(work->plan, segment, at, &row))
        return;
    etlheap_stack_total *const total = &to->totals[place_of(segment->stack[at], row.type)];
    total->count++;
    total->size_bytes = etl_sat_add_u64(total->size_bytes, segment->size_bytes[at]);
    to->size_bits |= segment->size_bytes[at];
}

static void add_segment(const totals_work *work, const etlheap_segment *segment, adder *to)
{
    u32 places[BLOCK_ROWS];
    u32 first = 0;
    while (work->is_plain && segment->rows - first >= BLOCK_ROWS) {
        find_places(work->plan, segment, first, work->places, places);
        const u64 *const sizes = segment->size_bytes + first;
        u64 bits = 0;
        for (u32 i = 0; i < BLOCK_ROWS; i++) {
            __builtin_prefetch(&to->totals[places[(i + AHEAD) % BLOCK_ROWS]]);
            etlheap_stack_total *const total = &to->totals[places[i]];
            total->count++;
            total->size_bytes += sizes[i];
            bits |= sizes[i];
        }
        to->size_bits |= bits;
        first += BLOCK_ROWS;
    }
    for (; first < segment->rows; first++)
        add_row(work, segment, first, to);
}

static void add_segments(void *context, u32 task)
{
    totals_work *const work = context;
    const allocation_store *const store = &work->plan->result->store;
    for (;;) {
        const u32 s = atomic_fetch_add_explicit(&work->next_segment, 1, memory_order_relaxed);
        if (s >= store->segments.count)
            return;
        const etlheap_segment segment = store_view(&store->segments.at[s]);
        add_segment(work, &segment, &work->adders[task]);
    }
}

/* Could a sum overflow? The largest size is less than twice the bitwise or of all sizes. */
static bool may_overflow(const totals_work *work, u32 jobs, u64 rows)
{
    u64 bits = 0;
    for (u32 i = 0; i < jobs; i++)
        bits |= work->adders[i].size_bits;
    u64 most;
    return __builtin_mul_overflow(bits, rows, &most);
}

static void add_saturating(totals_work *work, adder *to)
{
    const allocation_store *const store = &work->plan->result->store;
    memset(to->totals, 0, work->places * sizeof *to->totals);
    for (u32 s = 0; s < store->segments.count; s++) {
        const etlheap_segment segment = store_view(&store->segments.at[s]);
        for (u32 at = 0; at < segment.rows; at++)
            add_row(work, &segment, at, to);
    }
}
