/*
 * test_told_names.c - the functions that an anonymised store names itself, as tables of a file.
 *
 * Goal: names are read as they were written and found by build and offset; of a damaged table,
 * none is used.
 * Method: tables made by hand; in each damaged one, a single value is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/etlheap_symbols.h"
#include "engine/result/told_names.h"
#include "tests/support/table_file.h"

#define MODULES 7u

/* Two builds, of which the second has places at 16, with an inlined call, and at 32. */
static void fill(told_names *names)
{
    const told_build builds[] = { { 5, ETLHEAP_SYMBOL_STATE_MISSING },
                                  { 6, ETLHEAP_SYMBOL_STATE_FOUND } };
    const told_place places[] = {
        { .type = "type_1", .build = 1, .offset = 16, .displacement = 4, .quality = 1, .calls = 2 },
        { .type = "", .build = 1, .offset = 32, .quality = 3, .calls = 1 },
    };
    const told_call calls[] = { { "fn_1", "source_1", 41 }, { "fn_2", "", 0 }, { "fn_3", "", 0 } };
    *names = (told_names){ .anonymised = { 0x1234, ANONYMISED_SCHEME } };
    for (size_t i = 0; i < ETL_COUNT_OF(builds); i++)
        assert_true(ETLHEAP_PUSH(&names->builds, builds[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(places); i++)
        assert_true(ETLHEAP_PUSH(&names->places, places[i]));
    for (size_t i = 0; i < ETL_COUNT_OF(calls); i++)
        assert_true(ETLHEAP_PUSH(&names->calls, calls[i]));
}

static etl_status reload(const told_names *names, table_file *file, told_names *out)
{
    *file = (table_file){ .err = { .status = ETL_OK } };
    *out = (told_names){ .anonymised = { 0 } };
    assert_true(told_names_save(&file->saver, names) && ehs_strings_save(&file->saver));
    const etl_status status = table_file_open(file, UINT64_MAX);
    return status == ETL_OK ? told_names_load(&file->loader, MODULES, out) : status;
}

static void names_are_read_as_they_were_written(void **state)
{
    told_names names, out;
    table_file file;
    (void)state;
    fill(&names);
    assert_int_equal(reload(&names, &file, &out), ETL_OK);
    assert_int_equal(out.anonymised.scheme, ANONYMISED_SCHEME);
    assert_true(out.anonymised.key_check == 0x1234);
    assert_null(told_names_find(&out, 0, 16));
    assert_null(told_names_find(&out, 1, 17));
    const told_place *const first = told_names_find(&out, 1, 16);
    const told_place *const last = told_names_find(&out, 1, 32);
    assert_true(first != NULL && last != NULL);
    assert_string_equal(first->type, "type_1");
    assert_string_equal(out.calls.at[first->first_call].file, "source_1");
    assert_string_equal(out.calls.at[first->first_call + 1].function, "fn_2");
    assert_string_equal(out.calls.at[last->first_call].function, "fn_3");
    table_file_close(&file);
    told_names_free(&names);
    told_names_free(&out);
}

typedef enum damage {
    NO_SUCH_MODULE,
    NO_SUCH_STATE,
    NO_SUCH_BUILD,
    NO_SUCH_QUALITY,
    OUT_OF_ORDER,
    NO_CALLS,
    TOO_MANY_CALLS,
    CALLS_LEFT,
    LATER_SCHEME,
    DAMAGE_COUNT
} damage;

static void do_damage(told_names *names, damage what)
{
    switch (what) {
    case NO_SUCH_MODULE:
        names->builds.at[1].module = MODULES;
        break;
    case NO_SUCH_STATE:
        names->builds.at[0].state = ETLHEAP_SYMBOL_STATE_COUNT;
        break;
    case NO_SUCH_BUILD:
        names->places.at[1].build = 2;
        break;
    case NO_SUCH_QUALITY:
        names->places.at[0].quality = 4;
        break;
    case OUT_OF_ORDER:
        names->places.at[1].offset = 16;
        break;
    case NO_CALLS:
        names->places.at[0].calls = 0;
        break;
    case TOO_MANY_CALLS:
        names->places.at[1].calls = 2;
        break;
    case CALLS_LEFT:
        names->places.count = 1;
        break;
    case LATER_SCHEME:
        names->anonymised.scheme = ANONYMISED_SCHEME + 1;
        break;
    case DAMAGE_COUNT:
        break;
    }
}

static void damaged_names_are_refused(void **state)
{
    (void)state;
    for (int what = 0; what < DAMAGE_COUNT; what++) {
        told_names names, out;
        table_file file;
        fill(&names);
        do_damage(&names, (damage)what);
        assert_int_equal(reload(&names, &file, &out),
                         what == LATER_SCHEME ? ETL_ERR_UNSUPPORTED : ETL_ERR_CORRUPT);
        table_file_close(&file);
        told_names_free(&names);
        told_names_free(&out);
    }
}

/* A store that is not anonymised has no such tables, and is written without. */
static void other_stores_have_none(void **state)
{
    told_names names, out;
    table_file file;
    (void)state;
    fill(&names);
    names.anonymised.scheme = 0;
    assert_int_equal(reload(&names, &file, &out), ETL_OK);
    assert_int_equal(out.anonymised.scheme, 0);
    assert_int_equal(out.places.count, 0);
    table_file_close(&file);
    told_names_free(&names);
    told_names_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_as_they_were_written),
        cmocka_unit_test(damaged_names_are_refused),
        cmocka_unit_test(other_stores_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
