/*
 * test_recording_frames.c - random recordings, asked by frames: what filters leave, what folds, and
 * sums over all functions of a stack must be what the recording's model says.
 *
 * Method: tests/models/recorder.h makes recordings from seeds. Every stack of them has two frames,
 * a site in the program or in its DLL, and a frame of the program that called it. So excluding
 * frames of the DLL leaves the sites of the program, folding the DLL makes one site of three, and
 * by function the calling frame has the blocks of all sites, none of them its own. Only recordings
 * whose times decide which stack belongs to which block are asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/models/recorder.h"
#include "tests/support/long_tests.h"
#include "tests/support/run_check.h"

#define SEEDS      120u
#define SEEDS_LONG 1500u
#define DLL_SITES  (RECORDER_SITES / 2)

static const etlheap_kind kinds[] = { ETLHEAP_KIND_HEAP, ETLHEAP_KIND_VIRTUALALLOC };
static const etlheap_pattern dll = { .module = "shared.dll" };

/* Sums over some sites. */
typedef struct site_sums {
    i64 count, size;
} site_sums;

static site_sums sums_of(const recorder *r, u32 kind, u32 program, u32 from, u32 to)
{
    const recorder_sums *const sums = &r->sums[kind][program];
    site_sums out = { 0, 0 };
    for (u32 site = from; site < to; site++) {
        out.count += sums->site_count[site];
        out.size += sums->site_size[site];
    }
    return out;
}

/* Do times say whose stack is whose, and do files say which images every program has? */
static bool is_asked(const recorder *r)
{
    const recorder_setup *const s = &r->setup;
    bool is = s->clock_shift_ns >= 0 && !recorder_is_mixed(s) && !recorder_is_coarse(s);
    for (u32 program = 0; program < s->programs; program++)
        is &= r->is_loaded[program][0] && r->is_loaded[program][1];
    return is;
}

static etlheap_table *table_of(const etlheap_result *result, etlheap_key key, etlheap_query *query)
{
    etlheap_table *table = NULL;
    etl_error err;
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by[1] = ETLHEAP_KEY_PROCESS;
    query->group_by[2] = key;
    query->group_by_count = key == ETLHEAP_KEY_COUNT ? 2 : 3;
    if (etlheap_aggregate(result, query, &table, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return table;
}

/* The row of a frame's address; of a folded module: 0. Without a frame: RECORDER_NO_STACK's. */
static const etlheap_row *row_of(const etlheap_table *table, u32 kind, u32 program, bool has_frame,
                                 u64 address)
{
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        if (row->kind != kinds[kind] || row->pid != recorder_pid(program))
            continue;
        if (table->group_by_count == 2)
            return row;
        if ((row->frame != ETLHEAP_NO_INDEX) != has_frame)
            continue;
        const etlheap_frame *const frame = has_frame ? &table->frames[row->frame] : NULL;
        const bool is_folded = has_frame && frame->offset == ETLHEAP_NO_ADDRESS;
        if (!has_frame || (address == 0 ? is_folded : frame->address == address))
            return row;
    }
    return NULL;
}

static void expect(const etlheap_row *row, site_sums wanted, const recorder *r, const char *what)
{
    const i64 count = row == NULL ? 0 : row->measures[ETLHEAP_MEASURE_COUNT];
    const i64 size = row == NULL ? 0 : row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    if (count != wanted.count || size != wanted.size)
        fail_msg("seed %llu: %s: %lld blocks and %lld bytes instead of %lld and %lld",
                 (unsigned long long)r->setup.seed, what, (long long)count, (long long)size,
                 (long long)wanted.count, (long long)wanted.size);
}

/* What is left and what is left out, which are everything together. */
static void check_excluded(const recorder *r, const etlheap_result *result)
{
    etlheap_query query = etlheap_query_default();
    query.exclude_frames = &dll;
    query.exclude_frame_count = 1;
    for (u32 part = 0; part < 2; part++) {
        query.only_excluded = part == 1;
        etlheap_table *const table = table_of(result, ETLHEAP_KEY_COUNT, &query);
        for (u32 i = 0; i < RECORDER_KINDS * r->setup.programs; i++) {
            const u32 kind = i % RECORDER_KINDS, program = i / RECORDER_KINDS;
            site_sums wanted = sums_of(r, kind, program, DLL_SITES, RECORDER_SITES);
            if (part == 0) {
                const site_sums none =
                    sums_of(r, kind, program, RECORDER_NO_STACK, RECORDER_NO_STACK + 1);
                wanted = sums_of(r, kind, program, 0, DLL_SITES);
                wanted.count += none.count;
                wanted.size += none.size;
            }
            expect(row_of(table, kind, program, true, 0), wanted, r,
                   part == 0 ? "left" : "left out");
        }
        etlheap_table_free(table);
    }
}

static void check_folded(const recorder *r, const etlheap_result *result)
{
    etlheap_query query = etlheap_query_default();
    query.fold_modules = &dll;
    query.fold_module_count = 1;
    etlheap_table *const table = table_of(result, ETLHEAP_KEY_SITE, &query);
    for (u32 i = 0; i < RECORDER_KINDS * r->setup.programs; i++) {
        const u32 kind = i % RECORDER_KINDS, program = i / RECORDER_KINDS;
        expect(row_of(table, kind, program, true, 0),
               sums_of(r, kind, program, DLL_SITES, RECORDER_SITES), r, "folded");
        for (u32 site = 0; site < DLL_SITES; site++)
            expect(row_of(table, kind, program, true, recorder_site_address(site)),
                   sums_of(r, kind, program, site, site + 1), r, "not folded");
    }
    etlheap_table_free(table);
}

static void check_function(const recorder *r, const etlheap_table *table, u32 kind, u32 program)
{
    const u64 caller = recorder_image(0) + 0x900;
    const etlheap_row *const row = row_of(table, kind, program, true, caller);
    expect(row, sums_of(r, kind, program, 0, RECORDER_SITES), r, "the caller of all sites");
    if (row != NULL)
        assert_int_equal(row->measures[ETLHEAP_MEASURE_EXCLUSIVE_COUNT], 0);
    expect(row_of(table, kind, program, false, 0),
           sums_of(r, kind, program, RECORDER_NO_STACK, RECORDER_NO_STACK + 1), r, "no stack");
    for (u32 site = 0; site < RECORDER_SITES; site++) {
        const etlheap_row *const own =
            row_of(table, kind, program, true, recorder_site_address(site));
        expect(own, sums_of(r, kind, program, site, site + 1), r, "a site as function");
        if (own != NULL)
            assert_int_equal(own->measures[ETLHEAP_MEASURE_EXCLUSIVE_COUNT],
                             r->sums[kind][program].site_count[site]);
    }
}

static void check_functions(const recorder *r, const etlheap_result *result)
{
    etlheap_query query = etlheap_query_default();
    etlheap_table *const table = table_of(result, ETLHEAP_KEY_FUNCTION, &query);
    for (u32 i = 0; i < RECORDER_KINDS * r->setup.programs; i++)
        check_function(r, table, i % RECORDER_KINDS, i / RECORDER_KINDS);
    etlheap_table_free(table);
}

static bool try_seed(u64 seed)
{
    const recorder_setup setup = recorder_draw(seed);
    check_traces traces = { 0 };
    recorder r;
    recorder_make(&r, &setup);
    for (u32 i = 0; i < r.file_count; i++) {
        if (r.files[i] == NULL)
            continue;
        check_open(&traces, r.files[i]);
        r.files[i] = NULL; /* taken over */
    }
    etlheap_result *const result = check_analyze(&traces, NULL);
    const bool is = is_asked(&r);
    if (is) {
        check_excluded(&r, result);
        check_folded(&r, result);
        check_functions(&r, result);
    }
    etlheap_result_free(result);
    check_close(&traces);
    recorder_free(&r);
    return is;
}

static void frames_of_recordings_are_counted_as_the_model_counts(void **state)
{
    const u32 seeds = long_tests() ? SEEDS_LONG : SEEDS;
    u32 asked = 0;
    (void)state;
    for (u32 seed = 1; seed <= seeds; seed++)
        asked += try_seed(seed);
    print_message("%u of %u recordings were asked\n", asked, seeds);
    assert_true(asked > seeds / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_recordings_are_counted_as_the_model_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
