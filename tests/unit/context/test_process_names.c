/*
 * Goal: a process whose record lost characters of its name is named after its file.
 * Method: pairs of a name as read and the name of a file, which must fit or not; then contexts with
 * process records in code pages, and images and command lines in UTF-16.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/context/process_names.h"
#include "tests/support/hand_result.h"
#include "module_bench.h"

#define PID  7u
#define BASE UINT64_C(0x7ff600000000)

static void names_fit_their_files(void **state)
{
    (void)state;
    static const struct {
        const char *read, *file;
        bool fits;
    } rows[] = {
        { "\xc3\x8f\xc3\xb0\xc3\xae\xc3\xa3\xc3\xa0.exe", "Прога.exe", true },
        { "\xef\xbf\xbd\xc3\xba\xef\xbf\xbd{\xef\xbf\xbd\xc3\xaa.exe", "日本語.exe", true },
        { "??.exe", "日本.exe", true },
        { "??.EXE", "日本.exe", true },
        { "my ?.exe", "my 日.exe", true },
        { "my ?.exe", "MY 日.exe", true },
        { "my ?.exe", "her 日.exe", false },
        { "??.exe", "日本.dll", false },
        { "??.exe", "日本", false },
        { "??.exe", "ab.exe", false },
        { "ab.exe", "日本.exe", false },
        { "??", "日本", true },
        { "??", "日本.exe", false },
        { "?", "日?.exe", false },
        { "a.??", "a.日本", true },
        { "??????????????", "日本日本日本日本日本日本日本.exe", true },
        { "??????????.exe", "日本日本日本日本日本.exeter", true },
        { "?????????.exe", "日本日本日本日本日.exeter", false },
        { "", "日本.exe", false },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        if (process_names_fit(rows[i].read, rows[i].file) != rows[i].fits)
            fail_msg("'%s' and '%s'", rows[i].read, rows[i].file);
    }
}

/* The text in UTF-16; characters of the Basic Multilingual Plane. */
static etl_bytes wide(const char *text, u8 *out)
{
    size_t size = 0;
    for (const u8 *at = (const u8 *)text; *at != 0;) {
        u32 unit = *at++;
        if (unit >= 0xE0) {
            unit = (unit & 0xFu) << 12 | (at[0] & 0x3Fu) << 6 | (at[1] & 0x3Fu);
            at += 2;
        } else if (unit >= 0xC0) {
            unit = (unit & 0x1Fu) << 6 | (at[0] & 0x3Fu);
            at++;
        }
        out[size++] = (u8)unit;
        out[size++] = (u8)(unit >> 8);
    }
    return (etl_bytes){ out, size };
}

static void start(module_bench *b, i64 ticks, const char *name, const char *line)
{
    u8 text[512];
    system_event row = { .ticks = ticks };
    row.event.kind = ETL_EVENT_PROCESS_START;
    row.event.as.process.process_id = PID;
    row.event.as.process.unique_process_key = (u64)ticks;
    row.event.as.process.image_file_name = (etl_bytes){ (const u8 *)name, strlen(name) };
    row.event.as.process.command_line = wide(line, text);
    assert_true(context_apply(&b->context, &row, 1));
}

static void image(module_bench *b, i64 ticks, const char *path)
{
    u8 text[512];
    system_event row = { .ticks = ticks };
    row.event.kind = ETL_EVENT_IMAGE_LOAD;
    row.event.as.image.process_id = PID;
    row.event.as.image.image_base = BASE;
    row.event.as.image.image_size_bytes = 0x1000;
    row.event.as.image.file_name = wide(path, text);
    assert_true(context_apply(&b->context, &row, 1));
}

static const char *name_of(const module_bench *b, u32 process)
{
    return etlheap_strings_get(&b->context.strings, b->context.processes.at[process - 1].name);
}

static void the_image_names_the_process(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    start(b, 100, "??.exe", "");
    image(b, 110, "\\Device\\HarddiskVolume3\\x\\日本.dll");
    image(b, 120, "\\Device\\HarddiskVolume3\\x\\日本.exe");
    start(b, 30000000, "??.exe", ""); /* the id again */
    image(b, 30000010, "C:\\x\\中国.exe");
    assert_true(process_names_repair(&b->context));
    assert_string_equal(name_of(b, 1), "日本.exe");
    assert_string_equal(name_of(b, 2), "中国.exe");
    module_bench_close(b);
}

static void the_command_line_names_the_process(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name;
    } rows[] = {
        { "\"C:\\x y\\日本.exe\" -run", "日本.exe" },
        { "C:\\x y\\日本.exe -run", "日本.exe" },
        { "日本 -run", "日本.exe" },
        { "  日本 日本.exe", "日本.exe" },
        { "\"C:\\x\\日本.exe", "日本.exe" },
        { "cmd.exe /c x", "??.exe" },
        { "", "??.exe" },
        { "\"", "??.exe" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        module_bench *const b = module_bench_open();
        start(b, 100, "??.exe", rows[i].line);
        assert_true(process_names_repair(&b->context));
        assert_string_equal(name_of(b, 1), rows[i].name);
        module_bench_close(b);
    }
}

static void a_certain_name_stays(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    start(b, 100, "app.exe", "\"C:\\x\\日本.exe\"");
    image(b, 110, "C:\\x\\日本.exe");
    assert_true(process_names_repair(&b->context));
    assert_string_equal(name_of(b, 1), "app.exe");
    module_bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_fit_their_files),
        cmocka_unit_test(the_image_names_the_process),
        cmocka_unit_test(the_command_line_names_the_process),
        cmocka_unit_test(a_certain_name_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
