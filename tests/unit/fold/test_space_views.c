/*
 * Goal: views of files become regions: those of images are the image, and a reservation keeps only
 * what views leave of it.
 * Method: ranges of one process by hand; then random ranges, of which each page must lie in the
 * region that a naive model names for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/fold/space_regions.h"
#include "tests/support/engine_check.h"

#define PAGE   UINT64_C(0x10000)
#define PAGES  200u
#define RANGES 12u

typedef struct fixture {
    space_range_list ranges;
    space_regions regions;
} fixture;

static void add(fixture *f, space_what what, u64 first, u64 end)
{
    const space_range range = {
        .start = first * PAGE, .end = end * PAGE, .heap = first, .process = 1, .what = (u8)what
    };
    assert_true(ETLHEAP_PUSH(&f->ranges, range));
}

static void make(fixture *f)
{
    space_process process = { .shift = 16 };
    space_ranges_sort(&f->ranges);
    for (u32 what = 0; what < SPACE_WHAT_COUNT; what++)
        process.of[what] = space_ranges_of(&f->ranges, 1, (space_what)what);
    assert_true(space_regions_make(&f->regions, &process));
}

static void end(fixture *f)
{
    space_regions_free(&f->regions);
    ETLHEAP_VECTOR_FREE(&f->ranges);
    *f = (fixture){ .regions = { .list = { 0 } } };
}

/* 'i' image, 'v' view, 'r' reservation. */
static char letter_of(const space_region *region)
{
    return region->is_image ? 'i' : region->is_view ? 'v' : 'r';
}

static void assert_regions(const fixture *f, const char *wanted)
{
    char got[256] = "";
    size_t size = 0;
    for (size_t i = 0; i < f->regions.list.count; i++) {
        const space_region *const region = &f->regions.list.at[i];
        size += (size_t)snprintf(got + size, sizeof got - size, "%s%c%u-%u", i > 0 ? " " : "",
                                 letter_of(region), (u32)(region->start / PAGE),
                                 (u32)(region->end / PAGE));
    }
    assert_string_equal(got, wanted);
}

static void a_view_of_an_image_is_the_image(void **state)
{
    fixture f = { .ranges = { 0 } };
    (void)state;
    add(&f, SPACE_IMAGE, 10, 14);
    add(&f, SPACE_VIEW, 10, 15); /* rounded up */
    add(&f, SPACE_VIEW, 20, 21);
    make(&f);
    assert_regions(&f, "i10-14 v20-21");
    assert_int_equal(f.regions.list.at[1].file, 20);
    end(&f);
}

static void reservations_keep_what_views_leave(void **state)
{
    fixture f = { .ranges = { 0 } };
    (void)state;
    add(&f, SPACE_RESERVED, 10, 20);
    add(&f, SPACE_VIEW, 12, 14);
    add(&f, SPACE_VIEW, 18, 22);
    add(&f, SPACE_RESERVED, 30, 32);
    add(&f, SPACE_VIEW, 30, 32); /* a rundown lists views as reservations, too */
    make(&f);
    assert_regions(&f, "r10-12 v12-14 r14-18 v18-22 v30-32");
    end(&f);
}

static void without_views_reservations_stay_whole(void **state)
{
    fixture f = { .ranges = { 0 } };
    (void)state;
    add(&f, SPACE_RESERVED, 10, 20);
    add(&f, SPACE_IMAGE, 12, 14);
    add(&f, SPACE_IMAGE, 30, 33);
    make(&f);
    assert_regions(&f, "r10-20 i30-33");
    end(&f);
}

/* Disjoint views, and reservations anywhere: a page of a view is the view's, and of the others
 * those in a reservation are reserved. */
static void each_page_has_the_region_of_the_model(void **state)
{
    u64 seed = 5;
    (void)state;
    for (u32 turn = 0; turn < 300; turn++) {
        fixture f = { .ranges = { 0 } };
        char model[PAGES + 1] = "", got[PAGES + 1] = "";
        memset(model, '.', PAGES);
        memset(got, '.', PAGES);
        for (u32 i = 0; i < RANGES; i++) {
            const u32 first = engine_check_random(&seed, PAGES - 12);
            const u32 last = first + 1 + engine_check_random(&seed, 11);
            const bool is_view = i % 2 == 0 && memchr(model + first, 'v', last - first) == NULL;
            add(&f, is_view ? SPACE_VIEW : SPACE_RESERVED, first, last);
            for (u32 page = first; page < last; page++)
                model[page] = is_view || model[page] == 'v' ? 'v' : 'r';
        }
        make(&f);
        for (size_t i = 0; i < f.regions.list.count; i++) {
            const space_region *const region = &f.regions.list.at[i];
            for (u64 page = region->start / PAGE; page < region->end / PAGE; page++) {
                assert_int_equal(got[page], '.');
                got[page] = letter_of(region);
            }
        }
        assert_string_equal(got, model);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_of_an_image_is_the_image),
        cmocka_unit_test(reservations_keep_what_views_leave),
        cmocka_unit_test(without_views_reservations_stay_whole),
        cmocka_unit_test(each_page_has_the_region_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
