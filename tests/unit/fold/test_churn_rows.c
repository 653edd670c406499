/*
 * Goal: among lifetimes in memory, those are temporary that end before their thread allocates
 * again, whatever was left of them in pieces and whose memory it is. Method: few lifetimes by hand,
 * each a case of its own; the table's sums of what is temporary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/query/query.h"
#include "tests/support/hand_result.h"

#define TICK(n) (HAND_START_TICKS + (i64)(n))
#define MAIN    104u
#define OTHER   108u

/* All that differs between the lifetimes of a case. Times are ticks since the start. */
typedef struct case_row {
    u8 kind;
    u32 process, thread;
    u64 address, size;
    i64 from, to;
} case_row;

/* How many of them are temporary, and how many end before the tenth next allocation. */
typedef struct case_sums {
    i64 temporary, near;
} case_sums;

static case_sums count(const case_row *rows, size_t row_count)
{
    etlheap_result *const result = hand_result_new();
    etlheap_query query = etlheap_query_default();
    etlheap_table *table = NULL;
    case_sums out = { 0 };
    hand_process(result, 10, "app.exe");
    hand_process(result, 20, "child.exe");
    for (size_t i = 0; i < row_count; i++) {
        const lifetime row = { .alloc_ticks = TICK(rows[i].from),
                               .free_ticks = TICK(rows[i].to),
                               .address = rows[i].address,
                               .size = rows[i].size,
                               .heap =
                                   etlheap_kind_has(rows[i].kind, ETLHEAP_KIND_HAS_HEAP) ? 1 : 0,
                               .process = rows[i].process,
                               .thread = rows[i].thread,
                               .free_thread = ETL_NO_ID,
                               .kind = rows[i].kind,
                               .free_type = ETLHEAP_FREE_FREE };
        hand_lifetime(result, &row);
    }
    hand_ready(result, TICK(10000));
    query.kinds = (1u << ETLHEAP_KIND_COUNT) - 1;
    result->keeps_named_kinds = true;
    result->abilities.kinds = ETLHEAP_KINDS_ALL;
    query.churn = true;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    for (u32 i = 0; i < table->row_count; i++) {
        out.temporary += table->rows[i].measures[ETLHEAP_MEASURE_TEMPORARY_COUNT];
        out.near += table->rows[i].measures[ETLHEAP_MEASURE_TEMPORARY_10_COUNT];
    }
    etlheap_table_free(table);
    etlheap_result_free(result);
    return out;
}

#define EXPECT(temporary_count, near_count, ...)                                                   \
    do {                                                                                           \
        const case_row rows[] = { __VA_ARGS__ };                                                   \
        const case_sums sums = count(rows, ETL_COUNT_OF(rows));                                    \
        assert_int_equal(sums.temporary, temporary_count);                                         \
        assert_int_equal(sums.near, near_count);                                                   \
    } while (0)

#define ROW(kind, ...) ((case_row){ ETLHEAP_KIND_##kind, __VA_ARGS__ })

/* The first is freed after the second is allocated, the second before the third is. */
static void a_lifetime_ends_before_the_next_of_its_thread(void **state)
{
    static const u8 kinds[] = { ETLHEAP_KIND_HEAP, ETLHEAP_KIND_VIRTUALALLOC, ETLHEAP_KIND_EXTENT,
                                ETLHEAP_KIND_CUSTOM, ETLHEAP_KIND_RESERVE };
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(kinds); i++) {
        const u8 kind = kinds[i];
        EXPECT(2, 3, { kind, 1, MAIN, 0x10000, 64, 100, 250 },
               { kind, 1, MAIN, 0x20000, 64, 200, 300 }, { kind, 1, MAIN, 0x30000, 64, 400, 500 });
        EXPECT(3, 3, { kind, 1, MAIN, 0x10000, 64, 100, 250 },
               { kind, 1, OTHER, 0x20000, 64, 200, 300 }, { kind, 1, MAIN, 0x30000, 64, 400, 500 });
    }
}

static void pieces_of_one_allocation_are_not_its_next(void **state)
{
    (void)state;
    EXPECT(2, 2, ROW(CUSTOM, 1, MAIN, 0x10000, 100, 100, 200),
           ROW(CUSTOM, 1, MAIN, 0x10064, 900, 100, 300));
    EXPECT(2, 2, ROW(VIRTUALALLOC, 1, MAIN, 0x10000, 0x1000, 100, 200),
           ROW(VIRTUALALLOC, 1, MAIN, 0x11000, 0x3000, 100, 300));
    /* Pages in between were committed before. */
    EXPECT(2, 2, ROW(VIRTUALALLOC, 1, MAIN, 0x10000, 0x1000, 100, 200),
           ROW(VIRTUALALLOC, 1, MAIN, 0x15000, 0x3000, 100, 300));
    /* The last piece is freed after the next allocation. */
    EXPECT(2, 3, ROW(CUSTOM, 1, MAIN, 0x10000, 100, 100, 200),
           ROW(CUSTOM, 1, MAIN, 0x10064, 900, 100, 300),
           ROW(CUSTOM, 1, MAIN, 0x20000, 8, 250, 400));
}

/* A coarse clock: each is the other's next allocation or the one before it. */
static void blocks_of_one_tick_are_not_pieces(void **state)
{
    (void)state;
    EXPECT(1, 2, ROW(CUSTOM, 1, MAIN, 0x10000, 100, 100, 200),
           ROW(CUSTOM, 1, MAIN, 0x20000, 100, 100, 200));
    EXPECT(1, 2, ROW(HEAP, 1, MAIN, 0x10000, 100, 100, 200),
           ROW(HEAP, 1, MAIN, 0x10064, 100, 100, 200));
}

static void a_thread_may_commit_in_another_process(void **state)
{
    (void)state;
    EXPECT(1, 2, ROW(VIRTUALALLOC, 2, MAIN, 0x10000, 64, 100, 300),
           ROW(VIRTUALALLOC, 1, MAIN, 0x20000, 64, 200, 400));
    EXPECT(1, 2, ROW(RESERVE, 2, MAIN, 0x10000, 64, 100, 300),
           ROW(RESERVE, 1, MAIN, 0x20000, 64, 200, 400));
    /* Nobody knows whether both are the same thread. */
    EXPECT(2, 2, ROW(VIRTUALALLOC, 2, ETL_NO_ID, 0x10000, 64, 100, 300),
           ROW(VIRTUALALLOC, 1, ETL_NO_ID, 0x20000, 64, 200, 400));
    /* Threads allocate heap blocks in their own process only: the id was used again. */
    EXPECT(2, 2, ROW(HEAP, 2, MAIN, 0x10000, 64, 100, 300),
           ROW(HEAP, 1, MAIN, 0x20000, 64, 200, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lifetime_ends_before_the_next_of_its_thread),
        cmocka_unit_test(pieces_of_one_allocation_are_not_its_next),
        cmocka_unit_test(blocks_of_one_tick_are_not_pieces),
        cmocka_unit_test(a_thread_may_commit_in_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
