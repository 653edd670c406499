/*
 * Goal: the short way of the scan (scan_lean.c) ends in the same output as the
 * long one, whatever the records are, however slices cut them, damaged or not.
 * Method: random traces of plain and odd records, whole and with bytes flipped,
 * are scanned slice by slice both ways, and every row that comes out is compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/scan_inside.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/run_check.h"

#define TIDS       3u
#define STACKS     40u
#define FRAMES_MAX 48u
#define HEAP       0x1f0000u

/* --- random traces --------------------------------------------------------------- */

typedef struct maker {
    etl_build *b;
    u64 random;
    i64 ticks;
    u32 odd_percent; /* of records that are not plain */
    etl_build_at last_alloc;
} maker;

static u32 below(maker *m, u32 limit)
{
    return hand_random(&m->random) % limit;
}

static bool is_odd(maker *m)
{
    return below(m, 100) < m->odd_percent;
}

/* Mostly the moment after; at times the same, and if odd an earlier one. */
static etl_build_at next_place(maker *m)
{
    m->ticks += below(m, 4);
    const u32 tid = below(m, TIDS);
    const u32 process = below(m, 9) == 0;
    etl_build_at at = {
        .ticks = m->ticks, .cpu = tid % 2, .pid = 8 + 4 * process, .tid = 100 + 50 * process + tid
    };
    if (!is_odd(m))
        return at;
    switch (below(m, 4)) {
    case 0:
        at.ticks -= below(m, 50);
        break;
    case 1:
        at.pointer_bytes = 4;
        break;
    case 2:
        at.header = (u8)below(m, ETL_BUILD_HEADER_INSTANCE + 1);
        break;
    default:
        at.version = ETL_BUILD_VERSION(below(m, 6));
        break;
    }
    return at;
}

/* Stack i; of the odd ones some are of the kernel, in part or whole, end in zeros
 * or have no frames. */
static u32 make_frames(maker *m, u64 frames[FRAMES_MAX])
{
    const u32 stack = below(m, STACKS);
    u32 count = 1 + stack % (FRAMES_MAX - 1);
    for (u32 i = 0; i < count; i++)
        frames[i] = 0x7ff600000000u + stack * 0x1000u + i;
    if (!is_odd(m))
        return count;
    const u32 kernel = below(m, count + 1);
    for (u32 i = 0; i < kernel; i++)
        frames[i] |= 0xfffff80000000000u;
    if (below(m, 4) == 0)
        frames[count - 1] = 0;
    return below(m, 8) == 0 ? 0 : count;
}

static void put_stack(maker *m)
{
    const i64 event_ticks = m->last_alloc.ticks;
    etl_build_at at = next_place(m);
    at.cpu = m->last_alloc.cpu;
    at.pid = is_odd(m) ? at.pid : m->last_alloc.pid;
    at.tid = is_odd(m) ? at.tid : m->last_alloc.tid;
    if (is_odd(m) && below(m, 3) == 0)
        at.cpu ^= 1;
    u64 frames[FRAMES_MAX];
    const u32 count = make_frames(m, frames);
    if (below(m, 3) > 0)
        etl_build_stack_inline(m->b, at, event_ticks, frames, count);
    else
        etl_build_stack_key(m->b, at, is_odd(m) ? 0x1825 : 0x1826, event_ticks,
                            0xffffa80000000000 + below(m, 20));
}

static void put_deep_stack(maker *m)
{
    static u64 frames[STACK_FRAMES_MAX + 2];
    for (u32 i = 0; i < ETL_COUNT_OF(frames); i++)
        frames[i] = 0x7ff600000000 + i;
    const etl_build_at at = next_place(m);
    etl_build_stack_inline(m->b, at, m->last_alloc.ticks, frames,
                           STACK_FRAMES_MAX - 1 + below(m, 4));
}

static void put_odd(maker *m)
{
    const etl_build_at at = next_place(m);
    const u64 address = 0x20000 + 0x10 * below(m, 64);
    const u64 words[8] = { HEAP, 64, address, 2, 5, 6, 7, 8 };
    switch (below(m, 10)) {
    case 0:
        etl_build_heap_realloc(m->b, at, HEAP,
                               &(etl_build_realloc){ address, address + below(m, 2), 9, 8 });
        break;
    case 1:
        etl_build_virtual_alloc(m->b, at, address << 12, 4096, ETL_BUILD_COMMIT);
        break;
    case 2:
        etl_build_heap_create(m->b, at, HEAP);
        break;
    case 3: /* any length of these payloads */
        etl_build_hook(m->b, at, below(m, 2) == 0 ? 0x1021 : 0x1024, words, below(m, 40));
        break;
    case 4:
        etl_build_hook_counters(
            m->b, at, 0x1021,
            &(etl_build_counters){
                .pebs = true, .count = (u8)below(m, 3), .payload = words, .payload_size = 28 });
        break;
    case 5:
        etl_build_hook(m->b, at, (u16)(0x1020 + below(m, 12)), words, sizeof words);
        break;
    case 6:
        etl_build_hook(m->b, at, (u16)(0x1820 + below(m, 8)), words, sizeof words);
        break;
    case 7:
        etl_build_stack_definition(m->b, at, 0x1824, 0xffffa80000000000 + below(m, 20),
                                   &(etl_build_stack){ .user = words, .user_count = 5 });
        break;
    case 8:
        put_deep_stack(m);
        break;
    default:
        etl_build_heap_expand(m->b, at, HEAP, address, 4096);
        break;
    }
}

static void put_record(maker *m)
{
    const u64 address = 0x20000 + 0x10 * below(m, 64);
    if (m->odd_percent > 0 && is_odd(m)) {
        put_odd(m);
    } else if (below(m, 3) == 0) {
        etl_build_heap_free(m->b, next_place(m), HEAP, address);
    } else {
        m->last_alloc = next_place(m);
        etl_build_heap_alloc(m->b, m->last_alloc, HEAP, address, 1 + below(m, 500));
        if (below(m, 8) > 0)
            put_stack(m);
        if (is_odd(m))
            put_stack(m); /* once more */
    }
}

/* A trace on two CPUs, with `flips` bits of its buffers changed. Owned by the
 * caller, as are the bytes. */
static etl_trace *make_trace(maker *m, u32 records, u32 flips, u8 **bytes)
{
    m->b = etl_build_new(
        &(etl_build_options){ .cpus = 2, .buffer_bytes = 16384, .order = ETL_BUILD_AS_CALLED });
    m->ticks = etl_build_start_ticks(m->b) + 1000;
    m->last_alloc = (etl_build_at){ .ticks = m->ticks };
    for (u32 i = 0; i < records; i++)
        put_record(m);
    assert_true(etl_build_finish(m->b));
    size_t size;
    const u8 *const built = etl_build_data(m->b, &size);
    *bytes = malloc(size);
    assert_non_null(*bytes);
    memcpy(*bytes, built, size);
    etl_build_free(m->b);
    assert_true(size > 2 * 16384);
    for (u32 i = 0; i < flips; i++) {
        const size_t at = 16384 + hand_random(&m->random) % (size - 16384);
        (*bytes)[at] ^= (u8)(1u << below(m, 8));
    }
    etl_trace *trace;
    assert_int_equal(etl_open_memory((etl_bytes){ *bytes, size }, NULL, &trace, NULL), ETL_OK);
    return trace;
}

/* --- comparing outputs -------------------------------------------------------------- */

/* Rows without padding between their members. */
#define assert_same_rows(a, b)                                                                     \
    do {                                                                                           \
        assert_int_equal((a)->count, (b)->count);                                                  \
        if ((a)->count > 0)                                                                        \
            assert_memory_equal((a)->at, (b)->at, (a)->count * sizeof *(a)->at);                   \
    } while (false)

static void assert_same_targets(const scan_output *a, const scan_output *b)
{
    assert_int_equal(a->targets.count, b->targets.count);
    for (size_t i = 0; i < a->targets.count; i++) {
        const inventory_target *const x = &a->targets.at[i], *const y = &b->targets.at[i];
        assert_true(x->ticks == y->ticks && x->tid == y->tid && x->cpu == y->cpu &&
                    x->frees == y->frees);
    }
}

/* And they are what the events say. */
static void assert_same_unresolved(const scan_output *a, const scan_output *b)
{
    assert_same_rows(&a->unresolved, &b->unresolved);
    size_t listed = 0;
    for (size_t i = a->events.count; i > 0; i--) {
        const memory_event *const event = &a->events.at[i - 1];
        if (op_wants_stack(event->op) && event->stack == STACK_NONE) {
            assert_true(listed < a->unresolved.count);
            assert_int_equal(a->unresolved.at[listed++], i - 1);
        }
    }
    assert_int_equal(listed, a->unresolved.count);
}

static void assert_same_pieces(const scan_output *a, const scan_output *b)
{
    assert_int_equal(a->pieces.count, b->pieces.count);
    for (size_t i = 0; i < a->pieces.count; i++) {
        const stack_piece *const x = &a->pieces.at[i], *const y = &b->pieces.at[i];
        assert_true(x->ticks == y->ticks && x->event_ticks == y->event_ticks);
        assert_true(x->key == y->key && x->pid == y->pid && x->tid == y->tid);
        assert_true(x->stack == y->stack && x->cpu == y->cpu);
        assert_true(x->part == y->part && x->is_key == y->is_key);
    }
}

static void assert_same_keys(const scan_output *a, const scan_output *b)
{
    assert_int_equal(a->key_uses.count, b->key_uses.count);
    for (size_t i = 0; i < a->key_uses.count; i++) {
        const key_use *const x = &a->key_uses.at[i], *const y = &b->key_uses.at[i];
        assert_true(x->ticks == y->ticks && x->key == y->key && x->event == y->event);
    }
    assert_int_equal(a->definitions.count, b->definitions.count);
    for (size_t i = 0; i < a->definitions.count; i++) {
        const key_definition *const x = &a->definitions.at[i], *const y = &b->definitions.at[i];
        assert_true(x->ticks == y->ticks && x->key == y->key && x->stack == y->stack);
        assert_true(x->is_kernel == y->is_kernel && x->stream == y->stream);
    }
    assert_int_equal(a->system.count, b->system.count);
    for (size_t i = 0; i < a->system.count; i++) {
        const system_event *const x = &a->system.at[i], *const y = &b->system.at[i];
        assert_true(x->ticks == y->ticks && x->event.kind == y->event.kind && x->pid == y->pid);
    }
}

static void assert_same_stacks(const stack_table *a, const stack_table *b)
{
    assert_int_equal(a->list.count, b->list.count);
    for (u32 id = 1; id <= a->list.count; id++) {
        const etlheap_frames x = stack_get(a, id), y = stack_get(b, id);
        assert_int_equal(x.count, y.count);
        assert_memory_equal(x.addresses, y.addresses, x.count * sizeof *x.addresses);
    }
}

static void assert_same_inventory(const record_inventory *a, const record_inventory *b)
{
    assert_true(a->records == b->records);
    assert_true(a->stack_records == b->stack_records && a->key_records == b->key_records);
    for (u32 group = 0; group < ETL_COUNT_OF(a->pages); group++) {
        assert_int_equal(a->pages[group] == NULL, b->pages[group] == NULL);
        if (a->pages[group] != NULL)
            assert_memory_equal(a->pages[group], b->pages[group], 256 * sizeof **a->pages);
    }
    assert_same_rows(&a->providers, &b->providers);
}

static void assert_same_output(const scan_output *a, const scan_output *b)
{
    assert_int_equal(a->status, ETL_OK);
    assert_int_equal(b->status, ETL_OK);
    assert_same_rows(&a->events, &b->events);
    assert_same_rows(&a->spans, &b->spans);
    assert_int_equal(a->is_unsorted, b->is_unsorted);
    assert_same_targets(a, b);
    assert_same_pieces(a, b);
    assert_same_unresolved(a, b);
    assert_same_keys(a, b);
    assert_same_stacks(&a->new_stacks, &b->new_stacks);
    assert_same_inventory(&a->inventory, &b->inventory);
    assert_memory_equal(&a->diag, &b->diag, sizeof a->diag);
    assert_true(a->stream == b->stream && a->last_ticks == b->last_ticks);
    assert_true(a->met == b->met);
}

/* --- both ways ------------------------------------------------------------------------ */

/* A task's output one way; *buffers are left as the scan leaves them. */
static scan_output scan_one_way(scan_input input, bool no_lean, plan_buffer *buffers)
{
    scan_output out = { 0 };
    etl_scratch scratch = { 0 };
    input.no_lean = no_lean;
    input.buffers = buffers;
    scan_task(&input, &scratch, &out);
    etl_scratch_free(&scratch);
    return out;
}

static u64 scan_both_ways(const scan_input *input, stack_table *stacks)
{
    const u32 count = input->buffer_count;
    plan_buffer *const buffers = malloc(count * sizeof *buffers);
    assert_non_null(buffers);
    memcpy(buffers, input->buffers, count * sizeof *buffers);
    scan_output longer = scan_one_way(*input, true, buffers);
    scan_output lean = scan_one_way(*input, false, input->buffers);
    assert_same_output(&longer, &lean);
    for (u32 i = 0; i < count; i++)
        assert_int_equal(buffers[i].resume, input->buffers[i].resume);
    free(buffers);
    /* Half of the new stacks are known to later slices. */
    for (u32 id = 1; id <= lean.new_stacks.list.count; id += 2) {
        const stack_entry *const entry = &lean.new_stacks.list.at[id - 1];
        u32 known;
        const u64 hash = stack_entry_hash(entry);
        assert_true(stack_add(stacks, hash, entry->frames, entry->count, &known));
    }
    const u64 events = lean.events.count;
    scan_output_free(&longer);
    scan_output_free(&lean);
    return events;
}

/* Events seen. */
static u64 scan_trace(etl_trace *trace, u64 slice_bytes, bool inventory_only)
{
    timebase base;
    read_plan plan;
    assert_true(timebase_open(&base, &trace, 1));
    assert_true(plan_open(&plan, &trace, 1, &base, slice_bytes));
    plan_slice slice = { 0 };
    stack_table stacks = { 0 };
    u64 events = 0;
    for (;;) {
        bool more;
        assert_true(plan_next(&plan, &slice, &more));
        if (!more)
            break;
        for (size_t i = 0; i < slice.tasks.count; i++) {
            const plan_task *const task = &slice.tasks.at[i];
            const scan_input input = { .traces = &trace,
                                       .base = &base,
                                       .stacks = &stacks,
                                       .buffers = &slice.buffers.at[task->first],
                                       .buffer_count = task->count,
                                       .end_ticks = slice.end_ticks,
                                       .inventory_only = inventory_only,
                                       .keeps_targets = inventory_only };
            events += scan_both_ways(&input, &stacks);
        }
    }
    stack_table_free(&stacks);
    plan_slice_free(&slice);
    plan_close(&plan);
    timebase_close(&base);
    return events;
}

static u64 scan_random(u64 seed, u32 odd_percent, u32 flips, u64 slice_bytes)
{
    maker m = { .random = seed * 0x9e3779b97f4a7c15u + 1, .odd_percent = odd_percent };
    u8 *bytes;
    etl_trace *const trace = make_trace(&m, 900, flips, &bytes);
    const u64 events = scan_trace(trace, slice_bytes, false);
    etl_close(trace);
    free(bytes);
    return events;
}

static void plain_traces_scan_the_same_both_ways(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 10; seed++)
        assert_int_equal(scan_random(seed, 0, 0, UINT64_MAX), 900);
}

static void odd_records_scan_the_same_both_ways(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 60; seed++)
        assert_true(scan_random(seed, (u32)seed % 30 + 1, 0, UINT64_MAX) > 300);
}

static void slices_are_cut_the_same_both_ways(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 40; seed++)
        (void)scan_random(seed, (u32)seed % 10, 0, 16384);
}

static void damaged_traces_scan_the_same_both_ways(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 150; seed++)
        (void)scan_random(seed, (u32)seed % 4, 1 + (u32)seed % 60, seed % 2 ? UINT64_MAX : 16384);
}

static void an_inventory_is_the_same_both_ways(void **state)
{
    (void)state;
    maker m = { .random = 5, .odd_percent = 10 };
    u8 *bytes;
    etl_trace *const trace = make_trace(&m, 900, 0, &bytes);
    assert_true(scan_trace(trace, UINT64_MAX, true) > 0);
    assert_true(scan_trace(trace, 16384, true) > 0);
    etl_close(trace);
    free(bytes);
}

/* --- what it takes ----------------------------------------------------------------------- */

/* Else the tests above would compare the long way with itself. */
static void a_buffer_of_plain_records_is_taken_to_its_end(void **state)
{
    (void)state;
    maker m = { .random = 7 };
    u8 *bytes;
    etl_trace *const trace = make_trace(&m, 900, 0, &bytes);
    timebase base;
    assert_true(timebase_open(&base, &trace, 1));
    const stack_table stacks = { 0 };
    const scan_input input = { .base = &base, .stacks = &stacks, .end_ticks = INT64_MAX };
    scan_output out = { .last_ticks = INT64_MIN };
    scanner s = { .input = &input,
                  .out = &out,
                  .resolve_ticks = INT64_MAX,
                  .queue = { .stacks = &stacks, .out = &out } };
    etl_buffer buffer;
    etl_scratch scratch = { 0 };
    assert_int_equal(etl_buffer_load(trace, 1, &scratch, &out.diag, &buffer), ETL_OK);
    assert_true(buffer.end - buffer.at > 8192);
    assert_true(scan_lean(&s, &buffer));
    assert_true(buffer.end - buffer.at <= 300); /* the last record, or two short ones */
    assert_true(stack_queue_flush(&s.queue));
    assert_true(scan_lean_count(&s));
    assert_true(out.events.count > 0 && out.inventory.records > out.events.count);
    scan_output_free(&out);
    timebase_close(&base);
    etl_close(trace);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_traces_scan_the_same_both_ways),
        cmocka_unit_test(odd_records_scan_the_same_both_ways),
        cmocka_unit_test(slices_are_cut_the_same_both_ways),
        cmocka_unit_test(damaged_traces_scan_the_same_both_ways),
        cmocka_unit_test(an_inventory_is_the_same_both_ways),
        cmocka_unit_test(a_buffer_of_plain_records_is_taken_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
