/*
 * Goal: handles become the lifetimes that a naive model of the processes' tables tells: a value is
 * that of one process, and the end of a process ends what it has open.
 * Method: random events of few values in three processes, of which one ends and gives its id to
 * another, with lost events and rundowns; the model keeps open handles in a list and searches it
 * from the front.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/pair/key_blocks.h"
#include "tests/support/engine_check.h"

#define PROCESSES  3u
#define VALUES     9u
#define EVENTS     3000u
#define ROWS_MAX   (EVENTS + 1)
#define FIRST_PID  100u
#define EXIT_TICKS ((i64)1600)

typedef struct model {
    lifetime open[EVENTS];
    bool is_listed[EVENTS];
    u32 open_count;
    lifetime rows[ROWS_MAX];
    u32 row_count;
    u64 unknown_closes, over_live, unseen, missing;
    bool has_start, has_end;
    i64 end_ticks;
} model;

typedef struct fixture {
    engine_check check;
    key_blocks table;
    model *model;
} fixture;

static memory_event event_of(memory_op op, i64 ticks, u32 process, u32 value, u16 type)
{
    return (memory_event){ .op = (u8)op,
                           .ticks = ticks,
                           .address = 4 * (u64)value + 4,
                           .heap = logged_heap(5, type),
                           .pid = FIRST_PID * (process + 1),
                           .tid = (u32)ticks % 7,
                           .stack = (stack_ref)(ticks % 100 + 1) };
}

static u32 find_open(const model *m, const memory_event *event, u32 process)
{
    u32 at = 0;
    while (at < m->open_count &&
           (m->open[at].address != event->address || m->open[at].process != process))
        at++;
    return at;
}

static void model_open(model *m, const memory_event *event, u32 process, bool is_before,
                       bool is_listed)
{
    m->is_listed[m->open_count] = is_listed;
    m->open[m->open_count++] =
        (lifetime){ .alloc_ticks = is_before ? ETLHEAP_TICKS_BEFORE : event->ticks,
                    .free_ticks = ETLHEAP_TICKS_NEVER,
                    .address = event->address,
                    .heap = event->heap,
                    .process = process,
                    .stack = is_before ? STACK_NONE : event->stack,
                    .thread = is_before ? ETL_NO_ID : event->tid,
                    .free_thread = ETL_NO_ID,
                    .kind = ETLHEAP_KIND_HANDLE };
}

static void model_close(model *m, u32 at, const memory_event *event, bool is_closer)
{
    lifetime row = m->open[at];
    row.free_ticks = event->ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    if (is_closer) {
        row.free_stack = event->stack;
        row.free_thread = event->tid;
    }
    m->rows[m->row_count++] = row;
    m->open_count--;
    m->open[at] = m->open[m->open_count];
    m->is_listed[at] = m->is_listed[m->open_count];
}

static void model_list(model *m, u32 at, const memory_event *event, u32 process)
{
    const bool is_end = event->op == OP_HANDLE_AT_END;
    m->unseen += is_end && m->has_start && at == m->open_count;
    m->has_start |= !is_end;
    m->end_ticks = is_end && !m->has_end ? event->ticks : m->end_ticks;
    m->has_end |= is_end;
    if (at < m->open_count)
        m->is_listed[at] |= is_end;
    else
        model_open(m, event, process, true, is_end);
}

static void model_apply(model *m, const memory_event *event, u32 process)
{
    const u32 at = find_open(m, event, process);
    const bool is_open = at < m->open_count;
    switch (event->op) {
    case OP_HANDLE_CREATE:
        m->over_live += is_open;
        if (is_open)
            model_close(m, at, event, false);
        model_open(m, event, process, false, false);
        break;
    case OP_HANDLE_CLOSE:
        m->unknown_closes += !is_open;
        if (is_open)
            model_close(m, at, event, true);
        break;
    default:
        model_list(m, at, event, process);
    }
}

/* The process that ended has what was not closed until then. */
static void model_finish(model *m, u32 ended)
{
    for (u32 i = 0; i < m->open_count; i++) {
        lifetime row = m->open[i];
        m->missing += m->has_end && !m->is_listed[i] && row.process != ended &&
                      row.alloc_ticks < m->end_ticks;
        if (row.process == ended) {
            row.free_ticks = EXIT_TICKS;
            row.free_type = ETLHEAP_FREE_PROCESS_EXIT;
        }
        m->rows[m->row_count++] = row;
    }
}

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->check.out.keeps_named_kinds = true;
    f->check.out.keeps_frees = true;
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

static memory_op op_at(u32 i, u32 draw)
{
    if (i < 15)
        return OP_HANDLE_AT_START;
    if (i >= EVENTS - 15)
        return OP_HANDLE_AT_END;
    return draw < 52 ? OP_HANDLE_CREATE : OP_HANDLE_CLOSE;
}

static void random_events_are_paired_as_by_the_model(void **state)
{
    fixture *const f = *state;
    model *const m = f->model;
    u64 seed = 11;
    u32 ended = 0;
    for (u32 p = 0; p < PROCESSES; p++) {
        engine_check_process(&f->check, ETL_EVENT_PROCESS_START, FIRST_PID * (p + 1), 50, "a", 0);
        (void)engine_check_owner(&f->check, FIRST_PID * (p + 1), 60);
    }
    for (u32 i = 0; i < EVENTS; i++) {
        const i64 ticks = 100 + i;
        const memory_op op = op_at(i, engine_check_random(&seed, 100));
        const memory_event event = event_of(op, ticks, engine_check_random(&seed, PROCESSES),
                                            engine_check_random(&seed, VALUES), 16);
        if (ticks == EXIT_TICKS) {
            ended = engine_check_owner(&f->check, FIRST_PID, ticks - 1);
            engine_check_process(&f->check, ETL_EVENT_PROCESS_END, FIRST_PID, ticks, "a", 0);
            engine_check_process(&f->check, ETL_EVENT_PROCESS_START, FIRST_PID, ticks, "b", 0);
            continue;
        }
        const u32 process = engine_check_owner(&f->check, event.pid, ticks);
        key_blocks_apply(&f->table, &event, ETLHEAP_KIND_HANDLE, process, &f->check.out);
        model_apply(m, &event, process);
        if (i == EVENTS / 2 + 500)
            key_blocks_sweep(&f->table, &f->check.context, INT64_MAX / 2, &f->check.out);
    }
    model_finish(m, ended);
    key_blocks_finish(&f->table, &f->check.context, &f->check.out);
    drop_unmatched(&f->check.out);
    engine_check_rows(&f->check, m->rows, m->row_count);
    assert_true(ended != 0 && m->unknown_closes > 100 && m->over_live > 100);
    assert_true(m->unseen > 0 && m->missing > 0);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_key_over_live), m->over_live);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_block_size_differs), 0);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_unseen), m->unseen);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_missing), m->missing);
}

/* A process that ended before the rundown at the end cannot be in it. */
static void handles_of_ended_processes_are_not_missing(void **state)
{
    fixture *const f = *state;
    engine_check_process(&f->check, ETL_EVENT_PROCESS_START, FIRST_PID, 50, "a", 0);
    const u32 process = engine_check_owner(&f->check, FIRST_PID, 60);
    const u32 other = engine_check_owner(&f->check, FIRST_PID * 2, 60);
    const memory_event opened = event_of(OP_HANDLE_CREATE, 100, 0, 1, 16);
    const memory_event listed = event_of(OP_HANDLE_AT_END, 300, 1, 1, 16);
    key_blocks_apply(&f->table, &opened, ETLHEAP_KIND_HANDLE, process, &f->check.out);
    engine_check_process(&f->check, ETL_EVENT_PROCESS_END, FIRST_PID, 200, "a", 0);
    key_blocks_apply(&f->table, &listed, ETLHEAP_KIND_HANDLE, other, &f->check.out);
    key_blocks_finish(&f->table, &f->check.context, &f->check.out);
    assert_int_equal(f->check.out.rows.count, 2);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_missing), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_events_are_paired_as_by_the_model, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(handles_of_ended_processes_are_not_missing, open_fixture,
                                        close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
