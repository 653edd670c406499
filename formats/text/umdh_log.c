/*
 * umdh_log.c - reads a UMDH log as a table.
 *
 * In: a file, maybe in UTF-16, as PowerShell redirects it. Out: a table: blocks summed by
 * backtrace, with frames as module and offset.
 *
 *     lines (umdh_lines.c) ──▶ blocks, sorted by backtrace ──▶ a row for each backtrace
 *                         └──▶ distinct addresses, sorted ──▶ modules, also sorted ──▶ frames
 *
 * Invariant: both lists ascend, so each address is looked up in one pass over them. The log is not
 * trusted, so sums saturate and ids of backtraces are compared, never used as indexes.
 */
#include "formats/umdh_log.h"

#include "parser/system/files.h"
#include "parser/system/map.h"
#include "parser/system/name_fold.h"
#include "umdh_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RECOGNISE_BYTES 4096
#define LOG_BYTES_MAX   (4 * ETL_GIB)

static const etlheap_key log_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK,
                                        ETLHEAP_KEY_TYPE_NAME };

static bool make_table(etlheap_umdh *log);
static void set_info(etlheap_umdh *log);
static bool find_addresses(etlheap_umdh *log);
static void find_frames(etlheap_umdh *log);
static bool add_rows(etlheap_umdh *log);
static void add_row(etlheap_umdh *log, const umdh_block *blocks, size_t count);
static u32 add_stack(etlheap_umdh *log, const umdh_block *block);
static int compare_u64(u64 x, u64 y);
static int compare_addresses(const void *a, const void *b);
static int compare_blocks(const void *a, const void *b);
static int compare_modules(const void *a, const void *b);

bool etlheap_umdh_recognise(const char *path)
{
    u8 start[RECOGNISE_BYTES];
    return etlheap_umdh_begins((etl_bytes){ start, etl_file_start(path, start, sizeof start) });
}

bool etlheap_umdh_begins(etl_bytes start)
{
    char *text = NULL;
    etl_bytes begin = { start.at, (size_t)etl_min_u64(start.size, RECOGNISE_BYTES) };
    const bool is_log =
        umdh_text_of(begin, &text, &begin, NULL) == ETL_OK && umdh_lines_recognise(begin);
    free(text);
    return is_log;
}

etl_status etlheap_umdh_open(const char *path, etlheap_umdh **out, etl_error *err)
{
    etl_map map = { 0 };
    *out = NULL;
    etl_status status = etl_map_open(path, false, &map, err);
    if (status == ETL_OK)
        status = etlheap_umdh_parse(map.bytes, out, err);
    if (status == ETL_OK)
        (*out)->file_bytes = map.bytes.size;
    if (status == ETL_OK && etl_map_changed(&map)) {
        etlheap_umdh_close(*out);
        *out = NULL;
        status = etl_fail_with(err, ETL_ERR_IO, 0, "was written to while it was read; run again");
    }
    etl_map_close(&map);
    return status;
}

etl_status etlheap_umdh_parse(etl_bytes bytes, etlheap_umdh **out, etl_error *err)
{
    char *text = NULL;
    etl_bytes read;
    etl_status status;
    *out = NULL;
    etlheap_umdh *const log = calloc(1, sizeof *log);
    if (!log)
        return etl_no_memory(err);
    status = umdh_text_of(bytes, &text, &read, err);
    if (status == ETL_OK)
        status = umdh_lines_read(read, &log->lines, err);
    if (status == ETL_OK && !make_table(log))
        status = etl_no_memory(err);
    free(text);
    if (status == ETL_OK)
        *out = log;
    else
        etlheap_umdh_close(log);
    return status;
}

void etlheap_umdh_close(etlheap_umdh *log)
{
    if (!log)
        return;
    umdh_lines_free(&log->lines);
    free(log->rows);
    free(log->ids);
    free(log->addresses);
    free(log->frames);
    free(log->stack_starts);
    free(log->frame_indices);
    free(log);
}

const etlheap_umdh_info *etlheap_umdh_info_of(const etlheap_umdh *log)
{
    return &log->info;
}

/* Are both logs of the same process? Ids are reused, but the same program is rarely at the same
 * address by chance. */
bool etlheap_umdh_same_process(const etlheap_umdh *a, const etlheap_umdh *b)
{
    return a->info.pid == b->info.pid && strcmp(a->info.machine, b->info.machine) == 0 &&
           etl_name_same(a->info.process, b->info.process);
}

const etlheap_table *etlheap_umdh_table(const etlheap_umdh *log)
{
    return &log->table;
}

/* How the bytes of a text become characters. */
typedef enum text_encoding { TEXT_BYTES, TEXT_UTF16_LE, TEXT_UTF16_BE } text_encoding;

/* Finds the encoding, and the size of the byte order mark. Tools that save redirected output leave
 * the mark out at times. A log begins with ASCII, so then every second byte is 0. */
static text_encoding encoding_of(etl_bytes text, size_t *mark_bytes)
{
    const u8 *const at = text.at;
    *mark_bytes = 0;
    if (text.size >= 3 && at[0] == 0xEF && at[1] == 0xBB && at[2] == 0xBF) {
        *mark_bytes = 3;
        return TEXT_BYTES;
    }
    if (text.size < 4)
        return TEXT_BYTES;
    if ((at[0] == 0xFF && at[1] == 0xFE) || (at[0] == 0xFE && at[1] == 0xFF)) {
        *mark_bytes = 2;
        return at[0] == 0xFF ? TEXT_UTF16_LE : TEXT_UTF16_BE;
    }
    if (at[0] != 0 && at[1] == 0 && at[2] != 0 && at[3] == 0)
        return TEXT_UTF16_LE;
    return at[0] == 0 && at[1] != 0 && at[2] == 0 && at[3] != 0 ? TEXT_UTF16_BE : TEXT_BYTES;
}

static void swap_units(u8 *bytes, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2) {
        const u8 first = bytes[i];
        bytes[i] = bytes[i + 1];
        bytes[i + 1] = first;
    }
}

/* Converts to UTF-8; a unit becomes at most three bytes. */
static etl_status convert(etl_bytes utf16, bool is_big, char **out, size_t *size, etl_error *err)
{
    const size_t units_bytes = utf16.size & ~(size_t)1, capacity = units_bytes / 2 * 3 + 1;
    u8 *const units = is_big ? malloc(units_bytes + 1) : NULL;
    *out = malloc(capacity);
    if (!*out || (is_big && !units)) {
        free(units);
        return etl_no_memory(err);
    }
    if (is_big) {
        memcpy(units, utf16.at, units_bytes);
        swap_units(units, units_bytes);
    }
    *size =
        etl_utf16_to_utf8((etl_bytes){ is_big ? units : utf16.at, units_bytes }, *out, capacity);
    free(units);
    return ETL_OK;
}

etl_status umdh_text_of(etl_bytes bytes, char **text, etl_bytes *out, etl_error *err)
{
    size_t size = 0, mark_bytes;
    *text = NULL;
    *out = bytes;
    if (bytes.size >= LOG_BYTES_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "logs of 4 GiB and more are not read");
    const text_encoding encoding = encoding_of(bytes, &mark_bytes);
    *out = (etl_bytes){ bytes.at + mark_bytes, bytes.size - mark_bytes };
    if (encoding == TEXT_BYTES)
        return ETL_OK;
    const etl_status status = convert(*out, encoding == TEXT_UTF16_BE, text, &size, err);
    *out = (etl_bytes){ (const u8 *)*text, size };
    return status;
}

static bool make_table(etlheap_umdh *log)
{
    umdh_lines *const lines = &log->lines;
    set_info(log);
    if (lines->block_count > 0)
        qsort(lines->blocks, lines->block_count, sizeof *lines->blocks, compare_blocks);
    if (lines->module_count > 0)
        qsort(lines->modules, lines->module_count, sizeof *lines->modules, compare_modules);
    if (!find_addresses(log) || !add_rows(log))
        return false;
    umdh_set_table(log);
    return true;
}

void umdh_set_table(etlheap_umdh *log)
{
    etlheap_table *const table = &log->table;
    table->group_by = log_keys;
    table->group_by_count = (u32)ETL_COUNT_OF(log_keys);
    table->measures = ETLHEAP_MEASURE_BIT(OUTSTANDING_COUNT) |
                      ETLHEAP_MEASURE_BIT(OUTSTANDING_SIZE) | ETLHEAP_MEASURE_BIT(OVERHEAD_SIZE);
    table->frames = log->frames;
    table->frame_count = log->address_count;
    table->stack_starts = log->stack_starts;
    table->frame_indices = log->frame_indices;
    table->stack_count = log->stack_count;
    table->rows = log->rows;
    table->row_count = log->row_count;
    etlheap_total *const total = &table->totals[ETLHEAP_KIND_HEAP];
    total->present = true;
    for (u32 i = 0; i < log->row_count; i++) {
        for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++)
            total->measures[m] = etl_sat_add_i64(total->measures[m], log->rows[i].measures[m]);
    }
}

/* Sets facts from the modules in the order of the log: the first is the program. */
static void set_info(etlheap_umdh *log)
{
    const umdh_lines *const lines = &log->lines;
    const char *const texts = lines->texts.bytes;
    log->info = (etlheap_umdh_info){
        .version = texts + lines->version,
        .time = texts + lines->time,
        .machine = texts + lines->machine,
        .process = lines->module_count > 0 ? texts + lines->modules[0].name : "Unknown",
        .pid = lines->pid,
        .heap_count = lines->heap_count,
        .block_count = lines->block_count,
        .skipped_lines = lines->skipped_lines,
        .skipped_first = lines->skipped_first,
    };
}

/* Collects distinct addresses: a log has far more frames than addresses. */
static bool find_addresses(etlheap_umdh *log)
{
    const umdh_lines *const lines = &log->lines;
    log->addresses = calloc(lines->frame_count + 1, sizeof *log->addresses);
    log->frames = calloc(lines->frame_count + 1, sizeof *log->frames);
    if (!log->addresses || !log->frames)
        return false;
    if (lines->frame_count > 0) {
        memcpy(log->addresses, lines->frames, lines->frame_count * sizeof *lines->frames);
        qsort(log->addresses, lines->frame_count, sizeof *log->addresses, compare_addresses);
    }
    for (size_t i = 0; i < lines->frame_count; i++) {
        if (log->address_count == 0 || log->addresses[log->address_count - 1] != log->addresses[i])
            log->addresses[log->address_count++] = log->addresses[i];
    }
    find_frames(log);
    return true;
}

/* Finds the frames of addresses; both lists ascend. */
static void find_frames(etlheap_umdh *log)
{
    const umdh_lines *const lines = &log->lines;
    size_t next = 0; /* the first module above the address */
    for (u32 i = 0; i < log->address_count; i++) {
        const u64 address = log->addresses[i];
        while (next < lines->module_count && lines->modules[next].base <= address)
            next++;
        etlheap_frame *const frame = &log->frames[i];
        frame->address = address;
        if (next == 0 ||
            address - lines->modules[next - 1].base >= lines->modules[next - 1].size_bytes)
            continue;
        frame->module = lines->texts.bytes + lines->modules[next - 1].name;
        frame->offset = address - lines->modules[next - 1].base;
    }
}

/* Adds rows. Blocks are sorted by backtrace, so a run of them is a row. */
static bool add_rows(etlheap_umdh *log)
{
    const umdh_lines *const lines = &log->lines;
    size_t rows = 0;
    for (size_t i = 0; i < lines->block_count; i++)
        rows += i == 0 || lines->blocks[i].backtrace != lines->blocks[i - 1].backtrace;
    log->rows = calloc(rows + 1, sizeof *log->rows);
    log->ids = calloc(rows + 1, sizeof *log->ids);
    log->stack_starts = calloc(rows + 1, sizeof *log->stack_starts);
    log->frame_indices = calloc(lines->frame_count + 1, sizeof *log->frame_indices);
    if (!log->rows || !log->ids || !log->stack_starts || !log->frame_indices)
        return false;
    for (size_t start = 0, end; start < lines->block_count; start = end) {
        end = start;
        while (end < lines->block_count &&
               lines->blocks[end].backtrace == lines->blocks[start].backtrace)
            end++;
        add_row(log, &lines->blocks[start], end - start);
    }
    return true;
}

/* Adds a row. The backtrace follows one of its blocks, usually the first. */
static void add_row(etlheap_umdh *log, const umdh_block *blocks, size_t count)
{
    etlheap_row *const row = &log->rows[log->row_count];
    char *const id = log->ids[log->row_count];
    log->row_count++;
    snprintf(id, UMDH_ID_SIZE, "BackTrace%" PRIX64, blocks[0].backtrace);
    *row = (etlheap_row){ .kind = ETLHEAP_KIND_HEAP,
                          .process = log->info.process,
                          .pid = log->info.pid,
                          .thread = ETL_NO_ID,
                          .stack = ETLHEAP_NO_INDEX,
                          .frame = ETLHEAP_NO_INDEX,
                          .type_name = id };
    for (size_t i = 0; i < count; i++) {
        i64 *const sums = row->measures;
        sums[ETLHEAP_MEASURE_OUTSTANDING_COUNT]++;
        sums[ETLHEAP_MEASURE_OUTSTANDING_SIZE] =
            etl_sat_add_i64(sums[ETLHEAP_MEASURE_OUTSTANDING_SIZE], blocks[i].size_bytes);
        sums[ETLHEAP_MEASURE_OVERHEAD_SIZE] =
            etl_sat_add_i64(sums[ETLHEAP_MEASURE_OVERHEAD_SIZE], blocks[i].overhead_bytes);
        if (row->stack == ETLHEAP_NO_INDEX && blocks[i].frame_count > 0)
            row->stack = add_stack(log, &blocks[i]);
    }
}

static u32 add_stack(etlheap_umdh *log, const umdh_block *block)
{
    u32 at = log->stack_starts[log->stack_count];
    for (u32 i = 0; i < block->frame_count; i++) {
        const u64 *const frame = &log->lines.frames[block->frame_first + i];
        const u64 *const found = bsearch(frame, log->addresses, log->address_count,
                                         sizeof *log->addresses, compare_addresses);
        assert(found != NULL); /* all frames are among them */
        log->frame_indices[at++] = (u32)(found - log->addresses);
    }
    log->stack_starts[++log->stack_count] = at;
    return log->stack_count - 1;
}

static int compare_u64(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

static int compare_addresses(const void *a, const void *b)
{
    const u64 *const x = a, *const y = b;
    return compare_u64(*x, *y);
}

static int compare_blocks(const void *a, const void *b)
{
    const umdh_block *const x = a, *const y = b;
    const int order = compare_u64(x->backtrace, y->backtrace);
    return order != 0 ? order : compare_u64(x->number, y->number);
}

static int compare_modules(const void *a, const void *b)
{
    const umdh_module *const x = a, *const y = b;
    const int order = compare_u64(x->base, y->base);
    return order != 0 ? order : compare_u64(x->name, y->name);
}
