/* block_check.c - see block_check.h. */
#include "block_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

int block_check_open(void **state)
{
    block_check *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    engine_check_open(&f->check);
    f->rules = engine_check_rules(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
    *state = f;
    return 0;
}

int block_check_close(void **state)
{
    block_check *const f = *state;
    blocks_free(&f->table);
    engine_check_close(&f->check);
    free(f);
    return 0;
}

memory_event block_event(memory_op op, i64 ticks, u64 address, u64 size)
{
    return (memory_event){ .ticks = ticks,
                           .op = (u8)op,
                           .address = address,
                           .size = size,
                           .heap = HEAP,
                           .pid = PID,
                           .tid = TID,
                           .stack = (stack_ref)size };
}

memory_event block_event_by(u32 tid, u16 cpu, memory_event event)
{
    event.tid = tid;
    event.cpu = cpu;
    return event;
}

void block_check_apply(block_check *f, memory_event event)
{
    engine_check_apply(&f->check, &f->table, &event, f->process);
}

lifetime block_row(u64 address, u64 size, i64 alloc_ticks, i64 free_ticks)
{
    return (lifetime){ .alloc_ticks = alloc_ticks,
                       .free_ticks = free_ticks,
                       .address = address,
                       .size = size,
                       .heap = HEAP,
                       .process = 1,
                       .stack = (stack_ref)size,
                       .thread = TID,
                       .kind = ETLHEAP_KIND_HEAP,
                       .free_type = free_ticks == ETLHEAP_TICKS_NEVER ? ETLHEAP_FREE_NONE
                                                                      : ETLHEAP_FREE_FREE };
}

void block_check_rows(block_check *f, const lifetime *rows, size_t count)
{
    engine_check_rows(&f->check, rows, count);
}

void block_check_row(block_check *f, lifetime row)
{
    block_check_rows(f, &row, 1);
}

void block_check_no_rows(block_check *f)
{
    block_check_rows(f, NULL, 0);
}

void block_check_finish(block_check *f)
{
    blocks_finish(&f->table, &f->rules, &f->check.out);
}

u64 block_check_unknown_frees(const block_check *f)
{
    return f->check.out.counts.count == 0
               ? 0
               : f->check.out.counts.at[f->process - 1].free_without_alloc[ETLHEAP_KIND_HEAP];
}

lifetime as_realloc(lifetime row)
{
    row.is_realloc = true;
    return row;
}

u64 block_check_diag(const block_check *f, etl_diag id)
{
    return engine_check_diag(&f->check, id);
}
