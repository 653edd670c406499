/*
 * Goal: blocks.c pairs any sequence of heap events as the plain rules do.
 * Method: random events over few addresses (frees in doubt, reuse, pauses longer than
 * the patience, destroyed heaps, an exit) and over many (the hash table grows, probes and erases),
 * cut into slices of random length with a sweep after each. The model keeps all open blocks in one
 * array, looks at every one of them, and applies a destruction when its time comes instead of
 * looking ahead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/blocks.h"
#include "tests/support/engine_check.h"

#define PROCESSES 3u
#define HEAPS     2u

typedef struct open_block {
    lifetime life;
    bool displaced;
    i64 displaced_ticks;
    u16 newer_cpu;
    const memory_event *doubt; /* a free that may be this displaced block's */
} open_block;

typedef struct model {
    ETLHEAP_VECTOR(open_block) open;
    ETLHEAP_VECTOR(lifetime) closed;
    u64 unknown_frees[PROCESSES + 1];
    u64 guesses;
} model;

/* What an event is about: the block of its key, and what that displaced. */
typedef struct subject {
    u32 process;
    u64 heap, address;
} subject;

static subject subject_of(const memory_event *event)
{
    return (subject){ event->pid, event->heap, event->address };
}

static open_block *model_find(model *m, subject of, bool displaced)
{
    for (size_t i = 0; i < m->open.count; i++) {
        open_block *const entry = &m->open.at[i];
        if (entry->displaced == displaced && entry->life.process == of.process &&
            entry->life.heap == of.heap && entry->life.address == of.address)
            return entry;
    }
    return NULL;
}

static void model_close(model *m, open_block *entry, i64 ticks, etlheap_free_type type)
{
    lifetime row = entry->life;
    row.free_ticks = ticks;
    row.free_type = (u8)type;
    assert_true(ETLHEAP_PUSH(&m->closed, row));
    *entry = m->open.at[--m->open.count];
}

/* The older block's free was lost, and one in doubt was the newer block's. */
static void model_lost(model *m, subject of)
{
    open_block *const older = model_find(m, of, true);
    const memory_event *const doubt = older->doubt;
    model_close(m, older, older->displaced_ticks, ETLHEAP_FREE_FREE);
    if (doubt != NULL)
        model_close(m, model_find(m, of, false), doubt->ticks, ETLHEAP_FREE_FREE);
}

static void model_late(model *m, subject of)
{
    open_block *const older = model_find(m, of, true);
    model_close(m, older, older->doubt->ticks, ETLHEAP_FREE_FREE);
}

static bool model_is_late(const open_block *older)
{
    return older->doubt->cpu != older->newer_cpu &&
           older->doubt->ticks - older->displaced_ticks <= CHECK_MS;
}

/* No event came that tells. */
static void model_give_up(model *m, subject of)
{
    const open_block *const older = model_find(m, of, true);
    if (older == NULL)
        return;
    m->guesses += older->doubt != NULL;
    if (older->doubt != NULL && model_is_late(older))
        model_late(m, of);
    else
        model_lost(m, of);
}

static void model_wait(model *m, subject of, i64 now)
{
    const open_block *const older = model_find(m, of, true);
    if (older == NULL)
        return;
    const i64 since = older->doubt != NULL ? older->doubt->ticks : older->displaced_ticks;
    if (now - since > CHECK_PATIENCE)
        model_give_up(m, of);
}

static void model_open(model *m, const memory_event *event)
{
    const subject of = subject_of(event);
    const open_block *const older = model_find(m, of, true);
    const bool may_be_late = older != NULL && older->doubt != NULL && model_is_late(older);
    const bool is_late = may_be_late && older->doubt->tid == older->life.thread;
    m->guesses += may_be_late && !is_late;
    if (is_late)
        model_late(m, of);
    else if (older != NULL)
        model_lost(m, of);
    open_block *const live = model_find(m, of, false);
    if (live != NULL) {
        live->displaced = true;
        live->displaced_ticks = event->ticks;
        live->newer_cpu = event->cpu;
    }
    const open_block entry = { .life = { .alloc_ticks = event->ticks,
                                         .address = event->address,
                                         .size = event->size,
                                         .heap = event->heap,
                                         .process = event->pid,
                                         .stack = event->stack,
                                         .thread = event->tid,
                                         .kind = ETLHEAP_KIND_HEAP,
                                         .is_realloc = event->op != OP_ALLOC } };
    assert_true(ETLHEAP_PUSH(&m->open, entry));
}

/* The block itself has come to its end. */
static void model_end_block(model *m, const memory_event *event)
{
    const subject of = subject_of(event);
    const open_block *const older = model_find(m, of, true);
    if (older != NULL && older->doubt != NULL)
        model_late(m, of);
    else if (older != NULL)
        model_lost(m, of);
    model_close(m, model_find(m, of, false), event->ticks, ETLHEAP_FREE_FREE);
}

static void model_free(model *m, const memory_event *event)
{
    const subject of = subject_of(event);
    open_block *const older = model_find(m, of, true);
    if (older != NULL && older->doubt == NULL &&
        model_find(m, of, false)->life.thread != event->tid)
        older->doubt = event;
    else
        model_end_block(m, event);
}

static void model_realloc_new(model *m, const memory_event *event)
{
    open_block *const live = model_find(m, subject_of(event), false);
    const bool is_own = event->op == OP_REALLOC_NEW && live != NULL &&
                        live->life.size == event->size && live->life.thread == event->tid;
    if (!is_own) {
        model_open(m, event);
        return;
    }
    live->life.is_realloc = true;
    const open_block *const older = model_find(m, subject_of(event), true);
    if (older != NULL && older->doubt != NULL)
        model_late(m, subject_of(event));
}

static void model_realloc_freed(model *m, const memory_event *event)
{
    const subject of = subject_of(event);
    const open_block *const older = model_find(m, of, true);
    if (older == NULL || older->doubt == NULL || older->doubt->tid != event->tid)
        return;
    const u64 newer_size = model_find(m, of, false)->life.size;
    if (older->life.size == event->size && newer_size != event->size)
        model_late(m, of);
    else if (older->life.size != event->size && newer_size == event->size)
        model_lost(m, of);
}

static void model_realloc_old(model *m, const memory_event *event)
{
    const open_block *const live = model_find(m, subject_of(event), false);
    if (live == NULL)
        return;
    bool is_old = live->life.thread == event->tid;
    if (!is_old && event->op == OP_REALLOC_OLD && event->since_alloc != 0) {
        is_old = live->life.alloc_ticks <= event->ticks - (event->since_alloc - 1);
    } else if (!is_old) {
        const bool is_size = live->life.size == event->size;
        is_old = (event->op == OP_REALLOC_ALONE && is_size) ||
                 event->ticks - live->life.alloc_ticks > CHECK_PATIENCE;
        m->guesses++;
    }
    if (is_old)
        model_end_block(m, event);
}

static void model_apply(model *m, const memory_event *event)
{
    const subject of = subject_of(event);
    model_wait(m, of, event->ticks);
    const bool is_live = model_find(m, of, false) != NULL;
    switch ((memory_op)event->op) {
    case OP_ALLOC:
        model_open(m, event);
        break;
    case OP_FREE:
        if (is_live)
            model_free(m, event);
        else
            m->unknown_frees[event->pid]++;
        break;
    case OP_REALLOC_NEW:
    case OP_REALLOC_UNSEEN:
        model_realloc_new(m, event);
        break;
    case OP_REALLOC_FREED:
        model_realloc_freed(m, event);
        break;
    case OP_REALLOC_OLD:
    case OP_REALLOC_ALONE:
        model_realloc_old(m, event);
        break;
    default:
        if (is_live)
            model_end_block(m, event);
        model_open(m, event);
        break;
    }
}

static bool is_in(const open_block *entry, u32 process, u64 heap)
{
    return (process == 0 || entry->life.process == process) &&
           (heap == 0 || entry->life.heap == heap);
}

/* What the end of a heap, a process or the trace does to what is open. */
static void model_end_all(model *m, u32 process, u64 heap, i64 ticks, etlheap_free_type type)
{
    for (size_t i = 0; i < m->open.count;) {
        const lifetime *const life = &m->open.at[i].life;
        const subject of = { life->process, life->heap, life->address };
        const bool is_older = is_in(&m->open.at[i], process, heap) && m->open.at[i].displaced;
        if (is_older)
            model_give_up(m, of);
        i = is_older ? 0 : i + 1;
    }
    for (size_t i = m->open.count; i-- > 0;) {
        open_block *const entry = &m->open.at[i];
        const i64 born = entry->life.alloc_ticks;
        if (is_in(entry, process, heap))
            model_close(m, entry, ticks > born ? ticks : born, type);
    }
}

typedef struct destruction {
    i64 ticks;
    u32 process;
    u64 heap;
} destruction;

typedef struct run {
    engine_check check;
    block_table table;
    block_rules rules;
    model model;
    ETLHEAP_VECTOR(memory_event) events;
    ETLHEAP_VECTOR(destruction) destructions;
    u64 seed;
} run;

static void invent(run *r, u32 count, u32 addresses)
{
    i64 ticks = CHECK_START;
    for (u32 i = 0; i < count; i++) {
        static const u8 ops[] = { OP_ALLOC,         OP_ALLOC,       OP_ALLOC,
                                  OP_ALLOC,         OP_FREE,        OP_FREE,
                                  OP_FREE,          OP_FREE,        OP_REALLOC_NEW,
                                  OP_REALLOC_SAME,  OP_REALLOC_OLD, OP_REALLOC_FREED,
                                  OP_REALLOC_UNSEEN };
        const bool is_pause = engine_check_random(&r->seed, 50) == 0;
        ticks += engine_check_random(&r->seed, (u32)CHECK_MS * 2 / 5 * (is_pause ? 200 : 1));
        memory_event event = {
            .ticks = ticks,
            .op = ops[engine_check_random(&r->seed, ETL_COUNT_OF(ops))],
            .address = 0x1000 + 16 * (u64)engine_check_random(&r->seed, addresses),
            .size = 1 + engine_check_random(&r->seed, 3),
            .heap = 0x10000 * (1 + (u64)engine_check_random(&r->seed, HEAPS)),
            .pid = 1 + engine_check_random(&r->seed, PROCESSES),
            .tid = 1 + engine_check_random(&r->seed, 3),
            .stack = i + 1,
            .cpu = (u16)engine_check_random(&r->seed, 2),
        };
        if (event.op == OP_REALLOC_OLD)
            event.since_alloc = engine_check_random(&r->seed, 2) == 0
                                    ? 0
                                    : 1 + engine_check_random(&r->seed, (u32)CHECK_MS);
        assert_true(ETLHEAP_PUSH(&r->events, event));
        if (engine_check_random(&r->seed, addresses * 4) == 0) {
            const destruction end = { ticks, 1 + engine_check_random(&r->seed, PROCESSES),
                                      0x10000 * (1 + (u64)engine_check_random(&r->seed, HEAPS)) };
            assert_true(ETLHEAP_PUSH(&r->destructions, end));
        }
    }
}

/* The model meets a destruction after the events of its tick. */
static void run_model(run *r)
{
    size_t next = 0;
    for (size_t i = 0; i <= r->events.count; i++) {
        const i64 now = i < r->events.count ? r->events.at[i].ticks : INT64_MAX;
        for (; next < r->destructions.count && r->destructions.at[next].ticks < now; next++) {
            const destruction *const end = &r->destructions.at[next];
            model_end_all(&r->model, end->process, end->heap, end->ticks,
                          ETLHEAP_FREE_HEAP_DESTROY);
        }
        if (i < r->events.count)
            model_apply(&r->model, &r->events.at[i]);
    }
    const i64 end = r->events.at[r->events.count - 1].ticks;
    model_end_all(&r->model, 1, 0, end, ETLHEAP_FREE_PROCESS_EXIT);
    model_end_all(&r->model, 0, 0, ETLHEAP_TICKS_NEVER, ETLHEAP_FREE_NONE);
}

/* The engine knows all destructions of a slice before its events. */
static void run_engine(run *r)
{
    size_t next_destruction = 0;
    for (size_t first = 0; first < r->events.count;) {
        size_t last = first + engine_check_random(&r->seed, 300);
        last = last < r->events.count ? last : r->events.count - 1;
        const i64 end_ticks = r->events.at[last].ticks;
        while (last + 1 < r->events.count && r->events.at[last + 1].ticks == end_ticks)
            last++;
        for (; next_destruction < r->destructions.count &&
               r->destructions.at[next_destruction].ticks <= end_ticks;
             next_destruction++) {
            const destruction *const end = &r->destructions.at[next_destruction];
            engine_check_destroy(&r->check, end->process, end->heap, end->ticks);
        }
        for (; first <= last; first++)
            engine_check_apply(&r->check, &r->table, &r->events.at[first], r->events.at[first].pid);
        if (engine_check_random(&r->seed, 2) == 0)
            blocks_decide(&r->table, &r->rules, end_ticks + 1, &r->check.out);
        if (engine_check_random(&r->seed, 2) == 0)
            blocks_sweep(&r->table, &r->rules, end_ticks + 1, &r->check.out);
    }
    engine_check_process(&r->check, ETL_EVENT_PROCESS_END, 1,
                         r->events.at[r->events.count - 1].ticks, "app.exe", 1);
    blocks_finish(&r->table, &r->rules, &r->check.out);
}

static void compare_random_run(u64 seed, u32 count, u32 addresses)
{
    run *const r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->seed = seed;
    engine_check_open(&r->check);
    r->rules = engine_check_rules(&r->check);
    for (u32 pid = 1; pid <= PROCESSES; pid++)
        assert_int_equal(engine_check_owner(&r->check, pid, CHECK_START), pid);
    invent(r, count, addresses);
    run_model(r);
    run_engine(r);
    engine_check_rows(&r->check, r->model.closed.at, r->model.closed.count);
    for (u32 process = 1; process <= PROCESSES; process++) {
        const u64 *const unknown = r->check.out.counts.at[process - 1].free_without_alloc;
        assert_int_equal(unknown[ETLHEAP_KIND_HEAP], r->model.unknown_frees[process]);
    }
    assert_int_equal(engine_check_diag(&r->check, ETL_DIAG_pairing_guessed), r->model.guesses);
    ETLHEAP_VECTOR_FREE(&r->model.open);
    ETLHEAP_VECTOR_FREE(&r->model.closed);
    ETLHEAP_VECTOR_FREE(&r->events);
    ETLHEAP_VECTOR_FREE(&r->destructions);
    engine_check_close(&r->check);
    free(r);
}

static void few_addresses_race_as_the_rules_say(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 10; seed++)
        compare_random_run(seed, 5000, 4);
}

static void many_addresses_are_kept_apart(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 3; seed++)
        compare_random_run(seed, 20000, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_addresses_race_as_the_rules_say),
        cmocka_unit_test(many_addresses_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
