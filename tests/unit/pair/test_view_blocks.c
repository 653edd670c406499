/*
 * Goal: views become the lifetimes that a naive model tells: one address may be mapped in several
 * processes at once, and the end of a process ends its views.
 * Method: random events of three processes at few addresses, with lost events and rundowns, and one
 * process that ends; the model keeps live views in a list and searches it from the front.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/context/logged_names.h"
#include "engine/pair/key_blocks.h"
#include "tests/support/engine_check.h"

#define PROCESSES 3u
#define ADDRESSES 6u
#define EVENTS    3000u
#define END_TICKS 2000 /* of the last process */
#define NUMBER    7u

typedef struct model {
    lifetime live[EVENTS], rows[EVENTS + 1];
    bool is_listed[EVENTS];
    u32 live_count, row_count;
    u64 unknown_unmaps, over_live, size_differs, unseen, missing;
    bool has_start, has_end;
    i64 end_ticks;
} model;

typedef struct fixture {
    engine_check check;
    key_blocks table;
    model *model;
    u32 processes[PROCESSES];
} fixture;

static memory_event event_of(memory_op op, i64 ticks, u32 process, u32 place, u64 size)
{
    return (memory_event){ .ticks = ticks,
                           .op = (u8)op,
                           .address = 0x1c0b0000000 + (u64)place * 0x10000,
                           .size = size,
                           .heap = logged_heap(NUMBER, 0xffff82082c300000 + place % 4 * 0x10),
                           .pid = 100 + process,
                           .tid = (u32)ticks % 5,
                           .stack = (stack_ref)(ticks % 100 + 1) };
}

static u32 find_live(const model *m, const memory_event *event, u32 process)
{
    u32 at = 0;
    while (at < m->live_count &&
           (m->live[at].address != event->address || m->live[at].process != process))
        at++;
    return at;
}

static void model_open(model *m, const memory_event *event, u32 process, bool is_before,
                       bool is_listed)
{
    m->is_listed[m->live_count] = is_listed;
    m->live[m->live_count++] =
        (lifetime){ .alloc_ticks = is_before ? ETLHEAP_TICKS_BEFORE : event->ticks,
                    .free_ticks = ETLHEAP_TICKS_NEVER,
                    .address = event->address,
                    .size = event->size,
                    .heap = event->heap,
                    .process = process,
                    .stack = is_before ? STACK_NONE : event->stack,
                    .thread = is_before ? ETL_NO_ID : event->tid,
                    .free_thread = ETL_NO_ID,
                    .kind = ETLHEAP_KIND_MAPPED };
}

static void model_end(model *m, u32 at, const memory_event *event, bool is_unmapped)
{
    lifetime row = m->live[at];
    row.free_ticks = event->ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    if (is_unmapped) {
        row.free_stack = event->stack;
        row.free_thread = event->tid;
    }
    m->rows[m->row_count++] = row;
    m->live_count--;
    m->live[at] = m->live[m->live_count];
    m->is_listed[at] = m->is_listed[m->live_count];
}

static void model_apply(model *m, const memory_event *event, u32 process)
{
    const u32 at = find_live(m, event, process);
    const bool is_live = at < m->live_count;
    const bool is_end = event->op == OP_MAPPED_AT_END;
    if (event->op == OP_MAP) {
        m->over_live += is_live;
        if (is_live)
            model_end(m, at, event, false);
        model_open(m, event, process, false, false);
        return;
    }
    m->size_differs += is_live && m->live[at].size != event->size;
    if (event->op == OP_UNMAP) {
        m->unknown_unmaps += !is_live;
        if (is_live)
            model_end(m, at, event, true);
        return;
    }
    m->unseen += is_end && m->has_start && !is_live;
    m->has_start |= !is_end;
    if (is_end && !m->has_end)
        m->end_ticks = event->ticks;
    m->has_end |= is_end;
    if (is_live)
        m->is_listed[at] |= is_end;
    else
        model_open(m, event, process, true, is_end);
}

static void finish(fixture *f)
{
    model *const m = f->model;
    for (u32 i = 0; i < m->live_count; i++) {
        lifetime row = m->live[i];
        const bool has_ended = row.process == f->processes[PROCESSES - 1];
        m->missing +=
            m->has_end && !has_ended && !m->is_listed[i] && row.alloc_ticks < m->end_ticks;
        if (has_ended) {
            row.free_ticks = END_TICKS;
            row.free_type = ETLHEAP_FREE_PROCESS_EXIT;
        }
        m->rows[m->row_count++] = row;
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
    for (u32 i = 0; i < PROCESSES; i++)
        f->processes[i] = engine_check_owner(&f->check, 100 + i, 0);
    f->check.context.processes.at[f->processes[PROCESSES - 1] - 1].end_ticks = END_TICKS;
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

static void apply(fixture *f, const memory_event *event, u32 process)
{
    key_blocks_apply(&f->table, event, ETLHEAP_KIND_MAPPED, f->processes[process], &f->check.out);
    model_apply(f->model, event, f->processes[process]);
}

static u64 unknown_unmaps(const fixture *f)
{
    u64 sum = 0;
    for (u32 i = 0; i < PROCESSES; i++)
        sum += f->check.out.counts.at[f->processes[i] - 1].free_without_alloc[ETLHEAP_KIND_MAPPED];
    return sum;
}

static void random_views_are_paired_as_by_the_model(void **state)
{
    fixture *const f = *state;
    model *const m = f->model;
    u64 seed = 11;
    for (u32 i = 0; i < EVENTS; i++) {
        const i64 ticks = 100 + i;
        const u32 draw = engine_check_random(&seed, 100);
        const memory_op op = i < 20             ? OP_MAPPED_AT_START
                             : i >= EVENTS - 10 ? OP_MAPPED_AT_END
                             : draw < 52        ? OP_MAP
                                                : OP_UNMAP;
        const u32 process = engine_check_random(&seed, ticks < END_TICKS ? PROCESSES : 2);
        const memory_event event =
            event_of(op, ticks, process, engine_check_random(&seed, ADDRESSES),
                     4096 + 4096 * engine_check_random(&seed, 2));
        apply(f, &event, process);
    }
    finish(f);
    drop_unmatched(&f->check.out);
    engine_check_rows(&f->check, m->rows, m->row_count);
    assert_true(m->unknown_unmaps > 100 && m->over_live > 100 && m->size_differs > 100);
    assert_true(m->unseen > 0 && m->missing > 0);
    assert_int_equal(unknown_unmaps(f), m->unknown_unmaps);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_key_over_live), m->over_live);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_block_size_differs), m->size_differs);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_unseen), m->unseen);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_rundown_block_missing), m->missing);
}

static void a_view_that_was_not_mapped_is_none(void **state)
{
    fixture *const f = *state;
    memory_event failed = event_of(OP_MAP, 100, 0, 1, 4096);
    failed.address = 0;
    key_blocks_apply(&f->table, &failed, ETLHEAP_KIND_MAPPED, f->processes[0], &f->check.out);
    finish(f);
    assert_int_equal(f->check.out.rows.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_views_are_paired_as_by_the_model, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(a_view_that_was_not_mapped_is_none, open_fixture,
                                        close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
