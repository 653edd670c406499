/*
 * Goal: a UMDH log is read as the tool wrote it, whatever its line ends and encoding;
 * what cannot be right is an error that names the line, and nothing else is one.
 * Method: small logs written here, whole and damaged; comparisons written as text and
 * compared with what the tool prints. The real logs are compared in oracle_diff.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/io/text_buffer.h"
#include "formats/writers.h"

#define HEAD                                                                                       \
    "// \n// UMDH: version 6.1.7015.0: Logtime 2010-07-23 12:26 - Machine=BOX - PID=6424\n// \n\n" \
    "// Loaded modules: \n//     Base Size Module\n"                                               \
    "//              B30000    39000 D:\\My Code\\Debug\\App.exe\n"                                \
    "//            77610000   180000 C:\\Windows\\SysWOW64\\ntdll.dll\n//\n"                       \
    "// Process modules enumerated.\nDBGHELP: ntdll - public symbols  \n         D:\\x.pdb\n"
#define HEAP_BEGIN                                                                                 \
    "\n*- - - - - - - - - - Start of data for heap @ 3D0000 - - - - - - - - - -\n\n"               \
    "REQUESTED bytes + OVERHEAD at ADDRESS by BackTraceID\n     STACK if not already dumped.\n\n"  \
    "*- - - - - - - - - - Heap 3D0000 Hogs - - - - - - - - - -\n\n"
#define HEAP_END "\n*- - - - - - - - - - End of data for heap @ 3D0000 - - - - - - - - - -\n"
#define BLOCKS                                                                                     \
    "18 bytes + 10 at 3D07E0 by BackTrace0\n\n"                                                    \
    "21C bytes + 1C at 3D3780 by BackTraceB2\n\t77611000\n\tB31000\n\n"                            \
    "4 bytes + 1C at 3D4780 by BackTraceB2\n"                                                      \
    "ff bytes + 1 at 3D39B8 by BackTraceA1\n\tB31000\n\tDEAD0000\n"

static etl_bytes bytes_of(const char *text)
{
    return (etl_bytes){ (const u8 *)text, strlen(text) };
}

static etlheap_umdh *parse(const char *text)
{
    etlheap_umdh *log = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_umdh_parse(bytes_of(text), &log, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return log;
}

/* The error must have this status and these words. */
static void refuse(const char *text, etl_status status, const char *words)
{
    etlheap_umdh *log = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_umdh_parse(bytes_of(text), &log, &err), status);
    assert_null(log);
    if (!strstr(err.message, words))
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

/* --- what a log says ------------------------------------------------------------------ */

static void check_content(const etlheap_umdh *log)
{
    const etlheap_umdh_info *const info = etlheap_umdh_info_of(log);
    const etlheap_table *const table = etlheap_umdh_table(log);
    assert_string_equal(info->version, "6.1.7015.0");
    assert_string_equal(info->time, "2010-07-23 12:26");
    assert_string_equal(info->machine, "BOX");
    assert_string_equal(info->process, "App.exe");
    assert_int_equal(info->pid, 6424);
    assert_int_equal(info->heap_count, 1);
    assert_int_equal(info->block_count, 4);
    assert_int_equal(info->skipped_lines, 0);
    assert_int_equal(table->row_count, 3);
    assert_string_equal(table->rows[0].type_name, "BackTrace0");
    assert_int_equal(table->rows[0].stack, ETLHEAP_NO_INDEX);
    assert_string_equal(table->rows[1].type_name, "BackTraceA1");
    assert_int_equal(table->rows[1].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 0xff);
    assert_string_equal(table->rows[2].type_name, "BackTraceB2");
    assert_int_equal(table->rows[2].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 0x21c + 4);
    assert_int_equal(table->rows[2].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], 2);
    assert_int_equal(table->rows[2].measures[ETLHEAP_MEASURE_OVERHEAD_SIZE], 2 * 0x1c);
    assert_int_equal(table->totals[0].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE],
                     0x18 + 0x21c + 4 + 0xff);
}

static const etlheap_frame *frame_of(const etlheap_table *table, u32 row, u32 index)
{
    const u32 start = table->stack_starts[table->rows[row].stack];
    return &table->frames[table->frame_indices[start + index]];
}

static void blocks_are_summed_by_backtrace(void **unused)
{
    (void)unused;
    etlheap_umdh *const log = parse(HEAD HEAP_BEGIN BLOCKS HEAP_END);
    check_content(log);
    etlheap_umdh_close(log);
}

static void frames_are_module_and_offset(void **unused)
{
    (void)unused;
    etlheap_umdh *const log = parse(HEAD HEAP_BEGIN BLOCKS HEAP_END);
    const etlheap_table *const table = etlheap_umdh_table(log);
    assert_int_equal(table->stack_count, 2);
    assert_string_equal(frame_of(table, 2, 0)->module, "ntdll.dll");
    assert_int_equal(frame_of(table, 2, 0)->offset, 0x1000);
    assert_string_equal(frame_of(table, 2, 1)->module, "App.exe");
    assert_int_equal(frame_of(table, 2, 1)->offset, 0x1000);
    assert_null(frame_of(table, 1, 1)->module);
    assert_int_equal(frame_of(table, 1, 1)->address, 0xDEAD0000);
    etlheap_umdh_close(log);
}

/* PowerShell's `>` makes UTF-16 of it, and an editor CR LF. */
static void line_ends_and_utf16_make_no_difference(void **unused)
{
    (void)unused;
    const char *const text = HEAD HEAP_BEGIN BLOCKS HEAP_END;
    const size_t size = strlen(text);
    char *const dos = calloc(2 * size + 1, 1);
    u8 *const wide = calloc(2 * size + 2, 1);
    size_t dos_size = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            dos[dos_size++] = '\r';
        dos[dos_size++] = text[i];
        wide[2 * i + 2] = (u8)text[i];
    }
    wide[0] = 0xFF;
    wide[1] = 0xFE;
    etlheap_umdh *log = parse(dos);
    check_content(log);
    etlheap_umdh_close(log);
    assert_int_equal(etlheap_umdh_parse((etl_bytes){ wide, 2 * size + 2 }, &log, NULL), ETL_OK);
    check_content(log);
    etlheap_umdh_close(log);
    free(dos);
    free(wide);
}

static void a_header_without_facts_leaves_them_unknown(void **unused)
{
    (void)unused;
    etlheap_umdh *const log = parse("// UMDH: version 10\n" HEAP_BEGIN BLOCKS HEAP_END);
    const etlheap_umdh_info *const info = etlheap_umdh_info_of(log);
    assert_string_equal(info->process, "Unknown");
    assert_string_equal(info->machine, "");
    assert_int_equal(info->pid, ETL_NO_ID);
    assert_int_equal(info->block_count, 4);
    etlheap_umdh_close(log);
}

/* A script's: no first lines, and heaps that have a title alone. */
static void a_log_without_a_head_has_heaps_by_title(void **unused)
{
    (void)unused;
    etlheap_umdh *const log =
        parse("\n// Loaded modules: \n//     Base Size Module\n"
              "//   B30000    39000 D:\\App.exe\n//\n"
              "*- - - Heap 0 Hogs - - -\n\n" BLOCKS
              "\n*- - - Heap 1A Hogs - - -\n1 bytes + 0 at 0 by BackTrace1\n");
    const etlheap_umdh_info *const info = etlheap_umdh_info_of(log);
    assert_string_equal(info->process, "App.exe");
    assert_string_equal(info->version, "");
    assert_int_equal(info->heap_count, 2);
    assert_int_equal(info->block_count, 5);
    assert_int_equal(info->skipped_lines, 0);
    etlheap_umdh_close(log);
    refuse("// Loaded modules:\n1 bytes + 0 at 0 by BackTrace1\n", ETL_ERR_CORRUPT,
           "line 2: a block outside of all heaps");
    refuse("// UMDH: version 6\n*- - - Heap 0 Hogs\n1 bytes + 0 at 0 by BackTrace1\n",
           ETL_ERR_CORRUPT, "line 3: a block outside of all heaps");
}

static void a_log_without_blocks_is_one(void **unused)
{
    (void)unused;
    etlheap_umdh *const log = parse(HEAD);
    assert_int_equal(etlheap_umdh_table(log)->row_count, 0);
    etlheap_umdh_close(log);
}

static void unknown_lines_in_a_heap_are_counted(void **unused)
{
    (void)unused;
    etlheap_umdh *const log =
        parse("// UMDH: version 6\n*Start of data for heap @ 1\n1 bytes + 1 at 1 by BackTrace1\n"
              "corrupt entry\nwhatever\n*End of data for heap @ 1\ntext outside\n");
    assert_int_equal(etlheap_umdh_info_of(log)->skipped_lines, 2);
    assert_int_equal(etlheap_umdh_info_of(log)->skipped_first, 4);
    etlheap_umdh_close(log);
}

/* --- what is no log ---------------------------------------------------------------------- */

#define LOG(lines) "// UMDH: version 6\n*Start of data for heap @ 1\n" lines

static void damage_is_told_with_its_line(void **unused)
{
    (void)unused;
    refuse("", ETL_ERR_UNSUPPORTED, "not a UMDH log");
    refuse("MZ", ETL_ERR_UNSUPPORTED, "not a UMDH log");
    refuse("\xFF\xFE", ETL_ERR_UNSUPPORTED, "not a UMDH log");
    refuse(LOG("1 bytes + 1 at 1 by BackTrace1\n"), ETL_ERR_CORRUPT, "line 3: the log ends inside");
    refuse(LOG("1 bytes"), ETL_ERR_CORRUPT, "line 3: not of the form");
    refuse(LOG("1 bytes + at 1 by BackTrace1"), ETL_ERR_CORRUPT, "line 3");
    refuse(LOG("1 bytes + 1 at 1 by BackTrace"), ETL_ERR_CORRUPT, "line 3");
    refuse(LOG("1 bytes + 1 at 1 by BackTrace1 more"), ETL_ERR_CORRUPT, "line 3");
    refuse(LOG("8000000000000000 bytes + 1 at 1 by BackTrace1"), ETL_ERR_CORRUPT, "line 3");
    refuse(LOG("10000000000000000 bytes + 1 at 1 by BackTrace1"), ETL_ERR_CORRUPT,
           "line 3: a size that does not fit");
    refuse(LOG("\t77611000\n"), ETL_ERR_CORRUPT, "line 3: a frame without a block");
    refuse(LOG("1 bytes + 1 at 1 by BackTrace1\n\t77611000\n\n\t77611000\n"), ETL_ERR_CORRUPT,
           "line 6: a frame without a block");
    refuse(LOG("1 bytes + 1 at 1 by BackTrace1\n\tntdll!RtlAllocateHeap\n"), ETL_ERR_CORRUPT,
           "line 4: a frame that is not a hexadecimal address");
    refuse(LOG("*Start of data for heap @ 2\n"), ETL_ERR_CORRUPT, "line 3: a heap begins inside");
    refuse("// UMDH: version 6\n*End of data for heap @ 2\n", ETL_ERR_CORRUPT,
           "line 2: a heap ends");
    refuse("// UMDH: version 6\n1 bytes + 1 at 1 by BackTrace1\n", ETL_ERR_CORRUPT,
           "line 2: a block outside");
    refuse(LOG("00005320 bytes in 0x14 allocations (@ 0x00000428) by: BackTrace00053\n"),
           ETL_ERR_UNSUPPORTED, "older UMDH");
}

/* What is read was whole: no heap had begun, or its end is there. */
static void every_cut_ends_in_order(void **unused)
{
    (void)unused;
    const char *const text = HEAD HEAP_BEGIN BLOCKS HEAP_END;
    const size_t begin = (size_t)(strstr(text, "Start of data for heap @") - text) + 24;
    const size_t end = (size_t)(strstr(text, "End of data for heap @") - text) + 22;
    u32 read = 0;
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        etlheap_umdh *log = NULL;
        u8 *const copy = malloc(cut + 1); /* an exact end, for the sanitizer */
        memcpy(copy, text, cut);
        const etl_status status = etlheap_umdh_parse((etl_bytes){ copy, cut }, &log, NULL);
        if (status == ETL_OK)
            assert_true(cut < begin || cut >= end);
        read += status == ETL_OK;
        etlheap_umdh_close(log);
        free(copy);
    }
    assert_true(read > 100);
}

/* --- comparisons --------------------------------------------------------------------------- */

/* What `diff` writes of two logs, from the first row on. */
static void check_text(const char *base, const char *now, const char *wanted)
{
    etlheap_umdh *const logs[] = { parse(base), parse(now) };
    etlheap_diff_options options = etlheap_diff_options_default();
    etlheap_diff *diff = NULL;
    etlheap_text text = { 0 };
    capture captured;
    const etlheap_layout layout = etlheap_layout_default();
    options.by_direction = true;
    assert_true(etlheap_umdh_same_process(logs[0], logs[1]));
    assert_int_equal(etlheap_diff_tables(etlheap_umdh_table(logs[0]), etlheap_umdh_table(logs[1]),
                                         &options, &diff, NULL),
                     ETL_OK);
    const etlheap_diff_answer answer = { .diff = diff,
                                         .base = { .name = "a", .log = logs[0] },
                                         .now = { .name = "b", .log = logs[1] } };
    capture_open(&captured);
    etlheap_write_umdh_text(&answer, &layout, &text, captured.sink);
    assert_string_equal(capture_text(&captured), wanted);
    capture_close(&captured);
    etlheap_text_free(&text);
    etlheap_diff_free(diff);
    etlheap_umdh_close(logs[0]);
    etlheap_umdh_close(logs[1]);
}

static void comparisons_look_like_the_tools(void **unused)
{
    (void)unused;
    const char *const less = HEAD HEAP_BEGIN "4 bytes + 1C at 3D4780 by BackTraceB2\n\tB31000\n"
                                             "10 bytes + 8 at 3D5000 by BackTraceC3\n" HEAP_END;
    const char *const more = HEAD HEAP_BEGIN
        "4 bytes + 1C at 3D4780 by BackTraceB2\n\tB31000\n"
        "10000 bytes + 1C at 3D6000 by BackTraceB2\n"
        "12345678 bytes + 1C at 4D6000 by BackTraceA1\n\t77611000\n\tDEAD0000\n" HEAP_END;
    check_text(less, more,
               "\n+12345678 ( 12345678 -     0)      1 allocs\tBackTraceA1\n"
               "+       1 (     1 -     0)\tBackTraceA1\tallocations\n\n"
               "\tntdll.dll+0x1000\n\t0xdead0000\n"
               "\n+   10000 ( 10004 -     4)      2 allocs\tBackTraceB2\n"
               "+       1 (     2 -     1)\tBackTraceB2\tallocations\n\n\tApp.exe+0x1000\n"
               "\n-      10 (     0 -    10)      0 allocs\tBackTraceC3\n"
               "-       1 (     0 -     1)\tBackTraceC3\tallocations\n\n"
               "\n\nTotal increase == 12355668 requested +     30 overhead = 12355698\n");
}

static void no_change_is_a_decrease_of_nothing(void **unused)
{
    (void)unused;
    const char *const log = HEAD HEAP_BEGIN BLOCKS HEAP_END;
    check_text(log, log, "\n\nTotal decrease ==      0 requested +      0 overhead =      0\n");
}

/* One block more of fewer bytes: overhead goes the other way. */
static void parts_of_the_total_have_their_own_sign(void **unused)
{
    (void)unused;
    check_text(HEAD HEAP_BEGIN "100 bytes + 8 at 1 by BackTrace1\n" HEAP_END,
               HEAD HEAP_BEGIN "10 bytes + 8 at 1 by BackTrace1\n"
                               "10 bytes + 8 at 2 by BackTrace1\n" HEAP_END,
               "\n-      e0 (    20 -   100)      2 allocs\tBackTrace1\n"
               "+       1 (     2 -     1)\tBackTrace1\tallocations\n\n"
               "\n\nTotal decrease ==     e0 requested + -     8 overhead =     d8\n");
}

/* Its modules are elsewhere and its ids are others; stacks are what is left. */
static void logs_of_two_processes_are_compared_by_stacks(void **unused)
{
    (void)unused;
    etlheap_umdh *const a = parse(HEAD HEAP_BEGIN BLOCKS HEAP_END);
    etlheap_umdh *const b =
        parse("// UMDH: version 6.1.7015.0: Logtime x - Machine=BOX - PID=1\n// Loaded modules:\n"
              "//  40000 9000 D:\\APP.EXE\n//  90000 9000 C:\\ntdll.dll\n//\n" HEAP_BEGIN
              "21C bytes + 1C at 3D3780 by BackTraceF0\n\t91000\n\t41000\n"
              "4 bytes + 1C at 3D3780 by BackTraceF0\n" HEAP_END);
    assert_false(etlheap_umdh_same_process(a, b));
    etlheap_table base = *etlheap_umdh_table(a), now = *etlheap_umdh_table(b);
    base.group_by_count--;
    now.group_by_count--;
    etlheap_diff *diff = NULL;
    assert_int_equal(etlheap_diff_tables(&base, &now, NULL, &diff, NULL), ETL_OK);
    assert_int_equal(diff->unchanged_count, 1);
    assert_int_equal(diff->table.row_count, 2);
    assert_int_equal(diff->changes[0].state, ETLHEAP_DIFF_REMOVED);
    assert_int_equal(diff->changes[1].state, ETLHEAP_DIFF_REMOVED);
    etlheap_diff_free(diff);
    etlheap_umdh_close(a);
    etlheap_umdh_close(b);
}

/* --- results and comparisons ---------------------------------------------------------- */

/* What the blocks say is asked as of a trace; they have neither times nor threads. */
static void a_log_is_a_result_without_times(void **state)
{
    (void)state;
    etlheap_umdh *const log = parse(HEAD HEAP_BEGIN BLOCKS HEAP_END);
    etlheap_result *result = NULL;
    assert_int_equal(etlheap_umdh_result(log, "a.txt", &result, NULL), ETL_OK);
    etlheap_umdh_close(log);
    const etlheap_trace_info *const info = etlheap_result_trace(result);
    assert_string_equal(info->files[0], "a.txt");
    assert_string_equal(info->session, "UMDH 6.1.7015.0");
    assert_string_equal(info->computer, "BOX");
    assert_int_equal(info->pointer_bits, 32);
    assert_true(info->start_time_filetime == INT64_C(129243615600000000)); /* 2010-07-23 12:26 */
    const etlheap_query query = etlheap_query_default();
    const etlheap_lifetimes_options by_address = { .size = sizeof by_address,
                                                   .sort = ETLHEAP_LIFETIME_ADDRESS };
    static const u64 wanted[][2] = {
        { 0x3D07E0, 0x18 }, { 0x3D3780, 0x21C }, { 0x3D39B8, 0xff }, { 0x3D4780, 4 }
    };
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime row;
    assert_int_equal(etlheap_lifetimes_open(result, &query, &by_address, &walk, NULL), ETL_OK);
    for (size_t i = 0; i < ETL_COUNT_OF(wanted); i++) {
        assert_true(etlheap_lifetimes_next(walk, &row));
        assert_true(row.address == wanted[i][0] && row.size_bytes == wanted[i][1]);
        assert_true(row.heap_handle == 0x3D0000 && row.type == ETLHEAP_TYPE_AOFO);
        assert_true(row.thread == ETL_NO_ID && row.alloc_ns == INT64_MIN);
    }
    assert_false(etlheap_lifetimes_next(walk, &row));
    etlheap_lifetimes_close(walk);
    etlheap_result_free(result);
}

static void lines_that_are_skipped_are_damage_of_the_result(void **state)
{
    (void)state;
    etlheap_umdh *const log = parse(HEAD HEAP_BEGIN BLOCKS "what is this\nand this\n" HEAP_END);
    etlheap_result *result = NULL;
    assert_int_equal(etlheap_umdh_result(log, "a.txt", &result, NULL), ETL_OK);
    assert_int_equal(etlheap_result_diagnostics(result)->of[ETL_DIAG_snapshot_lines_skipped], 2);
    etlheap_result_free(result);
    etlheap_umdh_close(log);
}

#define COMPARISON                                                                                 \
    "DBGHELP: App - private symbols & lines\r\n         C:\\App.pdb\r\n"                           \
    "// + BYTES_DELTA (NEW_BYTES - OLD_BYTES) NEW_COUNT allocs BackTrace TRACEID\r\n\r\n"          \
    "+      20 (    30 -    10)      3 allocs\tBackTraceB2\r\n"                                    \
    "+       2 (     3 -     1)\tBackTraceB2\tallocations\r\n\r\n"                                 \
    "\tntdll!RtlAllocateHeap+00000274\r\n"                                                         \
    "\tApp!operator new<a,b>+0000001F (c:\\my src\\a (1).cpp, "                                    \
    "239)\r\n\tApp+1000\r\n\t12345\r\n\r\n"                                                        \
    "-       8 (     0 -     8)      0 allocs\tBackTraceA1\r\n"                                    \
    "-       1 (     0 -     1)\tBackTraceA1\tallocations\r\n\r\n"                                 \
    "\tntdll!RtlAllocateHeap+00000274\r\n\r\n"                                                     \
    "Total increase ==     18 requested + -     2 overhead =     16\r\n"

static void a_comparison_is_read_as_both_logs(void **state)
{
    (void)state;
    etlheap_umdh *base = NULL, *now = NULL;
    assert_int_equal(etlheap_umdh_parse_comparison(bytes_of(COMPARISON), &base, &now, NULL),
                     ETL_OK);
    const etlheap_table *const before = etlheap_umdh_table(base);
    const etlheap_table *const after = etlheap_umdh_table(now);
    assert_int_equal(before->row_count, 2);
    assert_int_equal(after->row_count, 1); /* the second has nothing of the other backtrace */
    const etlheap_row *const row = &after->rows[0];
    assert_string_equal(row->process, "App");
    assert_string_equal(row->type_name, "BackTraceB2");
    assert_int_equal(row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 0x30);
    assert_int_equal(row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], 3);
    assert_int_equal(before->rows[0].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 0x10);
    assert_int_equal(before->rows[1].measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], 8);
    assert_int_equal(after->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OVERHEAD_SIZE], -2);
    const etlheap_indices stack = etlheap_row_frames(after, row);
    assert_int_equal(stack.count, 4);
    const etlheap_frame *const call = &after->frames[stack.at[1]];
    assert_string_equal(call->module, "App");
    assert_string_equal(call->symbol, "operator new<a,b>");
    assert_string_equal(call->file, "c:\\my src\\a (1).cpp");
    assert_int_equal(call->line, 239);
    const etlheap_frame *const unnamed = &after->frames[stack.at[2]];
    assert_null(unnamed->symbol);
    assert_int_equal(unnamed->offset, 0x1000);
    assert_string_equal(after->frames[stack.at[3]].symbol, "12345");
    etlheap_umdh_close(base);
    etlheap_umdh_close(now);
}

static void a_comparison_that_cannot_be_right_is_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "+ 75 ( 150 - 75) 3 allocs\tBackTrace1\n", "line 1: take the comparison without -d" },
        { "\n+ 1 ( 2 - 1) 3 allocs\tBackTrace1\n", "line 2: not the bytes" },
        { "+ 1 ( 2 - 1) 3 allocs\tBackTrace1\n+ 1 ( 2 - 1)\tBackTrace1\tallocations\n",
          "line 2: not the bytes" },
        { "+ 1 ( 2 - 1) 3\n", "line 1: not the bytes" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_umdh *base = NULL, *now = NULL;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(etlheap_umdh_parse_comparison(bytes_of(rows[i].text), &base, &now, &err),
                         ETL_ERR_CORRUPT);
        assert_null(base);
        assert_null(now);
        if (!strstr(err.message, rows[i].words))
            fail_msg("\"%s\" does not say \"%s\"", err.message, rows[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_are_skipped_are_damage_of_the_result),
        cmocka_unit_test(a_log_is_a_result_without_times),
        cmocka_unit_test(a_comparison_is_read_as_both_logs),
        cmocka_unit_test(a_comparison_that_cannot_be_right_is_refused),
        cmocka_unit_test(blocks_are_summed_by_backtrace),
        cmocka_unit_test(frames_are_module_and_offset),
        cmocka_unit_test(line_ends_and_utf16_make_no_difference),
        cmocka_unit_test(a_header_without_facts_leaves_them_unknown),
        cmocka_unit_test(a_log_without_a_head_has_heaps_by_title),
        cmocka_unit_test(a_log_without_blocks_is_one),
        cmocka_unit_test(unknown_lines_in_a_heap_are_counted),
        cmocka_unit_test(damage_is_told_with_its_line),
        cmocka_unit_test(every_cut_ends_in_order),
        cmocka_unit_test(comparisons_look_like_the_tools),
        cmocka_unit_test(no_change_is_a_decrease_of_nothing),
        cmocka_unit_test(parts_of_the_total_have_their_own_sign),
        cmocka_unit_test(logs_of_two_processes_are_compared_by_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
