/*
 * Goal: an HTML report stays one harmless file of bounded size whatever is in a trace,
 * and the numbers packed into it are true.
 * Method: results and tables made by hand. Packed numbers are compared with what the
 * definition in export_html_code.h gives on paper; pages are searched for what must
 * not be in them; rows of a large page are added up by a reader written here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "formats/export/export_html_blocks.h"
#include "formats/export/export_html_code.h"
#include "formats/export/export_writers.h"
#include "formats/io/units.h"
#include "tests/support/hand_result.h"
#include "hand_windows.h"
#include "page_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_BYTES_MAX 2000000
#define MANY_STACKS    12000u
#define MANY_DEPTH     24u

/* --- packed numbers -------------------------------------------------------------- */

static void numbers_are_digits_of_five_bits(void **state)
{
    static const struct {
        u64 value;
        const char *text;
    } cases[] = {
        { 0, "A" },     { 1, "B" },     { 31, "f" },     { 32, "gB" },
        { 1000, "of" }, { 1023, "/f" }, { 1024, "ggB" }, { UINT64_MAX, "////////////P" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        etlheap_text text = { 0 };
        html_code_add(&text, cases[i].value);
        assert_string_equal(etlheap_text_of(&text), cases[i].text);
        etlheap_text_free(&text);
    }
}

static void sums_that_went_below_zero_count_as_zero(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    html_code_add_signed(&text, INT64_MIN);
    html_code_add_signed(&text, -1);
    html_code_add_signed(&text, 5);
    assert_string_equal(etlheap_text_of(&text), "AAF");
    etlheap_text_free(&text);
}

/* The windows of hand_windows.h, 1 ms each: app.exe allocates 1 x 4096 + 1 x 1000 in the
 * second, frees 1000 in the third and has 500 for a while in the fourth. */
static void cells_tell_what_each_window_does(void **state)
{
    hand_windows *const w = *state;
    etlheap_text text = { 0 }, wanted = { 0 };
    static const u64 numbers[] = {
        8 * 1 + 1, 2, 5096,              /* second window: allocated */
        8 * 0 + 2, 1, 1000,              /* third: freed */
        8 * 0 + 7, 1, 500,  1, 500, 500, /* fourth: both, and a peak above its ends */
    };
    hand_windows_every(w, HAND_MS_NS);
    const u32 row = w->windows->table->rows[0].kind == ETLHEAP_KIND_HEAP ? 0 : 1;
    assert_string_equal(w->windows->table->rows[row].process, "app.exe");
    assert_int_equal(html_code_add_cells(&text, w->windows, row, 6, SIZE_MAX), 3);
    for (size_t i = 0; i < ETL_COUNT_OF(numbers); i++)
        html_code_add(&wanted, numbers[i]);
    assert_string_equal(etlheap_text_of(&text), etlheap_text_of(&wanted));
    etlheap_text_clear(&text);
    assert_int_equal(html_code_add_cells(&text, w->windows, row, 6, wanted.size), 3);
    assert_string_equal(etlheap_text_of(&text), etlheap_text_of(&wanted));
    /* Too long after its second window. */
    etlheap_text_clear(&text);
    assert_int_equal(html_code_add_cells(&text, w->windows, row, 6, 6), 2);
    assert_true(text.size > 6 && text.size < wanted.size);
    etlheap_text_free(&text);
    etlheap_text_free(&wanted);
}

static void what_was_there_before_is_the_start(void **state)
{
    hand_windows *const w = *state;
    hand_windows_every(w, HAND_MS_NS);
    const html_amount app = html_start_of(w->windows, 0), quiet = html_start_of(w->windows, 2);
    assert_string_equal(w->windows->table->rows[2].process, "quiet.exe");
    assert_int_equal(app.count, 0);
    assert_int_equal(quiet.count, 1);
    assert_int_equal(quiet.size, 100);
}

/* --- names ------------------------------------------------------------------------------ */

static void long_names_are_cut_between_characters(void **state)
{
    char name[4096 + 1];
    (void)state;
    for (size_t first = 0; first < 3; first++) {
        etlheap_text text = { 0 };
        memset(name, 'x', first);
        for (size_t i = first; i + 3 <= sizeof name; i += 3)
            memcpy(name + i, "\xE2\x82\xAC", 3);
        name[first + (sizeof name - 1 - first) / 3 * 3] = '\0';
        assert_true(html_name_add(&text, name));
        assert_true(text.size <= HTML_NAME_BYTES_MAX + 3);
        for (size_t at = 0; at < text.size;) {
            const size_t length = etlheap_units_utf8_length(text.bytes + at, text.size - at);
            assert_true(length > 0);
            at += length;
        }
        etlheap_text_free(&text);
    }
}

static void names_that_fit_stay_whole(void **state)
{
    char name[HTML_NAME_BYTES_MAX + 1];
    etlheap_text text = { 0 };
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(html_name_add(&text, name));
    assert_string_equal(etlheap_text_of(&text), name);
    etlheap_text_free(&text);
}

/* --- pages --------------------------------------------------------------------------------- */

static const char *write_page(const etlheap_result *result, const etlheap_query *query,
                              capture *out)
{
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = result,
                                             .query = query };
    capture_open(out);
    assert_int_equal(etlheap_export_html(&request, out->sink, NULL), ETL_OK);
    return capture_text(out);
}

/* The cells of a page, unpacked. Free them. */
static char *cells_of(const char *page)
{
    return page_part(&page, "cells");
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        count++;
    return count;
}

static void same_request_gives_same_bytes(void **state)
{
    const hand_windows *const w = *state;
    capture first, second;
    const char *const a = write_page(w->result, &w->query, &first);
    assert_string_equal(a, write_page(w->result, &w->query, &second));
    capture_close(&first);
    capture_close(&second);
}

static void page_has_all_parts_in_their_places(void **state)
{
    const hand_windows *const w = *state;
    capture out;
    const char *const page = write_page(w->result, &w->query, &out);
    assert_int_equal(occurrences(page, "@style@"), 0);
    assert_int_equal(occurrences(page, "@data@"), 0);
    assert_int_equal(occurrences(page, "@script@"), 0);
    assert_int_equal(strncmp(page, "<!doctype html>\n", 16), 0);
    assert_non_null(strstr(page, "default-src 'none'; style-src 'unsafe-inline'; "
                                 "script-src 'unsafe-inline'; img-src data:\">"));
    const char *const style = strstr(page, ":root {");
    const char *const data = strstr(page, "\"schema\": \"etlheap-page-1\"");
    const char *const script = strstr(page, "\"use strict\"");
    assert_true(style != NULL && data > style && script > data);
    capture_close(&out);
}

/* What a name may hold that would end a script, a string or the file. */
static const char hostile[] =
    "</script><script>alert(1)</script><!--\"'`\\ \x01\x02\x1B[31m\x7F\r\n"
    "\xFF\xC3(\xE2\x80\xAE&lt;${x}\xF0\x9F\x98";

/* The name, 4 KB of it, as a process's: that is shown at every place. */
static void hostile_names_stay_text(void **state)
{
    static char name[4096];
    const u64 frame = 0x1000;
    capture out;
    (void)state;
    for (size_t i = 0; i + sizeof hostile < sizeof name; i += sizeof hostile - 1)
        memcpy(name + i, hostile, sizeof hostile);
    etlheap_result *const result = hand_result_new();
    const lifetime row = { .alloc_ticks = HAND_START_TICKS + 10,
                           .free_ticks = ETLHEAP_TICKS_NEVER,
                           .size = 100,
                           .heap = 0x10,
                           .process = hand_process(result, 10, name),
                           .stack = hand_stack(result, &frame, 1) };
    hand_lifetime(result, &row);
    hand_ready(result, HAND_START_TICKS + 1000);
    result->info.session = result->info.computer = "</script><!--\x01\xFF";
    result->info.clock = "qpc";
    const etlheap_query query = etlheap_query_default();
    const char *const page = write_page(result, &query, &out);
    assert_int_equal(occurrences(page, "</script"), 2); /* of the data and of the script */
    assert_int_equal(occurrences(page, "<script"), 2);
    assert_int_equal(occurrences(page, "<!--"), 0);
    assert_int_equal(occurrences(page, "\xE2\x80\xAE"), 0);
    for (const char *at = page; *at != '\0';) {
        const size_t length = etlheap_units_utf8_length(at, strlen(at) < 4 ? strlen(at) : 4);
        assert_true(length > 0);
        assert_true((u8)*at >= 0x20 || *at == '\n');
        at += length;
    }
    capture_close(&out);
    etlheap_result_free(result);
}

static void frame_names_are_hostile_too(void **state)
{
    static char name[4096];
    (void)state;
    memset(name, '<', sizeof name - 1);
    const etlheap_frame frames[] = {
        { .module = hostile, .symbol = name, .file = hostile, .line = 3, .offset = 1 },
        { .module = hostile, .symbol = hostile, .offset = 2, .is_inlined = true },
    };
    const u32 starts[] = { 0, 2 }, indices[] = { 0, 1 };
    const etlheap_row row = { .process = "p", .pid = 1, .stack = 0, .frame = ETLHEAP_NO_INDEX };
    const etlheap_table table = { .frames = frames,
                                  .frame_count = 2,
                                  .stack_starts = starts,
                                  .frame_indices = indices,
                                  .stack_count = 1,
                                  .rows = &row,
                                  .row_count = 1 };
    html_choice choice = { 0 };
    assert_int_equal(html_choice_make(&table, &table, &choice, NULL), ETL_OK);
    assert_int_equal(choice.names_cut, 1);
    assert_int_equal(choice.frame_count, 2);
    assert_int_equal(choice.modules.count, 1);
    assert_true(export_number_key(&choice.names, 0).size < 2 * HTML_NAME_BYTES_MAX);
    /* Outermost first, so the inlined call of the function above comes first: module 1
     * with bits 1 and 4, name 0; then module 1 with bits 1 and 2, name 1, file 0, line 3. */
    assert_string_equal(etlheap_text_of(&choice.frames), "NALBAD");
    assert_string_equal(etlheap_text_of(&choice.stacks), "ACAA");
    html_choice_close(&choice);
}

/* --- size ------------------------------------------------------------------------------------ */

static u64 next_number(const char **at)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    u64 value = 0;
    for (u32 shift = 0;; shift += 5) {
        const u64 digit = (u64)(strchr(alphabet, *(*at)++) - alphabet);
        value |= (digit & 31) << shift;
        if (digit < 32)
            return value;
    }
}

/* Outstanding bytes of the rows in a page in which each is one block of type AIFO. */
static u64 sum_of_rows(const char *page)
{
    static const char key[] = "\"rows\": \"";
    const char *at = strstr(page, key) + sizeof key - 1;
    u64 sum = 0;
    while (*at != '"') {
        next_number(&at); /* group */
        next_number(&at); /* stack */
        const u64 bits = next_number(&at);
        next_number(&at); /* peak */
        assert_int_equal(bits & 0x2F, 1);
        assert_int_equal(next_number(&at), 1);
        sum += next_number(&at);
        for (u64 cells = bits & 0x10 ? next_number(&at) : 0; cells > 0; cells--) {
            assert_int_equal(next_number(&at) & 7, 1);
            next_number(&at);
            next_number(&at);
        }
    }
    return sum;
}

/* Each stack has frames of its own: none is shared with another. */
static u64 add_many(etlheap_result *result)
{
    const u32 process = hand_process(result, 10, "app.exe");
    u64 sum = 0;
    for (u32 i = 0; i < MANY_STACKS; i++) {
        u64 frames[MANY_DEPTH];
        for (u32 k = 0; k < MANY_DEPTH; k++)
            frames[k] = 0x7FF600000000 + ((u64)i * MANY_DEPTH + k) * 37 % 0x1000000;
        const lifetime row = { .alloc_ticks = HAND_START_TICKS + 1 + i,
                               .free_ticks = ETLHEAP_TICKS_NEVER,
                               .size = 64 + i % 5000,
                               .heap = 0x10,
                               .process = process,
                               .stack = hand_stack(result, frames, MANY_DEPTH) };
        hand_lifetime(result, &row);
        sum += row.size;
    }
    hand_ready(result, HAND_START_TICKS + MANY_STACKS + 1);
    result->info.session = result->info.computer = "";
    result->info.clock = "qpc";
    return sum;
}

static void many_stacks_stay_within_the_budget_and_add_up(void **state)
{
    static const char hidden[] = "\"hidden\": {\"rows\": ";
    etlheap_result *const result = hand_result_new();
    const u64 sum = add_many(result);
    etlheap_query query = etlheap_query_default();
    unsigned long left_out = 0;
    unsigned long long left_count = 0, left_size = 0;
    capture out;
    (void)state;
    query.cull_frame_count = 0;
    const char *const page = write_page(result, &query, &out);
    assert_true(strlen(page) < PAGE_BYTES_MAX);
    char *const cells = cells_of(page);
    const char *const told = strstr(cells, hidden);
    assert_non_null(told);
    assert_int_equal(sscanf(told + sizeof hidden - 1, "%lu, \"types\": [%llu, %llu,", &left_out,
                            &left_count, &left_size),
                     3);
    assert_int_equal(left_count, left_out);
    assert_true(left_out >= MANY_STACKS - HTML_STACKS_MAX && left_out < MANY_STACKS);
    assert_int_equal(sum_of_rows(cells) + left_size, sum);
    free(cells);
    capture_close(&out);
    etlheap_result_free(result);
}

static void heaps_past_the_limit_are_told_as_one_sum(void **state)
{
    const u32 heaps = HTML_GROUPS_MAX + 7;
    etlheap_result *const result = hand_result_new();
    const etlheap_query query = etlheap_query_default();
    const u64 frame = 0x1000;
    char told[96];
    u64 hidden = 0;
    capture out;
    (void)state;
    const u32 process = hand_process(result, 10, "app.exe"), stack = hand_stack(result, &frame, 1);
    for (u32 i = 0; i < heaps; i++) {
        const lifetime row = { .alloc_ticks = HAND_START_TICKS + 1,
                               .free_ticks = ETLHEAP_TICKS_NEVER,
                               .size = 100 + i,
                               .heap = 0x1000 + i,
                               .process = process,
                               .stack = stack };
        hand_lifetime(result, &row);
        hidden += i < heaps - HTML_GROUPS_MAX ? row.size : 0;
    }
    hand_ready(result, HAND_START_TICKS + 1000);
    result->info.session = result->info.computer = "";
    result->info.clock = "qpc";
    snprintf(told, sizeof told,
             "\"hidden_groups\": {\n    \"heap\": {\"rows\": 7, \"types\": [7, %llu, 0,",
             (unsigned long long)hidden);
    char *const cells = cells_of(write_page(result, &query, &out));
    assert_non_null(strstr(cells, told));
    assert_int_equal(occurrences(cells, "\"heap\": \"0x"), HTML_GROUPS_MAX);
    free(cells);
    capture_close(&out);
    etlheap_result_free(result);
}

/* --- blocks ---------------------------------------------------------------------------------- */

#define BLOCK_STACKS 400u
#define STACK_BLOCKS 30u
#define NEVER_FREED  5u
#define BLOCK_TICKS  10
#define BLOCK_START  (HAND_START_TICKS + 1000000000000) /* times with many digits */

/* Each stack has blocks of which the smallest are never freed. */
static void add_blocks(etlheap_result *result)
{
    const u32 process = hand_process(result, 10, "app.exe");
    for (u32 i = 0; i < BLOCK_STACKS; i++) {
        const u64 frames[] = { 0x1000 + i, 0x2000 };
        const u32 stack = hand_stack(result, frames, 2);
        for (u32 k = 0; k < STACK_BLOCKS; k++) {
            const bool stays = k < NEVER_FREED;
            const lifetime row = { .alloc_ticks = BLOCK_START + k,
                                   .free_ticks =
                                       stays ? ETLHEAP_TICKS_NEVER : BLOCK_START + k + BLOCK_TICKS,
                                   .free_type = stays ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE,
                                   .address = 0x7FF600000000u + i * 0x10000u + k * 0x100u,
                                   .size = 1000 + k,
                                   .heap = 0x10,
                                   .thread = 7,
                                   .process = process,
                                   .stack = stack };
            hand_lifetime(result, &row);
        }
    }
    hand_ready(result, BLOCK_START + 1000);
    result->info.session = result->info.computer = "";
    result->info.clock = "qpc";
}

/* The blocks of one row: those that stay come first, and the largest of both first. */
static u64 read_blocks_of_row(const char **at)
{
    const u64 count = next_number(at);
    u64 before = UINT64_MAX;
    for (u64 i = 0; i < count; i++) {
        const u64 size = next_number(at);
        const u64 address = next_number(at);
        assert_int_equal(address % 0x10000, (size - 1000) * 0x100);
        assert_int_equal(next_number(at), 7 + 1);
        const u64 how = next_number(at);
        const u64 from = next_number(at), to = next_number(at);
        assert_true(from > 0);
        assert_int_equal(to == 0, how == ETLHEAP_FREE_NONE);
        assert_int_equal(how == ETLHEAP_FREE_NONE, i < NEVER_FREED);
        assert_true(i == NEVER_FREED || size < before);
        before = size;
    }
    return count;
}

static void blocks_of_stacks_stay_within_their_budget(void **state)
{
    static const char key[] = "\"blocks\": \"";
    etlheap_result *const result = hand_result_new();
    const etlheap_query query = etlheap_query_default();
    u64 rows = 0, row = 0;
    capture out;
    (void)state;
    add_blocks(result);
    char *const cells = cells_of(write_page(result, &query, &out));
    const char *at = strstr(cells, key);
    assert_non_null(at);
    at += sizeof key - 1;
    const char *const begin = at;
    while (*at != '"') {
        const u64 step = next_number(&at);
        assert_true(step > 0);
        row += step;
        assert_true(read_blocks_of_row(&at) <= HTML_BLOCKS_OF_ROW);
        rows++;
    }
    assert_true(rows > 100 && row < BLOCK_STACKS); /* there was no room for all */
    assert_true((size_t)(at - begin) <= HTML_BLOCK_BYTES);
    free(cells);
    capture_close(&out);
    etlheap_result_free(result);
}

static bool refuse(void *user, u64 done_bytes, u64 total_bytes)
{
    u32 *const left = user;
    assert_true(done_bytes <= total_bytes);
    return (*left)-- > 0;
}

static void whoever_watches_may_cancel(void **state)
{
    const hand_windows *const w = *state;
    for (u32 steps = 0; steps < 3; steps++) {
        u32 left = steps;
        capture out;
        const etlheap_export_request request = {
            .result = w->result, .query = &w->query, .progress = refuse, .progress_user = &left
        };
        capture_open(&out);
        assert_int_equal(etlheap_export_html(&request, out.sink, NULL), ETL_ERR_CANCELLED);
        capture_close(&out);
    }
}

static void trace_without_memory_has_a_page(void **state)
{
    etlheap_result *const result = hand_result_new();
    const etlheap_query query = etlheap_query_default();
    capture out;
    (void)state;
    hand_ready(result, HAND_START_TICKS);
    result->info.session = result->info.computer = "";
    result->info.clock = "qpc";
    char *const cells = cells_of(write_page(result, &query, &out));
    assert_non_null(strstr(cells, "\"kinds\": [],"));
    free(cells);
    capture_close(&out);
    etlheap_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_digits_of_five_bits),
        cmocka_unit_test(sums_that_went_below_zero_count_as_zero),
        cmocka_unit_test_setup_teardown(cells_tell_what_each_window_does, hand_windows_set_up,
                                        hand_windows_tear_down),
        cmocka_unit_test_setup_teardown(what_was_there_before_is_the_start, hand_windows_set_up,
                                        hand_windows_tear_down),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(names_that_fit_stay_whole),
        cmocka_unit_test_setup_teardown(same_request_gives_same_bytes, hand_windows_set_up,
                                        hand_windows_tear_down),
        cmocka_unit_test_setup_teardown(page_has_all_parts_in_their_places, hand_windows_set_up,
                                        hand_windows_tear_down),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(frame_names_are_hostile_too),
        cmocka_unit_test(many_stacks_stay_within_the_budget_and_add_up),
        cmocka_unit_test(heaps_past_the_limit_are_told_as_one_sum),
        cmocka_unit_test(blocks_of_stacks_stay_within_their_budget),
        cmocka_unit_test_setup_teardown(whoever_watches_may_cancel, hand_windows_set_up,
                                        hand_windows_tear_down),
        cmocka_unit_test(trace_without_memory_has_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
