/*
 * test_recording_objects.c - random recordings of pool blocks, handles and views: what the engine
 * says of them must be what the files can show.
 *
 * Method: tests/models/recorder.h makes recordings from seeds, in which programs allocate and free
 * pool of each other, open handles and map views for themselves and for others, and end; addresses
 * and values are used again at once; sessions list both when they start and stop, and files lack
 * what recorders lose. A replay of the events that are in the files gives the sums. Only
 * recordings whose times decide the order of events are asked.
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

#define SEEDS      150u
#define SEEDS_LONG 3000u

typedef struct recording {
    recorder r;
    check_traces traces;
    etlheap_result *result;
} recording;

static const etlheap_kind kinds[RECORDER_OBJECTS] = { ETLHEAP_KIND_POOL, ETLHEAP_KIND_HANDLE,
                                                      ETLHEAP_KIND_MAPPED };

static bool is_asked(const recorder *r)
{
    const recorder_setup *const s = &r->setup;
    return s->has_objects && s->clock_shift_ns >= 0 && !recorder_is_mixed(s) &&
           !recorder_is_coarse(s);
}

static void expect(const recording *at, const char *what, u32 kind, u32 number, i64 found,
                   i64 wanted)
{
    char setup[1024];
    if (found == wanted)
        return;
    recorder_describe(&at->r.setup, setup, sizeof setup);
    fail_msg("%s\n    %s %u of kind %s: %lld instead of %lld", setup, what, number,
             etlheap_kind_name(kinds[kind]), (long long)found, (long long)wanted);
}

static etlheap_table *table_of(const recording *at, u32 kind, etlheap_key key)
{
    etlheap_query query = etlheap_query_default();
    etlheap_table *table = NULL;
    etl_error err;
    query.kinds = 1u << kinds[kind];
    query.group_by[0] = key;
    query.group_by_count = 1;
    if (etlheap_aggregate(at->result, &query, &table, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return table;
}

static i64 measure_of(const etlheap_row *row, etlheap_measure measure)
{
    return row == NULL ? 0 : row->measures[measure];
}

static const etlheap_row *row_of_pid(const etlheap_table *table, u32 pid)
{
    for (u32 i = 0; i < table->row_count; i++) {
        if (table->rows[i].pid == pid)
            return &table->rows[i];
    }
    return NULL;
}

static void check_programs(const recording *at, u32 kind)
{
    const recorder_object_sums *const sums = &at->r.objects[kind];
    etlheap_table *const table = table_of(at, kind, ETLHEAP_KEY_PROCESS);
    for (u32 program = 0; program <= RECORDER_SYSTEM; program++) {
        const etlheap_row *const row = row_of_pid(table, recorder_pid(program));
        expect(at, "count of program", kind, program, measure_of(row, ETLHEAP_MEASURE_COUNT),
               sums->count[program]);
        expect(at, "outstanding count of program", kind, program,
               measure_of(row, ETLHEAP_MEASURE_OUTSTANDING_COUNT),
               sums->outstanding_count[program]);
        if (kind != RECORDER_HANDLE)
            expect(at, "outstanding size of program", kind, program,
                   measure_of(row, ETLHEAP_MEASURE_OUTSTANDING_SIZE),
                   sums->outstanding_size[program]);
    }
    etlheap_table_free(table);
}

static void check_tags(const recording *at)
{
    etlheap_table *const table = table_of(at, RECORDER_POOL, ETLHEAP_KEY_POOL_TAG);
    for (u32 tag = 0; tag < RECORDER_TAGS; tag++) {
        i64 found = 0;
        for (u32 i = 0; i < table->row_count; i++) {
            const etlheap_key_value value =
                etlheap_row_value(&table->rows[i], ETLHEAP_KEY_POOL_TAG);
            if (value.text != NULL && strcmp(value.text, recorder_tag(tag)) == 0)
                found += table->rows[i].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
        }
        expect(at, "outstanding count of tag", RECORDER_POOL, tag, found,
               at->r.objects[RECORDER_POOL].of_tag[tag]);
    }
    etlheap_table_free(table);
}

static void check_sites(const recording *at, u32 kind)
{
    etlheap_table *const table = table_of(at, kind, ETLHEAP_KEY_SITE);
    for (u32 site = 0; site <= RECORDER_SITES; site++) {
        i64 found = 0;
        for (u32 i = 0; i < table->row_count; i++) {
            const etlheap_row *const row = &table->rows[i];
            const bool has_frame = row->frame != ETLHEAP_NO_INDEX;
            if (has_frame ? site < RECORDER_SITES &&
                                table->frames[row->frame].address == recorder_site_address(site)
                          : site == RECORDER_NO_STACK)
                found += row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
        }
        expect(at, "outstanding count of site", kind, site, found,
               at->r.objects[kind].of_site[site]);
    }
    etlheap_table_free(table);
}

static void check_unknown_frees(const recording *at, u32 kind)
{
    i64 found[RECORDER_PROGRAMS + 1] = { 0 };
    for (u32 i = 0; i < etlheap_process_count(at->result); i++) {
        const etlheap_process_info *const info =
            etlheap_process_of(at->result, (etlheap_process){ i + 1 });
        for (u32 program = 0; program <= RECORDER_SYSTEM; program++)
            found[program] +=
                info->pid == recorder_pid(program) ? (i64)info->free_without_alloc[kinds[kind]] : 0;
    }
    for (u32 program = 0; program <= RECORDER_SYSTEM; program++)
        expect(at, "unknown frees of program", kind, program, found[program],
               at->r.objects[kind].unknown_frees[program]);
}

static void check_contradictions(const recording *at)
{
    const etl_diag_counts *const diag = etlheap_result_diagnostics(at->result);
    i64 unseen = 0, missing = 0;
    for (u32 kind = 0; kind < RECORDER_OBJECTS; kind++) {
        unseen += at->r.objects[kind].unseen;
        missing += at->r.objects[kind].missing;
    }
    expect(at, "rows of lists that nothing else told of", 0, 0,
           (i64)diag->of[ETL_DIAG_rundown_block_unseen], unseen);
    expect(at, "rows that lists lack", 0, 0, (i64)diag->of[ETL_DIAG_rundown_block_missing],
           missing);
}

static void check_kind(const recording *at, u32 kind)
{
    check_programs(at, kind);
    check_sites(at, kind);
    check_unknown_frees(at, kind);
    if (kind == RECORDER_POOL)
        check_tags(at);
}

/* For questions that name the kinds. */
static etlheap_result *analyze(const check_traces *traces)
{
    etlheap_query query = etlheap_query_default();
    for (u32 kind = 0; kind < RECORDER_OBJECTS; kind++)
        query.kinds |= 1u << kinds[kind];
    return check_analyze(
        traces, &(etlheap_options){ .size = sizeof(etlheap_options), ASKED_EVENTS(&query) });
}

static bool try_seed(u64 seed)
{
    recording at = { .result = NULL };
    const recorder_setup setup = recorder_draw(seed);
    recorder_make(&at.r, &setup);
    if (at.r.error[0] != '\0')
        fail_msg("seed %llu: %s", (unsigned long long)seed, at.r.error);
    for (u32 i = 0; i < at.r.file_count; i++) {
        if (at.r.files[i] == NULL)
            continue;
        check_open(&at.traces, at.r.files[i]);
        at.r.files[i] = NULL; /* taken over */
    }
    at.result = analyze(&at.traces);
    const bool is = is_asked(&at.r);
    for (u32 kind = 0; is && kind < RECORDER_OBJECTS; kind++)
        check_kind(&at, kind);
    if (is)
        check_contradictions(&at);
    etlheap_result_free(at.result);
    check_close(&at.traces);
    recorder_free(&at.r);
    return is;
}

static void objects_of_recordings_are_counted_as_the_model_counts(void **state)
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
        cmocka_unit_test(objects_of_recordings_are_counted_as_the_model_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
