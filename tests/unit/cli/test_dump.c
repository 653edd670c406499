/*
 * Goal: `dump` writes each kind of record as documented, and its filters select
 * by event, time, process id and process name.
 * Method: a built trace of a few records, read as a stream; lines are compared
 * byte by byte, filters by the names of the records that pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "cli/record_filter.h"
#include "engine/query/globs.h"
#include "tests/build/etl_build.h"

#include <stdio.h>
#include <stdlib.h>

#define START    1000000
#define PROVIDER "3c74afb9-8d82-44e3-b52c-365dbf48382a"

typedef struct dumped {
    etl_build *build;
    etl_trace *trace;
    char *name;
    cli_inputs inputs;
} dumped;

/* Records are ten ticks (1 us) apart; the second process takes over pid 20. */
static void build_records(etl_build *b)
{
    const u64 frames[] = { 0x7ff600001000, 0x7ff600002000 };
    const u64 item[] = { 0, 0xfffff80000001000, 0x7ff600001000 };
    const etl_build_item stack = { .type = 6, .data = item, .size = sizeof item };
    const u8 payload[] = { 1, 2, 3 };
    etl_build_manifest event = { .id = 7,
                                 .version = 2,
                                 .opcode = 9,
                                 .items = &stack,
                                 .item_count = 1,
                                 .payload = payload,
                                 .payload_size = sizeof payload };
    etl_build_wpp message = { .number = 43, .parts = 0x02 | 0x08 | 0x20 };
    const etl_build_process_spec first = { .pid = 20, .parent_pid = 4, .name = "first.exe" };
    const etl_build_process_spec second = { .pid = 20, .parent_pid = 4, .name = "second\x1b.exe" };
    etl_build_at at = { .ticks = START + 10, .cpu = 1, .pid = 20, .tid = 21 };
    etl_build_guid(PROVIDER, event.provider);
    etl_build_guid(PROVIDER, message.guid);
    etl_build_process(b, at, ETL_BUILD_START, &first);
    at.ticks += 10;
    etl_build_heap_alloc(b, at, 0x1f0000, 0x2000, 24);
    etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = 2 });
    at.ticks += 20;
    etl_build_process(b, at, ETL_BUILD_END, &first);
    at.ticks += 10;
    etl_build_process(b, at, ETL_BUILD_START, &second);
    at.ticks += 10;
    etl_build_heap_free(b, at, 0x1f0000, 0x2000);
    at.ticks += 10;
    at.pid = 30;
    etl_build_event(b, at, &event);
    at.ticks += 10;
    etl_build_message(b, at, &message);
}

/* Records that hold lists, and one that nobody has a name for. */
static void build_lists(etl_build *b)
{
    static const etl_build_range ranges[] = { { 0x10000, 4096 }, { 0x7ff600000000, 65536 } };
    static const etl_build_working_set sets[] = {
        { .pid = 8, .working_set_pages = 30, .commit_pages = 20 },
        { .pid = 12, .working_set_pages = 1, .commit_pages = 2 },
    };
    const u32 payload = 7;
    etl_build_at at = { .ticks = START + 10, .cpu = 1, .pid = 20, .tid = 21 };
    etl_build_heap_range_rundown(b, at, 0x1f0000, ranges, 2);
    at.ticks += 10;
    etl_build_meminfo_ws(b, at, sets, 2);
    at.ticks += 10;
    etl_build_hook(b, at, 0x7777, &payload, sizeof payload);
}

/* An event of a provider whose name is known. */
static void build_named(etl_build *b)
{
    etl_build_manifest event = { .id = 12, .opcode = 3 };
    const etl_build_at at = { .ticks = START + 10, .cpu = 1, .pid = 20, .tid = 21 };
    etl_build_guid("edd08927-9cc4-4e65-b970-c2560fb5c289", event.provider);
    etl_build_event(b, at, &event);
}

static int set_up_with(void **state, void (*build)(etl_build *b))
{
    dumped *const d = calloc(1, sizeof *d);
    size_t size = 0;
    if (!d)
        return -1;
    d->build = etl_build_new(&(etl_build_options){ .cpus = 2, .start_ticks = START });
    build(d->build);
    assert_true(etl_build_finish(d->build));
    const u8 *const bytes = etl_build_data(d->build, &size);
    const etl_bytes file = { bytes, size };
    assert_int_equal(etl_open_memory(file, NULL, &d->trace, NULL), ETL_OK);
    d->name = strdup("built.etl");
    d->inputs = (cli_inputs){ .traces = &d->trace, .names = &d->name, .count = 1 };
    *state = d;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, build_records);
}

static int set_up_lists(void **state)
{
    return set_up_with(state, build_lists);
}

static int set_up_named(void **state)
{
    return set_up_with(state, build_named);
}

static int tear_down(void **state)
{
    dumped *const d = *state;
    etl_close(d->trace);
    etl_build_free(d->build);
    free(d->name);
    free(d);
    return 0;
}

/* Writes the records that pass the options in a format. */
static void dump(const dumped *d, const cli_options *options, const char *format, capture *out)
{
    const cli_guard guard = { .active = false };
    cli_record_filter filter;
    etlheap_stream *stream;
    etlheap_stream_record record;
    etlheap_text scratch = { 0 };
    assert_int_equal(cli_record_filter_build(options, &d->inputs, &guard, &filter, NULL), ETL_OK);
    assert_int_equal(etlheap_stream_open(&d->inputs.traces[0], 1, &stream, NULL), ETL_OK);
    capture_open(out);
    while (etlheap_stream_next(stream, &record)) {
        etl_diag_counts counts = { { 0 } };
        etl_event event;
        etl_decode(&record.record, &event, &counts);
        if (cli_record_passes(&filter, &record, &event, &scratch))
            etlheap_format_named(format)->write_record(&record, &event, &scratch, out->sink);
    }
    etlheap_stream_close(stream);
    etlheap_text_free(&scratch);
    cli_record_filter_free(&filter);
}

static void expect_lines(void **state, const cli_options *options, const char *format,
                         const char *wanted)
{
    capture out;
    dump(*state, options, format, &out);
    assert_string_equal(capture_text(&out), wanted);
    capture_close(&out);
}

/* Names of the passing records, from the ndjson lines, with blanks between. */
static void expect_names(void **state, const cli_options *options, const char *wanted)
{
    capture out;
    char names[512] = "";
    dump(*state, options, "ndjson", &out);
    for (const char *line = capture_text(&out); *line != '\0'; line += strcspn(line, "\n") + 1) {
        const char *const name = strstr(line, "\"name\": \"");
        const bool own = name && name < line + strcspn(line, "\n");
        const char *const from = own ? name + 9 : "?";
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.*s", used > 0 ? " " : "",
                 (int)strcspn(from, "\""), from);
    }
    assert_string_equal(names, wanted);
    capture_close(&out);
}

static const char *one_event[] = { "Heap/Alloc,0x1820" };
static const char *wildcard[] = { "heap/*" };
static const char *by_provider[] = { PROVIDER };
static const char *by_hook[] = { "0x1024" };

static void hook_records_have_hook_and_fields(void **state)
{
    const cli_options options = { .events = { one_event, 1 } };
    expect_lines(
        state, &options, "ndjson",
        "{\"ts\": 1000020, \"time_ns\": 2000, \"cpu\": 1, \"pid\": 20, \"tid\": 21, "
        "\"header\": \"system64\", \"hook\": \"0x1021\", \"version\": 2, \"payload_bytes\": 28, "
        "\"name\": \"Heap/Alloc\", \"fields\": {\"heap_handle\": \"0x1f0000\", \"alloc_size\": 24, "
        "\"alloc_address\": \"0x2000\", \"source_id\": 2}}\n"
        "{\"ts\": 1000033, \"time_ns\": 3300, \"cpu\": 1, \"pid\": null, \"tid\": null, "
        "\"header\": \"perfinfo64\", \"hook\": \"0x1820\", \"version\": 2, \"payload_bytes\": 32, "
        "\"name\": \"StackWalk/Stack\", \"fields\": {\"event_ticks\": 1000020, \"process_id\": 20, "
        "\"thread_id\": 21, \"frames\": [\"0x7ff600001000\", \"0x7ff600002000\"]}}\n");
}

static void provider_records_have_provider_id_and_stack(void **state)
{
    const cli_options options = { .events = { by_provider, 1 } };
    expect_lines(state, &options, "ndjson",
                 "{\"ts\": 1000070, \"time_ns\": 7000, \"cpu\": 1, \"pid\": 30, \"tid\": 21, "
                 "\"header\": \"event64\", \"provider\": \"" PROVIDER "\", \"id\": 7, "
                 "\"opcode\": 9, \"version\": 2, \"payload_bytes\": 3, "
                 "\"stack\": [\"0xfffff80000001000\", \"0x7ff600001000\"]}\n"
                 "{\"ts\": 1000080, \"time_ns\": 8000, \"cpu\": 1, \"pid\": 30, \"tid\": 21, "
                 "\"header\": \"message\", \"provider\": \"" PROVIDER "\", \"id\": 43, "
                 "\"opcode\": 0, \"version\": 0, \"payload_bytes\": 0}\n");
}

static void text_lines_have_the_same_content(void **state)
{
    const cli_options options = { .events = { one_event, 1 } };
    expect_lines(state, &options, "text",
                 " 0.000002000    1      20      21  Heap/Alloc                   28  "
                 "heap_handle=0x1f0000 alloc_size=24 alloc_address=0x2000 source_id=2\n"
                 " 0.000003300    1       -       -  StackWalk/Stack              32  "
                 "event_ticks=1000020 process_id=20 thread_id=21 "
                 "frames=[0x7ff600001000 0x7ff600002000]\n");
}

static void text_of_provider_records_has_provider_id_and_stack(void **state)
{
    const cli_options options = { .events = { by_provider, 1 } };
    expect_lines(state, &options, "text",
                 " 0.000007000    1      30      21  " PROVIDER "/7/9      3  "
                 "stack=[0xfffff80000001000 0x7ff600001000]\n"
                 " 0.000008000    1      30      21  " PROVIDER "/43/0      0\n");
}

static void lists_in_records_are_written_whole(void **state)
{
    static const char *words[] = { "HeapRange/*", "*MemInfo*", "0x7777" };
    const cli_options options = { .events = { words, 3 } };
    expect_lines(state, &options, "text",
                 " 0.000001000    1      20      21  HeapRange/Rundown            56  "
                 "heap_handle=0x1f0000 flags=0x2 process_id=20 range_count=2 "
                 "ranges=[0x10000+4096 0x7ff600000000+65536]\n"
                 " 0.000002000    1       -       -  PageFault/MemInfoWS         140  "
                 "count=2 entries=[8:20/30 12:2/1]\n"
                 " 0.000003000    1      20      21  0x7777                        4\n");
}

static void known_providers_have_their_name(void **state)
{
    static const char *words[] = { "microsoft-windows-kernel-*" };
    const cli_options options = { .events = { words, 1 } };
    expect_lines(state, &options, "text",
                 " 0.000001000    1      20      21  Microsoft-Windows-Kernel-File/12/3      0\n");
    expect_names(state, &options, "Microsoft-Windows-Kernel-File");
}

static void names_in_text_cannot_control_the_terminal(void **state)
{
    static const char *word[] = { "Process/Start" };
    const cli_options options = { .events = { word, 1 } };
    capture out;
    dump(*state, &options, "text", &out);
    const char *const text = capture_text(&out);
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strstr(text, "image_file_name=\"second\xEF\xBF\xBD.exe\""));
    capture_close(&out);
}

static void events_are_selected_by_name_or_hook(void **state)
{
    const cli_options by_name = { .events = { wildcard, 1 } };
    const cli_options hook = { .events = { by_hook, 1 } };
    expect_names(state, &by_name, "Heap/Alloc Heap/Free");
    expect_names(state, &hook, "Heap/Free");
}

static void the_window_is_half_open(void **state)
{
    cli_options options = { .from = { .given = true, .ns = 2000 },
                            .to = { .given = true, .ns = 4000 } };
    expect_names(state, &options, "Heap/Alloc StackWalk/Stack");
    options.to.ns = 4001;
    expect_names(state, &options, "Heap/Alloc StackWalk/Stack Process/End");
}

static void a_pid_selects_header_or_payload(void **state)
{
    static const char *pid[] = { "30" };
    static const char *other[] = { "20" };
    const cli_options options = { .processes = { pid, 1 } };
    const cli_options both = { .processes = { other, 1 } };
    expect_names(state, &options, "? ?");
    expect_names(state, &both,
                 "Process/Start Heap/Alloc StackWalk/Stack Process/End Process/Start Heap/Free");
}

static void a_name_selects_one_lifetime_of_a_pid(void **state)
{
    static const char *first[] = { "FIRST.*" };
    static const char *second[] = { "sec*" };
    const cli_options of_first = { .processes = { first, 1 } };
    const cli_options of_second = { .processes = { second, 1 } };
    expect_names(state, &of_first, "Process/Start Heap/Alloc StackWalk/Stack Process/End");
    expect_names(state, &of_second, "Process/Start Heap/Free");
}

/* Trying each word and each process on each record takes 3,000 steps for a record and filter. */
static void long_lists_take_few_steps_for_a_record(void **state)
{
    enum { MANY = 3000, SIZE = 24 };
    const dumped *const d = *state;
    const cli_guard guard = { .active = false };
    char(*const texts)[SIZE] = calloc(2 * MANY, SIZE);
    const char **const words = calloc(2 * MANY, sizeof *words);
    cli_record_filter filter;
    etlheap_stream *stream;
    etlheap_stream_record record;
    etlheap_text scratch = { 0 };
    const etl_event none = { .kind = ETL_EVENT_NONE };
    u32 count = 0, passed = 0;
    assert_non_null(texts);
    assert_non_null(words);
    for (u32 i = 0; i < MANY; i++) {
        snprintf(texts[i], SIZE, i % 2 == 0 ? "Heap/Alloc%u" : "0x%x", 0x2000 + i);
        snprintf(texts[MANY + i], SIZE, "%u", 1000 + i);
    }
    snprintf(texts[MANY - 2], SIZE, "Heap/Al*");
    snprintf(texts[2 * MANY - 1], SIZE, "20");
    for (u32 i = 0; i < 2 * MANY; i++)
        words[i] = texts[i];
    const cli_options options = { .events = { words, MANY }, .processes = { words + MANY, MANY } };
    assert_int_equal(cli_record_filter_build(&options, &d->inputs, &guard, &filter, NULL), ETL_OK);
    assert_int_equal(etlheap_stream_open(&d->inputs.traces[0], 1, &stream, NULL), ETL_OK);
    for (; etlheap_stream_next(stream, &record); count++)
        passed += cli_record_passes(&filter, &record, &none, &scratch);
    assert_int_equal(passed, 1);
    assert_in_range(filter.tried, 1, count);
    assert_in_range(globs_steps(filter.globs) + globs_steps(filter.names), count, 600 * count);
    etlheap_stream_close(stream);
    etlheap_text_free(&scratch);
    cli_record_filter_free(&filter);
    free((void *)words);
    free(texts);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(hook_records_have_hook_and_fields),
        TEST(provider_records_have_provider_id_and_stack),
        TEST(text_lines_have_the_same_content),
        TEST(text_of_provider_records_has_provider_id_and_stack),
        cmocka_unit_test_setup_teardown(lists_in_records_are_written_whole, set_up_lists,
                                        tear_down),
        cmocka_unit_test_setup_teardown(known_providers_have_their_name, set_up_named, tear_down),
        TEST(names_in_text_cannot_control_the_terminal),
        TEST(events_are_selected_by_name_or_hook),
        TEST(the_window_is_half_open),
        TEST(a_pid_selects_header_or_payload),
        TEST(a_name_selects_one_lifetime_of_a_pid),
        TEST(long_lists_take_few_steps_for_a_record),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
