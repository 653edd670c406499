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
#include "hand_bytes.h"
#include "temporary.h"

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

/* Source: xxhsum -H2 of the same bytes. */
static void contents_have_the_sums_of_xxhsum(void **state)
{
    (void)state;
    const etlheap_content_id nothing = etlheap_content_of("", 0);
    assert_int_equal(nothing.high, 0x99aa06d3014798d8);
    assert_int_equal(nothing.low, 0x6001c324468d497f);
}

static void a_file_has_the_sum_of_its_bytes(void **state)
{
    (void)state;
    const size_t size = 700001;
    u8 *const bytes = malloc(size);
    char path[TEMPORARY_PATH_BYTES];
    const int file = temporary_file(path, "etlheap-test");
    FILE *const stream = fdopen(file, "wb");
    u64 seed = 3;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (u8)hand_random(&seed);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    etlheap_content_id id;
    u64 size_bytes;
    assert_int_equal(etlheap_content_of_file(path, &id, &size_bytes, NULL), ETL_OK);
    const etlheap_content_id wanted = etlheap_content_of(bytes, size);
    assert_int_equal(id.high, wanted.high);
    assert_int_equal(id.low, wanted.low);
    assert_int_equal(size_bytes, size);
    unlink(path);
    free(bytes);
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
        cmocka_unit_test(a_file_has_the_sum_of_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
