/*
 * Goal: each kind of damage, loss and oddity that a trace can have is told, with its
 * count and nothing beside it, whatever -j and whether the trace is analysed or only
 * counted; together with what symbol files have, that is every diagnostic there is.
 * What is told is what a report ends with. A store tells what an inventory of its trace does.
 * Method: a sound trace that gives none; the same with one thing wrong, a row for each
 * diagnostic. Those of symbol files begin with symbol_ and are in test_symbol*.c; a
 * file that is written to while it is read is in test_map.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rundown_faults.h"
#include "tests/support/store_check.h"

#include <inttypes.h>
#include <stdio.h>

#define HEAP         0x1f0000u
#define BLOCKS       24u
#define BUFFER_BYTES 1024u
#define BUFFERS      6u /* that the sound trace has, the one with the log-file header included */
#define KERNEL_CODE  0xfffff80000001000u

/* Records in the order in which they lie in buffers: the log-file header is the first. */
#define RECORD_OF_ALLOC(n) (3u + 3u * (n))

static const etl_build_image_spec app_image = { .pid = PID,
                                                .base = CODE & ~(u64)0xffff,
                                                .size = 0x10000,
                                                .path = "\\Device\\HarddiskVolume3\\app.exe" };

/* --- what can be wrong -------------------------------------------------------------- */

static void lose_in_real_time(etl_build *b)
{
    for (u8 type = 32; type <= 34; type++)
        etl_build_lost_event(b, at(90), type);
}

/* What decodes in spite of its number is believed. */
static void compress_in_another_format(etl_build *b)
{
    etl_build_break(b, ETL_BREAK_BUFFER_STATE, 0, 9);
    etl_build_break(b, ETL_BREAK_COMPRESSED_CUT, 2, 24);
}

static void make_a_record_of_unknown_kind(etl_build *b)
{
    const u8 record[16] = { 16, 0, 0x7e, 0xc0 };
    etl_build_raw(b, at(90), record, sizeof record);
}

static void overrun_an_item(etl_build *b)
{
    const u8 nothing[8] = { 0 };
    const etl_build_item item = { .type = 1, .data = nothing, .size = sizeof nothing };
    const etl_build_manifest event = { .provider = { 1 }, .items = &item, .item_count = 1 };
    etl_build_event(b, at(90), &event);
    /* The size of the only item, behind the 80 bytes of the header. */
    etl_build_break(b, ETL_BREAK_RECORD_BYTE, RECORD_OF_ALLOC(BLOCKS), ETL_BUILD_BYTE(80, 0xf8));
}

static void cut_an_event(etl_build *b)
{
    etl_build_break(b, ETL_BREAK_RECORD_CUT, RECORD_OF_ALLOC(BLOCKS), 16);
    etl_build_heap_expand(b, at(90), HEAP, 0x100000, 0x1000);
}

static void use_a_newer_version(etl_build *b)
{
    etl_build_at when = at(90);
    when.version = ETL_BUILD_VERSION(200);
    etl_build_heap_create(b, when, HEAP);
}

static void append_a_session(etl_build *b)
{
    etl_build_append_session(b, &(etl_build_options){ .cpus = 1, .buffer_bytes = BUFFER_BYTES });
    etl_build_mark(b, at(90), "of the second session");
}

static void walk_the_stack_of_no_event(etl_build *b)
{
    const u64 frames[] = { CODE, CODE + 16 };
    etl_build_stack_inline(b, at(90), at(89).ticks, frames, 2);
}

static void use_an_undefined_key(etl_build *b)
{
    etl_build_heap_alloc(b, at(89), HEAP, 0x90000, 24);
    etl_build_stack_key(b, at(90), 0x1826, at(89).ticks, 0xfffffa8000001230);
}

/* A definition is of the half that its frames lie in, and of no other. */
static void define_a_key_for_the_other_mode(etl_build *b)
{
    const u64 frames[] = { KERNEL_CODE, KERNEL_CODE + 16 };
    const etl_build_stack stack = { .kernel = frames, .kernel_count = 2 };
    use_an_undefined_key(b);
    etl_build_stack_definition(b, at(91), 0x1822, 0xfffffa8000001230, &stack);
}

static void allocate_with_a_deep_stack(etl_build *b)
{
    static u64 frames[1025];
    for (u32 i = 0; i < ETL_COUNT_OF(frames); i++)
        frames[i] = CODE + i;
    etl_build_heap_alloc(b, at(90), HEAP, 0x90000, 24);
    etl_build_stack_inline(b, at(91), at(90).ticks, frames, ETL_COUNT_OF(frames));
}

/* The free lies on processor 0, which comes first. */
static void free_on_another_processor_at_once(etl_build *b)
{
    etl_build_at when = at(60);
    etl_build_heap_free(b, when, HEAP, 0x90000);
    when.cpu = 1;
    etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
}

static void use_an_address_33_times_at_once(etl_build *b)
{
    etl_build_at when = at(60);
    for (u32 i = 0; i < 33; i++) {
        etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
        etl_build_heap_free(b, when, HEAP, 0x90000);
    }
    when.cpu = 1;
    etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
}

static void allocate_after_the_clock_was_set_back(etl_build *b)
{
    etl_build_heap_alloc(b, at(4), HEAP, 0x90000, 24);
}

static void allocate_without_stack(etl_build *b)
{
    etl_build_heap_alloc(b, at(90), HEAP, 0x90000, 24);
}

/* All within two seconds; frees of NULL free nothing. */
static void allocate_before_a_million_events(etl_build *b)
{
    etl_build_at when = at(90);
    etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
    for (u32 i = 0; i <= (u32)1 << 20; i++) {
        when.ticks++;
        etl_build_heap_free(b, when, HEAP, 0);
    }
}

static void free_what_was_there_before(etl_build *b)
{
    etl_build_heap_free(b, at(90), HEAP, 0x90000);
    etl_build_virtual_free(b, at(91), 0xa0000, 0x1000, ETL_BUILD_RELEASE);
}

static void allocate_over_a_block(etl_build *b)
{
    const u64 frames[] = { CODE };
    for (u32 n = 90; n < 93; n++) {
        etl_build_heap_alloc(b, at(n), HEAP, 0x90000, 24);
        etl_build_stack_walk(b, at(n), &(etl_build_stack){ .user = frames, .user_count = 1 });
    }
}

/* Without the Alloc and the Free that a moving one consists of: both are supplied. */
static void reallocate_alone(etl_build *b)
{
    const u64 frames[] = { CODE };
    const etl_build_realloc change = {
        .new_address = 0x91000, .old_address = 0x90000, .new_size = 48, .old_size = 24
    };
    etl_build_heap_alloc(b, at(90), HEAP, 0x90000, 24);
    etl_build_stack_walk(b, at(90), &(etl_build_stack){ .user = frames, .user_count = 1 });
    etl_build_heap_realloc(b, at(91), HEAP, &change);
    etl_build_stack_walk(b, at(91), &(etl_build_stack){ .user = frames, .user_count = 1 });
}

/* The address of a block is given out again, and then freed by another thread. */
static void free_one_of_two_blocks(etl_build *b)
{
    const u64 frames[] = { CODE };
    const etl_build_stack stack = { .user = frames, .user_count = 1 };
    etl_build_at elsewhere = at(93);
    elsewhere.tid++;
    for (u32 n = 91; n < 93; n++) {
        etl_build_heap_alloc(b, at(n), HEAP, 0x90000, 24);
        etl_build_stack_walk(b, at(n), &stack);
    }
    etl_build_heap_free(b, elsewhere, HEAP, 0x90000);
}

static void reserve_over_a_commit(etl_build *b)
{
    const u64 frames[] = { CODE };
    for (u32 n = 90; n < 92; n++) {
        etl_build_virtual_alloc(b, at(n), 0x500000, 0x1000, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
        etl_build_stack_walk(b, at(n), &(etl_build_stack){ .user = frames, .user_count = 1 });
    }
}

static void allocate_in_a_process_without_name(etl_build *b)
{
    const u64 frames[] = { CODE };
    etl_build_at when = at(90);
    when.pid = PID + 4;
    etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
    etl_build_stack_walk(b, when, &(etl_build_stack){ .user = frames, .user_count = 1 });
}

static void load_a_method_without_end(etl_build *b)
{
    const etl_build_method_spec spec = {
        .start = 0x10000, .size = UINT32_MAX, .name_space = "My.App", .name = "Run"
    };
    etl_build_method(b, at(3000), ETL_BUILD_METHOD_LOAD, false, &spec);
}

static void allocate_in_a_module_that_is_gone(etl_build *b)
{
    const u64 frames[] = { CODE };
    etl_build_image(b, at(90), ETL_BUILD_END, &app_image);
    etl_build_heap_alloc(b, at(91), HEAP, 0x90000, 24);
    etl_build_stack_walk(b, at(91), &(etl_build_stack){ .user = frames, .user_count = 1 });
}

static void allocate_long_before_the_session(etl_build *b)
{
    const u64 frames[] = { CODE };
    etl_build_at when = at(90);
    when.ticks = -(i64)1000 * 1000 * 1000 * 1000;
    etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
    etl_build_stack_walk(b, when, &(etl_build_stack){ .user = frames, .user_count = 1 });
}

/* Three records, of which the last is two events. */
static void reallocate_long_before_the_session(etl_build *b)
{
    const u64 frames[] = { CODE };
    etl_build_at when = at(90);
    when.ticks = -(i64)1000 * 1000 * 1000 * 1000;
    etl_build_heap_alloc(b, when, HEAP, 0x90000, 24);
    etl_build_stack_walk(b, when, &(etl_build_stack){ .user = frames, .user_count = 1 });
    when.ticks += 10;
    etl_build_heap_free(b, when, HEAP, 0x20000);
    when.ticks += 10;
    etl_build_heap_realloc(
        b, when, HEAP,
        &(etl_build_realloc){
            .new_address = 0x90000, .old_address = 0x20000, .new_size = 24, .old_size = 24 });
    etl_build_stack_walk(b, when, &(etl_build_stack){ .user = frames, .user_count = 1 });
}

static void start_a_process_twice(etl_build *b)
{
    const etl_build_process_spec other = { .pid = PID, .parent_pid = 4, .name = "other.exe" };
    etl_build_at when = at(0);
    when.ticks += 10000000;
    etl_build_process(b, when, ETL_BUILD_START, &other);
}

static void tell_another_size_than_the_commits(etl_build *b)
{
    etl_build_heap_create(b, at(90), HEAP + 0x10000);
    etl_build_heap_other(b, at(91), 0x33, HEAP + 0x10000); /* commits nothing */
    etl_build_heap_snapshot(b, at(92), HEAP + 0x10000, PID, 0x50000);
}

static void create_a_heap_again(etl_build *b)
{
    etl_build_heap_create(b, at(90), HEAP + 0x10000);
    etl_build_heap_destroy(b, at(91), HEAP + 0x10000);
    etl_build_heap_create(b, at(92), HEAP + 0x10000);
}

static void create_a_heap_over_a_block(etl_build *b)
{
    etl_build_heap_alloc(b, at(90), HEAP, 0x90000, 24);
    etl_build_heap_create(b, at(92), HEAP);
}

static void allocate_one_address_in_two_heaps(etl_build *b)
{
    etl_build_heap_alloc(b, at(90), HEAP + 0x10000, 0x90000, 24);
    etl_build_heap_alloc(b, at(91), HEAP, 0x90000, 24);
}

/* --- rows ----------------------------------------------------------------------------- */

typedef enum content {
    SOUND,        /* a process with an image, and blocks with stacks */
    NO_IMAGE,     /* the same without the image */
    NO_MEMORY,    /* process and image alone */
    OUT_OF_ORDER, /* sound, and two marks in the wrong order */
    TWO_CLOCKS    /* sound, in two files of different frequencies */
} content;

typedef struct told {
    etl_diag diag;
    u64 count;
} told;

#define TOLD_MAX 3

typedef struct broken_field {
    etl_build_field field;
    u64 index, value;
} broken_field;

typedef struct fault {
    told told[TOLD_MAX]; /* exactly these; the first is what the row is for */
    u32 told_count;
    content content;
    bool inventory_only; /* what `info` alone counts */
    void (*add)(etl_build *b);
    bool is_broken;
    broken_field broken;
    etl_build_options options;
} fault;

#define ONE(name, n)    .told = { { ETL_DIAG_##name, n } }, .told_count = 1
#define TWO(a, n, b, m) .told = { { ETL_DIAG_##a, n }, { ETL_DIAG_##b, m } }, .told_count = 2
#define THREE(a, n, b, m, c, o)                                                                    \
    .told = { { ETL_DIAG_##a, n }, { ETL_DIAG_##b, m }, { ETL_DIAG_##c, o } }, .told_count = 3

#define BROKEN(field, index, value) .is_broken = true, .broken = { ETL_BREAK_##field, index, value }

static const fault faults[] = {
    { ONE(events_lost, 7), .options = { .events_lost = 7 } },
    { ONE(buffers_lost, 2), .options = { .buffers_lost = 2 } },
    { ONE(realtime_lost, 3), .add = lose_in_real_time },
    { TWO(sequence_gaps, 1, free_without_alloc, 1), BROKEN(BUFFER_DROP, 3, 0) },
    { ONE(buffers_overwritten, 907), .options = { .first_sequence = 908 } },
    { THREE(clock_set_back, 1, time_backwards, 1, alloc_without_stack, 1),
      .add = allocate_after_the_clock_was_set_back,
      .options = { .clock = 2, .start_filetime = START, .order = ETL_BUILD_AS_CALLED } },
    { TWO(ties_reordered, 1, alloc_without_stack, 1), .add = free_on_another_processor_at_once,
      .options = { .cpus = 2 } },
    { TWO(ties_limited, 1, alloc_without_stack, 34), .add = use_an_address_33_times_at_once,
      .options = { .cpus = 2 } },
    { ONE(session_not_closed, 1), BROKEN(SESSION_END_TIME, 0, 0) },
    { ONE(file_truncated, 100), BROKEN(FILE_CUT, 0, 100) },
    { ONE(buffers_missing, 40 - BUFFERS), BROKEN(SESSION_BUFFERS_WRITTEN, 0, 40) },
    { ONE(buffer_header_invalid, 1), BROKEN(BUFFER_SIZE, 2, 17) },
    { TWO(bytes_skipped, 333, buffer_header_invalid, 1), BROKEN(FILE_GARBAGE, 0, 333) },
    { ONE(bytes_unused, 5000), BROKEN(FILE_ZEROS, 0, 5000) },
    { THREE(buffer_compression_invalid, 1, record_invalid, 1, record_bytes_skipped, 18),
      BROKEN(COMPRESSED_CUT, 2, 24), .options = { .compress = true } },
    { ONE(buffer_compression_unsupported, 1), .add = compress_in_another_format,
      .options = { .compress = true } },
    { ONE(buffer_type_unknown, 1), BROKEN(BUFFER_TYPE, 2, 77) },
    { TWO(record_invalid, 1, record_bytes_skipped, 704),
      BROKEN(RECORD_MARKER, RECORD_OF_ALLOC(5), 0) },
    { TWO(record_bytes_skipped, 704, record_invalid, 1),
      BROKEN(RECORD_MARKER, RECORD_OF_ALLOC(5), 0) },
    { ONE(record_kind_unknown, 1), .add = make_a_record_of_unknown_kind },
    { ONE(items_invalid, 1), .add = overrun_an_item },
    { ONE(event_truncated, 1), .add = cut_an_event },
    { ONE(event_version_newer, 1), .add = use_a_newer_version },
    { ONE(time_backwards, 1), .content = OUT_OF_ORDER,
      .options = { .order = ETL_BUILD_AS_CALLED } },
    { ONE(cpu_index_invalid, 1), BROKEN(BUFFER_CPU, 2, 77) },
    { ONE(log_header_extra, 1), .add = append_a_session },
    { ONE(clock_mismatch, 1), .content = TWO_CLOCKS },
    { ONE(stack_unmatched, 1), .add = walk_the_stack_of_no_event, .inventory_only = true },
    { TWO(stack_key_unresolved, 1, alloc_without_stack, 1), .add = use_an_undefined_key },
    { TWO(stack_key_unresolved, 1, alloc_without_stack, 1),
      .add = define_a_key_for_the_other_mode },
    { ONE(stack_too_deep, 1), .add = allocate_with_a_deep_stack,
      .options = { .buffer_bytes = 16384 } },
    { ONE(alloc_without_stack, 1), .add = allocate_without_stack },
    { TWO(stack_wait_limited, 1, alloc_without_stack, 1), .add = allocate_before_a_million_events,
      .options = { .buffer_bytes = 65536 } },
    { ONE(free_without_alloc, 2), .add = free_what_was_there_before },
    { ONE(alloc_over_live, 2), .add = allocate_over_a_block },
    { ONE(key_over_live, 1), .add = allocate_over_a_pool_block },
    { TWO(create_over_live, 1, alloc_without_stack, 1), .add = create_a_heap_over_a_block },
    { TWO(address_in_two_heaps, 1, alloc_without_stack, 2),
      .add = allocate_one_address_in_two_heaps, .options = { .pointer_bytes = 4 } },
    { ONE(realloc_synthesized, 2), .add = reallocate_alone },
    { ONE(reserve_over_live, 1), .add = reserve_over_a_commit },
    { TWO(pairing_guessed, 1, alloc_over_live, 1), .add = free_one_of_two_blocks },
    { ONE(rundown_size_differs, 1), .add = tell_another_size_at_the_end },
    { ONE(rundown_range_unseen, 1), .add = tell_of_an_unseen_range_at_the_end },
    { ONE(block_size_differs, 1), .add = free_another_size_of_the_pool },
    { ONE(rundown_block_unseen, 1), .add = tell_of_an_unseen_pool_block_at_the_end },
    { ONE(rundown_block_missing, 1), .add = tell_of_no_pool_block_at_the_end },
    { ONE(pool_rundown_unknown, 1), .add = tell_of_part_of_a_pool_block },
    { ONE(section_range_unknown, 1), .add = make_a_section_without_pages },
    { ONE(handle_process_unknown, 1), .add = open_a_handle_of_no_process },
    { TWO(time_before_start, 1, module_guessed, 1), .add = allocate_long_before_the_session },
    { THREE(time_before_start, 3, module_guessed, 1, free_without_alloc, 1),
      .add = reallocate_long_before_the_session },
    { ONE(process_unknown, 1), .add = allocate_in_a_process_without_name },
    { ONE(process_start_missing, 1), .add = start_a_process_twice },
    { ONE(heap_recreated, 1), .add = create_a_heap_again },
    { ONE(heap_size_differs, 1), .add = tell_another_size_than_the_commits },
    { ONE(trace_without_memory_events, 1), .content = NO_MEMORY },
    { ONE(trace_without_modules, 1), .content = NO_IMAGE },
    { ONE(method_size_odd, 1), .add = load_a_method_without_end },
    { ONE(module_guessed, 1), .add = allocate_in_a_module_that_is_gone },
};

/* --- traces ----------------------------------------------------------------------------- */

static void add_content(etl_build *b, content wanted)
{
    const u64 frames[] = { CODE, CODE + 16, CODE + 32 };
    const etl_build_process_spec process = { .pid = PID, .parent_pid = 4, .name = "app.exe" };
    etl_build_process(b, at(1), ETL_BUILD_START, &process);
    if (wanted != NO_IMAGE)
        etl_build_image(b, at(2), ETL_BUILD_START, &app_image);
    else
        etl_build_mark(b, at(2), "no image");
    for (u32 i = 0; i < BLOCKS && wanted != NO_MEMORY; i++) {
        const etl_build_stack stack = { .user = frames, .user_count = 3 };
        etl_build_at when = at(3 + 2 * i);
        etl_build_heap_alloc(b, when, HEAP, 0x20000 + 0x100 * i, 24);
        when.ticks += 10;
        etl_build_stack_inline(b, when, when.ticks - 10, stack.user, stack.user_count);
        when.ticks += 10;
        etl_build_heap_free(b, when, HEAP, 0x20000 + 0x100 * i);
    }
    for (u32 n = 90; n > 88 && wanted == OUT_OF_ORDER; n--)
        etl_build_mark(b, at(n), "which time is earlier than that of the one before");
}

static void build_fault(const fault *f, check_traces *traces)
{
    const u32 files = f->content == TWO_CLOCKS ? 2 : 1;
    for (u32 i = 0; i < files; i++) {
        etl_build_options options = f->options;
        options.cpus = options.cpus == 0 ? 1 : options.cpus;
        if (options.buffer_bytes == 0)
            options.buffer_bytes = BUFFER_BYTES;
        options.start_ticks = START;
        options.clock_hz = 10000000 + i;
        etl_build *const b = etl_build_new(&options);
        if (i == 0)
            add_content(b, f->content);
        else
            etl_build_mark(b, at(90), "of the second file");
        if (f->add != NULL)
            f->add(b);
        if (f->is_broken)
            etl_build_break(b, f->broken.field, f->broken.index, f->broken.value);
        check_open(traces, b);
    }
}

/* Every count of the two is the same; prints the ones that are not. */
static bool same_counts(const char *what, const etl_diag_counts *got, const etl_diag_counts *wanted)
{
    bool is_same = true;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        if (got->of[i] == wanted->of[i])
            continue;
        fprintf(stderr, "# %s: %s is %" PRIu64 ", wanted %" PRIu64 "\n", what,
                etl_diag_describe((etl_diag)i)->name, got->of[i], wanted->of[i]);
        is_same = false;
    }
    return is_same;
}

/* An inventory cannot be asked for a report. */
static etl_diag_counts told_by(const etlheap_result *result, bool inventory_only)
{
    etlheap_table *table = NULL;
    const etlheap_query query = etlheap_query_default();
    if (inventory_only)
        return *etlheap_result_diagnostics(result);
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    const etl_diag_counts counts = table->diagnostics;
    etlheap_table_free(table);
    return counts;
}

static void a_sound_trace_gives_none(void **state)
{
    static const etl_diag_counts none;
    const fault sound = { .content = SOUND };
    check_traces traces = { 0 };
    (void)state;
    build_fault(&sound, &traces);
    etlheap_result *const result = check_analyze(&traces, NULL);
    const etl_diag_counts counts = told_by(result, false);
    assert_true(same_counts("sound", &counts, &none));
    etlheap_result_free(result);
    check_close(&traces);
}

static void each_fault_is_told_and_nothing_beside_it(void **state)
{
    bool all = true;
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(faults); i++) {
        check_traces traces = { 0 };
        etl_diag_counts wanted = { { 0 } };
        for (u32 k = 0; k < faults[i].told_count; k++)
            wanted.of[faults[i].told[k].diag] = faults[i].told[k].count;
        build_fault(&faults[i], &traces);
        for (u32 jobs = 1; jobs <= 7; jobs += 3) {
            const etlheap_options options = { .size = sizeof options,
                                              .jobs = jobs,
                                              .inventory_only = faults[i].inventory_only };
            etlheap_result *const result = check_analyze(&traces, &options);
            const etl_diag_counts counts = told_by(result, faults[i].inventory_only);
            all &= same_counts(etl_diag_describe(faults[i].told[0].diag)->name, &counts, &wanted);
            etlheap_result_free(result);
        }
        check_close(&traces);
    }
    assert_true(all);
}

static etl_diag_counts counted_by_an_inventory(const check_traces *traces,
                                               etlheap_stack_counts *stacks)
{
    const etlheap_options options = { .size = sizeof options, .inventory_only = true };
    etlheap_result *const result = check_analyze(traces, &options);
    const etl_diag_counts counts = *etlheap_result_diagnostics(result);
    *stacks = *etlheap_result_stacks(result);
    etlheap_result_free(result);
    return counts;
}

static void a_store_of_each_tells_what_an_inventory_does(void **state)
{
    bool all = true;
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(faults); i++) {
        check_traces traces = { 0 };
        build_fault(&faults[i], &traces);
        etlheap_stack_counts stacks;
        const etl_diag_counts counted = counted_by_an_inventory(&traces, &stacks);
        etlheap_result *facts;
        ehs_bytes file = store_check_write(&traces, NULL, &facts);
        const char *const name = etl_diag_describe(faults[i].told[0].diag)->name;
        all &= same_counts(name, &facts->inventory_diag, &counted);
        assert_memory_equal(&facts->stack_counts, &stacks, sizeof stacks);
        etlheap_result_free(facts);
        ETLHEAP_VECTOR_FREE(&file);
        check_close(&traces);
    }
    assert_true(all);
}

static void every_diagnostic_of_traces_has_its_row(void **state)
{
    bool has_row[ETL_DIAG_COUNT] = { false };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(faults); i++)
        has_row[faults[i].told[0].diag] = true;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const char *const name = etl_diag_describe((etl_diag)i)->name;
        const bool is_elsewhere =
            strncmp(name, "symbol_", strlen("symbol_")) == 0 ||
            strncmp(name, "description", strlen("description")) == 0 ||
            strncmp(name, "mark", strlen("mark")) == 0 || /* test_mark_list.c */
            i == ETL_DIAG_file_changed ||                 /* test_description.c above */
            i == ETL_DIAG_snapshot_lines_skipped;         /* test_umdh.c */
        if (!has_row[i] && !is_elsewhere)
            fail_msg("no trace is made that gives %s", name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_trace_gives_none),
        cmocka_unit_test(each_fault_is_told_and_nothing_beside_it),
        cmocka_unit_test(a_store_of_each_tells_what_an_inventory_does),
        cmocka_unit_test(every_diagnostic_of_traces_has_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
