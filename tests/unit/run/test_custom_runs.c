/*
 * Goal: blocks of custom allocators, and the stacks inside of their events, are the same
 * whatever the slices, the threads and the home of the result.
 * Method: a trace of allocations and frees by mimalloc, PIX and a described allocator, with
 * stacks as frames and as keys that are defined later, is analysed in slices of several
 * sizes by one thread and by three, and from its store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/run_check.h"
#include "tests/support/store_check.h"

#include <string.h>

#define KEY   UINT64_C(0xFFFFA80003200010)
#define STEPS 1200
#define CODE  UINT64_C(0x7FF600001000)

static const char pool_text[] = "0d1ce000-5a5a-4b4b-8c8c-102030405061:"
                                "alloc=7(address@2+P:u64,size@0:u16),free=8(address@0:u64)";

static u64 next(u64 *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* Payloads, packed as the manifests have them. */
static size_t fill(u32 allocator, bool is_alloc, u64 address, u64 size, u8 payload[32])
{
    const u16 number = 3, narrow = (u16)size;
    memset(payload, 0, 32);
    if (allocator == 0) {
        memcpy(payload, &address, 8);
        memcpy(payload + 8, &size, 8);
        return 16;
    }
    if (allocator == 1) {
        memcpy(payload, &number, 2);
        memcpy(payload + 2, &address, 8);
        memcpy(payload + 10, &size, 8);
        return 26;
    }
    memcpy(payload, &narrow, 2);
    memcpy(payload + (is_alloc ? 10 : 0), &address, 8);
    return 18;
}

static void put(etl_build *b, etl_build_at at, u64 *random)
{
    static const char *const providers[] = { "138f4dbb-ee04-4899-aa0a-572ad4475779",
                                             "8819ca17-7faa-4184-afb7-a4120ca793cd",
                                             "0d1ce000-5a5a-4b4b-8c8c-102030405061" };
    static const u16 ids[][2] = { { 101, 100 }, { 17, 16 }, { 8, 7 } };
    const u32 allocator = (u32)next(random) % 3;
    const bool is_alloc = next(random) % 3 != 0;
    const u64 frames[] = { 0, CODE + next(random) % 9, CODE + 0x100, CODE + 0x200 };
    const u64 key[] = { 0, KEY + next(random) % 5 * 16 };
    const bool is_key = next(random) % 2 == 0;
    const etl_build_item item = { .type = is_key ? 0x12 : 6,
                                  .data = is_key ? key : frames,
                                  .size = is_key ? sizeof key : sizeof frames };
    u8 payload[32];
    etl_build_manifest event = { .id = ids[allocator][is_alloc], .items = &item };
    event.item_count = is_alloc && next(random) % 4 != 0;
    const u64 address = 0x20000 + next(random) % 50 * 0x1000;
    event.payload_size = fill(allocator, is_alloc, address, next(random) % 600, payload);
    event.payload = payload;
    etl_build_guid(providers[allocator], event.provider);
    etl_build_event(b, at, &event);
}

/* Keys are defined at the end, as sessions do. */
static void build(check_traces *traces)
{
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 2, .buffer_bytes = 4096 });
    u64 random = 7;
    etl_build_at at = { .ticks = etl_build_start_ticks(b) };
    for (u32 i = 0; i < STEPS; i++) {
        at.ticks += 1 + (i64)(next(&random) % 900);
        at.cpu = (u32)next(&random) % 2;
        at.pid = 40 + (u32)next(&random) % 2;
        at.tid = at.pid + 100;
        put(b, at, &random);
    }
    for (u64 k = 0; k < 4; k++) { /* the fifth is never defined */
        const u64 definition[] = { KEY + k * 16, CODE + 0x1000 + k, CODE + 0x2000 };
        at.ticks += 5;
        etl_build_hook(b, at, 0x1824, definition, sizeof definition);
    }
    check_open(traces, b);
}

static void every_way_says_the_same(void **state)
{
    (void)state;
    static const u64 slices[] = { 0, 4096, 20000 };
    check_traces traces = { .count = 0 };
    etl_custom_allocator pool;
    build(&traces);
    assert_int_equal(etl_custom_parse(pool_text, &pool, NULL), ETL_OK);
    etlheap_options options = {
        .size = sizeof options, .jobs = 1, .custom_allocators = &pool, .custom_allocator_count = 1
    };
    etlheap_result *const whole = check_analyze(&traces, &options);
    char *const expected = check_result_text(whole);
    const etlheap_process_info *const process = etlheap_process_of(whole, (etlheap_process){ 1 });
    assert_true(process->events[ETLHEAP_KIND_CUSTOM] > STEPS / 3);
    assert_int_equal(
        process->events[ETLHEAP_KIND_HEAP] + process->events[ETLHEAP_KIND_VIRTUALALLOC], 0);
    assert_true((etlheap_result_kinds(whole) >> ETLHEAP_KIND_CUSTOM & 1) != 0 &&
                etlheap_result_abilities(whole).stacks);
    for (u32 i = 0; i < 2 * ETL_COUNT_OF(slices); i++) {
        options.slice_bytes = slices[i / 2];
        options.jobs = i % 2 == 0 ? 1 : 3;
        etlheap_result *const result = check_analyze(&traces, &options);
        char *const text = check_result_text(result);
        assert_true(check_same_text(text, expected));
        free(text);
        etlheap_result_free(result);
    }
    ehs_bytes file = store_check_write(&traces, &options, NULL);
    etlheap_result *const stored = store_check_read(&file);
    char *const own = check_lifetimes_text(whole), *const read = check_lifetimes_text(stored);
    assert_true(check_same_text(read, own));
    assert_int_equal(
        etlheap_process_of(stored, (etlheap_process){ 1 })->events[ETLHEAP_KIND_CUSTOM],
        process->events[ETLHEAP_KIND_CUSTOM]);
    free(own);
    free(read);
    free(expected);
    etlheap_result_free(stored);
    etlheap_result_free(whole);
    ETLHEAP_VECTOR_FREE(&file);
    check_close(&traces);
}

/* Without its description an allocator's events are records like any other. */
static void unknown_providers_are_only_counted(void **state)
{
    (void)state;
    check_traces traces = { .count = 0 };
    build(&traces);
    etlheap_result *const result = check_analyze(&traces, NULL);
    char *const text = check_lifetimes_text(result);
    assert_non_null(strstr(text, "custom"));
    const etlheap_process_info *const process = etlheap_process_of(result, (etlheap_process){ 1 });
    assert_true(process->events[ETLHEAP_KIND_CUSTOM] < STEPS / 2);
    free(text);
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_says_the_same),
        cmocka_unit_test(unknown_providers_are_only_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
