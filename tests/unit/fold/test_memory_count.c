/*
 * Goal: a question with a limit is refused where it would hold more, by what the library counts:
 * bitmaps and groups of each thread, too. The result answers afterwards.
 * Method: for each question and number of threads, the least limit with which it is answered is
 * found by halving. With it the answer is that without a limit; one byte below, the question is
 * refused. What malloc hands out meanwhile, at its highest, is counted in this program. What more
 * blocks add to it must be within a factor of what they add to the least limit; buffers of readers,
 * which are as large for few blocks, do not count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "answer_check.h"
#include "walk_world.h"

#define BLOCKS     20000u /* of the small world */
#define LARGER     6u     /* times as many in the large one */
#define START      1000000
#define FACTOR     2u
#define THREADS    3u
#define NO_MEASURE UINT64_MAX

/* --- what malloc hands out --------------------------------------------------------------- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>

static u64 held, most; /* bytes */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *at);

static void *note(void *at)
{
    const u64 now = __atomic_add_fetch(&held, malloc_usable_size(at), __ATOMIC_RELAXED);
    u64 before = __atomic_load_n(&most, __ATOMIC_RELAXED);
    while (now > before && !__atomic_compare_exchange_n(&most, &before, now, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return at;
}

static void forget(void *at)
{
    __atomic_sub_fetch(&held, malloc_usable_size(at), __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
    return note(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return note(__libc_calloc(count, size));
}

void *realloc(void *at, size_t size)
{
    forget(at);
    return note(__libc_realloc(at, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return note(__libc_memalign(alignment, size));
}

void free(void *at)
{
    forget(at);
    __libc_free(at);
}

static u64 begin_measure(void)
{
    most = held;
    return held;
}

static u64 end_measure(u64 from)
{
    return most - from;
}
#else
static u64 begin_measure(void)
{
    return 0;
}

static u64 end_measure(u64 from)
{
    (void)from;
    return NO_MEASURE;
}
#endif

/* --- the world ------------------------------------------------------------------------------ */

/* Every block has a stack of few, and is of one of many sizes and threads. */
static void add_block(etl_build *b, u32 i)
{
    const u64 frames[] = { 0x401000 + 16 * (i % 301), 0x402000 };
    const etl_build_at at = { .ticks = START + 10000 + i, .pid = 42, .tid = 4 + 4 * (i % 7) };
    const u64 base = 0x20000000 + 64 * (u64)i;
    etl_build_heap_alloc(b, at, 0x1f0000, base, (u64)8 << i % 10);
    etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = 2 });
    if (i % 3 != 0 && i > 3000)
        etl_build_heap_free(b, at, 0x1f0000, base - 64 * 3000);
}

static int open_blocks(void **state, u32 blocks)
{
    const etl_build_options session = { .buffer_bytes = 65536, .clock_hz = 1000000 };
    if (walk_world_open(state) != 0)
        return -1;
    walk_world *const f = *state;
    etl_build *const b = etl_build_new(&session);
    for (u32 i = 0; i < blocks; i++)
        add_block(b, i);
    check_open(&f->traces, b);
    walk_world_analyze(f);
    return 0;
}

static int open_world(void **state)
{
    return open_blocks(state, BLOCKS);
}

/* --- questions --------------------------------------------------------------------------- */

typedef struct asking {
    const char *name;
    etlheap_question_kind kind;
    etlheap_key key;
    bool types, churn, ranks;
} asking;

static const asking askings[] = {
    { .name = "peaks", .kind = ETLHEAP_ASK_TABLE, .key = ETLHEAP_KEY_STACK, .types = true },
    { .name = "threads", .kind = ETLHEAP_ASK_TABLE, .key = ETLHEAP_KEY_THREAD },
    { .name = "sizes", .kind = ETLHEAP_ASK_TABLE, .key = ETLHEAP_KEY_SIZE_CLASS, .churn = true },
    { .name = "ranks", .kind = ETLHEAP_ASK_TABLE, .key = ETLHEAP_KEY_STACK, .ranks = true },
    { .name = "windows", .kind = ETLHEAP_ASK_WINDOWS, .key = ETLHEAP_KEY_STACK },
    { .name = "peak", .kind = ETLHEAP_ASK_PEAKS, .key = ETLHEAP_KEY_STACK },
    { .name = "suspects", .kind = ETLHEAP_ASK_SUSPECTS, .key = ETLHEAP_KEY_STACK },
};

typedef struct asked {
    etlheap_query query;
    etlheap_windows_options windows;
    etlheap_question question;
} asked;

static void make_question(const asking *of, u32 threads, u64 limit, asked *out)
{
    *out = (asked){ .query = etlheap_query_default() };
    etlheap_query *const query = &out->query;
    query->jobs = threads;
    query->memory_bytes_max = limit;
    query->churn = of->churn;
    query->lifetime_ranks = of->ranks;
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by[1] = of->key;
    query->group_by[2] = ETLHEAP_KEY_TYPE;
    query->group_by_count = of->types ? 3 : 2;
    out->windows = (etlheap_windows_options){ .size = sizeof out->windows, .every_ns = 10 * MS };
    out->question =
        (etlheap_question){ .size = sizeof out->question, .kind = of->kind, .query = query };
    out->question.windows = of->kind == ETLHEAP_ASK_WINDOWS ? &out->windows : NULL;
}

/* The answer as text, to be freed; NULL: refused. *measured gets what malloc handed out. */
static char *answer_within(const etlheap_result *result, const asking *of, u32 threads, u64 limit,
                           u64 *measured)
{
    asked one;
    etlheap_answer answer;
    etl_error err = { .status = ETL_OK };
    make_question(of, threads, limit, &one);
    const u64 from = begin_measure();
    const etl_status status = etlheap_ask(result, &one.question, 1, &answer, &err);
    *measured = end_measure(from);
    if (status == ETL_ERR_LIMIT) {
        assert_non_null(strstr(err.message, "more than allowed"));
        assert_int_equal(err.hint, ETL_HINT_NARROWER_WINDOW);
        return NULL;
    }
    if (status != ETL_OK)
        fail_msg("%s: %s", of->name, err.message);
    char *const text = answer_check_text(&answer);
    etlheap_answers_free(&answer, 1);
    return text;
}

/* --- tests -------------------------------------------------------------------------------- */

static void expect_answer(const etlheap_result *result, const asking *of, u32 threads, u64 limit,
                          const char *expected)
{
    u64 measured;
    char *const text = answer_within(result, of, threads, limit, &measured);
    assert_true((text == NULL) == (expected == NULL));
    assert_true(text == NULL || check_same_text(expected, text));
    free(text);
}

/* The least limit with which the question is answered, or up to a part of it above. */
static u64 least_limit(const etlheap_result *result, const asking *of, u32 threads, u32 part)
{
    u64 low = 1, high = (u64)1 << 24, measured;
    while (high - low > high / part) {
        const u64 middle = low + (high - low) / 2;
        char *const text = answer_within(result, of, threads, middle, &measured);
        low = text == NULL ? middle + 1 : low;
        high = text == NULL ? high : middle;
        free(text);
    }
    return high;
}

/* With one thread the count does not depend on who meets which block. */
static void limits_decide_to_the_byte(void **state)
{
    const walk_world *const f = *state;
    for (u32 i = 0; i < ETL_COUNT_OF(askings); i++) {
        const asking *const of = &askings[i];
        u64 measured;
        char *const expected = answer_within(f->store, of, 1, 0, &measured);
        const u64 least = least_limit(f->store, of, 1, UINT32_MAX);
        assert_non_null(expected);
        assert_true(least > 1);
        expect_answer(f->store, of, 1, least - 1, NULL);
        expect_answer(f->store, of, 1, least, expected);
        expect_answer(f->store, of, 1, 0, expected);
        assert_true(least <= measured);
        free(expected);
    }
}

static void expect_growth(const asking *of, const etlheap_result *few, const etlheap_result *many)
{
    u64 of_few, of_many;
    free(answer_within(few, of, 1, 0, &of_few));
    free(answer_within(many, of, 1, 0, &of_many));
    const u64 handed_out = of_many - of_few;
    const u64 counted = least_limit(many, of, 1, 32) - least_limit(few, of, 1, 32);
    print_message("  %s: %llu counted, %llu of malloc\n", of->name, (unsigned long long)counted,
                  (unsigned long long)handed_out);
    assert_true(counted <= FACTOR * handed_out && handed_out <= FACTOR * counted);
}

/* Each thread has bitmaps, groups or sums of its own. */
static void expect_threads_to_count(const asking *of, const etlheap_result *result)
{
    const u64 one = least_limit(result, of, 1, 256), more = least_limit(result, of, THREADS, 256);
    print_message("  %s: %llu, with threads %llu\n", of->name, (unsigned long long)one,
                  (unsigned long long)more);
    assert_true(more > one);
}

static void more_blocks_and_threads_count(void **state)
{
    const walk_world *const few = *state;
    void *larger = NULL;
    assert_int_equal(open_blocks(&larger, LARGER * BLOCKS), 0);
    const walk_world *const many = larger;
    expect_threads_to_count(&askings[0], many->store);
    expect_threads_to_count(&askings[6], many->store);
    for (u32 i = 0; i < ETL_COUNT_OF(askings); i++) {
        if (end_measure(begin_measure()) != NO_MEASURE)
            expect_growth(&askings[i], few->store, many->store);
    }
    assert_int_equal(walk_world_close(&larger), 0);
}

static void rows_in_memory_have_limits_too(void **state)
{
    const walk_world *const f = *state;
    for (u32 i = 0; i < ETL_COUNT_OF(askings); i++) {
        u64 measured;
        char *const expected = answer_within(f->rows, &askings[i], THREADS, 0, &measured);
        expect_answer(f->rows, &askings[i], THREADS, 1000, NULL);
        expect_answer(f->rows, &askings[i], THREADS, (u64)1 << 28, expected);
        free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_decide_to_the_byte),
        cmocka_unit_test(more_blocks_and_threads_count),
        cmocka_unit_test(rows_in_memory_have_limits_too),
    };
    return cmocka_run_group_tests(tests, open_world, walk_world_close);
}
