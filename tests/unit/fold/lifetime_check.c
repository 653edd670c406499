/* lifetime_check.c - see lifetime_check.h. */
#include "lifetime_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FLUSH_TICKS 20

/* One analysis, its lifetimes sorted. Frames point into the result. */
typedef struct analysis {
    etlheap_result *result;
    life *rows;
    u32 count;
} analysis;

struct lifetime_check {
    u8 *bytes;
    etl_trace *trace;
    analysis usual;
};

static analysis analyse(etl_trace *trace, u64 slice_bytes, u32 jobs);
static void free_analysis(analysis *a);
static void assert_same_analysis(const analysis *a, const analysis *b);
static void sort_rows(life *rows, u32 count);
static bool same_rows(const life *a, u32 a_count, const life *b, u32 b_count);
static void print_rows(const char *title, const life *rows, u32 count);

etl_build *lifetime_build(const etl_build_options *options)
{
    etl_build_options chosen = options == NULL ? (etl_build_options){ 0 } : *options;
    if (chosen.buffer_bytes == 0)
        chosen.buffer_bytes = 1024;
    if (chosen.flush_interval_ticks == 0)
        chosen.flush_interval_ticks = FLUSH_TICKS;
    return etl_build_new(&chosen);
}

lifetime_check *lifetime_check_open(etl_build *b)
{
    static const u64 slices[] = { 1, 4096, 0 };
    static const u32 jobs[] = { 1, 2, 7 };
    lifetime_check *const check = calloc(1, sizeof *check);
    assert_non_null(check);
    if (!etl_build_finish(b))
        fail_msg("%s", etl_build_error(b));
    size_t size;
    const u8 *const data = etl_build_data(b, &size);
    check->bytes = malloc(size);
    assert_non_null(check->bytes);
    memcpy(check->bytes, data, size);
    etl_build_free(b);
    assert_int_equal(etl_open_memory((etl_bytes){ check->bytes, size }, NULL, &check->trace, NULL),
                     ETL_OK);
    check->usual = analyse(check->trace, 0, 1);
    for (size_t s = 0; s < ETL_COUNT_OF(slices); s++) {
        for (size_t j = 0; j < ETL_COUNT_OF(jobs); j++) {
            analysis other = analyse(check->trace, slices[s], jobs[j]);
            if (!same_rows(check->usual.rows, check->usual.count, other.rows, other.count)) {
                print_error("with slices of %" PRIu64 " bytes and %u jobs:\n", slices[s], jobs[j]);
                print_rows("usual", check->usual.rows, check->usual.count);
                print_rows("these", other.rows, other.count);
                fail();
            }
            assert_same_analysis(&check->usual, &other);
            free_analysis(&other);
        }
    }
    return check;
}

void lifetime_check_close(lifetime_check *check)
{
    free_analysis(&check->usual);
    etl_close(check->trace);
    free(check->bytes);
    free(check);
}

static life life_of(const etlheap_result *result, const etlheap_segment *segment, u32 at)
{
    const etlheap_process process = { segment->process[at] };
    const etlheap_stack stack = { segment->stack[at] };
    life row = { .pid = etlheap_process_of(result, process)->pid,
                 .tid = segment->thread[at],
                 .kind = segment->kind[at],
                 .end = segment->free_type[at],
                 .is_realloc = segment->is_realloc[at] != 0,
                 .heap = segment->heap_handle[at],
                 .address = segment->address[at],
                 .size = segment->size_bytes[at],
                 .alloc = segment->alloc_ticks[at],
                 .freed = segment->free_ticks[at] };
    if (stack.v != 0) {
        const etlheap_frames frames = etlheap_stack_frames(result, stack);
        row.frames = frames.addresses;
        row.frame_count = frames.count;
    }
    return row;
}

static analysis analyse(etl_trace *trace, u64 slice_bytes, u32 jobs)
{
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = jobs,
                                      .slice_bytes = slice_bytes };
    const char *const name = "built.etl";
    analysis a = { 0 };
    assert_int_equal(etlheap_analyze(&trace, &name, 1, &options, &a.result, NULL), ETL_OK);
    u32 total = 0;
    for (u32 i = 0; i < etlheap_segment_count(a.result); i++)
        total += etlheap_segment_of(a.result, i).rows;
    a.rows = malloc((total + 1) * sizeof *a.rows);
    assert_non_null(a.rows);
    for (u32 i = 0; i < etlheap_segment_count(a.result); i++) {
        const etlheap_segment segment = etlheap_segment_of(a.result, i);
        for (u32 at = 0; at < segment.rows; at++)
            a.rows[a.count++] = life_of(a.result, &segment, at);
    }
    sort_rows(a.rows, a.count);
    return a;
}

static void free_analysis(analysis *a)
{
    free(a->rows);
    etlheap_result_free(a->result);
    *a = (analysis){ 0 };
}

/* All but the lifetimes, which have been compared. */
static void assert_same_analysis(const analysis *a, const analysis *b)
{
    assert_int_equal(etlheap_process_count(a->result), etlheap_process_count(b->result));
    for (u32 i = 1; i <= etlheap_process_count(a->result); i++) {
        const etlheap_process_info *const x = etlheap_process_of(a->result, (etlheap_process){ i });
        const etlheap_process_info *const y = etlheap_process_of(b->result, (etlheap_process){ i });
        assert_int_equal(x->pid, y->pid);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->start_ticks, y->start_ticks);
        assert_int_equal(x->end_ticks, y->end_ticks);
        assert_int_equal(x->events[ETLHEAP_KIND_HEAP], y->events[ETLHEAP_KIND_HEAP]);
        assert_int_equal(x->events[ETLHEAP_KIND_VIRTUALALLOC],
                         y->events[ETLHEAP_KIND_VIRTUALALLOC]);
        assert_memory_equal(x->free_without_alloc, y->free_without_alloc,
                            sizeof x->free_without_alloc);
    }
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const u64 x = etlheap_result_diagnostics(a->result)->of[i];
        const u64 y = etlheap_result_diagnostics(b->result)->of[i];
        if (x != y)
            fail_msg("diagnostic %s: %" PRIu64 ", %" PRIu64, etl_diag_describe((etl_diag)i)->name,
                     x, y);
    }
    const etlheap_stack_counts *const x = etlheap_result_stacks(a->result);
    const etlheap_stack_counts *const y = etlheap_result_stacks(b->result);
    assert_int_equal(x->records, y->records);
    assert_int_equal(x->keys_referenced, y->keys_referenced);
    assert_int_equal(x->keys_resolved, y->keys_resolved);
    assert_int_equal(etlheap_stack_count(a->result), etlheap_stack_count(b->result));
}

/* --- rows --- */

#define COMPARE(member)                                                                            \
    if (x->member != y->member)                                                                    \
    return x->member < y->member ? -1 : 1

static int by_content(const void *a, const void *b)
{
    const life *const x = a, *const y = b;
    COMPARE(pid);
    COMPARE(kind);
    COMPARE(heap);
    COMPARE(address);
    COMPARE(alloc);
    COMPARE(end);
    if (x->end != ETLHEAP_FREE_NONE)
        COMPARE(freed);
    COMPARE(size);
    COMPARE(tid);
    COMPARE(is_realloc);
    COMPARE(frame_count);
    for (u32 i = 0; i < x->frame_count; i++)
        COMPARE(frames[i]);
    return 0;
}

static void sort_rows(life *rows, u32 count)
{
    if (count > 0)
        qsort(rows, count, sizeof *rows, by_content);
}

static bool same_rows(const life *a, u32 a_count, const life *b, u32 b_count)
{
    if (a_count != b_count)
        return false;
    for (u32 i = 0; i < a_count; i++) {
        if (by_content(&a[i], &b[i]) != 0)
            return false;
    }
    return true;
}

static void print_ticks(i64 ticks)
{
    if (ticks == ETLHEAP_TICKS_BEFORE)
        print_error(" before");
    else if (ticks == ETLHEAP_TICKS_NEVER)
        print_error(" never");
    else
        print_error(" +%" PRId64, ticks - LIFE_START);
}

static void print_rows(const char *title, const life *rows, u32 count)
{
    print_error("%s: %u\n", title, count);
    for (u32 i = 0; i < count; i++) {
        const life *const row = &rows[i];
        print_error("  pid %u tid %u %s heap %" PRIx64 " [%" PRIx64 " +%" PRIu64 "]", row->pid,
                    row->tid, etlheap_kind_name((etlheap_kind)row->kind), row->heap, row->address,
                    row->size);
        print_ticks(row->alloc);
        print_ticks(row->end == ETLHEAP_FREE_NONE ? ETLHEAP_TICKS_NEVER : row->freed);
        print_error(" %s%s", etlheap_free_type_name((etlheap_free_type)row->end),
                    row->is_realloc ? " realloc" : "");
        for (u32 k = 0; k < row->frame_count; k++)
            print_error(" %" PRIx64, row->frames[k]);
        print_error("\n");
    }
}

void lifetime_check_rows(const lifetime_check *check, const life *expected, u32 count)
{
    life *const copy = malloc((count + 1) * sizeof *copy);
    assert_non_null(copy);
    if (count > 0)
        memcpy(copy, expected, count * sizeof *copy);
    sort_rows(copy, count);
    if (!same_rows(check->usual.rows, check->usual.count, copy, count)) {
        print_rows("lifetimes", check->usual.rows, check->usual.count);
        print_rows("expected", copy, count);
        fail();
    }
    free(copy);
}

void lifetime_check_all(etl_build *b, const life *expected, u32 count)
{
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, expected, count);
    lifetime_check_close(check);
}

/* --- the rest --- */

const etlheap_result *lifetime_check_result(const lifetime_check *check)
{
    return check->usual.result;
}

u64 lifetime_check_diag(const lifetime_check *check, etl_diag diag)
{
    return etlheap_result_diagnostics(check->usual.result)->of[diag];
}

u64 lifetime_check_unknown_frees(const lifetime_check *check, etlheap_kind kind)
{
    u64 total = 0;
    for (u32 i = 1; i <= etlheap_process_count(check->usual.result); i++)
        total += etlheap_process_of(check->usual.result, (etlheap_process){ i })
                     ->free_without_alloc[kind];
    return total;
}

u32 lifetime_check_process_count(const lifetime_check *check, u32 pid)
{
    u32 count = 0;
    for (u32 i = 1; i <= etlheap_process_count(check->usual.result); i++)
        count += etlheap_process_of(check->usual.result, (etlheap_process){ i })->pid == pid;
    return count;
}

const etlheap_process_info *lifetime_check_process(const lifetime_check *check, u32 pid, u32 n)
{
    u32 seen = 0;
    for (u32 i = 1; i <= etlheap_process_count(check->usual.result); i++) {
        const etlheap_process_info *const info =
            etlheap_process_of(check->usual.result, (etlheap_process){ i });
        if (info->pid == pid && seen++ == n)
            return info;
    }
    fail_msg("process %u of pid %u", n, pid);
    return NULL;
}
