/*
 * Goal: blocks.c pairs any sequence of heap events as the plain rules do.
 * Method: random events over few addresses (races, reuse, destroyed heaps, an
 * exit) and over many (the hash table grows, probes and erases), cut into
 * slices of random length with a sweep after each. The model keeps all open
 * blocks in one array, looks at every one of them, and applies a destruction
 * when its time comes instead of looking ahead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/blocks.h"
#include "engine_check.h"

#define PROCESSES 3u
#define HEAPS     2u

typedef struct open_block {
    lifetime life;
    bool displaced;
    i64 displaced_ticks;
} open_block;

typedef struct model {
    ETLHEAP_VECTOR(open_block) open;
    ETLHEAP_VECTOR(lifetime) closed;
    u64 unknown_frees[PROCESSES + 1];
} model;

static void model_close(model *m, size_t index, i64 ticks, etlheap_free_type type)
{
    lifetime row = m->open.at[index].life;
    row.free_ticks = ticks;
    row.free_type = (u8)type;
    assert_true(ETLHEAP_PUSH(&m->closed, row));
    m->open.at[index] = m->open.at[--m->open.count];
}

static size_t model_find(const model *m, const memory_event *event, u32 process, bool displaced)
{
    for (size_t i = 0; i < m->open.count; i++) {
        const open_block *const entry = &m->open.at[i];
        if (entry->displaced == displaced && entry->life.process == process &&
            entry->life.heap == event->heap && entry->life.address == event->address)
            return i;
    }
    return SIZE_MAX;
}

static void model_close_displaced(model *m, const memory_event *event, u32 process)
{
    const size_t index = model_find(m, event, process, true);
    if (index != SIZE_MAX)
        model_close(m, index, m->open.at[index].displaced_ticks, ETLHEAP_FREE_FREE);
}

static void model_open(model *m, const memory_event *event, u32 process)
{
    const size_t older = model_find(m, event, process, false);
    if (older != SIZE_MAX) {
        model_close_displaced(m, event, process);
        const size_t again = model_find(m, event, process, false);
        m->open.at[again].displaced = true;
        m->open.at[again].displaced_ticks = event->ticks;
    }
    const open_block entry = { .life = { .alloc_ticks = event->ticks,
                                         .address = event->address,
                                         .size = event->size,
                                         .heap = event->heap,
                                         .process = process,
                                         .stack = event->stack,
                                         .thread = event->tid,
                                         .kind = ETLHEAP_KIND_HEAP,
                                         .is_realloc = event->op != OP_ALLOC } };
    assert_true(ETLHEAP_PUSH(&m->open, entry));
}

static void model_end_block(model *m, const memory_event *event, u32 process)
{
    model_close_displaced(m, event, process);
    model_close(m, model_find(m, event, process, false), event->ticks, ETLHEAP_FREE_FREE);
}

static void model_free(model *m, const memory_event *event, u32 process)
{
    const size_t displaced = model_find(m, event, process, true);
    if (displaced != SIZE_MAX && event->ticks - m->open.at[displaced].displaced_ticks <= CHECK_MS)
        model_close(m, displaced, event->ticks, ETLHEAP_FREE_FREE);
    else
        model_end_block(m, event, process);
}

static void model_apply(model *m, const memory_event *event, u32 process)
{
    const size_t found = model_find(m, event, process, false);
    const lifetime *const life = found == SIZE_MAX ? NULL : &m->open.at[found].life;
    switch ((memory_op)event->op) {
    case OP_ALLOC:
        model_open(m, event, process);
        break;
    case OP_FREE:
        if (life != NULL)
            model_free(m, event, process);
        else
            m->unknown_frees[process]++;
        break;
    case OP_REALLOC_NEW:
        if (life != NULL && life->size == event->size)
            m->open.at[found].life.is_realloc = true;
        else
            model_open(m, event, process);
        break;
    case OP_REALLOC_OLD:
        if (life != NULL &&
            (life->thread == event->tid || event->ticks - life->alloc_ticks > CHECK_MS))
            model_free(m, event, process);
        break;
    default:
        if (life != NULL)
            model_end_block(m, event, process);
        model_open(m, event, process);
        break;
    }
}

/* What the end of a heap, a process or the trace does to what is open. */
static void model_end_all(model *m, u32 process, u64 heap, i64 ticks, etlheap_free_type type)
{
    for (size_t i = m->open.count; i-- > 0;) {
        const open_block entry = m->open.at[i];
        if ((process != 0 && entry.life.process != process) ||
            (heap != 0 && entry.life.heap != heap))
            continue;
        if (entry.displaced)
            model_close(m, i, entry.displaced_ticks, ETLHEAP_FREE_FREE);
        else
            model_close(m, i, ticks > entry.life.alloc_ticks ? ticks : entry.life.alloc_ticks,
                        type);
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
        static const u8 ops[] = { OP_ALLOC,       OP_ALLOC, OP_ALLOC,       OP_FREE,
                                  OP_FREE,        OP_FREE,  OP_REALLOC_NEW, OP_REALLOC_SAME,
                                  OP_REALLOC_OLD, OP_FREE };
        ticks += engine_check_random(&r->seed, (u32)CHECK_MS * 2 / 5);
        const memory_event event = {
            .ticks = ticks,
            .op = ops[engine_check_random(&r->seed, ETL_COUNT_OF(ops))],
            .address = 0x1000 + 16 * (u64)engine_check_random(&r->seed, addresses),
            .size = 1 + engine_check_random(&r->seed, 3),
            .heap = 0x10000 * (1 + (u64)engine_check_random(&r->seed, HEAPS)),
            .pid = 1 + engine_check_random(&r->seed, PROCESSES),
            .tid = 1 + engine_check_random(&r->seed, 2),
            .stack = i + 1,
        };
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
            model_apply(&r->model, &r->events.at[i], r->events.at[i].pid);
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
