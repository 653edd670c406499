/*
 * Goal: every field the builder is given lies where the reader looks for it, and
 * the reader finds every record and nothing to complain about.
 * Method: one event of each kind with values that differ in every field, for all
 * versions and both pointer widths, read back through the parser; then all
 * scenarios, written in several ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/build/etl_build.h"
#include "parser/parser.h"
#include "tests/build/scenario.h"

#define HEAP 0x1f0000u

/* One event read back. The views in it borrow from the builder's bytes. */
typedef struct read_back {
    etl_build *b;
    etl_trace *trace;
    etl_scratch scratch;
    etl_record record;
    etl_event event;
} read_back;

static etl_build_at at(u8 pointer_bytes, u8 version)
{
    return (etl_build_at){ .ticks = 1000700,
                           .cpu = 2,
                           .pid = 3100,
                           .tid = 3104,
                           .pointer_bytes = pointer_bytes,
                           .version = ETL_BUILD_VERSION(version) };
}

/* Finishes the trace and decodes its `index`th record after the header. */
static read_back read_record(etl_build *b, u32 index)
{
    read_back r = { .b = b };
    if (!etl_build_finish(b))
        fail_msg("%s", etl_build_error(b));
    size_t size = 0;
    const u8 *const bytes = etl_build_data(b, &size);
    assert_int_equal(etl_open_memory((etl_bytes){ bytes, size }, NULL, &r.trace, NULL), ETL_OK);
    etl_diag_counts diag = { 0 };
    etl_buffer buffer;
    assert_int_equal(etl_buffer_load(r.trace, 1, &r.scratch, &diag, &buffer), ETL_OK);
    for (u32 i = 0; i <= index; i++)
        assert_true(etl_record_next(&buffer, &r.record));
    assert_true(etl_decode(&r.record, &r.event, &diag));
    return r;
}

static void close_read(read_back *r)
{
    etl_scratch_free(&r->scratch);
    etl_close(r->trace);
    etl_build_free(r->b);
}

static void assert_text16(etl_bytes text, const char *expected)
{
    char utf8[200];
    etl_utf16_to_utf8(text, utf8, sizeof utf8);
    assert_string_equal(utf8, expected);
}

static void assert_text8(etl_bytes text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.at, expected, text.size);
}

static void headers_say_when_and_who(void **state)
{
    (void)state;
    for (u8 header = ETL_BUILD_HEADER_SYSTEM; header <= ETL_BUILD_HEADER_INSTANCE; header++) {
        etl_build *const b = etl_build_new(NULL);
        etl_build_at when = at(8, 2);
        when.header = header;
        etl_build_heap_free(b, when, HEAP, 0x2000);
        read_back r = read_record(b, 0);
        const bool has_freer = header != ETL_BUILD_HEADER_PERFINFO;
        assert_int_equal(r.event.kind, ETL_EVENT_HEAP_FREE);
        assert_int_equal(r.record.ticks, 1000700);
        assert_int_equal(r.record.cpu, 2);
        assert_int_equal(r.record.pid, has_freer ? 3100 : ETL_NO_ID);
        assert_int_equal(r.record.tid, has_freer ? 3104 : ETL_NO_ID);
        assert_int_equal(r.record.version, 2);
        assert_int_equal(r.event.as.heap_free.free_address, 0x2000);
        close_read(&r);
    }
}

static void heap_blocks_keep_their_fields(void **state)
{
    (void)state;
    for (u8 width = 4; width <= 8; width += 4) {
        etl_build *b = etl_build_new(NULL);
        etl_build_heap_alloc(b, at(width, 2), HEAP, 0x7001000, 24);
        read_back r = read_record(b, 0);
        assert_int_equal(r.event.as.heap_alloc.heap_handle, HEAP);
        assert_int_equal(r.event.as.heap_alloc.alloc_address, 0x7001000);
        assert_int_equal(r.event.as.heap_alloc.alloc_size_bytes, 24);
        close_read(&r);

        b = etl_build_new(NULL);
        etl_build_heap_realloc(b, at(width, 2), HEAP,
                               &(etl_build_realloc){ .new_address = 0x7002000,
                                                     .old_address = 0x7001000,
                                                     .new_size = 48,
                                                     .old_size = 24 });
        r = read_record(b, 0);
        assert_int_equal(r.event.as.heap_realloc.heap_handle, HEAP);
        assert_int_equal(r.event.as.heap_realloc.new_alloc_address, 0x7002000);
        assert_int_equal(r.event.as.heap_realloc.old_alloc_address, 0x7001000);
        assert_int_equal(r.event.as.heap_realloc.new_alloc_size_bytes, 48);
        assert_int_equal(r.event.as.heap_realloc.old_alloc_size_bytes, 24);
        close_read(&r);
    }
}

static void heaps_keep_their_fields(void **state)
{
    (void)state;
    for (u8 version = 2; version <= 3; version++) {
        for (u8 width = 4; width <= 8; width += 4) {
            etl_build *b = etl_build_new(NULL);
            etl_build_heap_expand(b, at(width, version), HEAP, 0x7001000, 0x3000);
            read_back r = read_record(b, 0);
            assert_int_equal(r.event.kind, ETL_EVENT_HEAP_EXPAND);
            assert_int_equal(r.event.as.heap_extent.heap_handle, HEAP);
            assert_int_equal(r.event.as.heap_extent.address, 0x7001000);
            assert_int_equal(r.event.as.heap_extent.size_bytes, 0x3000);
            assert_int_equal(r.event.as.heap_extent.ucr_count, 1);
            close_read(&r);

            b = etl_build_new(NULL);
            etl_build_heap_snapshot(b, at(width, version), HEAP, 77, 0x9000);
            r = read_record(b, 0);
            assert_int_equal(r.event.as.heap_snapshot.process_id, 77);
            assert_int_equal(r.event.as.heap_snapshot.committed_space_bytes, 0x9000);
            close_read(&r);

            b = etl_build_new(NULL);
            etl_build_heap_create(b, at(width, version), HEAP);
            r = read_record(b, 0);
            assert_int_equal(r.event.as.heap_create.heap_handle, HEAP);
            assert_int_equal(r.event.as.heap_create.reserved_space_bytes,
                             version >= 3 ? 0x100000 : 0);
            close_read(&r);

            b = etl_build_new(NULL);
            etl_build_heap_range_rundown(b, at(width, version), HEAP,
                                         (etl_build_range[2]){ { 1, 2 }, { 3, 4 } }, 2);
            r = read_record(b, 0);
            assert_int_equal(r.event.as.heap_range_rundown.process_id, 3100);
            assert_int_equal(r.event.as.heap_range_rundown.range_count, 2);
            assert_int_equal(r.event.as.heap_range_rundown.ranges.at[0], 1);
            close_read(&r);
        }
    }
}

static void virtual_memory_keeps_its_fields(void **state)
{
    (void)state;
    static const u16 hooks[] = { 0x0262, 0x0263, 0x0280, 0x0281 };
    for (size_t i = 0; i < ETL_COUNT_OF(hooks); i++) {
        etl_build *const b =
            etl_build_new(&(etl_build_options){ .virtual_alloc_without_tid = i % 2 == 1 });
        etl_build_virtual(b, at(8, 2),
                          &(etl_build_virtual_spec){ .hook = hooks[i],
                                                     .base = 0x7ff000000000,
                                                     .size = 0x8000,
                                                     .flags = 0x3000,
                                                     .owner_pid = 812,
                                                     .commit_bytes = 0x5000 });
        read_back r = read_record(b, 0);
        const etl_virtual_memory *const v = &r.event.as.virtual_memory;
        assert_int_equal(r.event.kind, ETL_EVENT_VIRTUAL_ALLOC + (int)i);
        assert_int_equal(r.record.tid, i == 0 ? 3104 : ETL_NO_ID);
        assert_int_equal(v->base_address, 0x7ff000000000);
        assert_int_equal(v->region_size_bytes, 0x8000);
        assert_int_equal(v->process_id, 812);
        assert_int_equal(v->flags, 0x3000);
        assert_int_equal(v->commit_size_bytes, i >= 2 ? 0x5000 : 0);
        close_read(&r);
    }
}

static void processes_keep_their_fields_in_all_versions(void **state)
{
    (void)state;
    for (u32 i = 0; i < 20; i++) {
        const u8 version = (u8)(i % 5);
        etl_build *const b = etl_build_new(NULL);
        etl_build_process(b, at(i < 10 ? 4 : 8, version), ETL_BUILD_START,
                          &(etl_build_process_spec){ .pid = 4321,
                                                     .parent_pid = 77,
                                                     .session_id = 3,
                                                     .wow64 = true,
                                                     .no_sid = i % 10 >= 5,
                                                     .name = "some.exe",
                                                     .command_line = "some.exe -x" });
        read_back r = read_record(b, 0);
        const etl_process_event *const p = &r.event.as.process;
        assert_int_equal(p->process_id, 4321);
        assert_int_equal(p->parent_id, 77);
        assert_text8(p->image_file_name, "some.exe");
        assert_text16(p->command_line, version >= 2 ? "some.exe -x" : "");
        assert_int_equal(p->session_id, version >= 1 ? 3 : 0);
        assert_int_equal(p->flags, version >= 4 ? 2 : 0);
        close_read(&r);
    }
}

static void threads_keep_their_fields_in_all_versions(void **state)
{
    (void)state;
    for (u32 i = 0; i < 10; i++) {
        const u8 version = (u8)(i % 5);
        etl_build *const b = etl_build_new(NULL);
        etl_build_thread(b, at(i < 5 ? 4 : 8, version), ETL_BUILD_START,
                         &(etl_build_thread_spec){
                             .pid = 4321, .tid = 4444, .start_address = 0x401000, .name = "main" });
        read_back r = read_record(b, 0);
        const etl_thread_event *const t = &r.event.as.thread;
        assert_int_equal(t->process_id, 4321);
        assert_int_equal(t->thread_id, 4444);
        assert_int_equal(t->win32_start_address, version >= 1 ? 0x401000 : 0);
        assert_text16(t->name, version >= 3 ? "main" : "");
        close_read(&r);
    }
}

static void images_keep_their_fields_in_all_versions(void **state)
{
    (void)state;
    for (u32 i = 0; i < 8; i++) {
        const u8 version = (u8)(i % 4);
        etl_build *const b = etl_build_new(NULL);
        etl_build_image(b, at(i < 4 ? 4 : 8, version), ETL_BUILD_START,
                        &(etl_build_image_spec){ .pid = 4321,
                                                 .base = 0x10000000,
                                                 .size = 0x7c000,
                                                 .checksum = 5,
                                                 .time_date_stamp = 6,
                                                 .path = "\\Windows\\x.dll" });
        read_back r = read_record(b, 0);
        const etl_image_event *const image = &r.event.as.image;
        assert_int_equal(r.event.kind, ETL_EVENT_IMAGE_LOAD);
        assert_int_equal(image->image_base, 0x10000000);
        assert_int_equal(image->image_size_bytes, 0x7c000);
        assert_int_equal(image->image_checksum, version >= 2 ? 5 : 0);
        assert_int_equal(image->time_date_stamp, version >= 2 ? 6 : 0);
        assert_text16(image->file_name, "\\Windows\\x.dll");
        close_read(&r);
    }
}

static void injected_identities_keep_their_fields(void **state)
{
    (void)state;
    const etl_build_image_spec image = { .pid = 4321,
                                         .base = 0x10000000,
                                         .size = 0x7c000,
                                         .time_date_stamp = 6,
                                         .path = "\\Windows\\x.dll" };
    etl_build_pdb_spec pdb = { .age = 9, .name = "x.pdb" };
    etl_build_guid("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", pdb.guid);
    for (u32 index = 0; index < 3; index++) {
        etl_build *const b = etl_build_new(NULL);
        etl_build_at when = at(8, 0);
        when.version = 0;
        etl_build_image_id(b, when, &image, &pdb);
        read_back r = read_record(b, index);
        assert_int_equal(r.record.pid, 4321);
        assert_true(etl_record_is_injected(&r.record));
        if (index == 0) {
            assert_int_equal(r.event.as.image_file_version.time_date_stamp, 6);
            assert_text16(r.event.as.image_file_version.original_file_name, "x.dll");
        } else if (index == 1) {
            assert_int_equal(r.event.as.image_id.image_base, 0x10000000);
            assert_int_equal(r.event.as.image_id.image_size_bytes, 0x7c000);
            assert_int_equal(r.event.as.image_id.time_date_stamp, 6);
        } else {
            char guid[ETL_GUID_TEXT_SIZE];
            etl_guid_format(r.event.as.image_rsds.guid.bytes, guid);
            assert_string_equal(guid, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
            assert_int_equal(r.event.as.image_rsds.age, 9);
            assert_text8(r.event.as.image_rsds.pdb_file_name, "x.pdb");
        }
        close_read(&r);
    }
}

static void the_system_keeps_its_fields(void **state)
{
    (void)state;
    etl_build *b = etl_build_new(&(etl_build_options){ .cpus = 6 });
    etl_build_at when = at(8, 0);
    when.version = 0;
    etl_build_config_cpu(
        b, when, &(etl_build_cpu_spec){ .mhz = 2500, .memory_mib = 8192, .computer_name = "NAME" });
    read_back r = read_record(b, 0);
    assert_int_equal(r.event.as.config_cpu.mhz, 2500);
    assert_int_equal(r.event.as.config_cpu.cpu_count, 6);
    assert_int_equal(r.event.as.config_cpu.memory_mib, 8192);
    assert_int_equal(r.event.as.config_cpu.page_size_bytes, 4096);
    assert_text16(r.event.as.config_cpu.computer_name, "NAME");
    close_read(&r);

    b = etl_build_new(NULL);
    etl_build_device_family(b, when, (u16[4]){ 10, 0, 26100, 4652 });
    r = read_record(b, 0);
    assert_int_equal(r.event.as.config_device_family.os_major, 10);
    assert_int_equal(r.event.as.config_device_family.os_build, 26100);
    assert_int_equal(r.event.as.config_device_family.os_revision, 4652);
    close_read(&r);

    b = etl_build_new(NULL);
    etl_build_volume(b, when, "\\Device\\HarddiskVolume3\\", "C:\\");
    r = read_record(b, 0);
    assert_text16(r.event.as.volume_mapping.nt_path, "\\Device\\HarddiskVolume3\\");
    assert_text16(r.event.as.volume_mapping.dos_path, "C:\\");
    close_read(&r);
}

static void working_sets_keep_their_fields(void **state)
{
    (void)state;
    for (u8 version = 1; version <= 2; version++) {
        const etl_build_working_set rows[2] = { { 1, 2, 3, 4, 5 }, { 6, 7, 8, 9, 10 } };
        etl_build *const b = etl_build_new(NULL);
        etl_build_meminfo_ws(b, at(8, version), rows, 2);
        read_back r = read_record(b, 0);
        etl_meminfo_ws_row row = { 0 };
        assert_int_equal(r.event.as.meminfo_ws.count, 2);
        assert_true(etl_meminfo_ws_entry(&r.event.as.meminfo_ws, 8, 1, &row));
        assert_int_equal(row.process_id, 6);
        assert_int_equal(row.working_set_pages, 7);
        assert_int_equal(row.commit_pages, 8);
        assert_int_equal(row.virtual_size_pages, 9);
        assert_int_equal(row.private_working_set_pages, 10);
        close_read(&r);
    }
}

/* Counts what the parser finds, and what it complains about. */
static u64 parser_records(const u8 *bytes, size_t size, etl_diag_counts *diag)
{
    etl_trace *trace = NULL;
    etl_error error = { 0 };
    if (etl_open_memory((etl_bytes){ bytes, size }, NULL, &trace, &error) != ETL_OK)
        fail_msg("%s", error.message);
    etl_scratch scratch = { 0 };
    u64 records = 0;
    for (u32 i = 0; i < etl_buffer_count(trace); i++) {
        etl_buffer buffer;
        assert_int_equal(etl_buffer_load(trace, i, &scratch, diag, &buffer), ETL_OK);
        etl_record record;
        etl_event event;
        while (etl_record_next(&buffer, &record)) {
            records++;
            (void)etl_decode(&record, &event, diag);
        }
    }
    etl_diag_merge(diag, etl_trace_diagnostics(trace));
    etl_scratch_free(&scratch);
    etl_close(trace);
    return records;
}

static void the_parser_reads_every_scenario_without_complaint(void **state)
{
    (void)state;
    for (const scenario *s = scenarios; s->name != NULL; s++) {
        for (u32 mask = 0; mask < 8; mask++) {
            const etl_build_options options = { .compress = mask & 1,
                                                .keyed_stacks = mask >> 1 & 1,
                                                .pointer_bytes = mask >> 2 & 1 ? 4 : 8,
                                                .clock = 1 + mask % 3 };
            etl_build *const b = etl_build_new(&options);
            scenario_run run = { .operations = 500 };
            assert_true(scenario_write(s, &run, b));
            assert_true(etl_build_finish(b));
            size_t size = 0;
            const u8 *const bytes = etl_build_data(b, &size);
            etl_diag_counts diag = { 0 };
            assert_int_equal(parser_records(bytes, size, &diag), etl_build_record_count(b));
            for (int i = 0; i < ETL_DIAG_COUNT; i++) {
                if (diag.of[i] != 0)
                    fail_msg("%s: %s", s->name, etl_diag_describe((etl_diag)i)->name);
            }
            scenario_run_free(&run);
            etl_build_free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_say_when_and_who),
        cmocka_unit_test(heap_blocks_keep_their_fields),
        cmocka_unit_test(heaps_keep_their_fields),
        cmocka_unit_test(virtual_memory_keeps_its_fields),
        cmocka_unit_test(processes_keep_their_fields_in_all_versions),
        cmocka_unit_test(threads_keep_their_fields_in_all_versions),
        cmocka_unit_test(images_keep_their_fields_in_all_versions),
        cmocka_unit_test(injected_identities_keep_their_fields),
        cmocka_unit_test(the_system_keeps_its_fields),
        cmocka_unit_test(working_sets_keep_their_fields),
        cmocka_unit_test(the_parser_reads_every_scenario_without_complaint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
