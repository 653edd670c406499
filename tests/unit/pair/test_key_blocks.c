/*
 * Goal: blocks that are found by key become the lifetimes that a naive model of the kernel's pools
 * tells, whichever thread or process frees them.
 * Method: random events of few addresses in the system and in sessions, with lost events and
 * rundowns; the model keeps live blocks in a list and searches it from the front.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/context/pool_heap.h"
#include "engine/pair/key_blocks.h"
#include "tests/support/engine_check.h"

#define SYSTEM_PID 4u
#define ASKER_PID  700u
#define ADDRESSES  12u
#define SESSIONS   3u /* 0 is the system */
#define EVENTS     4000u
#define ROWS_MAX   (EVENTS + 1)

typedef struct model_block {
    lifetime row;
    u32 session;
    bool is_listed;
} model_block;

typedef struct model {
    model_block live[EVENTS];
    u32 live_count;
    lifetime rows[ROWS_MAX];
    u32 row_count;
    u64 unknown_frees, over_live, size_differs, unseen, missing;
    bool has_start, has_end;
    i64 end_ticks;
} model;

typedef struct fixture {
    engine_check check;
    key_blocks table;
    model *model;
    u32 process;
} fixture;

static memory_event event_of(memory_op op, i64 ticks, u32 number, u32 session, u64 size)
{
    return (memory_event){ .ticks = ticks,
                           .op = (u8)op,
                           .address = 0xffffa00000000000 + (u64)number * 0x40,
                           .size = size,
                           .heap = pool_heap(0x67615431, number % 2, session),
                           .pid = SYSTEM_PID,
                           .tid = (u32)ticks % 7,
                           .stack = (stack_ref)(ticks % 100 + 1) };
}

static u32 find_live(const model *m, const memory_event *event)
{
    u32 at = 0;
    while (at < m->live_count && (m->live[at].row.address != event->address ||
                                  m->live[at].session != key_session(event->heap)))
        at++;
    return at;
}

static void model_open(model *m, const memory_event *event, bool is_before, bool is_listed)
{
    model_block *const added = &m->live[m->live_count++];
    *added = (model_block){ .row = { .alloc_ticks = is_before ? ETLHEAP_TICKS_BEFORE : event->ticks,
                                     .free_ticks = ETLHEAP_TICKS_NEVER,
                                     .address = event->address,
                                     .size = event->size,
                                     .heap = event->heap,
                                     .process = 1,
                                     .stack = is_before ? STACK_NONE : event->stack,
                                     .thread = is_before ? ETL_NO_ID : event->tid,
                                     .free_thread = ETL_NO_ID,
                                     .kind = ETLHEAP_KIND_POOL },
                            .session = key_session(event->heap),
                            .is_listed = is_listed };
}

static void model_end(model *m, u32 at, const memory_event *event, bool is_freer)
{
    lifetime row = m->live[at].row;
    row.free_ticks = event->ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    if (is_freer) {
        row.free_stack = event->stack;
        row.free_thread = event->tid;
    }
    m->rows[m->row_count++] = row;
    m->live[at] = m->live[--m->live_count];
}

static void model_apply(model *m, const memory_event *event)
{
    const u32 at = find_live(m, event);
    const bool is_live = at < m->live_count;
    const bool is_end = event->op == OP_POOL_AT_END;
    if (event->op == OP_POOL_ALLOC) {
        m->over_live += is_live;
        if (is_live)
            model_end(m, at, event, false);
        model_open(m, event, false, false);
        return;
    }
    m->size_differs += is_live && m->live[at].row.size != event->size;
    if (event->op == OP_POOL_FREE) {
        m->unknown_frees += !is_live;
        if (is_live)
            model_end(m, at, event, true);
        return;
    }
    m->unseen += is_end && !is_live;
    m->has_start |= !is_end;
    if (is_end && !m->has_end)
        m->end_ticks = event->ticks;
    m->has_end |= is_end;
    if (is_live)
        m->live[at].is_listed |= is_end;
    else
        model_open(m, event, true, is_end);
}

static void apply(fixture *f, const memory_event *event)
{
    key_blocks_apply(&f->table, event, ETLHEAP_KIND_POOL, f->process, &f->check.out);
}

static void finish(fixture *f)
{
    model *const m = f->model;
    for (u32 i = 0; i < m->live_count; i++) {
        m->missing += m->has_end && m->live[i].session == KEY_SESSION_SYSTEM &&
                      !m->live[i].is_listed && m->live[i].row.alloc_ticks < m->end_ticks;
        m->rows[m->row_count++] = m->live[i].row;
    }
    key_blocks_finish(&f->table, &f->check.context, &f->check.out);
}

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->check.out.keeps_named_kinds = true;
    f->check.out.keeps_frees = true;
    f->process = engine_check_owner(&f->check, SYSTEM_PID, 0);
    f->model = calloc(1, sizeof *f->model);
    *state = f;
    return f->model == NULL;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    key_blocks_free(&f->table);
    engine_check_close(&f->check);
    free(f->model);
    free(f);
    return 0;
}

static void drop_unmatched(shard_output *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->rows.count; i++) {
        if ((out->rows.at[i].kind & EHS_LIFE_UNMATCHED) == 0)
            out->rows.at[kept++] = out->rows.at[i];
    }
    out->rows.count = kept;
}

static void random_events_are_paired_as_by_the_model(void **state)
{
    fixture *const f = *state;
    model *const m = f->model;
    u64 seed = 7;
    for (u32 i = 0; i < EVENTS; i++) {
        const u32 draw = engine_check_random(&seed, 100);
        const bool is_start = i < 20, is_end = i >= EVENTS - 20;
        const memory_op op = is_start    ? OP_POOL_AT_START
                             : is_end    ? OP_POOL_AT_END
                             : draw < 52 ? OP_POOL_ALLOC
                                         : OP_POOL_FREE;
        const memory_event event =
            event_of(op, 100 + i, engine_check_random(&seed, ADDRESSES),
                     engine_check_random(&seed, SESSIONS), 16 + 16 * engine_check_random(&seed, 2));
        apply(f, &event);
        model_apply(m, &event);
    }
    finish(f);
    drop_unmatched(&f->check.out);
    engine_check_rows(&f->check, m->rows, m->row_count);
    assert_true(m->unknown_frees > 100 && m->over_live > 100 && m->size_differs > 100);
    assert_true(m->unseen > 0 && m->missing > 0);
    assert_int_equal(f->check.out.counts.at[f->process - 1].free_without_alloc[ETLHEAP_KIND_POOL],
                     m->unknown_frees);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_key_over_live), m->over_live);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_block_size_differs), m->size_differs);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_unseen),
                     m->has_start ? m->unseen : 0);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_missing), m->missing);
}

/* Many blocks at once: the table grows, and removals in any order leave the others findable. */
static void thousands_of_blocks_are_found_again(void **state)
{
    fixture *const f = *state;
    const u32 count = 5000;
    for (u32 i = 0; i < count; i++) {
        const memory_event event = event_of(OP_POOL_ALLOC, 100, i, KEY_SESSION_SYSTEM, 32);
        apply(f, &event);
    }
    for (u32 i = 0; i < count; i++) {
        const u32 number = i * 7 % count;
        const memory_event event = event_of(OP_POOL_FREE, 200, number, KEY_SESSION_SYSTEM, 32);
        assert_true(key_blocks_is_live(&f->table, &event, ETLHEAP_KIND_POOL, f->process));
        apply(f, &event);
        assert_false(key_blocks_is_live(&f->table, &event, ETLHEAP_KIND_POOL, f->process));
    }
    assert_int_equal(f->table.count, 0);
    assert_int_equal(f->check.out.rows.count, count);
}

/* A rundown does not number sessions: at the start its blocks are of any session, at the end it
 * tells nothing about them. */
static void sessions_without_a_number_are_any(void **state)
{
    fixture *const f = *state;
    const memory_event before = event_of(OP_POOL_AT_START, 100, 1, KEY_SESSION_UNKNOWN, 32);
    const memory_event freed = event_of(OP_POOL_FREE, 200, 1, key_session_of(5), 32);
    const memory_event mine = event_of(OP_POOL_ALLOC, 300, 2, key_session_of(5), 32);
    const memory_event listed = event_of(OP_POOL_AT_END, 400, 2, KEY_SESSION_UNKNOWN, 32);
    apply(f, &before);
    apply(f, &freed);
    assert_int_equal(f->check.out.rows.count, 1);
    assert_int_equal(f->check.out.rows.at[0].alloc_ticks, ETLHEAP_TICKS_BEFORE);
    apply(f, &mine);
    apply(f, &listed);
    key_blocks_finish(&f->table, &f->check.context, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 2);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_unseen), 0);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_missing), 0);
}

/* The process that asked ends, and much later another one frees: the block was there until then. */
static void blocks_outlive_the_process_that_asked(void **state)
{
    fixture *const f = *state;
    const u32 asker = engine_check_owner(&f->check, ASKER_PID, 0);
    const memory_event alloc = event_of(OP_POOL_ALLOC, 100, 1, KEY_SESSION_SYSTEM, 32);
    const memory_event kept = event_of(OP_POOL_ALLOC, 110, 2, KEY_SESSION_SYSTEM, 32);
    const memory_event freed = event_of(OP_POOL_FREE, 100000, 1, KEY_SESSION_SYSTEM, 32);
    f->check.context.processes.at[asker - 1].end_ticks = 200;
    key_blocks_apply(&f->table, &alloc, ETLHEAP_KIND_POOL, asker, &f->check.out);
    key_blocks_apply(&f->table, &kept, ETLHEAP_KIND_POOL, asker, &f->check.out);
    key_blocks_sweep(&f->table, &f->check.context, INT64_MAX, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 0);
    apply(f, &freed);
    key_blocks_finish(&f->table, &f->check.context, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 2);
    const lifetime *const rows = f->check.out.rows.at;
    assert_int_equal(rows[0].process, asker);
    assert_int_equal(rows[0].free_ticks, 100000);
    assert_int_equal(rows[1].free_ticks, ETLHEAP_TICKS_NEVER);
    assert_int_equal(rows[1].free_type, ETLHEAP_FREE_NONE);
}

static void rows_of_kinds_that_nobody_named_are_not_kept(void **state)
{
    fixture *const f = *state;
    f->check.out.keeps_named_kinds = false;
    const memory_event alloc = event_of(OP_POOL_ALLOC, 100, 1, KEY_SESSION_SYSTEM, 32);
    const memory_event freed = event_of(OP_POOL_FREE, 200, 2, KEY_SESSION_SYSTEM, 32);
    apply(f, &alloc);
    apply(f, &freed);
    key_blocks_finish(&f->table, &f->check.context, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 0);
    assert_int_equal(f->check.out.counts.at[f->process - 1].free_without_alloc[ETLHEAP_KIND_POOL],
                     1);
}

static void tags_have_names_that_lead_back(void **state)
{
    static const struct {
        u32 tag, type, session;
        const char *name;
    } rows[] = {
        { 0x72777445, 1, KEY_SESSION_SYSTEM, "Etwr paged" },
        { 0x72777445, 512, KEY_SESSION_SYSTEM, "Etwr nonpaged" },
        { 0xf2777445, 0x21, 2, "Etwr paged/1" },
        { 0x00000001, 0, KEY_SESSION_SYSTEM, "0x00000001 nonpaged" },
        { 0x20414243, 0, KEY_SESSION_UNKNOWN, "CBA nonpaged/?" },
        { 0x20702049, 1, KEY_SESSION_SYSTEM, "I p paged" },
        { 0x70724920, 1, KEY_SESSION_SYSTEM, "0x70724920 paged" },
        { 0x00707249, 1, KEY_SESSION_SYSTEM, "0x00707249 paged" },
        { 0x20207830, 1, KEY_SESSION_SYSTEM, "0x20207830 paged" },
        { 0x7fffffff, 0, KEY_SESSION_MAX - 1, "0x7fffffff nonpaged/16777213" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        char name[ETLHEAP_HEAP_NAME_SIZE];
        const u64 handle = pool_heap(rows[i].tag, rows[i].type, rows[i].session);
        u64 again = 0;
        etlheap_heap_name(handle, name);
        assert_string_equal(name, rows[i].name);
        assert_true(etlheap_heap_of_name(name, &again));
        assert_int_equal(again, handle);
    }
    u64 handle;
    assert_false(etlheap_heap_of_name("Etwr page", &handle));
    assert_false(etlheap_heap_of_name("Etwrs paged", &handle));
    assert_false(etlheap_heap_of_name("Irp  paged", &handle));
    assert_false(etlheap_heap_of_name(" paged", &handle));
    assert_false(etlheap_heap_of_name("Etwr paged/x", &handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_events_are_paired_as_by_the_model, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(thousands_of_blocks_are_found_again, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(sessions_without_a_number_are_any, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(blocks_outlive_the_process_that_asked, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(rows_of_kinds_that_nobody_named_are_not_kept, open_fixture,
                                        close_fixture),
        cmocka_unit_test(tags_have_names_that_lead_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
