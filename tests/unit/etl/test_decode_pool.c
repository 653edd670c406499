/*
 * Goal: events of the kernel's pools are read from built payloads of both pointer widths, and
 * rundowns only if their length fits.
 * Method: payloads written byte by byte as layout_pool.h describes them; every shorter length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "parser/base.h"
#include "parser/parser.h"

#define BLOCKS_MAX 4u

typedef struct payload {
    u8 bytes[BLOCKS_MAX * 24 + 8];
    size_t size;
} payload;

static void put(payload *p, u64 value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p->bytes[p->size++] = (u8)(value >> (8 * i));
}

static void put_block(payload *p, u32 number, u8 width)
{
    put(p, 0x20 + number, 4);
    put(p, 0x6b61654c, 4); /* Leak */
    put(p, 100 + number, width);
    put(p, 0xff00 + number, width);
}

static etl_record record_of(const payload *p, u16 hook, u8 width)
{
    return (etl_record){ .header = ETL_HEADER_SYSTEM64,
                         .has_hook = true,
                         .hook = hook,
                         .version = 2,
                         .pointer_bytes = width,
                         .payload = { p->bytes, p->size } };
}

static void assert_block(const etl_pool_block *block, u32 number)
{
    assert_int_equal(block->pool_type, 0x20 + number);
    assert_int_equal(block->tag, 0x6b61654c);
    assert_int_equal(block->size_bytes, 100 + number);
    assert_int_equal(block->entry, 0xff00 + number);
}

static void allocations_frees_and_pages_are_read(void **state)
{
    static const struct {
        u16 hook;
        etl_event_kind kind;
        bool has_session;
    } rows[] = {
        { 0x0e20, ETL_EVENT_POOL_ALLOC, false }, { 0x0e21, ETL_EVENT_POOL_ALLOC_SESSION, true },
        { 0x0e22, ETL_EVENT_POOL_FREE, false },  { 0x0e23, ETL_EVENT_POOL_FREE_SESSION, true },
        { 0x0e24, ETL_EVENT_POOL_PAGE, false },  { 0x0e25, ETL_EVENT_POOL_PAGE_SESSION, true },
        { 0x0e26, ETL_EVENT_POOL_PAGE, false },  { 0x0e27, ETL_EVENT_POOL_PAGE_SESSION, true },
    };
    (void)state;
    for (size_t i = 0; i < 2 * ETL_COUNT_OF(rows); i++) {
        const u8 width = i < ETL_COUNT_OF(rows) ? 4 : 8;
        const u16 hook = rows[i % ETL_COUNT_OF(rows)].hook;
        const bool has_session = rows[i % ETL_COUNT_OF(rows)].has_session;
        payload p = { .size = 0 };
        etl_diag_counts diag = { { 0 } };
        etl_event event;
        put_block(&p, 7, width);
        if (has_session)
            put(&p, 3, 4);
        assert_int_equal(p.size, 8 + 2 * width + (has_session ? 4 : 0));
        etl_record record = record_of(&p, hook, width);
        assert_true(etl_decode(&record, &event, &diag));
        assert_int_equal(event.kind, rows[i % ETL_COUNT_OF(rows)].kind);
        assert_block(&event.as.pool_block, 7);
        assert_int_equal(event.as.pool_block.session_id, has_session ? 3 : 0);
        while (record.payload.size-- > 0)
            assert_false(etl_decode(&record, &event, &diag));
        assert_int_equal(diag.of[ETL_DIAG_event_truncated], p.size);
    }
}

static void rundowns_list_blocks_if_their_length_fits(void **state)
{
    (void)state;
    for (u8 width = 4; width <= 8; width += 4) {
        payload p = { .size = 0 };
        etl_pool_block block;
        for (u32 i = 0; i < BLOCKS_MAX; i++)
            put_block(&p, i, width);
        etl_record record = record_of(&p, 0x0e28, width);
        assert_int_equal(etl_pool_block_count(&record), BLOCKS_MAX);
        for (u32 i = 0; i < BLOCKS_MAX; i++) {
            assert_true(etl_pool_block_at(&record, i, &block));
            assert_block(&block, i);
        }
        assert_false(etl_pool_block_at(&record, BLOCKS_MAX, &block));
        for (; record.payload.size > 0; record.payload.size--) {
            const u32 count = etl_pool_block_count(&record);
            const size_t bytes = 8 + 2 * (size_t)width;
            assert_int_equal(count,
                             record.payload.size % bytes == 0 ? record.payload.size / bytes : 0);
        }
        assert_false(etl_pool_block_at(&record, 0, &block));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_frees_and_pages_are_read),
        cmocka_unit_test(rundowns_list_blocks_if_their_length_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
