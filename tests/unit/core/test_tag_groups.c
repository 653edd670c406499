/*
 * Goal: every way of comparing sixteen tags gives what the scalar one gives.
 * Method: each row of the table on random groups and on every tag at every
 * place, reading from the last bytes before an unmapped page.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/core/tag_groups.h"

/* The last TAG_GROUP_SIZE bytes before a page that must not be touched. */
static u8 *guarded_group(u8 **mapping, size_t *size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *size = 2 * page;
    *mapping = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*mapping != MAP_FAILED);
    assert_int_equal(mprotect(*mapping + page, page, PROT_NONE), 0);
    return *mapping + page - TAG_GROUP_SIZE;
}

static void rows_agree_with(const u8 *group, u8 tag)
{
    const u32 expected = tag_match_scalar(group, tag);
    for (u32 row = 0; row < tag_match_row_count; row++)
        assert_int_equal(tag_match_rows[row].match(group, tag), expected);
    assert_int_equal(tag_match(group, tag), expected);
}

static void scalar_row_names_the_places(void **state)
{
    (void)state;
    u8 group[TAG_GROUP_SIZE] = { 0 };
    group[0] = group[7] = group[15] = 0x81;
    assert_int_equal(tag_match_scalar(group, 0x81), 0x8081);
    assert_int_equal(tag_match_scalar(group, TAG_FREE), 0x7F7E);
    assert_int_equal(tag_match_scalar(group, 0x82), 0);
}

static void every_tag_is_found_at_every_place(void **state)
{
    (void)state;
    u8 *mapping;
    size_t size;
    u8 *const group = guarded_group(&mapping, &size);
    for (u32 tag = 0; tag < 256; tag++) {
        for (u32 place = 0; place < TAG_GROUP_SIZE; place++) {
            memset(group, (int)(tag ^ 0x55), TAG_GROUP_SIZE);
            group[place] = (u8)tag;
            rows_agree_with(group, (u8)tag);
            assert_int_equal(tag_match(group, (u8)tag), 1u << place);
        }
    }
    munmap(mapping, size);
}

static void random_groups_are_matched_alike(void **state)
{
    (void)state;
    u8 *mapping;
    size_t size;
    u8 *const group = guarded_group(&mapping, &size);
    u64 random = 88172645463325252u;
    for (u32 round = 0; round < 20000; round++) {
        for (u32 i = 0; i < TAG_GROUP_SIZE; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            group[i] = (u8)((random >> 40 & 3) == 0 ? 0 : 0x80 | (random >> 32 & 7));
        }
        for (u32 tag = 0; tag < 9; tag++)
            rows_agree_with(group, (u8)(tag == 8 ? TAG_FREE : 0x80 | tag));
    }
    munmap(mapping, size);
}

static void tags_of_hashes_are_never_free(void **state)
{
    (void)state;
    for (u64 hash = 0; hash < 1000; hash++)
        assert_int_not_equal(tag_of(hash * UINT64_C(0x9E3779B97F4A7C15)), TAG_FREE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_row_names_the_places),
        cmocka_unit_test(every_tag_is_found_at_every_place),
        cmocka_unit_test(random_groups_are_matched_alike),
        cmocka_unit_test(tags_of_hashes_are_never_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
