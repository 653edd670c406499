/* engine_check.c - see engine_check.h. */
#include "engine_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>

void engine_check_open(engine_check *check)
{
    *check = (engine_check){ .session = { .header_ticks = CHECK_START,
                                          .start_time_filetime = 132400000000000000,
                                          .perf_frequency_hz = 10000000,
                                          .clock_hz = 10000000,
                                          .clock = ETL_CLOCK_QPC,
                                          .pointer_bytes = 8 } };
    check->base.base = &check->session;
    context_open(&check->context, &check->base);
}

void engine_check_close(engine_check *check)
{
    context_close(&check->context);
    shard_output_free(&check->out);
    origins_free(&check->origins);
}

int engine_check_setup(void **state)
{
    engine_check *const check = calloc(1, sizeof *check);
    if (check == NULL)
        return 1;
    engine_check_open(check);
    *state = check;
    return 0;
}

int engine_check_teardown(void **state)
{
    engine_check *const check = *state;
    engine_check_close(check);
    free(check);
    return 0;
}

static void apply(engine_check *check, system_event *event)
{
    event->order = check->order++;
    assert_true(context_apply(&check->context, event, 1));
}

void engine_check_process(engine_check *check, etl_event_kind kind, u32 pid, i64 ticks,
                          const char *name, u64 key)
{
    system_event event = { .ticks = ticks, .pid = pid, .event = { .kind = kind } };
    etl_process_event *const process = &event.event.as.process;
    process->process_id = pid;
    process->parent_id = 4;
    process->unique_process_key = key;
    if (name != NULL)
        process->image_file_name = (etl_bytes){ (const u8 *)name, strlen(name) };
    apply(check, &event);
}

void engine_check_create(engine_check *check, u32 pid, u64 heap, i64 ticks)
{
    system_event event = { .ticks = ticks, .pid = pid, .event = { .kind = ETL_EVENT_HEAP_CREATE } };
    event.event.as.heap_create.heap_handle = heap;
    apply(check, &event);
}

void engine_check_destroy(engine_check *check, u32 pid, u64 heap, i64 ticks)
{
    system_event event = { .ticks = ticks,
                           .pid = pid,
                           .event = { .kind = ETL_EVENT_HEAP_DESTROY } };
    event.event.as.heap_handle.heap_handle = heap;
    apply(check, &event);
}

block_rules engine_check_rules(const engine_check *check)
{
    return (block_rules){ .context = &check->context,
                          .origins = &check->origins,
                          .is_lossy = check->is_lossy,
                          .race_ticks = CHECK_MS,
                          .patience_ticks = CHECK_PATIENCE };
}

void engine_check_apply(engine_check *check, block_table *table, const memory_event *event,
                        u32 process)
{
    const block_rules rules = engine_check_rules(check);
    const u32 heap = origins_add_heap(&check->origins, process, event->heap);
    const u32 owner = origins_add_owner(&check->origins, &(owner_row){ event->ticks, heap, 0 });
    const bool has_stack = event->op != OP_REALLOC_OLD;
    ordered_event ordered = { .ticks = event->ticks,
                              .address = event->address,
                              .size = event->size,
                              .heap = heap,
                              .origin = origins_add(&check->origins,
                                                    has_stack ? event->stack : STACK_NONE, owner),
                              .tid = event->tid,
                              .rank = check->next_rank++,
                              .cpu = event->cpu,
                              .op = event->op };
    assert_true(heap != 0 && owner != 0 && ordered.origin != 0);
    if (!has_stack)
        ordered.origin = event->since_alloc;
    blocks_prepare(table, &ordered);
    if (event->op == OP_REALLOC_SAME) { /* scanning makes two rows of it */
        ordered.op = OP_REALLOC_CLOSE;
        blocks_apply(table, &rules, &ordered, &check->out);
        ordered.rank = check->next_rank++;
        ordered.op = OP_REALLOC_SAME;
    }
    blocks_apply(table, &rules, &ordered, &check->out);
}

u32 engine_check_owner(engine_check *check, u32 pid, i64 ticks)
{
    assert_true(context_ensure(&check->context, pid, ticks, ticks));
    const u32 process = context_process_at(&check->context, pid, ticks);
    assert_int_not_equal(process, 0);
    return process;
}

#define COMPARE(member)                                                                            \
    if (x->member != y->member)                                                                    \
    return x->member < y->member ? -1 : 1

static int by_content(const void *a, const void *b)
{
    const lifetime *const x = a, *const y = b;
    COMPARE(process);
    COMPARE(kind);
    COMPARE(heap);
    COMPARE(address);
    COMPARE(alloc_ticks);
    COMPARE(free_ticks);
    COMPARE(size);
    COMPARE(stack);
    COMPARE(thread);
    COMPARE(free_type);
    return (int)x->is_realloc - (int)y->is_realloc;
}

static void print_rows(const char *title, const lifetime *rows, size_t count)
{
    print_error("%s: %zu\n", title, count);
    for (size_t i = 0; i < count && i < 60; i++) {
        const lifetime *const row = &rows[i];
        print_error("  process %u %s heap %" PRIx64 " [%" PRIx64 " +%" PRIu64 "] %" PRId64
                    " to %" PRId64 " %s stack %x thread %u%s\n",
                    row->process, etlheap_kind_name((etlheap_kind)row->kind), row->heap,
                    row->address, row->size, row->alloc_ticks, row->free_ticks,
                    etlheap_free_type_name((etlheap_free_type)row->free_type), row->stack,
                    row->thread, row->is_realloc ? " realloc" : "");
    }
}

void engine_check_same_rows(lifetime *rows, size_t row_count, lifetime *expected, size_t count)
{
    if (row_count > 0)
        qsort(rows, row_count, sizeof *rows, by_content);
    if (count > 0)
        qsort(expected, count, sizeof *expected, by_content);
    size_t same = 0;
    while (same < row_count && same < count && by_content(&rows[same], &expected[same]) == 0)
        same++;
    if (same == row_count && same == count)
        return;
    print_error("%zu rows, %zu expected, from row %zu:\n", row_count, count, same);
    print_rows("rows", rows + same, row_count - same);
    print_rows("expected", expected + same, count - same);
    fail();
}

void engine_check_rows(engine_check *check, const lifetime *expected, size_t count)
{
    lifetime *const copy = malloc((count + 1) * sizeof *copy);
    assert_non_null(copy);
    if (count > 0)
        memcpy(copy, expected, count * sizeof *copy);
    assert_false(check->out.out_of_memory);
    engine_check_same_rows(check->out.rows.at, check->out.rows.count, copy, count);
    check->out.rows.count = 0;
    free(copy);
}

u64 engine_check_diag(const engine_check *check, etl_diag diag)
{
    return check->out.diag.of[diag];
}

u32 engine_check_random(u64 *seed, u32 below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (u32)((*seed >> 33) % below);
}
