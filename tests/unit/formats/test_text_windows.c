/*
 * Goal: time windows as text say what happened in each, group by group, and fit the
 * line.
 * Method: windows made by hand (hand_windows.h); what is written is compared byte by
 * byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/parts/display.h"
#include "formats/writers.h"
#include "hand_windows.h"

static const char *text_of(const hand_windows *w, capture *out)
{
    capture_open(out);
    assert_int_equal(etlheap_write_windows_text(w->result, &w->answer, &w->layout, out->sink),
                     ETL_OK);
    return capture_text(out);
}

static void expect_text(const hand_windows *w, const char *wanted)
{
    capture out;
    const char *const text = strchr(text_of(w, &out), '\n'); /* behind the head's first line */
    assert_non_null(text);
    const char *const body = strstr(text, "\n\n");
    assert_non_null(body);
    assert_string_equal(body + 2, wanted);
    capture_close(&out);
}

static void text_has_a_block_for_each_group(void **state)
{
    hand_windows *const w = *state;
    hand_windows_every(w, HAND_MS_NS);
    expect_text(w, "virtualalloc / app.exe (10)\n"
                   "Outstanding   ▁▁████ 1.00 MiB at the end\n"
                   "Peak          ▁▁████ 1.00 MiB in 2..3 ms\n"
                   "\n"
                   "             Outstanding   Size  Impacting   AIFO   AIFO   AIFI  AIFI   AOFI  "
                   "AOFI   AOFO   AOFO\n"
                   "Window (ms)         Size   Peak       Size  Count   Size  Count  Size  Count  "
                   "Size  Count   Size\n"
                   "0..2                   -      -          -      -      -      -     -      -   "
                   "  -      -      -\n"
                   "2..3               1.00M  1.00M      1.00M      1  1.00M      -     -      -   "
                   "  -      -      -\n"
                   "3..end             1.00M  1.00M          -      -      -      -     -      -   "
                   "  -      1  1.00M\n"
                   "\n"
                   "heap / app.exe (10)\n"
                   "Outstanding   ▁█▇▇▇▇ 4.00 KiB at the end\n"
                   "Peak          ▁███▇▇ 4.98 KiB in 1..2 ms\n"
                   "\n"
                   "             Outstanding   Size  Impacting   AIFO   AIFO   AIFI  AIFI   AOFI  "
                   "AOFI   AOFO   AOFO\n"
                   "Window (ms)         Size   Peak       Size  Count   Size  Count  Size  Count  "
                   "Size  Count   Size\n"
                   "0..1                   -      -          -      -      -      -     -      -   "
                   "  -      -      -\n"
                   "1..2               4.98K  4.98K      4.98K      2  4.98K      -     -      -   "
                   "  -      -      -\n"
                   "2..3               4.00K  4.98K      -1000      -      -      -     -      1  "
                   "1000      1  4.00K\n"
                   "3..4               4.00K  4.49K          -      -      -      1   500      -   "
                   "  -      1  4.00K\n"
                   "4..end             4.00K  4.00K          -      -      -      -     -      -   "
                   "  -      1  4.00K\n"
                   "\n"
                   "heap / quiet.exe (20)\n"
                   "Outstanding   ██████ 100 B at the end\n"
                   "Peak          ██████ 100 B in 0..1 ms\n"
                   "\n"
                   "             Outstanding  Size  Impacting   AIFO  AIFO   AIFI  AIFI   AOFI  "
                   "AOFI   AOFO  AOFO\n"
                   "Window (ms)         Size  Peak       Size  Count  Size  Count  Size  Count  "
                   "Size  Count  Size\n"
                   "0..end               100   100          -      -     -      -     -      -     "
                   "-      1   100\n");
}

/* The windows are 3 ms long; nothing is allocated or freed in the rest. */
static void a_quiet_rest_is_part_of_the_last_line(void **state)
{
    hand_windows *const w = *state;
    const i64 end_ns = etlheap_result_trace(w->result)->end_ns;
    capture out;
    w->query.kinds = 1u << ETLHEAP_KIND_HEAP;
    hand_windows_every(w, (end_ns - 10000) / 2);
    assert_int_equal(w->windows->window_count, 3);
    const char *const text = text_of(w, &out);
    const char *const line = strstr(text, "..end  ");
    assert_non_null(line);
    assert_non_null(strstr(line, "..end          4.00K  4.49K"));
    assert_null(strstr(line, "..end          4.00K  4.00K"));
    capture_close(&out);
}

static void groups_beyond_the_rows_are_counted(void **state)
{
    hand_windows *const w = *state;
    hand_windows_every(w, 3 * HAND_MS_NS);
    w->layout.rows_max = 1;
    w->layout.rows_of_each_kind = false;
    expect_text(w,
                "virtualalloc / app.exe (10)\n"
                "Outstanding   1.00 MiB at the end\n"
                "Peak          1.00 MiB in 0..3 ms\n"
                "\n"
                "             Outstanding   Size  Impacting   AIFO   AIFO   AIFI  AIFI   AOFI  "
                "AOFI   AOFO   AOFO\n"
                "Window (ms)         Size   Peak       Size  Count   Size  Count  Size  Count  "
                "Size  Count   Size\n"
                "0..3               1.00M  1.00M      1.00M      1  1.00M      -     -      -   "
                "  -      -      -\n"
                "3..end             1.00M  1.00M          -      -      -      -     -      -   "
                "  -      1  1.00M\n"
                "\n"
                "2 more groups of heap with 4.10 KiB outstanding: only the first one is listed\n");
}

static void a_group_may_be_a_stack_and_its_frames(void **state)
{
    hand_windows *const w = *state;
    w->query.kinds = 1u << ETLHEAP_KIND_HEAP;
    w->query.group_by[0] = ETLHEAP_KEY_STACK;
    w->query.group_by_count = 1;
    w->layout.rows_max = 2;
    hand_windows_every(w, 6 * HAND_MS_NS);
    expect_text(w, "0x1010\n"
                   "  0x3030\n"
                   "Outstanding   4.00 KiB at the end\n"
                   "Peak          4.00 KiB in 0..end ms\n"
                   "\n"
                   "             Outstanding   Size  Impacting   AIFO   AIFO   AIFI  AIFI   AOFI  "
                   "AOFI   AOFO  AOFO\n"
                   "Window (ms)         Size   Peak       Size  Count   Size  Count  Size  Count  "
                   "Size  Count  Size\n"
                   "0..end             4.00K  4.00K      4.00K      1  4.00K      -     -      -   "
                   "  -      -     -\n"
                   "\n"
                   "[no stack recorded]\n"
                   "Outstanding   100 B at the end\n"
                   "Peak          100 B in 0..end ms\n"
                   "\n"
                   "             Outstanding  Size  Impacting   AIFO  AIFO   AIFI  AIFI   AOFI  "
                   "AOFI   AOFO  AOFO\n"
                   "Window (ms)         Size  Peak       Size  Count  Size  Count  Size  Count  "
                   "Size  Count  Size\n"
                   "0..end               100   100          -      -     -      -     -      -     "
                   "-      1   100\n"
                   "\n"
                   "1 group of heap has nothing outstanding and is not listed\n");
}

static void curves_are_ascii_where_they_must(void **state)
{
    hand_windows *const w = *state;
    capture out;
    hand_windows_every(w, HAND_MS_NS);
    w->layout.ascii = true;
    assert_non_null(strstr(text_of(w, &out), "Outstanding   _#**** 4.00 KiB at the end\n"
                                             "Peak          _###** 4.98 KiB in 1..2 ms\n"));
    capture_close(&out);
}

static void overlapping_windows_are_each_on_a_line(void **state)
{
    static const etlheap_time_range ranges[] = { { 3 * HAND_MS_NS, 4 * HAND_MS_NS },
                                                 { 2 * HAND_MS_NS, 5 * HAND_MS_NS },
                                                 { 4 * HAND_MS_NS, 4 * HAND_MS_NS } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = ETL_COUNT_OF(ranges) };
    hand_windows *const w = *state;
    w->query.kinds = 1u << ETLHEAP_KIND_HEAP;
    w->layout.rows_max = 1;
    hand_windows_make(w, &options);
    expect_text(w, "heap / app.exe (10)\n"
                   "Outstanding   ▇▇▇ 4.00 KiB at the end\n"
                   "Peak          ██▇ 4.98 KiB in 2..5 ms\n"
                   "\n"
                   "             Outstanding   Size  Impacting   AIFO  AIFO   AIFI  AIFI   AOFI  "
                   "AOFI   AOFO   AOFO\n"
                   "Window (ms)         Size   Peak       Size  Count  Size  Count  Size  Count  "
                   "Size  Count   Size\n"
                   "3..4               4.00K  4.49K          -      -     -      1   500      -    "
                   " -      1  4.00K\n"
                   "2..5               4.00K  4.98K      -1000      -     -      1   500      1  "
                   "1000      1  4.00K\n"
                   "4..4               4.00K  4.00K          -      -     -      -     -      -    "
                   " -      1  4.00K\n"
                   "\n"
                   "1 more group of heap with 100 B outstanding: only the first one of each kind "
                   "is listed\n");
}

static void lines_never_exceed_the_width(void **state)
{
    hand_windows *const w = *state;
    hand_windows_every(w, HAND_MS_NS / 10);
    for (w->layout.width = 60; w->layout.width < 140; w->layout.width++) {
        capture out;
        const char *line = text_of(w, &out);
        for (; *line != '\0'; line += strcspn(line, "\n") + 1)
            assert_true(etlheap_display_width(line, strcspn(line, "\n")) <= w->layout.width);
        capture_close(&out);
    }
}

static void no_match_is_told_in_a_sentence(void **state)
{
    static const char *const processes[] = { "nobody.exe" };
    hand_windows *const w = *state;
    w->query.processes = processes;
    w->query.process_count = 1;
    hand_windows_every(w, HAND_MS_NS);
    expect_text(w, "Nothing matches the windows and the filters.\n");
}

static void a_growth_is_explained_by_its_stacks(void **state)
{
    hand_windows *const w = *state;
    hand_windows_growth(w);
    expect_text(w, "virtualalloc / app.exe (10)\n"
                   "Outstanding   ▁▁▁▁▁▁▁▁▁▁████████████████████ 1.00 MiB at the end\n"
                   "Peak          ▁▁▁▁▁▁▁▁▁▁████████████████████ 1.00 MiB in 2.0..2.2 ms\n"
                   "Lasting rise  the largest: from 0 B to 1.00 MiB between 0.002 s and "
                   "0.002200 s\n"
                   "Steepest rise 4.88 GiB/s: 1.00 MiB between 0.002 s and 0.002200 s\n"
                   "\n"
                   "          Impacting           Outstanding  Outstanding\n"
                   "Stack          Size    Share         Size        Count\n"
                   "0x1010     1.00 MiB  100.0 %     1.00 MiB            1\n"
                   "  0x3030\n");
}

static void nothing_rises_is_an_answer(void **state)
{
    hand_windows *const w = *state;
    hand_windows_every(w, HAND_MS_NS);
    w->answer.growth_wanted = true;
    expect_text(w, "No lasting growth found.\n");
}

static void text_shows_what_the_system_sampled(void **state)
{
    hand_windows *const w = *state;
    w->query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    hand_windows_every(w, 2 * HAND_MS_NS);
    hand_windows_memory(w);
    expect_text(w, "Memory as the system sampled it\n"
                   "Commit        ▁█▁ 8.00 MiB at last\n"
                   "Available     ▁█▅ 2.00 MiB at last\n"
                   "\n"
                   "                Working\n"
                   "Process             Set   Largest    Commit   Largest  Working Set\n"
                   "gone.exe (30)  8.79 KiB  8.79 KiB                      █▁▁\n"
                   "app.exe (10)     1000 B  1.95 KiB  5.86 KiB  5.86 KiB  ▁█▅\n"
                   "\n"
                   "Nothing matches the windows and the filters.\n");
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, hand_windows_set_up, hand_windows_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_has_a_block_for_each_group),     TEST(a_quiet_rest_is_part_of_the_last_line),
        TEST(groups_beyond_the_rows_are_counted),  TEST(a_group_may_be_a_stack_and_its_frames),
        TEST(curves_are_ascii_where_they_must),    TEST(overlapping_windows_are_each_on_a_line),
        TEST(lines_never_exceed_the_width),        TEST(no_match_is_told_in_a_sentence),
        TEST(a_growth_is_explained_by_its_stacks), TEST(nothing_rises_is_an_answer),
        TEST(text_shows_what_the_system_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
