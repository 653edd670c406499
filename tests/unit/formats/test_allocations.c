/*
 * Goal: lists of lifetimes say the same in each format, to the byte: what is not
 * known is told from 0, names cannot break a line, a cell or a terminal, and the
 * document has its keys in their order.
 * Method: a result made by hand with awkward names and unknown values; what writers
 * put out against what it must be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/parts/display.h"
#include "formats/writers.h"
#include "tests/support/hand_result.h"

typedef struct bench {
    etlheap_result *result;
    etlheap_lifetimes *walk;
    etlheap_query query;
    capture captured;
} bench;

/* A block of known ends with a stack, one that stays and has none, and a range from
 * before the trace. */
static int open_bench(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    if (b == NULL)
        return 1;
    b->result = hand_result_new();
    const u32 app = hand_process(b->result, 42, "a,\"b\".exe");
    const u32 evil = hand_process(b->result, 43, "\x1b[2Jbad\n.exe");
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_LOAD,
                                    .pid = 42,
                                    .base = 0x400000,
                                    .size_bytes = 0x10000,
                                    .ticks = HAND_START_TICKS - 1,
                                    .path = "\\Device\\HarddiskVolume3\\a b.exe" };
    hand_image(&b->result->context, &image);
    const u32 stack = hand_stack(b->result, (const u64[]){ 0x401234, 0xdeadbeef }, 2);
    const lifetime rows[] = {
        { .alloc_ticks = HAND_START_TICKS + 20,
          .free_ticks = ETLHEAP_TICKS_NEVER,
          .address = 0x2000,
          .size = 0,
          .heap = 0x1f0000,
          .process = evil,
          .thread = ETL_NO_ID,
          .kind = ETLHEAP_KIND_HEAP },
        { .alloc_ticks = HAND_START_TICKS + 10,
          .free_ticks = HAND_START_TICKS + 30,
          .address = 0x1000,
          .size = 24,
          .heap = 0x1f0000,
          .process = app,
          .stack = stack,
          .thread = 7,
          .kind = ETLHEAP_KIND_HEAP,
          .free_type = ETLHEAP_FREE_FREE,
          .is_realloc = true },
        { .alloc_ticks = ETLHEAP_TICKS_BEFORE,
          .free_ticks = HAND_START_TICKS + 30,
          .address = 0x7fff0000,
          .size = 4096,
          .process = app,
          .thread = ETL_NO_ID,
          .kind = ETLHEAP_KIND_VIRTUALALLOC,
          .free_type = ETLHEAP_FREE_PROCESS_EXIT },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        hand_lifetime(b->result, &rows[i]);
    hand_ready(b->result, HAND_START_TICKS + 40);
    b->query = etlheap_query_default();
    capture_open(&b->captured);
    *state = b;
    return 0;
}

static int close_bench(void **state)
{
    bench *const b = *state;
    etlheap_lifetimes_close(b->walk);
    capture_close(&b->captured);
    etlheap_result_free(b->result);
    free(b);
    return 0;
}

static const char *write_with(bench *b, const char *format, const etlheap_layout *layout)
{
    assert_int_equal(etlheap_lifetimes_open(b->result, &b->query, NULL, &b->walk, NULL), ETL_OK);
    assert_int_equal(
        etlheap_format_named(format)->write_allocations(b->walk, layout, b->captured.sink), ETL_OK);
    return capture_text(&b->captured);
}

/* As into a file. */
static const char *write_as(bench *b, const char *format, u32 frames_max)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.frames_max = frames_max;
    layout.whole = true;
    return write_with(b, format, &layout);
}

static void csv_quotes_names_and_leaves_the_unknown_empty(void **state)
{
    assert_string_equal(
        write_as(*state, "csv", 4),
        "kind,process,pid,heap,type,impacting_type,free_type,is_realloc,address,size,"
        "alloc_time_ns,free_time_ns,lifetime_ns,thread,stack,free_thread,free_stack\n"
        "virtualalloc,\"a,\"\"b\"\".exe\",42,,AOFO,Persistent,process-exit,0,0x7fff0000,4096,,,,,,,"
        "\n"
        "heap,\"a,\"\"b\"\".exe\",42,0x1f0000,AIFI,Transient,free,1,0x1000,24,1000,3000,2000,7,"
        "a b.exe+0x1234 < 0xdeadbeef,,\n"
        "heap,\"\x1b[2Jbad\n.exe\",43,0x1f0000,AIFO,Impacting,none,0,0x2000,0,2000,,,,,,\n");
}

#define NO_FREE "\"free_thread\": null, \"free_stack\": null"
#define NO_SITE "\"module\": null, \"function\": null, \"file\": null, \"line\": null, " NO_FREE

static void a_line_of_ndjson_needs_nothing_else(void **state)
{
    bench *const b = *state;
    b->query.at_exit_freed = true;
    assert_string_equal(
        write_as(b, "ndjson", 4),
        "{\"kind\": \"virtualalloc\", \"process\": \"a,\\\"b\\\".exe\", \"pid\": 42, \"heap\": "
        "null, "
        "\"type\": \"AOFI\", \"impacting_type\": \"Impacting\", \"free_type\": \"process-exit\", "
        "\"is_realloc\": false, \"address\": \"0x7fff0000\", \"size\": 4096, "
        "\"alloc_time_ns\": null, \"free_time_ns\": 3000, \"lifetime_ns\": null, "
        "\"thread\": null, \"stack\": null, " NO_SITE "}\n"
        "{\"kind\": \"heap\", \"process\": \"a,\\\"b\\\".exe\", \"pid\": 42, \"heap\": "
        "\"0x1f0000\", "
        "\"type\": \"AIFI\", \"impacting_type\": \"Transient\", \"free_type\": \"free\", "
        "\"is_realloc\": true, \"address\": \"0x1000\", \"size\": 24, "
        "\"alloc_time_ns\": 1000, \"free_time_ns\": 3000, \"lifetime_ns\": 2000, "
        "\"thread\": 7, \"stack\": [\"a b.exe+0x1234\", \"0xdeadbeef\"], "
        "\"module\": \"a b.exe\", \"function\": null, \"file\": null, \"line\": null, " NO_FREE
        "}\n"
        "{\"kind\": \"heap\", \"process\": \"\\u001b[2Jbad\\n.exe\", \"pid\": 43, "
        "\"heap\": \"0x1f0000\", \"type\": \"AIFO\", \"impacting_type\": \"Impacting\", "
        "\"free_type\": \"none\", \"is_realloc\": false, \"address\": \"0x2000\", \"size\": 0, "
        "\"alloc_time_ns\": 2000, \"free_time_ns\": null, \"lifetime_ns\": null, "
        "\"thread\": null, \"stack\": null, " NO_SITE "}\n");
}

static void the_document_lists_rows_then_frames_then_stacks(void **state)
{
    const char *const text = write_as(*state, "json", 4);
    static const char *const parts[] = {
        "{\n  \"schema\": \"etlheap-allocations-1\",\n  \"trace\": {",
        ("\"window\": {\n    \"from_ns\": 0,\n    \"to_ns\": 4100\n  },\n  \"rows\": [\n    "
         "{\"kind\": "),
        "\"thread\": null, \"stack\": null, " NO_FREE "},\n",
        "\"thread\": 7, \"stack\": 0, " NO_FREE "},\n",
        "\"thread\": null, \"stack\": null, " NO_FREE "}\n  ],\n  \"frames\": [\n",
        "{\"module\": \"a b.exe\", \"offset\": \"0x1234\", \"address\": \"0x401234\", ",
        "{\"module\": null, \"offset\": null, \"address\": \"0xdeadbeef\", ",
        "  \"stacks\": [\n    [0, 1]\n  ],\n  \"diagnostics\": [",
    };
    const char *at = text;
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++) {
        const char *const found = strstr(at, parts[i]);
        if (found == NULL)
            fail_msg("no %s behind %.100s in %s", parts[i], at, text);
        at = found + strlen(parts[i]);
    }
}

/* Single spaces make it independent of how wide columns are. */
static char *squeezed(const char *text)
{
    char *const out = calloc(strlen(text) + 1, 1);
    size_t size = 0;
    assert_non_null(out);
    for (; *text != '\0'; text++) {
        if (*text != ' ' || (size > 0 && out[size - 1] != ' ' && out[size - 1] != '\n'))
            out[size++] = *text;
    }
    return out;
}

static void text_has_a_line_each_that_a_terminal_can_take(void **state)
{
    char *const text = squeezed(write_as(*state, "text", 0));
    assert_string_equal(
        text, "Address Size Kind Handle Type Alloc Time (s) Free Time (s) Lifetime (s) Free Type "
              "Is Realloc Thread Process Site\n"
              "0x7fff0000 4096 virtualalloc - AOFO - - - process-exit - - a,\"b\".exe (42) -\n"
              "0x1000 24 heap 0x1f0000 AIFI 0.000001000 0.000003000 0.000002000 free yes 7 "
              "a,\"b\".exe (42) a b.exe+0x1234\n"
              "0x2000 0 heap 0x1f0000 AIFO 0.000002000 - - none - - "
              "\xef\xbf\xbd[2Jbad\xef\xbf\xbd.exe (43) -\n");
    free(text);
}

/* Numbers stay whole: columns are left out, and the process and the site are cut. */
static void a_terminal_has_the_columns_that_fit(void **state)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.width = 60;
    layout.frames_max = 0;
    assert_string_equal(
        write_with(*state, "text", &layout),
        "         Address        Size  Process         Site\n"
        "      0x7fff0000        4096  a,\"b\".exe (42)  -\n"
        "          0x1000          24  a,\"b\".exe (42)  a b.exe+0x1234\n"
        "          0x2000           0  \xef\xbf\xbd[2Jbad\xef\xbf\xbd\xe2\x80\xa6 (43)  -\n"
        "\n"
        "Columns that do not fit: Kind, Handle, Type, Alloc Time (s),\n"
        "Free Time (s), Lifetime (s), Free Type, Is Realloc, Thread\n");
}

static void a_stack_is_below_the_line_of_its_block(void **state)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.width = 80;
    layout.frames_max = 1;
    assert_string_equal(
        write_with(*state, "text", &layout),
        "         Address        Size  Type  Alloc Time (s)  Process\n"
        "      0x7fff0000        4096  AOFO               -  a,\"b\".exe (42)\n"
        "          0x1000          24  AIFI     0.000001000  a,\"b\".exe (42)\n"
        "    a b.exe+0x1234\n"
        "    (1 more)\n"
        "          0x2000           0  AIFO     0.000002000  \xef\xbf\xbd[2Jbad\xef\xbf\xbd.exe "
        "(43)\n"
        "\n"
        "Columns that do not fit: Kind, Handle, Free Time (s), Lifetime (s), Free Type,\n"
        "Is Realloc, Thread\n");
}

static void lines_of_a_list_keep_to_the_width(void **state)
{
    bench *const b = *state;
    for (u32 width = 60; width < 220; width += 7) {
        etlheap_layout layout = etlheap_layout_default();
        capture out;
        layout.width = width;
        layout.frames_max = width % 2 == 0 ? 0 : 4;
        capture_open(&out);
        etlheap_lifetimes *walk = NULL;
        assert_int_equal(etlheap_lifetimes_open(b->result, &b->query, NULL, &walk, NULL), ETL_OK);
        assert_int_equal(etlheap_format_named("text")->write_allocations(walk, &layout, out.sink),
                         ETL_OK);
        etlheap_lifetimes_close(walk);
        const char *const text = capture_text(&out);
        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
            assert_true(etlheap_display_width(line, strcspn(line, "\n")) <= width);
        const u32 whole = layout.frames_max == 0 ? 196 : 172;
        assert_true((strstr(text, "do not fit") != NULL) == (width < whole));
        capture_close(&out);
    }
}

static void without_frames_a_line_has_the_site_alone(void **state)
{
    const char *const text = write_as(*state, "text", 0);
    assert_non_null(strstr(text, "a b.exe+0x1234\n"));
    assert_null(strstr(text, "0xdeadbeef"));
    assert_null(strstr(text, "more"));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        RULE(csv_quotes_names_and_leaves_the_unknown_empty),
        RULE(a_line_of_ndjson_needs_nothing_else),
        RULE(the_document_lists_rows_then_frames_then_stacks),
        RULE(text_has_a_line_each_that_a_terminal_can_take),
        RULE(a_terminal_has_the_columns_that_fit),
        RULE(lines_of_a_list_keep_to_the_width),
        RULE(a_stack_is_below_the_line_of_its_block),
        RULE(without_frames_a_line_has_the_site_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
