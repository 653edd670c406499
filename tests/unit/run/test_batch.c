/*
 * Goal: inputs of a batch are worked on side by side or alone as they are small or
 * large, each is finished once, and contents have the sums that xxhsum gives them.
 * Method: work that notes who ran beside whom, in batches whose answer is known by
 * heart, and in many random ones of which only the promises are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/temporary.h"

#define INPUTS_MAX 64u

typedef struct notes {
    u64 sizes[INPUTS_MAX];
    bool again[INPUTS_MAX]; /* answers so when it is not alone */
    _Atomic u32 running, finishing;
    _Atomic u32 most_running;
    _Atomic u32 begun;
    u32 begin_order[INPUTS_MAX];
    u32 works[INPUTS_MAX], jobs[INPUTS_MAX], finishes[INPUTS_MAX];
    bool alone[INPUTS_MAX];
    u32 stop_after; /* begun inputs; 0: goes on */
    _Atomic u32 broken;
    bool meets; /* waits for another input to run beside it */
} notes;

static void wait_for_company(notes *n)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    for (u32 i = 0; i < 5000 && atomic_load(&n->most_running) < 2; i++)
        nanosleep(&moment, NULL);
}

static etlheap_batch_answer work(void *user, u32 index, u32 jobs, bool is_alone)
{
    notes *const n = user;
    const u32 running = atomic_fetch_add(&n->running, 1) + 1;
    if (running > atomic_load(&n->most_running))
        atomic_store(&n->most_running, running);
    n->begin_order[atomic_fetch_add(&n->begun, 1) % INPUTS_MAX] = index;
    n->works[index]++;
    n->jobs[index] = jobs;
    n->alone[index] = is_alone;
    if (n->meets && !is_alone)
        wait_for_company(n);
    n->broken += is_alone && atomic_load(&n->running) != 1;
    atomic_fetch_sub(&n->running, 1);
    return n->again[index] && !is_alone ? ETLHEAP_BATCH_AGAIN : ETLHEAP_BATCH_DONE;
}

static void finished(void *user, u32 index)
{
    notes *const n = user;
    n->broken += atomic_fetch_add(&n->finishing, 1) != 0;
    n->finishes[index]++;
    atomic_fetch_sub(&n->finishing, 1);
}

static bool goes_on(void *user)
{
    const notes *const n = user;
    return n->stop_after == 0 || n->begun < n->stop_after;
}

static void run(notes *n, u32 count, u32 jobs, u64 memory_bytes_max)
{
    const etlheap_batch_options options = { .size = sizeof options,
                                            .jobs = jobs,
                                            .memory_bytes_max = memory_bytes_max,
                                            .count = count,
                                            .input_bytes = n->sizes,
                                            .work = work,
                                            .finished = finished,
                                            .goes_on = goes_on,
                                            .user = n };
    assert_int_equal(etlheap_batch_run(&options, NULL), ETL_OK);
    assert_int_equal(n->broken, 0);
}

static void one_thread_takes_inputs_as_they_come(void **state)
{
    (void)state;
    notes n = { .sizes = { 10, 500, 20, 300 } };
    run(&n, 4, 1, 0);
    for (u32 i = 0; i < 4; i++) {
        assert_int_equal(n.begin_order[i], i);
        assert_true(n.alone[i]);
        assert_int_equal(n.jobs[i], 1);
    }
}

static void a_single_input_has_all_threads(void **state)
{
    (void)state;
    notes n = { .sizes = { 10 } };
    run(&n, 1, 4, 0);
    assert_int_equal(n.jobs[0], 4);
    assert_true(n.alone[0]);
}

static void small_inputs_have_a_thread_each_side_by_side(void **state)
{
    (void)state;
    notes n = { .meets = true };
    for (u32 i = 0; i < 8; i++)
        n.sizes[i] = 10;
    run(&n, 8, 2, 0);
    assert_true(n.most_running == 2);
    for (u32 i = 0; i < 7; i++)
        assert_int_equal(n.jobs[i], 1);
}

static void a_large_input_goes_first_with_all_threads(void **state)
{
    (void)state;
    notes n = { .sizes = { 10, 10, 10, 1000, 10, 10, 10, 10, 10 } };
    run(&n, 9, 3, 0);
    assert_int_equal(n.begin_order[0], 3);
    assert_int_equal(n.jobs[3], 3);
    assert_true(n.alone[3]);
    assert_false(n.alone[0]);
}

static void inputs_whose_share_of_memory_is_short_are_alone(void **state)
{
    (void)state;
    notes n = { .sizes = { 100, 100, 100, 100, 100, 100 } };
    run(&n, 6, 2, (u64)100 << 20);
    for (u32 i = 0; i < 6; i++)
        assert_true(n.alone[i]);
    notes m = { .sizes = { 100, 100, 100, 100, 100, 100 } };
    run(&m, 6, 2, (u64)200 << 20);
    assert_false(m.alone[0]);
}

static void what_answers_again_is_worked_on_alone_at_the_end(void **state)
{
    (void)state;
    notes n = { .again = { false, true } };
    for (u32 i = 0; i < 6; i++)
        n.sizes[i] = 10;
    run(&n, 6, 2, 0);
    assert_int_equal(n.works[1], 2);
    assert_int_equal(n.finishes[1], 1);
    assert_int_equal(n.begin_order[6], 1);
    assert_true(n.alone[1]);
    assert_int_equal(n.jobs[1], 2);
}

static void nothing_is_begun_once_it_does_not_go_on(void **state)
{
    (void)state;
    notes n = { .stop_after = 3 };
    run(&n, 20, 1, 0);
    assert_int_equal(n.begun, 3);
}

static void no_inputs_are_no_work(void **state)
{
    (void)state;
    notes n = { .stop_after = 0 };
    run(&n, 0, 4, 0);
    assert_int_equal(n.begun, 0);
}

static void every_batch_finishes_each_input_once(void **state)
{
    (void)state;
    u64 seed = 1;
    for (u32 round = 0; round < 300; round++) {
        static notes n;
        n = (notes){ .stop_after = 0 };
        const u32 count = (u32)(hand_random(&seed) % INPUTS_MAX / 2);
        for (u32 i = 0; i < count; i++) {
            const u32 shift = hand_random(&seed) % 33;
            n.sizes[i] = (u64)hand_random(&seed) << shift;
            n.again[i] = hand_random(&seed) % 8 == 0;
        }
        const u32 jobs = 1 + hand_random(&seed) % 5;
        run(&n, count, jobs, (u64)(round % 2) << 27);
        for (u32 i = 0; i < count; i++) {
            assert_int_equal(n.finishes[i], 1);
            assert_in_range(n.works[i], 1, n.again[i] ? 2 : 1);
        }
    }
}

/* Source: xxhsum -H2 of the same bytes. Sizes lie on both sides of where XXH3 changes its
 * way, and of the pieces in which a file is read. */
static const struct {
    size_t size;
    u64 high, low;
} sums[] = {
    { 0, 0x99aa06d3014798d8, 0x6001c324468d497f },
    { 1, 0xa6cd5e9392000f6a, 0xc44bdff4074eecdb },
    { 3, 0x95c705060a313bf8, 0xa1c4a8259b827291 },
    { 16, 0x29be75b0bbbb5284, 0xaafffcec5df2cb27 },
    { 17, 0xdb7e8f77961e47fd, 0x878751509ecfdb8b },
    { 129, 0x522c922743fd67f1, 0xb8075934107218e5 },
    { 240, 0x4f49ccc8526aa7ad, 0x407883ea5ef95b9a },
    { 241, 0x50b62ee1ee6455a7, 0xbc424a2c480dd281 },
    { 1025, 0xd1ad5f4a3cce4374, 0xfe08e5a874d23fd2 },
    { 262144, 0x5df35255aa52a7d0, 0xa681d98cfc9c36a6 },
    { 262145, 0x340c6afb1466dfa4, 0xf55c36c17ab34a7a },
    { 700001, 0xc392715f88e347b1, 0xdcab28c4bacd10b6 },
};

/* Byte i is bits 13 to 20 of i * 2654435761. */
static u8 *patterned(size_t size)
{
    u8 *const bytes = malloc(size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (u8)((u32)i * 2654435761u >> 13);
    return bytes;
}

static void contents_have_the_sums_of_xxhsum(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(sums); i++) {
        u8 *const bytes = patterned(sums[i].size);
        const etlheap_content_id id = etlheap_content_of(bytes, sums[i].size);
        print_message("  %zu bytes\n", sums[i].size);
        assert_int_equal(id.high, sums[i].high);
        assert_int_equal(id.low, sums[i].low);
        free(bytes);
    }
}

static void files_have_the_sums_of_xxhsum(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH_BYTES];
    assert_int_equal(close(temporary_file(path, "etlheap-test")), 0);
    etlheap_content_id id;
    u64 size_bytes;
    for (size_t i = 0; i < ETL_COUNT_OF(sums); i++) {
        u8 *const bytes = patterned(sums[i].size);
        FILE *const stream = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, sums[i].size, stream), sums[i].size);
        assert_int_equal(fclose(stream), 0);
        print_message("  %zu bytes\n", sums[i].size);
        assert_int_equal(etlheap_content_of_file(path, &id, &size_bytes, NULL), ETL_OK);
        assert_int_equal(id.high, sums[i].high);
        assert_int_equal(id.low, sums[i].low);
        assert_int_equal(size_bytes, sums[i].size);
        free(bytes);
    }
    unlink(path);
    assert_int_equal(etlheap_content_of_file(path, &id, &size_bytes, NULL), ETL_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_takes_inputs_as_they_come),
        cmocka_unit_test(a_single_input_has_all_threads),
        cmocka_unit_test(small_inputs_have_a_thread_each_side_by_side),
        cmocka_unit_test(a_large_input_goes_first_with_all_threads),
        cmocka_unit_test(inputs_whose_share_of_memory_is_short_are_alone),
        cmocka_unit_test(what_answers_again_is_worked_on_alone_at_the_end),
        cmocka_unit_test(nothing_is_begun_once_it_does_not_go_on),
        cmocka_unit_test(no_inputs_are_no_work),
        cmocka_unit_test(every_batch_finishes_each_input_once),
        cmocka_unit_test(contents_have_the_sums_of_xxhsum),
        cmocka_unit_test(files_have_the_sums_of_xxhsum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
