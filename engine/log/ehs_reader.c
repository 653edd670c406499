/*
 * ehs_reader.c - opens an .ehs file and decodes single blocks of its columns. ehs_file.h has the
 * layout of header, directory and footer.
 *
 * In: the bytes of a file, usually mapped, which may be damaged. Out: the directory, sorted by
 * column and part; and the values of a block when somebody asks for them.
 *
 *     header | block | block | ... | block | directory | footer
 *                       ▲                      │  ▲         │
 *                       └──────────────────────┘  └─────────┘   the footer says where it is
 *
 * Only the blocks that a question needs are ever touched. Invariants: read_rows accepts a row only
 * if its block lies between header and directory and its (column, part) comes after the row before;
 * the binary search and part_of's assert rely on that. A block is decoded only after its checksum
 * was found right, and must have as many values as the directory says.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "ehs_file.h"

static etl_status read_header(ehs_reader *reader, etl_error *err);
static etl_status read_footer(const ehs_reader *reader, u64 *offset, u64 *rows, u64 *checksum,
                              etl_error *err);
static etl_status read_rows(ehs_reader *reader, u64 offset, u64 rows, etl_error *err);

static etl_bytes part_of(etl_bytes file, u64 offset, u64 size)
{
    assert(offset <= file.size && size <= file.size - offset);
    return (etl_bytes){ file.at + offset, size };
}

static u64 sum_of(etl_bytes bytes)
{
    return XXH3_64bits(bytes.at, bytes.size);
}

bool ehs_is_store(etl_bytes file)
{
    return file.size >= EHS_MAGIC_BYTES && memcmp(file.at, EHS_MAGIC, EHS_MAGIC_BYTES) == 0;
}

bool ehs_is_full_store(etl_bytes file)
{
    etl_cursor in = etl_cursor_of(file);
    etl_skip(&in, EHS_MAGIC_BYTES + 2 * sizeof(u16)); /* and the version */
    const u32 content = etl_u32(&in);
    return ehs_is_store(file) && etl_ok(&in) && content != EHS_CONTENT_SUMMARY;
}

bool ehs_is_whole_store(etl_bytes file)
{
    etl_cursor in = etl_cursor_of(file);
    etl_skip(&in, EHS_MAGIC_BYTES + 2 * sizeof(u16) + sizeof(u32));
    const u16 minor_needed = etl_u16(&in);
    return ehs_is_full_store(file) && etl_ok(&in) && minor_needed < EHS_MINOR_PART;
}

etl_status ehs_reader_open(ehs_reader *out, etl_bytes file, etl_error *err)
{
    *out = (ehs_reader){ .file = file };
    u64 offset = 0, rows = 0, checksum = 0;
    etl_status status = read_header(out, err);
    if (status == ETL_OK)
        status = read_footer(out, &offset, &rows, &checksum, err);
    if (status == ETL_OK && sum_of(part_of(file, offset, rows * EHS_ROW_BYTES)) != checksum)
        status = etl_fail_with(err, ETL_ERR_CORRUPT, offset,
                               "the directory at 0x%" PRIx64 " is damaged: its checksum differs",
                               offset);
    if (status == ETL_OK)
        status = read_rows(out, offset, rows, err);
    if (status != ETL_OK)
        ehs_reader_close(out);
    return status;
}

void ehs_reader_close(ehs_reader *reader)
{
    free(reader->rows);
    *reader = (ehs_reader){ 0 };
}

static etl_status read_header(ehs_reader *reader, etl_error *err)
{
    etl_cursor in = etl_cursor_of(reader->file);
    const etl_bytes all = etl_view(&in, EHS_HEADER_BYTES);
    if (!etl_ok(&in))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                             "%zu bytes are too few for a store: its header is cut off",
                             reader->file.size);
    if (!ehs_is_store(all))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                             "is not a store: its first bytes are not those of an .ehs file");
    in = etl_cursor_of(all);
    etl_skip(&in, EHS_MAGIC_BYTES);
    const u16 major = etl_u16(&in);
    const u16 minor = etl_u16(&in);
    const u32 content = etl_u32(&in);
    const u16 minor_needed = etl_u16(&in);
    etl_skip(&in, 6);
    const u64 checksum = etl_u64(&in);
    if (sum_of(part_of(all, 0, 24)) != checksum)
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                             "the header is damaged: its checksum differs");
    const char *const what = content == EHS_CONTENT_SUMMARY ? "summary" : "store";
    if (major < EHS_MAJOR)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 8,
                             "is a %s of format %u.%u, which this version no longer reads: make "
                             "the %s again from its trace",
                             what, major, minor, what);
    if (major > EHS_MAJOR || minor_needed > EHS_MINOR)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 8,
                             "is a %s of format %u.%u, and this version reads up to %u.%u: use a "
                             "newer version, or make the %s again from its trace",
                             what, major, minor, EHS_MAJOR, EHS_MINOR, what);
    if (content != EHS_CONTENT_STORE && content != EHS_CONTENT_SUMMARY)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 12,
                             "is a store of an unknown kind (%u); use a newer version", content);
    reader->content = (ehs_content)content;
    reader->minor = minor;
    return ETL_OK;
}

/* The footer says where the directory is. Both together must end the file exactly. */
static etl_status read_footer(const ehs_reader *reader, u64 *offset, u64 *rows, u64 *checksum,
                              etl_error *err)
{
    const etl_bytes file = reader->file;
    const u64 room = file.size - EHS_HEADER_BYTES;
    const u64 at = file.size - etl_min_u64(room, EHS_FOOTER_BYTES);
    const etl_bytes footer = part_of(file, at, file.size - at);
    if (footer.size < EHS_FOOTER_BYTES ||
        memcmp(footer.at + 32, EHS_MAGIC_END, EHS_MAGIC_BYTES) != 0)
        return etl_fail_with(err, ETL_ERR_CORRUPT, file.size,
                             "is unfinished: it has no directory at its end; the program that "
                             "wrote it was stopped, or the file was cut off. Write it again");
    etl_cursor in = etl_cursor_of(footer);
    *offset = etl_u64(&in);
    *rows = etl_u64(&in);
    *checksum = etl_u64(&in);
    const u64 footer_sum = etl_u64(&in);
    const u64 left = at - etl_min_u64(*offset, at);
    if (sum_of(part_of(footer, 0, 24)) != footer_sum || *offset < EHS_HEADER_BYTES ||
        *offset > at || left % EHS_ROW_BYTES != 0 || left / EHS_ROW_BYTES != *rows)
        return etl_fail_with(err, ETL_ERR_CORRUPT, at,
                             "the footer at 0x%" PRIx64 " is damaged: it points to no directory",
                             at);
    return ETL_OK;
}

static bool comes_after(const ehs_row *before, const ehs_row *row)
{
    return row->column > before->column ||
           (row->column == before->column && row->part > before->part);
}

static etl_status read_rows(ehs_reader *reader, u64 offset, u64 rows, etl_error *err)
{
    reader->rows = calloc(rows + 1, sizeof *reader->rows);
    if (reader->rows == NULL)
        return etl_no_memory(err);
    etl_cursor in = etl_cursor_of(part_of(reader->file, offset, rows * EHS_ROW_BYTES));
    for (u64 i = 0; i < rows; i++) {
        ehs_row *const row = &reader->rows[i];
        row->column = etl_u32(&in);
        row->part = etl_u32(&in);
        row->offset = etl_u64(&in);
        row->size = etl_u32(&in);
        row->values = etl_u32(&in);
        row->checksum = etl_u64(&in);
        if (row->offset < EHS_HEADER_BYTES || row->offset > offset ||
            row->size > offset - row->offset)
            return ehs_reader_blame(row, err, "lies outside the file's blocks");
        if (i > 0 && !comes_after(row - 1, row))
            return ehs_reader_blame(row, err, "is out of order in the directory");
    }
    assert(etl_ok(&in));
    reader->row_count = (size_t)rows;
    return ETL_OK;
}

/* The first row at or after a place of the directory. */
static size_t first_from(const ehs_reader *reader, u32 column, u32 part)
{
    size_t low;
    ETL_BISECT(low, 0, reader->row_count,
               reader->rows[low].column < column ||
                   (reader->rows[low].column == column && reader->rows[low].part < part));
    return low;
}

const ehs_row *ehs_reader_find(const ehs_reader *reader, ehs_column column, u32 part)
{
    const size_t at = first_from(reader, column, part);
    if (at == reader->row_count)
        return NULL;
    const ehs_row *const row = &reader->rows[at];
    return row->column == (u32)column && row->part == part ? row : NULL;
}

bool ehs_reader_has(const ehs_reader *reader, ehs_column column)
{
    const size_t at = first_from(reader, column, 0);
    return at < reader->row_count && reader->rows[at].column == (u32)column;
}

u32 ehs_reader_parts(const ehs_reader *reader, ehs_column column, u64 *values)
{
    const size_t first = first_from(reader, column, 0);
    u32 parts = 0;
    *values = 0;
    for (size_t i = first; i < reader->row_count; i++) {
        const ehs_row *const row = &reader->rows[i];
        if (row->column != (u32)column || row->part != parts)
            break;
        *values += row->values;
        parts++;
    }
    return parts;
}

etl_status ehs_reader_get(const ehs_reader *reader, ehs_codec *codec, const ehs_row *row,
                          void *values, u32 capacity, etl_error *err)
{
    const ehs_column_info *const info = ehs_column_find(row->column);
    assert(info != NULL);
    const etl_bytes block = part_of(reader->file, row->offset, row->size);
    if (sum_of(block) != row->checksum)
        return ehs_reader_blame(row, err, "is damaged: its checksum differs");
    ehs_target target = { values, info->format.value_bytes, capacity, 0 };
    const char *reason;
    const etl_status status = ehs_decode(codec, block, &target, &reason);
    if (status == ETL_ERR_CORRUPT)
        return ehs_reader_blame(row, err, reason);
    if (status != ETL_OK)
        return etl_fail_with(err, status, 0, "out of memory");
    return target.count == row->values
               ? ETL_OK
               : ehs_reader_blame(row, err,
                                  "has a different number of values than the directory states");
}

etl_status ehs_reader_miss(ehs_column column, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "column %s is missing",
                         ehs_column_find(column)->name);
}

etl_status ehs_reader_whole(const ehs_reader *reader, const ehs_column *first, size_t stride,
                            u32 count, etl_error *err)
{
    const u8 *at = (const u8 *)first;
    ehs_column missing = 0;
    u32 found = 0;
    for (u32 i = 0; i < count; i++, at += stride) {
        ehs_column column;
        memcpy(&column, at, sizeof column);
        const bool has = ehs_reader_has(reader, column);
        found += has;
        missing = has || missing != 0 ? missing : column;
    }
    return found == 0 || found == count ? ETL_OK : ehs_reader_miss(missing, err);
}

etl_status ehs_reader_blame(const ehs_row *row, etl_error *err, const char *what)
{
    const ehs_column_info *const info = ehs_column_find(row->column);
    if (info == NULL)
        return etl_fail_with(err, ETL_ERR_CORRUPT, row->offset,
                             "block %u of unknown column 0x%x at 0x%" PRIx64 " %s", row->part,
                             row->column, row->offset, what);
    return etl_fail_with(err, ETL_ERR_CORRUPT, row->offset, "block %u of %s at 0x%" PRIx64 " %s",
                         row->part, info->name, row->offset, what);
}
