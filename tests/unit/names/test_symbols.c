/*
 * Goal: places in modules become names, from the PDB of the right build or else
 * from exports; every way in which that fails is counted once.
 * Method: the modules of symbol_world.h, asked place by place; files are taken
 * away, broken and exchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/pe_build.h"
#include "tests/support/symbol_world.h"

static int begin_test(void **state)
{
    symbol_world *const w = world_new();
    world_open_symbols(w, NULL);
    *state = w;
    return 0;
}

static int end_test(void **state)
{
    world_free(*state);
    return 0;
}

/* --- names ---------------------------------------------------------------------- */

static void function_has_name_file_and_line(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "grow a.cpp:11");
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW_LATE), "grow a.cpp:12");
    assert_string_equal(world_name(w, "app.exe", WORLD_MAIN), "main");
}

static void inlined_calls_come_innermost_first(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "app.exe", WORLD_PUSH), "vec<int>::push < grow a.cpp:11");
    assert_string_equal(world_name(w, "app.exe", WORLD_ALLOCATE),
                        "allocate a.cpp:3 < vec<int>::push < grow a.cpp:11 new int");
}

/* The second name without bytes meets the first one, which is remembered: nothing is compared at
 * NULL, where a name without bytes may lie. A sanitizer ends the test if something is. */
static void inlined_calls_may_have_no_names(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "app.exe", WORLD_UNNAMED), " <  < stripped");
}

static void address_behind_a_function_returns_into_it(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "app.exe", WORLD_NEW_END), "operator new");
    assert_string_equal(world_name(w, "app.exe", WORLD_MAIN_AT), "-");
    assert_string_equal(world_name(w, "app.exe", WORLD_MAIN_AT + 1), "main");
    assert_string_equal(world_name(w, "app.exe", 0), "-");
}

static void public_symbols_are_readable_and_near(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "crt.dll", WORLD_MALLOC), "near malloc+0x10");
    assert_string_equal(world_name(w, "crt.dll", WORLD_FILE), "near File::open+0x8");
}

/* Some linkers put strings and numbers between functions. */
static void constants_are_no_functions(void **state)
{
    symbol_world *const w = *state;
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "crt.dll", 0x1184), "near File::open+0x84");
    assert_string_equal(world_name(w, "crt.dll", 0x11a0), "near File::open+0xa0");
    assert_string_equal(world_name(w, "crt.dll", 0x11c8), "near asm_copy+0x8");
}

static void names_of_arm64ec_are_those_of_x64(void **state)
{
    symbol_world *const w = *state;
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "crt.dll", 0x1210), "near RtlAllocateHeap+0x10");
    assert_string_equal(world_name(w, "crt.dll", 0x1290), "near app::make<int>+0x10");
}

static void names_of_rust_and_mingw_are_readable(void **state)
{
    symbol_world *const w = *state;
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "crt.dll", 0x1308), "near leak::cache::insert+0x8");
    assert_string_equal(world_name(w, "crt.dll", 0x1388),
                        "near std::vector<int, std::allocator<int>>::push_back+0x8");
}

static void exports_are_guesses(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "lib.dll", WORLD_LIB_MAKE), "guess make+0x20");
    assert_string_equal(world_name(w, "lib.dll", WORLD_LIB_GROW), "guess Heap::grow+0x10");
    assert_string_equal(world_name(w, "lib.dll", 0x1001), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_exports_only), 1);
}

static void offsets_beyond_32_bits_have_no_name(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW + (UINT64_C(1) << 32)), "-");
    assert_string_equal(world_name(w, "app.exe", UINT64_MAX), "-");
}

/* --- batches ----------------------------------------------------------------------- */

static void equal_places_have_one_name(void **state)
{
    symbol_world *const w = *state;
    const u32 app = world_module(w, "app.exe"), crt = world_module(w, "crt.dll");
    symbol_place places[] = { { .offset = WORLD_GROW, .module = app },
                              { .offset = WORLD_MALLOC, .module = crt },
                              { .offset = WORLD_GROW, .module = app },
                              { .offset = WORLD_GROW, .module = crt } };
    symbol_place again = places[1];
    assert_int_equal(symbols_resolve(w->symbols, places, 4, NULL), ETL_OK);
    assert_int_equal(symbols_resolve(w->symbols, &again, 1, NULL), ETL_OK);
    assert_int_equal(places[0].name, places[2].name);
    assert_int_equal(places[1].name, again.name);
    assert_int_not_equal(places[0].name, places[3].name);
    assert_int_equal(w->symbols->names.count, 3);
}

/* The text of all names, in the order of the places. */
static char *names_of(symbol_world *w, u32 jobs, u32 count)
{
    const etlheap_symbol_options options = { .size = sizeof options,
                                             .path = w->folder,
                                             .jobs = jobs };
    const u32 modules[] = { world_module(w, "app.exe"), world_module(w, "crt.dll"),
                            world_module(w, "lib.dll") };
    symbol_place *const places = calloc(count, sizeof *places);
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_true(places != NULL && out != NULL);
    for (u32 i = 0; i < count; i++)
        places[i] = (symbol_place){ .offset = 0x1000 + (u64)i * 7919 % count,
                                    .module = modules[i % ETL_COUNT_OF(modules)] };
    world_open_symbols(w, &options);
    assert_int_equal(symbols_resolve(w->symbols, places, count, NULL), ETL_OK);
    for (u32 i = 0; i < count; i++) {
        const symbol_name *const name = symbols_name(w->symbols, places[i].name);
        for (u32 k = 0; k < name->level_count; k++)
            fprintf(out, "%s:%u ",
                    symbols_text(w->symbols, symbols_levels(w->symbols, name)[k].name),
                    symbols_levels(w->symbols, name)[k].line);
        fprintf(out, "+%x %u\n", name->displacement, name->quality);
    }
    fclose(out);
    free(places);
    return text;
}

static void names_do_not_depend_on_threads(void **state)
{
    symbol_world *const w = *state;
    const u32 count = 200000; /* several tasks a module */
    char *const one = names_of(w, 1, count);
    char *const seven = names_of(w, 7, count);
    assert_non_null(strstr(one, "allocate:3"));
    assert_string_equal(one, seven);
    free(one);
    free(seven);
}

/* --- builds ---------------------------------------------------------------------------- */

static void nothing_is_looked_for_before_it_is_needed(void **state)
{
    symbol_world *const w = *state;
    (void)world_name(w, "app.exe", WORLD_GROW);
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        assert_int_equal(w->symbols->diag.of[i], 0);
}

static void modules_without_symbols_are_counted_once(void **state)
{
    symbol_world *const w = *state;
    assert_string_equal(world_name(w, "gone.dll", 0x1000), "-");
    assert_string_equal(world_name(w, "gone.dll", 0x1001), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
    assert_string_equal(world_name(w, "blank.dll", 0x1000), "-");
    assert_string_equal(world_name(w, "blank.dll", 0x1001), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_unidentified), 1);
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
}

static void no_path_means_no_names(void **state)
{
    symbol_world *const w = *state;
    const etlheap_symbol_options options = { .size = sizeof options };
    world_open_symbols(w, &options);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
}

static void bad_path_is_refused(void **state)
{
    symbol_world *const w = *state;
    const etlheap_symbol_options options = { .size = sizeof options,
                                             .path = "srv*a*b*c*d*e*f*g*h*i*j*k" };
    etlheap_symbols *symbols = NULL;
    etl_error err;
    assert_int_equal(etlheap_symbols_open(w->result, &options, &symbols, &err), ETL_ERR_ARGUMENT);
    assert_null(symbols);
    etlheap_symbols_close(NULL);
}

static void pdb_of_another_age_is_not_used(void **state)
{
    symbol_world *const w = *state;
    w->result->modules.list.at[world_module(w, "app.exe")].age++;
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_mismatch), 1);
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
    const u32 build = w->symbols->build_of[world_module(w, "app.exe")];
    assert_int_equal(w->symbols->builds.at[build].state, ETLHEAP_SYMBOL_STATE_MISMATCH);
    assert_non_null(strstr(w->symbols->builds.at[build].note, "it is of build"));
}

static void loose_takes_another_build(void **state)
{
    symbol_world *const w = *state;
    const etlheap_symbol_options options = { .size = sizeof options,
                                             .path = w->folder,
                                             .loose = true };
    w->result->modules.list.at[world_module(w, "app.exe")].guid.bytes[0] ^= 1;
    world_open_symbols(w, &options);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "grow a.cpp:11");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_loose), 1);
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 0);
}

static void program_file_names_the_pdb(void **state)
{
    symbol_world *const w = *state;
    etlheap_module_info *const app = &w->result->modules.list.at[world_module(w, "app.exe")];
    const pe_build_options program = { .pointer_bytes = 8,
                                       .time_date_stamp = app->time_date_stamp,
                                       .pdb_path = "d:\\build\\app.pdb",
                                       .guid = app->guid,
                                       .age = app->age };
    pe_build_file(world_file(w, "app.exe"), &program);
    app->has_rsds = false;
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "grow a.cpp:11");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 0);
}

/* Traces that nobody merged know a module's time stamp and size at most. */
static void loose_needs_no_key_of_the_trace(void **state)
{
    static const u32 time_steps[] = { 0, 1,
                                      UINT32_MAX }; /* added to the file's; the last: unknown */
    symbol_world *const w = *state;
    etlheap_module_info *const app = &w->result->modules.list.at[world_module(w, "app.exe")];
    const u32 stamp = app->time_date_stamp;
    const pe_build_options program = { .pointer_bytes = 8,
                                       .time_date_stamp = stamp,
                                       .pdb_path = "d:\\build\\app.pdb",
                                       .guid = app->guid,
                                       .age = app->age };
    pe_build_file(world_file(w, "app.exe"), &program);
    app->has_rsds = false;
    for (size_t i = 0; i < ETL_COUNT_OF(time_steps); i++) {
        for (int loose = 0; loose < 2; loose++) {
            const etlheap_symbol_options options = { .size = sizeof options,
                                                     .path = w->folder,
                                                     .loose = loose };
            app->time_date_stamp = time_steps[i] == UINT32_MAX ? 0 : stamp + time_steps[i];
            world_open_symbols(w, &options);
            const bool is_named = loose || i == 0;
            assert_string_equal(world_name(w, "app.exe", WORLD_GROW),
                                is_named ? "grow a.cpp:11" : "-");
            const u32 build = w->symbols->build_of[world_module(w, "app.exe")];
            const bool is_loose = loose && i > 0;
            assert_int_equal(w->symbols->builds.at[build].state == ETLHEAP_SYMBOL_STATE_LOOSE,
                             is_loose);
            assert_int_equal(world_diag(w, ETL_DIAG_symbol_loose), is_loose);
            assert_int_equal(world_diag(w, ETL_DIAG_symbol_mismatch), !loose && i == 1);
            etlheap_symbols_close(w->symbols);
            w->symbols = NULL;
        }
    }
}

static void loose_finds_a_pdb_by_the_name_of_the_module(void **state)
{
    symbol_world *const w = *state;
    etlheap_module_info *const app = &w->result->modules.list.at[world_module(w, "app.exe")];
    const etlheap_symbol_options options = { .size = sizeof options,
                                             .path = w->folder,
                                             .loose = true };
    app->has_rsds = false;
    world_open_symbols(w, &options);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "grow a.cpp:11");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_loose), 1);
}

static void program_file_of_another_build_is_not_used(void **state)
{
    symbol_world *const w = *state;
    w->result->modules.list.at[world_module(w, "lib.dll")].time_date_stamp++;
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "lib.dll", WORLD_LIB_MAKE), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_exports_only), 0);
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
}

static void pdb_that_does_not_open_is_told(void **state)
{
    symbol_world *const w = *state;
    assert_int_equal(truncate(world_file(w, "app.pdb"), 700), 0);
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "-");
    assert_true(world_diag(w, ETL_DIAG_symbol_file_unusable) > 0);
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
}

/* Where the bytes of a name are; fails the test when they are nowhere. */
static size_t find_name(const u8 *bytes, size_t size, const char *name)
{
    const size_t name_size = strlen(name) + 1;
    for (size_t at = 0; at + name_size <= size; at++) {
        if (memcmp(bytes + at, name, name_size) == 0)
            return at;
    }
    fail_msg("no %s", name);
    return 0;
}

static void damage_within_a_pdb_costs_what_it_covers(void **state)
{
    symbol_world *const w = *state;
    u8 bytes[65536];
    FILE *const file = fopen(world_file(w, "app.pdb"), "r+b");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    /* The record of main, 39 bytes before its name, claims to be longer than the rest. */
    const size_t name = find_name(bytes, size, "main");
    assert_int_equal(fseek(file, (long)name - 39, SEEK_SET), 0);
    assert_int_equal(fwrite("\xff\x7f", 1, 2, file), 2);
    assert_int_equal(fclose(file), 0);
    world_open_symbols(w, NULL);
    assert_string_equal(world_name(w, "app.exe", WORLD_GROW), "grow a.cpp:11");
    assert_string_equal(world_name(w, "app.exe", WORLD_MAIN), "-");
    assert_string_equal(world_name(w, "app.exe", WORLD_MAIN + 1), "-");
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_file_damaged), 1);
}

static void one_build_in_two_processes_is_looked_for_once(void **state)
{
    symbol_world *const w = *state;
    const u32 gone = world_module(w, "gone.dll");
    etlheap_module_info copy = w->result->modules.list.at[gone];
    copy.pid = 20;
    assert_true(ETLHEAP_PUSH(&w->result->modules.list, copy));
    world_open_symbols(w, NULL);
    const u32 second = (u32)w->result->modules.list.count - 1;
    symbol_place places[] = { { .offset = 0x1000, .module = gone },
                              { .offset = 0x1000, .module = second } };
    assert_int_equal(symbols_resolve(w->symbols, places, 2, NULL), ETL_OK);
    assert_int_equal(places[0].name, places[1].name);
    assert_int_equal(world_diag(w, ETL_DIAG_symbol_missing), 1);
}

static void states_have_words(void **state)
{
    (void)state;
    assert_string_equal(etlheap_symbol_state_word(ETLHEAP_SYMBOL_STATE_FOUND), "found");
    assert_string_equal(etlheap_symbol_state_word(ETLHEAP_SYMBOL_STATE_UNIDENTIFIED),
                        "unidentified");
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(function_has_name_file_and_line),
        WORLD_TEST(inlined_calls_come_innermost_first),
        WORLD_TEST(inlined_calls_may_have_no_names),
        WORLD_TEST(address_behind_a_function_returns_into_it),
        WORLD_TEST(public_symbols_are_readable_and_near),
        WORLD_TEST(constants_are_no_functions),
        WORLD_TEST(names_of_arm64ec_are_those_of_x64),
        WORLD_TEST(names_of_rust_and_mingw_are_readable),
        WORLD_TEST(exports_are_guesses),
        WORLD_TEST(offsets_beyond_32_bits_have_no_name),
        WORLD_TEST(equal_places_have_one_name),
        WORLD_TEST(names_do_not_depend_on_threads),
        WORLD_TEST(nothing_is_looked_for_before_it_is_needed),
        WORLD_TEST(modules_without_symbols_are_counted_once),
        WORLD_TEST(no_path_means_no_names),
        WORLD_TEST(bad_path_is_refused),
        WORLD_TEST(pdb_of_another_age_is_not_used),
        WORLD_TEST(loose_takes_another_build),
        WORLD_TEST(program_file_names_the_pdb),
        WORLD_TEST(loose_needs_no_key_of_the_trace),
        WORLD_TEST(loose_finds_a_pdb_by_the_name_of_the_module),
        WORLD_TEST(program_file_of_another_build_is_not_used),
        WORLD_TEST(pdb_that_does_not_open_is_told),
        WORLD_TEST(damage_within_a_pdb_costs_what_it_covers),
        WORLD_TEST(one_build_in_two_processes_is_looked_for_once),
        cmocka_unit_test(states_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
