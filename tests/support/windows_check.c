/* windows_check.c - see windows_check.h. */
#include "windows_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_TEXT 1024u

etlheap_windows *windows_check_make(const etlheap_result *result, const etlheap_query *query,
                                    const etlheap_windows_options *options)
{
    etlheap_windows *windows = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_windows_make(result, query, options, &windows, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return windows;
}

static void put_cell(FILE *out, const etlheap_cell *cell)
{
    for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
        fprintf(out, " %" PRId64 "/%" PRId64, cell->count[t], cell->size[t]);
    fprintf(out, " outstanding %" PRId64 "/%" PRId64 " peak %" PRId64 "/%" PRId64 " %" PRId64 "\n",
            cell->outstanding_count, cell->outstanding_size, cell->peak_count, cell->peak_size,
            cell->impacting_size);
}

char *windows_check_text(const etlheap_windows *windows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    char *const table = check_table_text(windows->table);
    fprintf(out, "%s", table);
    free(table);
    for (u32 w = 0; w < windows->window_count; w++) {
        fprintf(out, "window %u %" PRId64 "..%" PRId64 "\n", w, windows->windows[w].from_ns,
                windows->windows[w].to_ns);
        for (u32 r = 0; r < windows->table->row_count; r++) {
            etlheap_cell cell;
            if (!etlheap_windows_cell(windows, r, w, &cell))
                continue;
            fprintf(out, "cell %u", r);
            put_cell(out, &cell);
        }
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* --- lifetimes one by one ---------------------------------------------------------- */

typedef struct plain_life {
    i64 a, f;
    i64 size;
} plain_life;

static bool has_key(const etlheap_query *query, etlheap_key key)
{
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == key)
            return true;
    }
    return false;
}

static bool is_of_row(const etlheap_result *result, const etlheap_query *query,
                      const etlheap_row *row, const etlheap_segment *segment, u32 at)
{
    const etlheap_process_info *const process =
        etlheap_process_of(result, (etlheap_process){ segment->process[at] });
    return segment->kind[at] == row->kind &&
           (!has_key(query, ETLHEAP_KEY_PROCESS) ||
            (process->pid == row->pid && strcmp(process->name, row->process) == 0)) &&
           (!has_key(query, ETLHEAP_KEY_HEAP) || segment->heap_handle[at] == row->heap_handle) &&
           (!has_key(query, ETLHEAP_KEY_THREAD) || segment->thread[at] == row->thread);
}

/* The lifetimes of a row; returns how many. */
static u32 list_lives(const etlheap_result *result, const etlheap_query *query,
                      const etlheap_row *row, plain_life *lives)
{
    u32 count = 0;
    for (u32 s = 0; s < etlheap_segment_count(result); s++) {
        const etlheap_segment segment = etlheap_segment_of(result, s);
        for (u32 i = 0; i < segment.rows; i++) {
            if (!is_of_row(result, query, row, &segment, i))
                continue;
            const bool forever =
                segment.free_type[i] == ETLHEAP_FREE_PROCESS_EXIT && !query->at_exit_freed;
            lives[count++] = (plain_life){ segment.alloc_ticks[i],
                                           forever ? ETLHEAP_TICKS_NEVER : segment.free_ticks[i],
                                           (i64)segment.size_bytes[i] };
        }
    }
    return count;
}

/* What is outstanding at a moment, before or after what happens in its tick. */
static void outstanding_at(const plain_life *lives, u32 count, i64 ticks, i64 *number, i64 *size)
{
    *number = *size = 0;
    for (u32 i = 0; i < count; i++) {
        if (lives[i].a <= ticks && lives[i].f > ticks) {
            *number += 1;
            *size += lives[i].size;
        }
    }
}

static i64 larger(i64 a, i64 b)
{
    return a > b ? a : b;
}

static etlheap_cell plain_cell(const plain_life *lives, u32 count, i64 from, i64 to)
{
    etlheap_cell cell = { .peak_count = 0 };
    for (u32 i = 0; i < count; i++) {
        const plain_life *const life = &lives[i];
        if (life->a >= to || life->f < from)
            continue;
        const bool inside = life->a >= from, freed = life->f < to;
        const etlheap_type type = inside ? (freed ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO)
                                         : (freed ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AOFO);
        cell.count[type]++;
        cell.size[type] += life->size;
    }
    cell.outstanding_count = cell.count[ETLHEAP_TYPE_AIFO] + cell.count[ETLHEAP_TYPE_AOFO];
    cell.outstanding_size = cell.size[ETLHEAP_TYPE_AIFO] + cell.size[ETLHEAP_TYPE_AOFO];
    cell.impacting_size = cell.size[ETLHEAP_TYPE_AIFO] - cell.size[ETLHEAP_TYPE_AOFI];
    /* A curve is highest as the window opens or after an allocation in it. */
    outstanding_at(lives, count, from - 1, &cell.peak_count, &cell.peak_size);
    for (u32 i = 0; i < count; i++) {
        i64 number, size;
        if (lives[i].a < from || lives[i].a >= to)
            continue;
        outstanding_at(lives, count, lives[i].a, &number, &size);
        cell.peak_count = larger(cell.peak_count, number);
        cell.peak_size = larger(cell.peak_size, size);
    }
    return cell;
}

static bool same_cell(const etlheap_cell *a, const etlheap_cell *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void expect_cell(const etlheap_windows *windows, u32 row, u32 window,
                        const etlheap_cell *expected)
{
    static const etlheap_cell nothing;
    etlheap_cell found;
    const bool is_there = etlheap_windows_cell(windows, row, window, &found);
    bool concerned = false;
    for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
        concerned |= expected->count[t] > 0;
    assert_int_equal(is_there, concerned);
    if (!concerned)
        expected = &nothing;
    if (same_cell(&found, expected))
        return;
    fprintf(stderr, "# row %u, window %u\n#  ", row, window);
    put_cell(stderr, expected);
    fprintf(stderr, "#  ");
    put_cell(stderr, &found);
    fail();
}

/* Nobody is shown kinds that are not selected by default who does not ask for them. */
static bool is_of_kinds(const etlheap_query *query, u32 kind)
{
    const u32 kinds = query->kinds == 0 ? ETLHEAP_KINDS_DEFAULT : query->kinds;
    return (kinds >> kind & 1) != 0;
}

/* Rows are found by their keys, so lifetimes without a row are looked for too. */
static void expect_all_counted(const etlheap_result *rows, const etlheap_query *query, u32 counted,
                               i64 from, i64 to)
{
    u32 concerned = 0;
    for (u32 s = 0; s < etlheap_segment_count(rows); s++) {
        const etlheap_segment segment = etlheap_segment_of(rows, s);
        for (u32 i = 0; i < segment.rows; i++) {
            const bool forever =
                segment.free_type[i] == ETLHEAP_FREE_PROCESS_EXIT && !query->at_exit_freed;
            concerned += is_of_kinds(query, segment.kind[i]) && segment.alloc_ticks[i] < to &&
                         (forever || segment.free_ticks[i] >= from);
        }
    }
    assert_int_equal(counted, concerned);
}

void windows_check_lifetimes(const etlheap_result *rows, const etlheap_query *query,
                             const etlheap_windows *windows)
{
    size_t total = 0;
    for (u32 s = 0; s < etlheap_segment_count(rows); s++)
        total += etlheap_segment_of(rows, s).rows;
    plain_life *const lives = malloc((total + 1) * sizeof *lives);
    u32 *const counted = calloc(windows->window_count, sizeof *counted);
    assert_true(lives != NULL && counted != NULL);
    for (u32 r = 0; r < windows->table->row_count; r++) {
        const u32 count = list_lives(rows, query, &windows->table->rows[r], lives);
        for (u32 w = 0; w < windows->window_count; w++) {
            const i64 from = etlheap_time_ticks(rows, windows->windows[w].from_ns);
            const i64 to = etlheap_time_ticks(rows, windows->windows[w].to_ns);
            const etlheap_cell expected = plain_cell(lives, count, from, to);
            expect_cell(windows, r, w, &expected);
            for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
                counted[w] += (u32)expected.count[t];
        }
    }
    for (u32 w = 0; w < windows->window_count; w++)
        expect_all_counted(rows, query, counted[w],
                           etlheap_time_ticks(rows, windows->windows[w].from_ns),
                           etlheap_time_ticks(rows, windows->windows[w].to_ns));
    free(counted);
    free(lives);
}

/* --- a report for each window ------------------------------------------------------ */

static size_t put_frame(char *out, size_t at, const etlheap_table *table, u32 frame)
{
    const etlheap_frame *const row = &table->frames[frame];
    return at + (size_t)snprintf(out + at, KEY_TEXT - at, " %s+%" PRIx64,
                                 row->module == NULL ? "?" : row->module, row->offset);
}

static void row_key(const etlheap_table *table, const etlheap_row *row, char out[KEY_TEXT])
{
    size_t at = (size_t)snprintf(out, KEY_TEXT, "%u %s %u %u %d %" PRIx64 " %s %" PRIu64, row->kind,
                                 row->process == NULL ? "" : row->process, row->pid, row->thread,
                                 row->has_heap, row->heap_handle,
                                 row->module == NULL ? "" : row->module, row->size_class_bytes);
    if (row->frame != ETLHEAP_NO_INDEX)
        at = put_frame(out, at, table, row->frame);
    if (row->stack == ETLHEAP_NO_INDEX)
        return;
    for (u32 i = table->stack_starts[row->stack]; i < table->stack_starts[row->stack + 1]; i++)
        at = put_frame(out, at, table, table->frame_indices[i]);
    assert_true(at < KEY_TEXT);
}

/* The row of the windows' table with the same keys. */
static u32 find_row(char (*keys)[KEY_TEXT], u32 count, const char *key)
{
    u32 found = 0;
    while (found < count && strcmp(keys[found], key) != 0)
        found++;
    assert_true(found < count);
    return found;
}

static etlheap_table *report(const etlheap_result *rows, const etlheap_query *query)
{
    etlheap_table *table = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_aggregate(rows, query, &table, &err) != ETL_OK)
        fail_msg("%s", err.message);
    return table;
}

/* Types and sums of one window, by row of the windows' table. */
static void read_reports(const etlheap_result *rows, const etlheap_query *query,
                         char (*keys)[KEY_TEXT], u32 row_count, etlheap_cell *cells)
{
    char key[KEY_TEXT];
    memset(cells, 0, row_count * sizeof *cells);
    etlheap_query by_type = *query;
    by_type.group_by[by_type.group_by_count++] = ETLHEAP_KEY_TYPE;
    etlheap_table *const whole = report(rows, query);
    for (u32 i = 0; i < whole->row_count; i++) {
        row_key(whole, &whole->rows[i], key);
        etlheap_cell *const cell = &cells[find_row(keys, row_count, key)];
        const i64 *const m = whole->rows[i].measures;
        cell->outstanding_count = m[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
        cell->outstanding_size = m[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
        cell->peak_count = m[ETLHEAP_MEASURE_PEAK_COUNT];
        cell->peak_size = m[ETLHEAP_MEASURE_PEAK_SIZE];
        cell->impacting_size = m[ETLHEAP_MEASURE_IMPACTING_SIZE];
    }
    etlheap_table_free(whole);
    etlheap_table *const typed = report(rows, &by_type);
    for (u32 i = 0; i < typed->row_count; i++) {
        row_key(typed, &typed->rows[i], key);
        etlheap_cell *const cell = &cells[find_row(keys, row_count, key)];
        const etlheap_row *const row = &typed->rows[i];
        cell->count[row->type] = row->measures[ETLHEAP_MEASURE_COUNT];
        cell->size[row->type] = row->measures[ETLHEAP_MEASURE_SIZE];
    }
    etlheap_table_free(typed);
}

void windows_check_reports(const etlheap_result *rows, const etlheap_query *query,
                           const etlheap_windows *windows)
{
    const etlheap_table *const table = windows->table;
    char(*const keys)[KEY_TEXT] = malloc((table->row_count + (size_t)1) * sizeof *keys);
    etlheap_cell *const cells = malloc((table->row_count + (size_t)1) * sizeof *cells);
    assert_true(keys != NULL && cells != NULL);
    for (u32 r = 0; r < table->row_count; r++)
        row_key(table, &table->rows[r], keys[r]);
    etlheap_query one = *query;
    memcpy(one.group_by, table->group_by, table->group_by_count * sizeof one.group_by[0]);
    one.group_by_count = table->group_by_count;
    for (u32 w = 0; w < windows->window_count; w++) {
        one.from_ns = windows->windows[w].from_ns;
        one.to_ns = windows->windows[w].to_ns;
        read_reports(rows, &one, keys, table->row_count, cells);
        for (u32 r = 0; r < table->row_count; r++)
            expect_cell(windows, r, w, &cells[r]);
    }
    free(keys);
    free(cells);
}

/* --- within the answer ------------------------------------------------------------- */

void windows_check_sums(const etlheap_windows *windows)
{
    for (u32 r = 0; r < windows->table->row_count; r++) {
        const i64 *const m = windows->table->rows[r].measures;
        etlheap_cell first, last;
        (void)etlheap_windows_cell(windows, r, 0, &first);
        i64 count = first.count[ETLHEAP_TYPE_AOFI] + first.count[ETLHEAP_TYPE_AOFO];
        i64 size = first.size[ETLHEAP_TYPE_AOFI] + first.size[ETLHEAP_TYPE_AOFO];
        i64 before = size, impact = 0, peak = 0;
        for (u32 w = 0; w < windows->window_count; w++) {
            (void)etlheap_windows_cell(windows, r, w, &last);
            count += last.count[ETLHEAP_TYPE_AIFI] + last.count[ETLHEAP_TYPE_AIFO];
            size += last.size[ETLHEAP_TYPE_AIFI] + last.size[ETLHEAP_TYPE_AIFO];
            impact += last.impacting_size;
            peak = larger(peak, last.peak_size);
            assert_int_equal(etlheap_windows_start_size(windows, r, w), before);
            assert_int_equal(last.outstanding_size - before, last.impacting_size);
            assert_int_equal(last.size[ETLHEAP_TYPE_AOFI] + last.size[ETLHEAP_TYPE_AOFO], before);
            before = last.outstanding_size;
        }
        assert_int_equal(m[ETLHEAP_MEASURE_COUNT], count);
        assert_int_equal(m[ETLHEAP_MEASURE_SIZE], size);
        assert_int_equal(m[ETLHEAP_MEASURE_IMPACTING_SIZE], impact);
        assert_int_equal(m[ETLHEAP_MEASURE_PEAK_SIZE], peak);
        assert_int_equal(m[ETLHEAP_MEASURE_OUTSTANDING_SIZE], last.outstanding_size);
        assert_int_equal(m[ETLHEAP_MEASURE_OUTSTANDING_COUNT], last.outstanding_count);
    }
}
