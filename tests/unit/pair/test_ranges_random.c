/*
 * Goal: ranges.c treats any sequence of commits, frees, rundowns and extents as
 * the plain rules do, and in a time that does not depend on what lies there.
 * Method: random events against a model with one element per page, which says
 * who committed the page and when. Rows are compared page by page, so it does
 * not matter how the engine cuts a lifetime into ranges; test_ranges.c sees to
 * that. The model also knows which pages were committed together (a piece),
 * because a release of an unseen reservation frees what is left of one in a row, and who
 * reserved a page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/ranges.h"
#include "tests/support/engine_check.h"

#define PROCESSES 2u
#define HEAPS     2u                        /* with extents */
#define SPACES    (PROCESSES * (HEAPS + 1)) /* independent address spaces */
#define PAGES     3000u
#define PAGE      ((u64)4096)
#define EVENTS    6000u

typedef struct page {
    bool committed;
    i64 alloc_ticks;
    stack_ref stack;
    u32 tid;
    u32 piece;
    u32 reservation; /* 0: none */
    i64 reserve_ticks;
    stack_ref reserve_stack;
    u32 reserve_tid;
} page;

/* A reservation that another one took the place of. */
typedef struct replaced {
    u32 start; /* its first page */
    const memory_event *by;
} replaced;

typedef struct space {
    page pages[PAGES];
    u32 process;
    u64 heap; /* 0: the space of VirtualAlloc */
    ETLHEAP_VECTOR(replaced) replaced;
} space;

typedef struct happening {
    memory_event event;
    bool destroys; /* the heap of the event, instead */
    u32 space;
} happening;

typedef struct run {
    engine_check check;
    range_table table;
    space spaces[SPACES];
    ETLHEAP_VECTOR(happening) happenings;
    ETLHEAP_VECTOR(lifetime) expected; /* one row per page */
    u64 unknown_frees[PROCESSES + 1][ETLHEAP_KIND_COUNT];
    u32 last_piece, last_reservation;
    u64 seed;
} run;

/* --- the model --- */

static void model_close(run *r, space *s, u32 at, i64 ticks, etlheap_free_type type)
{
    page *const p = &s->pages[at];
    const lifetime row = { .alloc_ticks = p->alloc_ticks,
                           .free_ticks = ticks,
                           .address = at * PAGE,
                           .size = PAGE,
                           .heap = s->heap,
                           .process = s->process,
                           .stack = p->stack,
                           .thread = p->tid,
                           .kind = s->heap == 0 ? ETLHEAP_KIND_VIRTUALALLOC : ETLHEAP_KIND_EXTENT,
                           .free_type = (u8)type };
    assert_true(ETLHEAP_PUSH(&r->expected, row));
    p->committed = false;
}

static void model_commit(run *r, space *s, const memory_event *event, u32 start, u32 end)
{
    bool goes_on = false;
    for (u32 at = start; at < end; at++) {
        page *const p = &s->pages[at];
        if (p->committed) {
            goes_on = false;
            continue;
        }
        r->last_piece += !goes_on;
        goes_on = true;
        p->committed = true;
        p->alloc_ticks = event->ticks;
        p->stack = event->stack;
        p->tid = event->tid;
        p->piece = r->last_piece;
    }
}

static void model_count_unknown(run *r, const space *s, u32 start, u32 end)
{
    bool known = start == end;
    for (u32 at = start; at < end; at++)
        known |= s->pages[at].committed || s->pages[at].reservation != 0;
    r->unknown_frees[s->process][s->heap == 0 ? ETLHEAP_KIND_VIRTUALALLOC : ETLHEAP_KIND_EXTENT] +=
        !known;
}

static void model_remove(run *r, space *s, u32 start, u32 end, i64 ticks)
{
    for (u32 at = start; at < end; at++) {
        if (s->pages[at].committed)
            model_close(r, s, at, ticks, ETLHEAP_FREE_FREE);
    }
}

static void model_unreserve(run *r, space *s, u32 at, i64 ticks, etlheap_free_type type)
{
    page *const p = &s->pages[at];
    const lifetime row = { .alloc_ticks = p->reserve_ticks,
                           .free_ticks = ticks,
                           .address = at * PAGE,
                           .size = PAGE,
                           .process = s->process,
                           .stack = p->reserve_stack,
                           .thread = p->reserve_tid,
                           .kind = ETLHEAP_KIND_RESERVE,
                           .free_type = (u8)type };
    assert_true(p->reservation != 0 && ETLHEAP_PUSH(&r->expected, row));
    p->reservation = 0;
}

static void model_forget(run *r, space *s, u32 reservation, i64 ticks)
{
    for (u32 at = 0; at < PAGES && reservation != 0; at++) {
        if (s->pages[at].reservation == reservation)
            model_unreserve(r, s, at, ticks, ETLHEAP_FREE_FREE);
    }
}

static void model_take(run *r, space *s, const memory_event *event, u32 at, bool goes_on)
{
    page *const p = &s->pages[at];
    r->last_reservation += !goes_on;
    p->reservation = r->last_reservation;
    p->reserve_ticks = event->ticks;
    p->reserve_stack = event->stack;
    p->reserve_tid = event->tid;
}

static void model_reserve(run *r, space *s, const memory_event *event, u32 start, u32 end)
{
    for (u32 at = start; at < end; at++)
        model_forget(r, s, s->pages[at].reservation, event->ticks);
    for (u32 at = start; at < end; at++)
        model_take(r, s, event, at, at > start);
}

/* In place of a placeholder: what is reserved stays so. */
static void model_fill(run *r, space *s, const memory_event *event, u32 start, u32 end)
{
    bool goes_on = false;
    for (u32 at = start; at < end; at++) {
        const bool is_gap = s->pages[at].reservation == 0;
        if (is_gap)
            model_take(r, s, event, at, goes_on);
        goes_on = is_gap;
    }
}

/* The reservation of the same call has the commit's stack and thread. */
static void model_name(space *s, const memory_event *event, u32 start, u32 end)
{
    bool is_whole = true;
    for (u32 at = start; at < end; at++)
        is_whole &= s->pages[at].reservation != 0 && s->pages[at].reserve_ticks == event->ticks;
    for (u32 at = start; is_whole && at < end; at++) {
        page *const p = &s->pages[at];
        p->reserve_stack = event->stack;
        p->reserve_tid = event->tid;
    }
}

/* Nobody can reserve what is in use: what was there was released unseen. */
static void model_replace(run *r, space *s, const memory_event *event, u32 start, u32 end)
{
    u32 last = 0;
    for (u32 at = start; at < end; at++) {
        const u32 reservation = s->pages[at].reservation;
        u32 first = at;
        while (reservation != 0 && first > 0 && s->pages[first - 1].reservation == reservation)
            first--;
        if (reservation != 0 && reservation != last)
            assert_true(ETLHEAP_PUSH(&s->replaced, ((replaced){ first, event })));
        last = reservation;
    }
    model_remove(r, s, start, end, event->ticks);
}

/* Is it the release that was missing then, logged late on another CPU? */
static bool model_is_late(space *s, const memory_event *event, u32 start)
{
    for (size_t i = 0; i < s->replaced.count; i++) {
        const replaced *const old = &s->replaced.at[i];
        if (old->by == NULL || old->start != start || old->by->tid == event->tid ||
            old->by->cpu == event->cpu || event->ticks - old->by->ticks > 2 * CHECK_MS)
            continue;
        s->replaced.at[i].by = NULL;
        return true;
    }
    return false;
}

static u32 end_of_reservation(const space *s, u32 start)
{
    u32 end = start;
    while (end < PAGES && s->pages[end].reservation == s->pages[start].reservation)
        end++;
    return end;
}

static u32 end_of_piece(const space *s, u32 start)
{
    u32 end = start;
    while (end < PAGES && s->pages[end].committed && s->pages[end].piece == s->pages[start].piece)
        end++;
    return end;
}

/* What is left behind the end is a reservation of its own. */
static void model_release_pages(run *r, space *s, u32 start, u32 end, i64 ticks)
{
    const u32 last = start == end ? 0 : s->pages[end - 1].reservation;
    for (u32 at = start; at < end; at++) {
        if (s->pages[at].reservation != 0)
            model_unreserve(r, s, at, ticks, ETLHEAP_FREE_FREE);
    }
    const u32 fresh = ++r->last_reservation;
    for (u32 at = end; last != 0 && at < PAGES && s->pages[at].reservation == last; at++)
        s->pages[at].reservation = fresh;
}

/* Without a size, a release or decommit means all that begins there. */
static u32 model_end_of_free(run *r, const space *s, u32 start, u32 end)
{
    const u32 reservation = s->pages[start].reservation;
    const bool starts_here =
        reservation != 0 && (start == 0 || s->pages[start - 1].reservation != reservation);
    model_count_unknown(r, s, start, start == end ? start + 1 : end);
    if (start != end)
        return end;
    return starts_here ? end_of_reservation(s, start) : end_of_piece(s, start);
}

static void model_release(run *r, space *s, u32 start, u32 end, i64 ticks)
{
    end = model_end_of_free(r, s, start, end);
    model_remove(r, s, start, end, ticks);
    model_release_pages(r, s, start, end, ticks);
}

static void model_rundown(run *r, space *s, u32 start, u32 end, u32 committed)
{
    const memory_event before = { .ticks = ETLHEAP_TICKS_BEFORE, .tid = ETL_NO_ID };
    bool reserved = false;
    u32 known = 0;
    for (u32 at = start; at < end; at++) {
        reserved |= s->pages[at].reservation != 0;
        known += s->pages[at].committed;
    }
    if (!reserved)
        model_reserve(r, s, &before, start, end);
    for (u32 at = start; at < end; at++) {
        u32 gap_end = at;
        for (; gap_end < end && !s->pages[gap_end].committed && known < committed; known++)
            gap_end++;
        model_commit(r, s, &before, at, gap_end);
        at = gap_end > at ? gap_end - 1 : at;
    }
}

static void model_end(run *r, space *s, i64 ticks, etlheap_free_type type)
{
    for (u32 at = 0; at < PAGES; at++) {
        if (s->pages[at].committed)
            model_close(r, s, at, ticks, type);
        if (s->heap == 0 && s->pages[at].reservation != 0)
            model_unreserve(r, s, at, ticks, type);
    }
}

static void model_apply(run *r, const happening *h)
{
    const memory_event *const event = &h->event;
    space *const s = &r->spaces[h->space];
    const u32 start = (u32)(event->address / PAGE);
    const u32 end = start + (u32)(event->size / PAGE);
    switch ((memory_op)event->op) {
    case OP_EXPAND:
        model_commit(r, s, event, start, end);
        for (u32 at = start; at < end; at++)
            s->pages[at].reservation = 1; /* the heap has had it */
        break;
    case OP_COMMIT:
        model_commit(r, s, event, start, end);
        model_name(s, event, start, end);
        break;
    case OP_DECOMMIT:
        model_remove(r, s, start, model_end_of_free(r, s, start, end), event->ticks);
        break;
    case OP_CONTRACT:
        model_count_unknown(r, s, start, end);
        model_remove(r, s, start, end, event->ticks);
        break;
    case OP_RESERVE:
    case OP_RESERVE_ALONE:
        if (event->heap != 0) {
            model_fill(r, s, event, start, end);
            break;
        }
        model_replace(r, s, event, start, end);
        model_reserve(r, s, event, start, end);
        break;
    case OP_RELEASE:
        if (!model_is_late(s, event, start))
            model_release(r, s, start, end, event->ticks);
        break;
    default:
        model_rundown(r, s, start, start + (u32)(event->heap / PAGE), (u32)(event->size / PAGE));
        break;
    }
}

/* --- both sides --- */

/* A call that also commits has its stack, and its thread if that is late, with the commit. */
static void invent_reservation(run *r, happening *h)
{
    const bool commits = engine_check_random(&r->seed, 2) == 0;
    happening first = *h;
    first.event.op = commits ? OP_RESERVE : OP_RESERVE_ALONE;
    first.event.heap = engine_check_random(&r->seed, 3) == 0;
    if (!commits) {
        *h = first;
        return;
    }
    first.event.stack = STACK_NONE;
    assert_true(ETLHEAP_PUSH(&r->happenings, first));
    h->event.op = OP_COMMIT;
}

static void invent(run *r)
{
    static const u8 virtual_ops[] = { OP_COMMIT,   OP_COMMIT,        OP_COMMIT,     OP_COMMIT,
                                      OP_COMMIT,   OP_COMMIT,        OP_RESERVE,    OP_RESERVE,
                                      OP_DECOMMIT, OP_DECOMMIT,      OP_DECOMMIT,   OP_RELEASE,
                                      OP_RELEASE,  OP_RUNDOWN_START, OP_RUNDOWN_END };
    static const u8 extent_ops[] = { OP_EXPAND, OP_EXPAND, OP_CONTRACT };
    i64 ticks = CHECK_START;
    for (u32 i = 0; i < EVENTS; i++) {
        const u32 index = engine_check_random(&r->seed, SPACES);
        const space *const s = &r->spaces[index];
        const u32 longest = engine_check_random(&r->seed, 40) == 0 ? 600 : 4;
        const u32 start = engine_check_random(&r->seed, PAGES - longest);
        const u32 count = 1 + engine_check_random(&r->seed, longest);
        ticks += 1 + engine_check_random(&r->seed, 1000);
        happening h = { .space = index,
                        .event = { .ticks = ticks,
                                   .address = start * PAGE,
                                   .size = count * PAGE,
                                   .heap = s->heap,
                                   .pid = s->process,
                                   .tid = 1 + engine_check_random(&r->seed, 9),
                                   .cpu = (u16)engine_check_random(&r->seed, 3),
                                   .stack = i + 1 } };
        if (s->heap == 0) {
            h.event.op = virtual_ops[engine_check_random(&r->seed, ETL_COUNT_OF(virtual_ops))];
            if (h.event.op == OP_RELEASE && engine_check_random(&r->seed, 2) == 0)
                h.event.size = 0;
            if (h.event.op == OP_RUNDOWN_START || h.event.op == OP_RUNDOWN_END) {
                h.event.heap = h.event.size;
                h.event.size = engine_check_random(&r->seed, count + 3) * PAGE;
            }
            if (h.event.op == OP_RESERVE)
                invent_reservation(r, &h);
        } else {
            h.event.op = extent_ops[engine_check_random(&r->seed, ETL_COUNT_OF(extent_ops))];
            h.destroys = engine_check_random(&r->seed, 200) == 0;
        }
        assert_true(ETLHEAP_PUSH(&r->happenings, h));
    }
}

/* The next heap of the handle has no addresses yet. */
static void model_destroy(run *r, space *s, i64 ticks)
{
    model_end(r, s, ticks, ETLHEAP_FREE_HEAP_DESTROY);
    for (u32 at = 0; s->heap != 0 && at < PAGES; at++)
        s->pages[at].reservation = 0;
}

static void run_model(run *r, i64 end_ticks)
{
    for (size_t i = 0; i < r->happenings.count; i++) {
        const happening *const h = &r->happenings.at[i];
        if (h->destroys)
            model_destroy(r, &r->spaces[h->space], h->event.ticks);
        else
            model_apply(r, h);
    }
    for (u32 i = 0; i < SPACES; i++) {
        if (r->spaces[i].process == 1)
            model_end(r, &r->spaces[i], end_ticks, ETLHEAP_FREE_PROCESS_EXIT);
        else
            model_end(r, &r->spaces[i], ETLHEAP_TICKS_NEVER, ETLHEAP_FREE_NONE);
    }
}

/* Slices of random length; their destructions are known before their events. */
static void run_engine(run *r, i64 end_ticks)
{
    for (size_t first = 0; first < r->happenings.count;) {
        size_t end = first + 1 + engine_check_random(&r->seed, 200);
        end = end < r->happenings.count ? end : r->happenings.count;
        for (size_t i = first; i < end; i++) {
            const happening *const h = &r->happenings.at[i];
            if (h->destroys)
                engine_check_destroy(&r->check, h->event.pid, h->event.heap, h->event.ticks);
        }
        for (; first < end; first++) {
            const happening *const h = &r->happenings.at[first];
            if (!h->destroys)
                ranges_apply(&r->table, &r->check.context, &h->event, h->event.pid, &r->check.out);
        }
        if (engine_check_random(&r->seed, 2) == 0)
            ranges_sweep(&r->table, &r->check.context, r->happenings.at[end - 1].event.ticks + 1,
                         &r->check.out);
    }
    engine_check_process(&r->check, ETL_EVENT_PROCESS_END, 1, end_ticks, "app.exe", 1);
    ranges_finish(&r->table, &r->check.context, &r->check.out);
}

/* Each row becomes as many as it has pages. */
static void compare_page_by_page(run *r)
{
    ETLHEAP_VECTOR(lifetime) pages = { 0 };
    for (size_t i = 0; i < r->check.out.rows.count; i++) {
        lifetime row = r->check.out.rows.at[i];
        const u64 end = row.address + row.size;
        assert_true(row.size > 0 && row.size % PAGE == 0);
        for (row.size = PAGE; row.address < end; row.address += PAGE)
            assert_true(ETLHEAP_PUSH(&pages, row));
    }
    engine_check_same_rows(pages.at, pages.count, r->expected.at, r->expected.count);
    ETLHEAP_VECTOR_FREE(&pages);
}

static void compare_random_run(u64 seed)
{
    run *const r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->seed = seed;
    engine_check_open(&r->check);
    r->check.out.keeps_named_kinds = true;
    for (u32 process = 1; process <= PROCESSES; process++)
        assert_int_equal(engine_check_owner(&r->check, process, CHECK_START), process);
    for (u32 i = 0; i < SPACES; i++) {
        r->spaces[i].process = 1 + i / (HEAPS + 1);
        r->spaces[i].heap = 0x10000 * (u64)(i % (HEAPS + 1));
    }
    invent(r);
    const i64 end_ticks = r->happenings.at[r->happenings.count - 1].event.ticks;
    run_model(r, end_ticks);
    run_engine(r, end_ticks);
    compare_page_by_page(r);
    for (u32 process = 1; process <= PROCESSES; process++)
        assert_memory_equal(r->check.out.counts.at[process - 1].free_without_alloc,
                            r->unknown_frees[process], sizeof r->unknown_frees[process]);
    for (u32 i = 0; i < SPACES; i++)
        ETLHEAP_VECTOR_FREE(&r->spaces[i].replaced);
    ETLHEAP_VECTOR_FREE(&r->happenings);
    ETLHEAP_VECTOR_FREE(&r->expected);
    engine_check_close(&r->check);
    free(r);
}

static void random_events_agree_with_a_model_of_pages(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 12; seed++)
        compare_random_run(seed);
}

/* A commit or a rundown over all ranges, as often as there are ranges: looking at
 * each of them every time would take minutes. */
static void large_regions_over_many_ranges_stay_cheap(void **state)
{
    (void)state;
    enum { RANGES = 40000 };
    engine_check check;
    range_table table = { 0 };
    engine_check_open(&check);
    const u32 process = engine_check_owner(&check, 1, CHECK_START);
    for (u64 i = 0; i < 3 * RANGES; i++) {
        memory_event event = { .ticks = CHECK_START + (i64)i, .pid = 1, .size = PAGE };
        event.op = i < RANGES ? OP_COMMIT : i < 2 * RANGES ? OP_RUNDOWN_END : OP_COMMIT;
        event.address = i < RANGES ? 2 * i * PAGE : 0;
        if (i >= RANGES)
            event.size = event.heap = 2 * RANGES * PAGE;
        if (event.op == OP_RUNDOWN_END)
            event.size = RANGES * PAGE;
        ranges_apply(&table, &check.context, &event, process, &check.out);
    }
    ranges_finish(&table, &check.context, &check.out);
    assert_int_equal(check.out.rows.count, 2 * RANGES);
    engine_check_close(&check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_events_agree_with_a_model_of_pages),
        cmocka_unit_test(large_regions_over_many_ranges_stay_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
