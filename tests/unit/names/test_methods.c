/*
 * Goal: frames in code of .NET have the names that the runtime tells, by process and by the
 * time of the event, from whatever the trace has of loads, unloads and rundowns.
 * Method: small built traces, each block of its own size, and the stack of each as text; with
 * and without symbols, in slices of any size, and from a store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/context/methods.h"
#include "engine/result/result.h"
#include "tests/support/run_check.h"
#include "tests/support/store_check.h"

#define HEAP   0x1f0000u
#define PID    8u
#define MODULE UINT64_C(0x7f95e933020)
#define JIT    UINT64_C(0x7ff8a0010000)
#define APP    UINT64_C(0x7ff700000000)

typedef struct managed_trace {
    etl_build *b;
    u32 pid;
    u8 pointer_bytes;
    u64 next;
} managed_trace;

static managed_trace trace_new(void)
{
    managed_trace t = { .b = etl_build_new(&(etl_build_options){ .buffer_bytes = 4096 }),
                        .pid = PID,
                        .next = 0x20000 };
    return t;
}

static etl_build_at when(const managed_trace *t, u32 ms)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(t->b, (u64)ms * 1000000),
                           .pid = t->pid,
                           .tid = 16,
                           .pointer_bytes = t->pointer_bytes };
}

static void add_process(const managed_trace *t, u32 ms, u8 type)
{
    const etl_build_process_spec spec = { .pid = t->pid,
                                          .name = "app.exe",
                                          .wow64 = t->pointer_bytes == 4 };
    etl_build_process(t->b, when(t, ms), type, &spec);
}

static void add_image(const managed_trace *t, u32 ms, u64 base, const char *path)
{
    const etl_build_image_spec spec = {
        .pid = t->pid, .base = base, .size = 0x10000, .path = path
    };
    etl_build_image(t->b, when(t, ms), ETL_BUILD_START, &spec);
}

static void add_method(const managed_trace *t, u32 ms, u16 id, bool is_rundown, u64 start, u32 size,
                       const char *name)
{
    const etl_build_method_spec spec = {
        .module_id = MODULE, .start = start, .size = size, .name_space = "My.App", .name = name
    };
    etl_build_method(t->b, when(t, ms), id, is_rundown, &spec);
}

static void load(const managed_trace *t, u32 ms, u64 start, const char *name)
{
    add_method(t, ms, ETL_BUILD_METHOD_LOAD, false, start, 0x100, name);
}

static void unload(const managed_trace *t, u32 ms, u64 start, const char *name)
{
    add_method(t, ms, ETL_BUILD_METHOD_UNLOAD, false, start, 0x100, name);
}

static void stop(const managed_trace *t, u32 ms, u64 start, const char *name)
{
    add_method(t, ms, ETL_BUILD_METHOD_UNLOAD, true, start, 0x100, name);
}

/* A block that stays, allocated by code that returns to an address. */
static void alloc(managed_trace *t, u32 ms, u64 size, u64 address)
{
    const u64 frames[] = { address, APP + 0x1234 };
    etl_build_heap_alloc(t->b, when(t, ms), HEAP, t->next, size);
    const etl_build_stack stack = { .user = frames, .user_count = 2 };
    etl_build_stack_walk(t->b, when(t, ms), &stack);
    t->next += 0x1000;
}

typedef enum reading { PLAIN, NAMED, SLICED, STORED, READING_COUNT } reading;

static void put_frame(FILE *out, const etlheap_frame *frame)
{
    fprintf(out, " %s!%s", frame->module == NULL ? "-" : frame->module,
            frame->symbol == NULL ? "-" : frame->symbol);
    if (frame->symbol == NULL)
        fprintf(out, "+%llx", (unsigned long long)frame->offset);
}

/* "16 app.dll!My.App.Run app.exe!-+1234; ..." by size. */
static char *stacks_of(const etlheap_result *result, bool is_named)
{
    char *text = NULL;
    size_t size = 0;
    etl_error err;
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_STACK;
    query.group_by_count = 1;
    query.sort_ascending = true;
    if (is_named)
        assert_int_equal(etlheap_symbols_open(result, NULL, &query.symbols, &err), ETL_OK);
    etlheap_table *table;
    assert_int_equal(etlheap_aggregate(result, &query, &table, &err), ETL_OK);
    if (is_named)
        assert_int_equal(etlheap_table_name(table, query.symbols, NULL, &err), ETL_OK);
    FILE *const out = open_memstream(&text, &size);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        fprintf(out, "%lld", (long long)row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE]);
        for (u32 k = table->stack_starts[row->stack]; k < table->stack_starts[row->stack + 1]; k++)
            put_frame(out, &table->frames[table->frame_indices[k]]);
        fprintf(out, ";\n");
    }
    fclose(out);
    etlheap_table_free(table);
    etlheap_symbols_close(query.symbols);
    return text;
}

static void check_reading(const check_traces *traces, reading how, const char *expected)
{
    const etlheap_options sliced = { .size = sizeof sliced, .slice_bytes = 4096, .jobs = 2 };
    ehs_bytes file = { 0 };
    if (how == STORED)
        file = store_check_write(traces, NULL, NULL);
    etlheap_result *const result = how == STORED
                                       ? store_check_read(&file)
                                       : check_analyze(traces, how == SLICED ? &sliced : NULL);
    char *const text = stacks_of(result, how == NAMED);
    assert_string_equal(text, expected);
    free(text);
    etlheap_result_free(result);
    ETLHEAP_VECTOR_FREE(&file);
}

static void check(managed_trace *t, const char *expected)
{
    check_traces traces = { 0 };
    check_open(&traces, t->b);
    for (int how = PLAIN; how < READING_COUNT; how++)
        check_reading(&traces, (reading)how, expected);
    check_close(&traces);
}

static void code_compiled_just_in_time_has_a_name(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    etl_build_assembly(t.b, when(&t, 3), ETL_BUILD_ASSEMBLY_LOAD, false, MODULE,
                       "C:\\x\\My.App.dll");
    load(&t, 10, JIT, "Run");
    load(&t, 11, JIT + 0x100, "Next");
    alloc(&t, 20, 16, JIT + 0x80);
    alloc(&t, 21, 32, JIT + 0x100); /* behind its last instruction */
    alloc(&t, 22, 48, JIT + 0x101);
    alloc(&t, 23, 64, JIT + 0x201);
    check(&t, "16 My.App.dll!My.App.Run app.exe!-+1234;\n"
              "32 My.App.dll!My.App.Run app.exe!-+1234;\n"
              "48 My.App.dll!My.App.Next app.exe!-+1234;\n"
              "64 -!-+7ff8a0010201 app.exe!-+1234;\n");
}

static void code_in_an_image_has_the_name_of_the_image(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    add_image(&t, 3, JIT, "\\Device\\HarddiskVolume3\\My.App.ni.dll");
    stop(&t, 90, JIT + 0x1000, "Run");
    alloc(&t, 20, 16, JIT + 0x1010);
    alloc(&t, 21, 32, JIT + 0x2010);
    check(&t, "16 My.App.ni.dll!My.App.Run app.exe!-+1234;\n"
              "32 My.App.ni.dll!-+2010 app.exe!-+1234;\n");
}

static void a_rundown_names_code_of_the_whole_trace(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_DCSTART);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    alloc(&t, 20, 16, JIT + 0x80);
    stop(&t, 90, JIT, "Run");
    etl_build_assembly(t.b, when(&t, 91), ETL_BUILD_ASSEMBLY_DCSTOP, true, MODULE + 1, "other.dll");
    check(&t, "16 ManagedModule!My.App.Run app.exe!-+1234;\n");
}

/* Also in the same stack, which is counted apart then. */
static void an_address_means_the_method_that_was_there_at_the_time(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    load(&t, 10, JIT, "First");
    load(&t, 10, JIT + 0x1000, "Other");
    alloc(&t, 20, 16, JIT + 0x80);
    unload(&t, 30, JIT, "First");
    load(&t, 40, JIT, "Second");
    alloc(&t, 50, 32, JIT + 0x80);
    unload(&t, 60, JIT, "Second");
    load(&t, 70, JIT - 0x40, "Third"); /* over a part of it */
    alloc(&t, 80, 64, JIT + 0x80);
    alloc(&t, 81, 128, JIT + 0x1001);
    stop(&t, 90, JIT - 0x40, "Third");
    check(&t, "16 ManagedModule!My.App.First app.exe!-+1234;\n"
              "32 ManagedModule!My.App.Second app.exe!-+1234;\n"
              "64 ManagedModule!My.App.Third app.exe!-+1234;\n"
              "128 ManagedModule!My.App.Other app.exe!-+1234;\n");
}

/* Nobody told of the unload. */
static void code_in_the_place_of_other_code_ends_it(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    load(&t, 10, JIT, "First");
    alloc(&t, 20, 16, JIT + 0x80);
    load(&t, 40, JIT, "Second");
    alloc(&t, 50, 32, JIT + 0x80);
    check(&t, "16 ManagedModule!My.App.First app.exe!-+1234;\n"
              "32 ManagedModule!My.App.Second app.exe!-+1234;\n");
}

/* Tiers and ReJIT put the same method elsewhere: one function, and one site. */
static void a_method_compiled_again_keeps_its_name(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    load(&t, 10, JIT, "Run");
    alloc(&t, 20, 16, JIT + 0x80);
    load(&t, 30, JIT + 0x4000, "Run");
    alloc(&t, 40, 32, JIT + 0x4020);
    stop(&t, 90, JIT, "Run");
    stop(&t, 91, JIT + 0x4000, "Run");
    check(&t, "16 ManagedModule!My.App.Run app.exe!-+1234;\n"
              "32 ManagedModule!My.App.Run app.exe!-+1234;\n");
}

static void an_unload_alone_names_what_was_there_before(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_DCSTART);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    alloc(&t, 20, 16, JIT + 0x80);
    unload(&t, 30, JIT, "First");
    load(&t, 40, JIT, "Second");
    alloc(&t, 50, 32, JIT + 0x80);
    check(&t, "16 ManagedModule!My.App.First app.exe!-+1234;\n"
              "32 ManagedModule!My.App.Second app.exe!-+1234;\n");
}

static void methods_are_of_one_process(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    load(&t, 10, JIT, "Old");
    alloc(&t, 20, 16, JIT + 0x80);
    add_process(&t, 30, ETL_BUILD_END);
    add_process(&t, 100, ETL_BUILD_START); /* with the same id */
    add_image(&t, 101, APP, "\\Device\\HarddiskVolume3\\app.exe");
    alloc(&t, 110, 32, JIT + 0x80);
    load(&t, 120, JIT + 0x1000, "New");
    alloc(&t, 130, 64, JIT + 0x1080);
    t.pid++;
    add_process(&t, 140, ETL_BUILD_START);
    add_image(&t, 141, APP, "\\Device\\HarddiskVolume3\\app.exe");
    alloc(&t, 150, 128, JIT + 0x1080);
    check(&t, "16 ManagedModule!My.App.Old app.exe!-+1234;\n"
              "32 -!-+7ff8a0010080 app.exe!-+1234;\n"
              "64 ManagedModule!My.App.New app.exe!-+1234;\n"
              "128 -!-+7ff8a0011080 app.exe!-+1234;\n");
}

static void addresses_of_32_bits_are_named(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    t.pointer_bytes = 4;
    add_process(&t, 1, ETL_BUILD_START);
    load(&t, 10, 0x5e10000, "Run");
    load(&t, 10, 0xfe10000, "High");
    const u64 frames[] = { 0x5e10010, 0xfe10010 };
    etl_build_heap_alloc(t.b, when(&t, 20), HEAP, t.next, 16);
    const etl_build_stack stack = { .user = frames, .user_count = 2 };
    etl_build_stack_walk(t.b, when(&t, 20), &stack);
    check(&t, "16 ManagedModule!My.App.Run ManagedModule!My.App.High;\n");
}

/* A length that cannot be, code at the end of all addresses, of no length, and the kernel's. */
static void odd_places_name_nothing(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    add_image(&t, 2, APP, "\\Device\\HarddiskVolume3\\app.exe");
    load(&t, 10, JIT, "Run");
    add_method(&t, 11, ETL_BUILD_METHOD_LOAD, false, 0x1000, UINT32_MAX, "Huge");
    add_method(&t, 12, ETL_BUILD_METHOD_LOAD, false, JIT - 16, METHOD_BYTES_MAX, "Large");
    add_method(&t, 13, ETL_BUILD_METHOD_LOAD, false, JIT + 1, 0, "Empty");
    add_method(&t, 14, ETL_BUILD_METHOD_LOAD, false, UINT64_MAX - 8, 0x100, "Last");
    add_method(&t, 15, ETL_BUILD_METHOD_LOAD, false, INT64_MAX - 8, 0x100, "High");
    add_method(&t, 16, ETL_BUILD_METHOD_LOAD, false, 0, 0x100, "Null");
    alloc(&t, 20, 16, JIT + 0x80);
    alloc(&t, 21, 32, 0x2000);
    alloc(&t, 22, 64, 0x80);
    check_traces traces = { 0 };
    check_open(&traces, t.b);
    check_reading(&traces, PLAIN,
                  "16 ManagedModule!My.App.Run app.exe!-+1234;\n"
                  "32 -!-+2000 app.exe!-+1234;\n64 -!-+80 app.exe!-+1234;\n");
    etlheap_result *const result = check_analyze(&traces, NULL);
    assert_int_equal(etlheap_result_diagnostics(result)->of[ETL_DIAG_method_size_odd], 2);
    assert_int_equal(etlheap_method_count(result), 2);
    assert_int_equal(etlheap_module_count(result), 1);
    etlheap_result_free(result);
    check_close(&traces);
}

/* What a rundown says again costs nothing, and code that takes no other's place no epoch. */
static void what_is_told_again_is_not_kept(void **state)
{
    (void)state;
    managed_trace t = trace_new();
    add_process(&t, 1, ETL_BUILD_START);
    for (u32 i = 0; i < 1000; i++)
        load(&t, 10, JIT + 0x100 * (u64)i, i % 2 == 0 ? "Even" : "Odd");
    for (u32 round = 0; round < 3; round++) {
        for (u32 i = 0; i < 1000; i++)
            stop(&t, 50 + round, JIT + 0x100 * (u64)i, i % 2 == 0 ? "Even" : "Odd");
    }
    check_traces traces = { 0 };
    check_open(&traces, t.b);
    etlheap_result *const result = check_analyze(&traces, NULL);
    assert_int_equal(result->context.methods.count, 1000);
    assert_int_equal(result->modules.methods.list.count, 1000);
    assert_int_equal(etlheap_method_count(result), 2);
    assert_int_equal(result->modules.epochs.count, 0);
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_compiled_just_in_time_has_a_name),
        cmocka_unit_test(code_in_an_image_has_the_name_of_the_image),
        cmocka_unit_test(a_rundown_names_code_of_the_whole_trace),
        cmocka_unit_test(an_address_means_the_method_that_was_there_at_the_time),
        cmocka_unit_test(code_in_the_place_of_other_code_ends_it),
        cmocka_unit_test(a_method_compiled_again_keeps_its_name),
        cmocka_unit_test(an_unload_alone_names_what_was_there_before),
        cmocka_unit_test(methods_are_of_one_process),
        cmocka_unit_test(addresses_of_32_bits_are_named),
        cmocka_unit_test(odd_places_name_nothing),
        cmocka_unit_test(what_is_told_again_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
