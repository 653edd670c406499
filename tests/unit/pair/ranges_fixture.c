/* ranges_fixture.c - see ranges_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "ranges_fixture.h"

int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
    *state = f;
    return 0;
}

int close_fixture(void **state)
{
    fixture *const f = *state;
    ranges_free(&f->table);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

void apply(fixture *f, memory_op op, i64 after, u64 page, u64 count)
{
    const bool has_heap = op >= OP_CUSTOM_ALLOC;
    const memory_event event = { .ticks = T0 + after,
                                 .op = (u8)op,
                                 .address = page * PAGE,
                                 .size = count * PAGE,
                                 .heap = has_heap ? HEAP : 0,
                                 .pid = PID,
                                 .tid = TID,
                                 .stack = (stack_ref)after + 1 };
    ranges_apply(&f->table, &f->check.context, &event, f->process, &f->check.out);
}

void rundown(fixture *f, memory_op op, u64 page, u64 count, u64 committed)
{
    const memory_event event = { .ticks = T0,
                                 .op = (u8)op,
                                 .address = page * PAGE,
                                 .size = committed * PAGE,
                                 .heap = count * PAGE,
                                 .pid = PID,
                                 .tid = 1 };
    ranges_apply(&f->table, &f->check.context, &event, f->process, &f->check.out);
}

i64 ticks_of(i64 after)
{
    return after == NEVER || after == BEFORE ? after : T0 + after;
}

lifetime row_of(u64 page, u64 count, i64 committed, i64 freed)
{
    const bool seeded = committed == BEFORE;
    return (lifetime){ .alloc_ticks = ticks_of(committed),
                       .free_ticks = ticks_of(freed),
                       .address = page * PAGE,
                       .size = count * PAGE,
                       .process = 1,
                       .stack = seeded ? 0 : (stack_ref)committed + 1,
                       .thread = seeded ? ETL_NO_ID : TID,
                       .kind = ETLHEAP_KIND_VIRTUALALLOC,
                       .free_type = freed == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
}

lifetime extent_of(u64 page, u64 count, i64 committed, i64 freed)
{
    lifetime row = row_of(page, count, committed, freed);
    row.kind = ETLHEAP_KIND_EXTENT;
    row.heap = HEAP;
    return row;
}

lifetime ended(lifetime row, etlheap_free_type type)
{
    row.free_type = (u8)type;
    return row;
}

void assert_rows(fixture *f, const lifetime *rows, size_t count)
{
    engine_check_rows(&f->check, rows, count);
}

void assert_row(fixture *f, lifetime row)
{
    assert_rows(f, &row, 1);
}

void finish(fixture *f)
{
    ranges_finish(&f->table, &f->check.context, &f->check.out);
}

u64 unknown_frees(const fixture *f, etlheap_kind kind)
{
    return f->check.out.counts.count == 0
               ? 0
               : f->check.out.counts.at[f->process - 1].free_without_alloc[kind];
}
