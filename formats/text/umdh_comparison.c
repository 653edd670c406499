/*
 * umdh_comparison.c - reads what `umdh FIRST SECOND` printed, as a table for each log.
 *
 *     +  6f8178 ( 7e5f88 - ede10)    70a allocs	BackTrace7E5CE0
 *     +     636 (   70a -    d4)	BackTrace7E5CE0	allocations
 *
 *     	MSVCR100D!_heap_alloc_base+00000053 (f:\dd\...\malloc.c, 55)
 *     	ntdll!RtlAllocateHeap+00000274
 *
 *     Total increase == bb0f00 requested +  92580 overhead = c43480
 *
 * In: the text. Out: two tables with the same backtraces: each line has the bytes and blocks of
 * both logs, in the form that text_umdh.c writes. Functions have names already, by the machine's
 * own symbols. Only the total has overhead: the second side gets what was added, the first none.
 * Invariant: NEW - OLD must be DELTA in hexadecimal, or the numbers were written in decimal and the
 * file is refused (adds_up).
 * Source: observed, a comparison of UMDH 6.1.
 */
#include "umdh_inside.h"

#include "parser/cursor.h"
#include "parser/system/files.h"
#include "parser/system/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RECOGNISE_BYTES 65536

static const char syntax_line[] = "// + BYTES_DELTA (NEW_BYTES - OLD_BYTES)";
static const char hex_hint[] = "take the comparison without -d, which writes decimal numbers";

/* The amounts of a line: "+ DELTA ( NEW - OLD)". */
typedef struct amounts {
    u64 delta, now, base;
    bool is_less;
} amounts;

/* A frame as it is written, and where it stands. */
typedef struct written_frame {
    etl_bytes text;
    u32 at; /* in the order of the file */
} written_frame;

/* One side while it is read. */
typedef struct comparison_reader {
    etlheap_umdh *log;
    bool is_now; /* the second log */
    etl_cursor text, line;
    u32 number; /* of the line, from 1 */
    bool takes_frames;
    size_t process; /* the program's name among the texts; 0: not yet known */
    written_frame *frames;
    size_t frame_count, frame_capacity, row_capacity, text_capacity;
} comparison_reader;

static etl_status open_side(etl_bytes text, bool is_now, etlheap_umdh **out, etl_error *err);
static bool next_line(comparison_reader *r);
static etl_status read_line(comparison_reader *r, etl_error *err);
static etl_status read_row(comparison_reader *r, const amounts *sizes, etl_error *err);
static void read_program(comparison_reader *r);
static void read_total(comparison_reader *r);
static bool take_amounts(etl_cursor *c, amounts *out);
static bool adds_up(const amounts *a);
static bool add_frame(comparison_reader *r);
static bool number_frames(comparison_reader *r);
static bool parse_frame(etlheap_umdh *log, etl_bytes text, etlheap_frame *out);
static void set_table(comparison_reader *r);

bool etlheap_umdh_recognise_comparison(const char *path)
{
    char *text = NULL;
    etl_bytes bytes;
    u8 *const start = malloc(RECOGNISE_BYTES);
    if (start == NULL)
        return false;
    const etl_bytes begin = { start, etl_file_start(path, start, RECOGNISE_BYTES) };
    bool found = false;
    if (umdh_text_of(begin, &text, &bytes, NULL) == ETL_OK) {
        etl_cursor c = etl_cursor_of(bytes);
        etl_bytes before;
        found = umdh_take_until(&c, syntax_line, &before);
    }
    free(text);
    free(start);
    return found;
}

etl_status etlheap_umdh_open_comparison(const char *path, etlheap_umdh **base, etlheap_umdh **now,
                                        etl_error *err)
{
    etl_map map = { 0 };
    *base = *now = NULL;
    etl_status status = etl_map_open(path, false, &map, err);
    if (status == ETL_OK)
        status = etlheap_umdh_parse_comparison(map.bytes, base, now, err);
    if (status == ETL_OK && etl_map_changed(&map)) {
        etlheap_umdh_close(*base);
        etlheap_umdh_close(*now);
        *base = *now = NULL;
        status = etl_fail_with(err, ETL_ERR_IO, 0, "was written to while it was read; run again");
    }
    etl_map_close(&map);
    return status;
}

etl_status etlheap_umdh_parse_comparison(etl_bytes bytes, etlheap_umdh **base, etlheap_umdh **now,
                                         etl_error *err)
{
    char *text = NULL;
    etl_bytes read;
    *base = *now = NULL;
    etl_status status = umdh_text_of(bytes, &text, &read, err);
    if (status == ETL_OK)
        status = open_side(read, false, base, err);
    if (status == ETL_OK)
        status = open_side(read, true, now, err);
    if (status != ETL_OK) {
        etlheap_umdh_close(*base);
        *base = NULL;
    }
    free(text);
    return status;
}

static etl_status open_side(etl_bytes text, bool is_now, etlheap_umdh **out, etl_error *err)
{
    etlheap_umdh *const log = calloc(1, sizeof *log);
    comparison_reader r = { .log = log, .is_now = is_now, .text = etl_cursor_of(text) };
    etl_status status = ETL_OK;
    if (!log)
        return etl_no_memory(err);
    etlheap_text_add(&log->lines.texts, "", 1);
    while (status == ETL_OK && next_line(&r))
        status = read_line(&r, err);
    if (status == ETL_OK && (log->lines.texts.failed || !number_frames(&r)))
        status = ETL_ERR_MEMORY;
    free(r.frames);
    if (status == ETL_ERR_MEMORY)
        etl_fail_with(err, status, 0, "out of memory");
    if (status != ETL_OK) {
        etlheap_umdh_close(log);
        return status;
    }
    set_table(&r);
    *out = log;
    return ETL_OK;
}

static bool next_line(comparison_reader *r)
{
    if (r->text.left == 0)
        return false;
    const u8 *const end = memchr(r->text.at, '\n', r->text.left);
    const size_t size = end ? (size_t)(end - r->text.at) : r->text.left;
    const etl_bytes line = etl_view(&r->text, size);
    if (end)
        etl_skip(&r->text, 1);
    const bool has_return = line.size > 0 && line.at[line.size - 1] == '\r';
    r->line = etl_cursor_of((etl_bytes){ line.at, line.size - has_return });
    r->number++;
    return true;
}

static etl_status bad_line(const comparison_reader *r, const char *what, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "line %" PRIu32 ": %s", r->number, what);
}

/* Reads a line. Other output of the tool has no sign or tab in front. */
static etl_status read_line(comparison_reader *r, etl_error *err)
{
    amounts a;
    if (r->line.left == 0)
        return ETL_OK;
    if (r->line.at[0] == '\t')
        return !r->takes_frames || add_frame(r) ? ETL_OK : ETL_ERR_MEMORY;
    if (r->process == 0 && umdh_take_text(&r->line, "DBGHELP: ")) {
        read_program(r);
        return ETL_OK;
    }
    if (umdh_take_text(&r->line, "Total ")) {
        read_total(r);
        return ETL_OK;
    }
    if ((r->line.at[0] != '+' && r->line.at[0] != '-') || !take_amounts(&r->line, &a))
        return ETL_OK;
    if (!adds_up(&a))
        return bad_line(r, hex_hint, err);
    return read_row(r, &a, err);
}

/* Reads " 70a allocs\tBackTrace7E5CE0" behind the bytes, and the blocks in the next line. */
static etl_status read_row(comparison_reader *r, const amounts *sizes, etl_error *err)
{
    etlheap_umdh *const log = r->log;
    u64 allocs, id;
    amounts counts;
    r->takes_frames = false;
    umdh_take_spaces(&r->line);
    if (!umdh_take_hex(&r->line, &allocs) || !umdh_take_text(&r->line, " allocs\tBackTrace") ||
        !umdh_take_hex(&r->line, &id) || !next_line(r) || !take_amounts(&r->line, &counts) ||
        !adds_up(&counts) || counts.now != allocs)
        return bad_line(r, "not the bytes of a backtrace followed by its allocations", err);
    const u64 size = r->is_now ? sizes->now : sizes->base;
    const u64 count = r->is_now ? counts.now : counts.base;
    if (size == 0 && count == 0)
        return ETL_OK;
    if (size > INT64_MAX || count > INT64_MAX || log->row_count >= UINT32_MAX - 1)
        return bad_line(r, "more than there can be", err);
    size_t row_capacity = r->row_capacity;
    if (!umdh_reserve(&log->rows, &row_capacity, log->row_count, sizeof *log->rows) ||
        !umdh_reserve(&log->ids, &r->row_capacity, log->row_count, sizeof *log->ids) ||
        !umdh_reserve(&log->stack_starts, &r->text_capacity, (size_t)log->row_count + 1,
                      sizeof *log->stack_starts))
        return ETL_ERR_MEMORY;
    snprintf(log->ids[log->row_count], UMDH_ID_SIZE, "BackTrace%" PRIX64, id);
    etlheap_row *const row = &log->rows[log->row_count];
    *row = (etlheap_row){ .kind = ETLHEAP_KIND_HEAP,
                          .pid = ETL_NO_ID,
                          .thread = ETL_NO_ID,
                          .stack = log->row_count,
                          .frame = ETLHEAP_NO_INDEX };
    row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = (i64)size;
    row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = (i64)count;
    log->stack_starts[log->row_count++] = (u32)r->frame_count;
    r->takes_frames = true;
    return ETL_OK;
}

/* Reads "BatteryMeter - private symbols & lines": the first module is the program. */
static void read_program(comparison_reader *r)
{
    etl_bytes name;
    if (!umdh_take_until(&r->line, " - ", &name) || name.size == 0)
        return;
    r->process = r->log->lines.texts.size;
    etlheap_text_add_text8(&r->log->lines.texts, name);
    etlheap_text_add(&r->log->lines.texts, "", 1);
}

/* Reads "increase == bb0f00 requested + 92580 overhead = c43480"; each number may have a "-". */
static void read_total(comparison_reader *r)
{
    etl_cursor c = r->line;
    u64 requested, overhead;
    const bool is_decrease = umdh_take_text(&c, "decrease");
    if ((!is_decrease && !umdh_take_text(&c, "increase")) || !umdh_take_text(&c, " == "))
        return;
    (void)umdh_take_text(&c, "-");
    umdh_take_spaces(&c);
    if (!umdh_take_hex(&c, &requested) || !umdh_take_text(&c, " requested + "))
        return;
    const bool is_other = umdh_take_text(&c, "-");
    umdh_take_spaces(&c);
    if (!umdh_take_hex(&c, &overhead) || overhead > INT64_MAX || !r->is_now)
        return;
    r->log->table.totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_OVERHEAD_SIZE] =
        is_decrease == is_other ? (i64)overhead : -(i64)overhead;
}

static bool take_amounts(etl_cursor *c, amounts *out)
{
    out->is_less = c->left > 0 && c->at[0] == '-';
    if (!out->is_less && (c->left == 0 || c->at[0] != '+'))
        return false;
    etl_skip(c, 1);
    umdh_take_spaces(c);
    if (!umdh_take_hex(c, &out->delta) || !umdh_take_text(c, " ("))
        return false;
    umdh_take_spaces(c);
    if (!umdh_take_hex(c, &out->now) || !umdh_take_text(c, " - "))
        return false;
    umdh_take_spaces(c);
    return umdh_take_hex(c, &out->base) && umdh_take_text(c, ")");
}

/* Do the numbers add up in hexadecimal? Decimal ones do not, unless they are small. */
static bool adds_up(const amounts *a)
{
    return a->is_less ? a->base - a->delta == a->now : a->base + a->delta == a->now;
}

static bool add_frame(comparison_reader *r)
{
    etl_cursor c = r->line;
    etl_skip(&c, 1);
    if (c.left == 0)
        return true;
    if (r->frame_count >= UINT32_MAX ||
        !umdh_reserve(&r->frames, &r->frame_capacity, r->frame_count, sizeof *r->frames))
        return false;
    r->frames[r->frame_count] = (written_frame){ etl_rest(&c), (u32)r->frame_count };
    r->frame_count++;
    return true;
}

/* --- frames, each once ------------------------------------------------------------------ */

static int compare_text(const written_frame *x, const written_frame *y)
{
    const size_t size = x->text.size < y->text.size ? x->text.size : y->text.size;
    const int order = size == 0 ? 0 : memcmp(x->text.at, y->text.at, size);
    return order != 0 ? order : (x->text.size > y->text.size) - (x->text.size < y->text.size);
}

static int by_text(const void *a, const void *b)
{
    const written_frame *const x = a, *const y = b;
    const int order = compare_text(x, y);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* Numbers frames in the order of their texts; a diff numbers them anew. */
static bool number_frames(comparison_reader *r)
{
    etlheap_umdh *const log = r->log;
    log->frames = calloc(r->frame_count + 1, sizeof *log->frames);
    log->frame_indices = calloc(r->frame_count + 1, sizeof *log->frame_indices);
    if (!log->frames || !log->frame_indices ||
        !umdh_reserve(&log->stack_starts, &r->text_capacity, log->row_count,
                      sizeof *log->stack_starts))
        return false;
    log->stack_starts[log->row_count] = (u32)r->frame_count;
    if (r->frame_count > 0)
        qsort(r->frames, r->frame_count, sizeof *r->frames, by_text);
    /* Texts may move as they are added: offsets first. */
    for (size_t i = 0; i < r->frame_count; i++) {
        if (i == 0 || compare_text(&r->frames[i - 1], &r->frames[i]) != 0) {
            if (!parse_frame(log, r->frames[i].text, &log->frames[log->address_count]))
                return false;
            log->address_count++;
        }
        log->frame_indices[r->frames[i].at] = log->address_count - 1;
    }
    const char *const texts = log->lines.texts.bytes;
    for (u32 i = 0; i < log->address_count; i++) {
        etlheap_frame *const frame = &log->frames[i];
        frame->module = (uintptr_t)frame->module == 0 ? NULL : texts + (uintptr_t)frame->module;
        frame->symbol = (uintptr_t)frame->symbol == 0 ? NULL : texts + (uintptr_t)frame->symbol;
        frame->file = (uintptr_t)frame->file == 0 ? NULL : texts + (uintptr_t)frame->file;
    }
    return true;
}

/* Holds the offset of a text in place of a pointer, until all texts are there. */
static const char *hold(etlheap_umdh *log, const u8 *from, const u8 *to)
{
    etlheap_text *const texts = &log->lines.texts;
    const size_t offset = texts->size;
    etlheap_text_add_text8(texts, (etl_bytes){ from, (size_t)(to - from) });
    etlheap_text_add(texts, "", 1);
    return (const char *)(uintptr_t)offset;
}

/* Finds "+HEX" at the end of a text, or before " (file, line)"; false if there is none. Names of
 * functions and files may contain any of these characters. */
static bool find_offset(etl_bytes text, const u8 **begin, const u8 **end, u64 *offset)
{
    const bool has_file = text.size > 0 && text.at[text.size - 1] == ')';
    for (etl_cursor c = etl_cursor_of(text); c.left > 0; etl_skip(&c, 1)) {
        etl_cursor after = c;
        if (!umdh_take_text(&after, "+") || !umdh_take_hex(&after, offset))
            continue;
        if (after.left == 0 || (has_file && after.left > 3 && memcmp(after.at, " (", 2) == 0)) {
            *begin = c.at;
            *end = after.left == 0 ? text.at + text.size : after.at;
            return true;
        }
    }
    return false;
}

/* " (file, line)" */
static void parse_place(etlheap_umdh *log, const u8 *from, const u8 *to, etlheap_frame *out)
{
    const u8 *comma = to;
    u32 line = 0;
    while (comma > from && comma[-1] != ',')
        comma--;
    if (to - from < 4 || comma <= from + 2)
        return;
    for (const u8 *at = comma; at < to; at++) {
        if (*at >= '0' && *at <= '9' && line < UINT32_MAX / 10)
            line = line * 10 + (u32)(*at - '0');
    }
    out->file = hold(log, from + 2, comma - 1);
    out->line = line;
}

/* Parses "module!function+HEX (file, line)"; without "!", the text is a function's name. */
static bool parse_frame(etlheap_umdh *log, etl_bytes text, etlheap_frame *out)
{
    const u8 *const start = text.at;
    const u8 *end = start + text.size, *after = end;
    u64 displacement = 0;
    const bool has_offset = find_offset(text, &end, &after, &displacement);
    const u8 *const mark = memchr(start, '!', (size_t)(end - start));
    if (has_offset)
        parse_place(log, after, start + text.size, out);
    if (mark)
        out->module = hold(log, start, mark);
    if (!mark && has_offset) { /* "module+HEX": there were no symbols */
        out->module = hold(log, start, end);
        out->offset = displacement;
    } else {
        out->symbol = hold(log, mark ? mark + 1 : start, end);
    }
    return !log->lines.texts.failed;
}

static void set_table(comparison_reader *r)
{
    etlheap_umdh *const log = r->log;
    log->stack_count = log->row_count;
    log->info = (etlheap_umdh_info){
        .version = "", .time = "", .machine = "", .process = "Unknown", .pid = ETL_NO_ID
    };
    if (r->process != 0)
        log->info.process = log->lines.texts.bytes + r->process;
    for (u32 i = 0; i < log->row_count; i++) {
        log->rows[i].process = log->info.process;
        log->rows[i].type_name = log->ids[i];
        log->info.block_count += (u64)log->rows[i].measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    }
    umdh_set_table(log);
}
