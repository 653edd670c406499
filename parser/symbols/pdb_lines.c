/*
 * pdb_lines.c - finds the source lines of an object file's addresses (C13 line data).
 *
 * In: the lines subsections of a module, and the queries of its addresses. Out: file and line for
 * each query.
 *
 * A lines subsection covers one run of code, mostly a procedure, with one block of lines for each
 * source file involved. The line of an address is the one that begins nearest before it in any
 * block:
 *
 *     block a.cpp   0: 10      8: 11                    30: 14
 *     block b.h                        16: 3   24: 4
 *     address 20 -> b.h:3              address 40 -> a.cpp:14
 *
 * Of two lines that begin together the later one counts: the first has no code. Code that the
 * compiler marks as not to be stepped onto has no line; it gets the one before.
 *
 * Functions that the linker folded into one leave a run of lines each for the same code, in the
 * order of their symbols. The first symbol has the address, so the first run has it too. If there
 * are not as many runs as symbols, nothing says which function the lines belong to, and there is no
 * line. Invariant: an address must never get the line of a function other than the one it is named
 * after.
 */
#include "pdb_internal.h"

/* How far to look back for a line over code that has none. */
#define HIDDEN_LINES_MAX 64u

/* The queries that a lines subsection covers. */
typedef struct line_range {
    u32 first, end;
    u32 start; /* source RVA where the subsection's code begins */
} line_range;

/* One block of a subsection. */
typedef struct line_block {
    u32 lines_at, count;
    u32 file;
} line_block;

static void read_subsection(etl_pdb_resolver *r, u32 kind, u32 at, u32 size);
static void read_lines(etl_pdb_resolver *r, u32 at, u32 size);
static void read_block(etl_pdb_resolver *r, const line_range *range, const line_block *block);
static bool line_at_or_before(etl_pdb_resolver *r, const line_block *block, u32 offset, u32 *low);
static bool read_line(etl_pdb_resolver *r, const line_block *block, u32 i, u32 *offset, u32 *line);
static void read_inlinee_lines(etl_pdb_resolver *r, u32 at, u32 size);
static etl_bytes read_file_name(etl_pdb_resolver *r, u32 name);

void pdb_find_lines(etl_pdb_resolver *r, const pdb_module *module)
{
    r->inlinee_places = 0;
    const u32 left = r->module.size > module->lines_at ? r->module.size - module->lines_at : 0;
    u32 size = module->lines_size;
    if (size > left) {
        (void)pdb_note_damage(r, &r->module, r->module.size, "the lines of a module are cut off");
        size = left;
    }
    if (size == 0 || !pdb_spend_work(r, &r->module, size / 8))
        return;
    if (r->inline_count > 0)
        (void)pdb_collect_inlinees(r);
    const u32 end = module->lines_at + size;
    u32 at = module->lines_at;
    while (end - at >= PDB_SUBSECTION_HEADER_BYTES) {
        u8 scratch[PDB_SUBSECTION_HEADER_BYTES];
        etl_cursor c =
            etl_cursor_of(msf_view(&r->module, at, PDB_SUBSECTION_HEADER_BYTES, scratch));
        const u32 kind = etl_u32(&c);
        const u32 data_size = etl_u32(&c);
        at += PDB_SUBSECTION_HEADER_BYTES;
        if (!etl_ok(&c) || data_size > end - at) {
            (void)pdb_note_damage(r, &r->module, at, "a subsection of the lines is cut off");
            return;
        }
        read_subsection(r, kind, at, data_size);
        const u32 padding = (4 - data_size % 4) % 4;
        at += data_size;
        at += padding < end - at ? padding : end - at;
    }
}

static void read_subsection(etl_pdb_resolver *r, u32 kind, u32 at, u32 size)
{
    switch (kind) {
    case PDB_SUBSECTION_LINES:
        read_lines(r, at, size);
        break;
    case PDB_SUBSECTION_CHECKSUMS:
        r->checksums_at = at;
        r->checksums_size = size;
        break;
    case PDB_SUBSECTION_INLINEE_LINES:
        if (r->inlinee_places > 0)
            read_inlinee_lines(r, at, size);
        break;
    default:
        break;
    }
}

/* --- lines ------------------------------------------------------------------------- */

static void read_lines(etl_pdb_resolver *r, u32 at, u32 size)
{
    u8 scratch[PDB_LINES_HEADER_BYTES];
    etl_cursor c = etl_cursor_of(size < PDB_LINES_HEADER_BYTES
                                     ? (etl_bytes){ NULL, 0 }
                                     : msf_view(&r->module, at, PDB_LINES_HEADER_BYTES, scratch));
    const u32 offset = etl_u32(&c);
    const u32 section = etl_u16(&c);
    etl_skip(&c, 2);
    const u32 code_size = etl_u32(&c);
    line_range range = { 0 };
    if (!etl_ok(&c)) {
        (void)pdb_note_damage(r, &r->module, at, "a lines subsection is too short");
        return;
    }
    if (!pdb_rva_of(r->file, section, offset, &range.start))
        return;
    range.first = pdb_first_query(r, range.start);
    range.end = pdb_query_behind(r, range.start, code_size);
    if (!pdb_spend_work(r, &r->module, range.end - range.first))
        return;
    for (u32 i = range.first; i < range.end; i++)
        r->queries[i].line_runs++;
    u32 left = size - PDB_LINES_HEADER_BYTES;
    at += PDB_LINES_HEADER_BYTES;
    while (range.first < range.end && left >= PDB_LINE_BLOCK_BYTES) {
        c = etl_cursor_of(msf_view(&r->module, at, PDB_LINE_BLOCK_BYTES, scratch));
        line_block block = { .lines_at = at + PDB_LINE_BLOCK_BYTES };
        block.file = etl_u32(&c);
        block.count = etl_u32(&c);
        const u32 block_size = etl_u32(&c);
        if (!etl_ok(&c) || block_size < PDB_LINE_BLOCK_BYTES || block_size > left ||
            block.count > (block_size - PDB_LINE_BLOCK_BYTES) / PDB_LINE_BYTES) {
            (void)pdb_note_damage(r, &r->module, at, "a block of lines overruns its subsection");
            return;
        }
        read_block(r, &range, &block);
        at += block_size;
        left -= block_size;
    }
}

/* Reads a block. Each address looks for its line at or after that of the address before. */
static void read_block(etl_pdb_resolver *r, const line_range *range, const line_block *block)
{
    u32 low = 0;
    for (u32 i = range->first; i < range->end; i++) {
        pdb_query *const query = &r->queries[i];
        if (!pdb_spend_work(r, &r->module, 1))
            return;
        if (query->line_runs > 1 || !line_at_or_before(r, block, query->rva - range->start, &low))
            continue;
        u32 offset = 0;
        u32 line = 0;
        u32 at = low;
        u32 tries = 0;
        bool is_found = false;
        do {
            is_found = read_line(r, block, at, &offset, &line) && line != PDB_LINE_NO_STEP_ONTO &&
                       line != PDB_LINE_NO_STEP_INTO;
        } while (!is_found && at-- > 0 && ++tries < HIDDEN_LINES_MAX);
        if (!is_found || (query->has_line && range->start + offset < query->line_from))
            continue;
        query->has_line = true;
        query->line = line;
        query->line_file = block->file;
        query->line_from = range->start + offset;
    }
}

/* Moves *low to the last line that begins at or before the code offset; false
 * when the first begins after it. */
static bool line_at_or_before(etl_pdb_resolver *r, const line_block *block, u32 offset, u32 *low)
{
    u32 begin = *low;
    u32 end = block->count;
    while (begin < end) {
        const u32 middle = begin + (end - begin) / 2;
        u32 from = 0;
        u32 line = 0;
        if (!read_line(r, block, middle, &from, &line))
            return false;
        if (from <= offset)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == 0)
        return false;
    *low = begin - 1;
    return true;
}

static bool read_line(etl_pdb_resolver *r, const line_block *block, u32 i, u32 *offset, u32 *line)
{
    u8 scratch[PDB_LINE_BYTES];
    const u32 at = block->lines_at + i * PDB_LINE_BYTES;
    const etl_bytes bytes = msf_view(&r->module, at, PDB_LINE_BYTES, scratch);
    if (!bytes.at)
        return pdb_note_damage(r, &r->module, at, "a line cannot be read");
    *offset = etl_load_u32(bytes.at);
    *line = etl_load_u32(bytes.at + 4) & PDB_LINE_MASK;
    return true;
}

/* --- first lines of inlined functions -------------------------------------------------- */

static void read_inlinee_lines(etl_pdb_resolver *r, u32 at, u32 size)
{
    u8 scratch[PDB_INLINEE_LINE_BYTES];
    const u32 end = at + size;
    etl_cursor c =
        etl_cursor_of(size < 4 ? (etl_bytes){ NULL, 0 } : msf_view(&r->module, at, 4, scratch));
    const u32 signature = etl_u32(&c);
    at += 4;
    while (etl_ok(&c) && end - at >= PDB_INLINEE_LINE_BYTES) {
        c = etl_cursor_of(msf_view(&r->module, at, PDB_INLINEE_LINE_BYTES, scratch));
        const u32 id = etl_u32(&c);
        const u32 file = etl_u32(&c);
        const u32 line = etl_u32(&c);
        at += PDB_INLINEE_LINE_BYTES;
        pdb_inlinee *const inlinee = etl_ok(&c) ? pdb_inlinee_of(r, id) : NULL;
        if (inlinee && !inlinee->is_known)
            *inlinee = (pdb_inlinee){ .id = id, .file = file, .line = line, .is_known = true };
        if (etl_ok(&c) && signature == PDB_INLINEE_EXTRA_FILES) {
            c = etl_cursor_of(end - at < 4 ? (etl_bytes){ NULL, 0 }
                                           : msf_view(&r->module, at, 4, scratch));
            const u32 count = etl_u32(&c);
            at += etl_ok(&c) ? 4 : 0;
            if (count > (end - at) / 4)
                etl_fail(&c);
            else
                at += count * 4;
        }
    }
    if (!etl_ok(&c))
        (void)pdb_note_damage(r, &r->module, at, "the lines of inlined functions are cut off");
}

/* --- files -------------------------------------------------------------------------------- */

etl_bytes pdb_file_name(etl_pdb_resolver *r, u32 checksum)
{
    u8 scratch[4];
    if (r->checksums_size < 4 || checksum > r->checksums_size - 4)
        return (etl_bytes){ NULL, 0 };
    etl_cursor c = etl_cursor_of(msf_view(&r->module, r->checksums_at + checksum, 4, scratch));
    const u32 name = etl_u32(&c);
    etl_bytes found = { NULL, 0 };
    if (!etl_ok(&c) || pdb_text_find(&r->text, PDB_KEY_FILE, name, &found))
        return found;
    found = read_file_name(r, name);
    pdb_text_remember(&r->text, PDB_KEY_FILE, name, found);
    return found;
}

static etl_bytes read_file_name(etl_pdb_resolver *r, u32 name)
{
    u8 scratch[4];
    etl_cursor c = etl_cursor_of(msf_view(&r->names, 0, 4, scratch));
    const u32 signature = etl_u32(&c);
    if (signature != PDB_NAMES_SIGNATURE || name > UINT32_MAX - PDB_NAMES_HEADER_BYTES ||
        name + PDB_NAMES_HEADER_BYTES >= r->names.size) {
        (void)pdb_note_damage(r, &r->names, name, "a file name is not in the list of names");
        return (etl_bytes){ NULL, 0 };
    }
    const etl_bytes text =
        msf_text(&r->names, name + PDB_NAMES_HEADER_BYTES, PDB_NAME_MAX, r->name);
    return text.at == r->name ? pdb_text_keep(&r->text, text) : text;
}

/* Sizes of checksums by kind; 0: none. */
static const u8 checksum_sizes[] = {
    [ETL_PDB_CHECKSUM_NONE] = 0,
    [ETL_PDB_CHECKSUM_MD5] = 16,
    [ETL_PDB_CHECKSUM_SHA1] = 20,
    [ETL_PDB_CHECKSUM_SHA256] = 32,
};

/* Reads the checksum of a file, unless its size is not that of its kind. */
static void read_checksum(etl_pdb_resolver *r, u32 file, etl_pdb_checksum *out)
{
    u8 scratch[PDB_FILE_BYTES + ETL_PDB_CHECKSUM_BYTES_MAX];
    if (r->checksums_size < PDB_FILE_BYTES || file > r->checksums_size - PDB_FILE_BYTES)
        return;
    const u32 left = r->checksums_size - PDB_FILE_BYTES - file;
    const u32 at = r->checksums_at + file;
    etl_cursor c = etl_cursor_of(msf_view(&r->module, at, PDB_FILE_BYTES, scratch));
    etl_skip(&c, 4);
    const u8 size = etl_u8(&c);
    const u8 kind = etl_u8(&c);
    if (!etl_ok(&c) || kind >= ETL_COUNT_OF(checksum_sizes) || size != checksum_sizes[kind] ||
        size > left || size == 0)
        return;
    const etl_bytes bytes = msf_view(&r->module, at + PDB_FILE_BYTES, size, scratch);
    if (bytes.at == NULL)
        return;
    out->kind = kind;
    out->size = size;
    memcpy(out->bytes, bytes.at, size);
}

bool etl_pdb_frame_checksum(etl_pdb_resolver *resolver, uint32_t level, etl_pdb_checksum *out)
{
    *out = (etl_pdb_checksum){ .kind = ETL_PDB_CHECKSUM_NONE };
    if (level >= resolver->frame_count || resolver->frame_files[level] == PDB_NO_FILE)
        return false;
    read_checksum(resolver, resolver->frame_files[level], out);
    return true;
}
