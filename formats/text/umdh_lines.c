/*
 * umdh_lines.c - reads the lines of a UMDH log. umdh_lines.h shows one.
 *
 * In: the text of a log. Out: umdh_lines: heaps, blocks, frames and modules, in the order of the
 * log.
 *
 * One pass, line by line. Inside a heap, a line is a block, a frame of the last block, or text of
 * the tool that says nothing. Invariant: a line that begins like a block and is none is damage,
 * because leaving it out would make the totals wrong.
 */
#include "umdh_lines.h"

#include "parser/cursor.h"

#include <inttypes.h>
#include <stdlib.h>

#define RECOGNISE_BYTES 4096

static const char first_line[] = "// UMDH: version ";
static const char modules_line[] = "// Loaded modules:";

/* The state of the reader. */
typedef struct umdh_reader {
    umdh_lines *out;
    etl_cursor text;
    etl_cursor line; /* what is left of the line */
    const u8 *start; /* of the text */
    u64 offset;      /* of the line */
    u32 number;      /* of the line, from 1 */
    u64 heap;        /* whose blocks are listed */
    bool in_modules, in_heap;
    bool takes_frames; /* lines of frames belong to the last block */
    bool is_bare;      /* no head, and heaps have titles alone */
} umdh_reader;

static bool next_line(umdh_reader *r);
static etl_status read_line(umdh_reader *r, etl_error *err);
static etl_status skip_line(umdh_reader *r);
static etl_status read_comment(umdh_reader *r, etl_error *err);
static etl_status read_version(umdh_reader *r, etl_error *err);
static etl_status read_module(umdh_reader *r, etl_error *err);
static etl_status read_marker(umdh_reader *r, etl_error *err);
static etl_status read_block(umdh_reader *r, etl_error *err);
static etl_status read_frame(umdh_reader *r, etl_error *err);
static etl_status bad_line(const umdh_reader *r, const char *what, etl_error *err);
static bool add_text(umdh_lines *lines, etl_bytes text, size_t *offset);

/* Was the log written by a script for UMDH to find names? Then its first line is the list of
 * modules. */
static bool is_bare(etl_bytes text)
{
    etl_cursor c = etl_cursor_of(text);
    while (c.left > 0 && (c.at[0] == '\r' || c.at[0] == '\n'))
        etl_skip(&c, 1);
    return umdh_take_text(&c, modules_line);
}

bool umdh_lines_recognise(etl_bytes text)
{
    etl_cursor c =
        etl_cursor_of((etl_bytes){ text.at, (size_t)etl_min_u64(text.size, RECOGNISE_BYTES) });
    etl_bytes before;
    if (is_bare(text))
        return true;
    return umdh_take_until(&c, first_line, &before) &&
           (before.size == 0 || before.at[before.size - 1] == '\n');
}

etl_status umdh_lines_read(etl_bytes text, umdh_lines *out, etl_error *err)
{
    umdh_reader r = { .out = out, .text = etl_cursor_of(text) };
    r.start = r.text.at;
    out->pid = ETL_NO_ID;
    if (!umdh_lines_recognise(text))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0, "not a UMDH log");
    r.is_bare = is_bare(text);
    etlheap_text_add(&out->texts, "", 1);
    etl_status status = out->texts.failed ? ETL_ERR_MEMORY : ETL_OK;
    while (status == ETL_OK && next_line(&r))
        status = read_line(&r, err);
    if (status == ETL_OK && r.in_heap && !r.is_bare)
        status = bad_line(&r, "the log ends inside a heap; copy or take it again", err);
    if (status == ETL_ERR_MEMORY)
        return etl_no_memory(err);
    return status;
}

void umdh_lines_free(umdh_lines *lines)
{
    free(lines->blocks);
    free(lines->frames);
    free(lines->modules);
    etlheap_text_free(&lines->texts);
    *lines = (umdh_lines){ 0 };
}

/* The last line may have no end. */
static bool next_line(umdh_reader *r)
{
    if (r->text.left == 0)
        return false;
    const u8 *const end = memchr(r->text.at, '\n', r->text.left);
    const size_t size = end ? (size_t)(end - r->text.at) : r->text.left;
    r->offset = (u64)(r->text.at - r->start);
    r->number++;
    const etl_bytes line = etl_view(&r->text, size);
    if (end)
        etl_skip(&r->text, 1);
    const bool has_return = line.size > 0 && line.at[line.size - 1] == '\r';
    r->line = etl_cursor_of((etl_bytes){ line.at, line.size - has_return });
    return true;
}

static bool is_hex(u8 c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

static etl_status read_line(umdh_reader *r, etl_error *err)
{
    if (r->line.left == 0) {
        r->takes_frames = false;
        return ETL_OK;
    }
    const u8 first = r->line.at[0];
    if (first == '/')
        return read_comment(r, err);
    if (first == '*')
        return read_marker(r, err);
    if (first == '\t')
        return read_frame(r, err);
    if (is_hex(first))
        return read_block(r, err);
    r->takes_frames = false;
    if (umdh_take_text(&r->line, "REQUESTED bytes") ||
        umdh_take_text(&r->line, "     STACK if not"))
        return ETL_OK;
    return skip_line(r);
}

/* Skips a line of the tool, outside of heaps. */
static etl_status skip_line(umdh_reader *r)
{
    if (r->in_heap && r->out->skipped_lines++ == 0)
        r->out->skipped_first = r->number;
    return ETL_OK;
}

static etl_status read_comment(umdh_reader *r, etl_error *err)
{
    etl_cursor probe = r->line;
    const bool is_version = umdh_take_text(&probe, first_line);
    const bool is_list = !is_version && umdh_take_text(&r->line, modules_line);
    if ((is_version || is_list) && r->out->heap_count > 0)
        return bad_line(r,
                        "another log begins here; cut the file in two, or take each log into "
                        "a file of its own",
                        err);
    if (is_version)
        return read_version(r, err);
    if (is_list)
        r->in_modules = true;
    else if (r->in_modules && umdh_take_text(&r->line, "//"))
        return read_module(r, err);
    return ETL_OK;
}

/* Reads the version line. Facts that are missing stay unknown. Only the first such line counts. */
static etl_status read_version(umdh_reader *r, etl_error *err)
{
    umdh_lines *const out = r->out;
    etl_bytes version, time, machine;
    (void)err;
    if (out->version != 0 || !umdh_take_text(&r->line, first_line) ||
        !umdh_take_until(&r->line, ": Logtime ", &version) ||
        !add_text(out, version, &out->version) ||
        !umdh_take_until(&r->line, " - Machine=", &time) || !add_text(out, time, &out->time) ||
        !umdh_take_until(&r->line, " - PID=", &machine) || !add_text(out, machine, &out->machine))
        return out->texts.failed ? ETL_ERR_MEMORY : ETL_OK;
    u64 pid = 0;
    bool any = false;
    while (r->line.left > 0 && r->line.at[0] >= '0' && r->line.at[0] <= '9' && pid < ETL_NO_ID) {
        pid = pid * 10 + (u64)(etl_u8(&r->line) - '0');
        any = true;
    }
    if (any && pid < ETL_NO_ID)
        out->pid = (u32)pid;
    return ETL_OK;
}

/* Reads a module; a title, or the empty line after the list, is none. */
static etl_status read_module(umdh_reader *r, etl_error *err)
{
    umdh_lines *const out = r->out;
    umdh_module module;
    (void)err;
    umdh_take_spaces(&r->line);
    if (r->line.left == 0) {
        r->in_modules = false;
        return ETL_OK;
    }
    if (!umdh_take_hex(&r->line, &module.base) || r->line.left == 0 || r->line.at[0] != ' ')
        return ETL_OK;
    umdh_take_spaces(&r->line);
    if (!umdh_take_hex(&r->line, &module.size_bytes) || r->line.left == 0 || r->line.at[0] != ' ')
        return ETL_OK;
    umdh_take_spaces(&r->line);
    etl_bytes name = etl_rest(&r->line);
    for (size_t i = name.size; i > 0; i--) {
        if (name.at[i - 1] == '\\' || name.at[i - 1] == '/') {
            name = (etl_bytes){ name.at + i, name.size - i };
            break;
        }
    }
    if (!add_text(out, name, &module.name) ||
        !umdh_reserve(&out->modules, &out->module_capacity, out->module_count,
                      sizeof *out->modules))
        return ETL_ERR_MEMORY;
    out->modules[out->module_count++] = module;
    return ETL_OK;
}

/* Takes "*- - - Heap 3D0000 Hogs - - -", after the start of a heap, or in its place in a bare
 * log. */
static void begin_titled(umdh_reader *r)
{
    etl_cursor c = r->line;
    etl_bytes before;
    u64 heap;
    if (!umdh_take_until(&c, " Heap ", &before) || !umdh_take_hex(&c, &heap) ||
        !umdh_take_text(&c, " Hogs"))
        return;
    r->in_heap = true;
    r->heap = heap;
    r->out->heap_count++;
}

static etl_status read_marker(umdh_reader *r, etl_error *err)
{
    etl_cursor start = r->line, end = r->line;
    etl_bytes before;
    r->takes_frames = false;
    if (umdh_take_until(&start, "Start of data for heap @", &before)) {
        if (r->in_heap)
            return bad_line(r, "a heap begins inside another", err);
        r->in_heap = true;
        r->out->heap_count++;
        umdh_take_spaces(&start);
        if (!umdh_take_hex(&start, &r->heap))
            r->heap = 0;
    } else if (umdh_take_until(&end, "End of data for heap @", &before)) {
        if (!r->in_heap)
            return bad_line(r, "a heap ends that did not begin", err);
        r->in_heap = false;
    } else if (r->is_bare) {
        begin_titled(r);
    }
    return ETL_OK;
}

/* Reads "21C bytes + 1C at 3D3780 by BackTrace1B10F4". */
static etl_status read_block(umdh_reader *r, etl_error *err)
{
    umdh_lines *const out = r->out;
    etl_cursor c = r->line;
    u64 size = 0, overhead = 0;
    umdh_block block = { .frame_first = (u32)out->frame_count, .heap = r->heap };
    r->takes_frames = false;
    const bool has_size = umdh_take_hex(&c, &size);
    if (!has_size && r->in_heap)
        return bad_line(r, "a size that does not fit 64 bits", err);
    if (!has_size || !umdh_take_text(&c, " bytes"))
        return skip_line(r); /* text that begins with a letter A to F */
    if (umdh_take_text(&c, " in 0x"))
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, r->offset,
            "line %" PRIu32
            ": the log of an older UMDH, which lists no blocks; take it with UMDH 6 or newer",
            r->number);
    if (!umdh_take_text(&c, " + ") || !umdh_take_hex(&c, &overhead) ||
        !umdh_take_text(&c, " at ") || !umdh_take_hex(&c, &block.address) ||
        !umdh_take_text(&c, " by BackTrace") || !umdh_take_hex(&c, &block.backtrace) ||
        c.left > 0 || size > INT64_MAX || overhead > INT64_MAX)
        return bad_line(r, "not of the form \"SIZE bytes + OVERHEAD at ADDRESS by BackTraceID\"",
                        err);
    if (!r->in_heap)
        return bad_line(r, "a block outside of all heaps", err);
    if (out->block_count >= UINT32_MAX || out->frame_count >= UINT32_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, r->offset, "the log has more than 2^32 lines");
    if (!umdh_reserve(&out->blocks, &out->block_capacity, out->block_count, sizeof *out->blocks))
        return ETL_ERR_MEMORY;
    block.size_bytes = (i64)size;
    block.overhead_bytes = (i64)overhead;
    block.number = (u32)out->block_count;
    out->blocks[out->block_count++] = block;
    r->takes_frames = true;
    return ETL_OK;
}

static etl_status read_frame(umdh_reader *r, etl_error *err)
{
    umdh_lines *const out = r->out;
    etl_cursor c = r->line;
    u64 address = 0;
    if (!r->in_heap)
        return ETL_OK;
    if (!r->takes_frames)
        return bad_line(r, "a frame without a block before it", err);
    if (!umdh_take_text(&c, "\t") || !umdh_take_hex(&c, &address) || c.left > 0)
        return bad_line(r, "a frame that is not a hexadecimal address", err);
    if (!umdh_reserve(&out->frames, &out->frame_capacity, out->frame_count, sizeof *out->frames))
        return ETL_ERR_MEMORY;
    out->frames[out->frame_count++] = address;
    out->blocks[out->block_count - 1].frame_count++;
    return ETL_OK;
}

static etl_status bad_line(const umdh_reader *r, const char *what, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, r->offset, "line %" PRIu32 ": %s", r->number, what);
}

/* Takes a text; takes nothing if there is another one. */
bool umdh_take_text(etl_cursor *c, const char *text)
{
    const size_t size = strlen(text);
    if (size > c->left || memcmp(c->at, text, size) != 0)
        return false;
    etl_skip(c, size);
    return true;
}

/* Takes everything before a text, and the text; takes nothing if it does not come. */
bool umdh_take_until(etl_cursor *c, const char *text, etl_bytes *before)
{
    for (etl_cursor probe = *c; probe.left > 0; etl_skip(&probe, 1)) {
        if (probe.at[0] == (u8)text[0] && umdh_take_text(&probe, text)) {
            *before = (etl_bytes){ c->at, (size_t)(probe.at - c->at) - strlen(text) };
            *c = probe;
            return true;
        }
    }
    return false;
}

/* Takes at least one digit; false also if the number does not fit. */
bool umdh_take_hex(etl_cursor *c, u64 *value)
{
    etl_cursor probe = *c;
    u64 sum = 0;
    while (probe.left > 0 && is_hex(probe.at[0])) {
        const u8 digit = etl_u8(&probe);
        if (sum >> 60 != 0)
            return false;
        sum = sum << 4 | (u64)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    if (probe.left == c->left)
        return false;
    *c = probe;
    *value = sum;
    return true;
}

void umdh_take_spaces(etl_cursor *c)
{
    while (c->left > 0 && c->at[0] == ' ')
        etl_skip(c, 1);
}

/* The tool writes in the code page of its machine. */
static bool add_text(umdh_lines *lines, etl_bytes text, size_t *offset)
{
    *offset = lines->texts.size;
    etlheap_text_add_text8(&lines->texts, text);
    etlheap_text_add(&lines->texts, "", 1);
    return !lines->texts.failed;
}

/* Makes room for one more element; `array` points to a pointer. */
bool umdh_reserve(void *array, size_t *capacity, size_t count, size_t element_size)
{
    void *old;
    if (count < *capacity)
        return true;
    memcpy(&old, array, sizeof old);
    const size_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    size_t bytes;
    if (!etl_mul_size(wanted, element_size, &bytes))
        return false;
    void *const fresh = realloc(old, bytes);
    if (!fresh)
        return false;
    memcpy(array, &fresh, sizeof fresh);
    *capacity = wanted;
    return true;
}
