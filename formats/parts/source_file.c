/*
 * source_file.c - reads a source file, and compares it with what was compiled.
 *
 * In: a folder that the user named, and a path that a PDB has. Out: the text of the file, or why
 * there is none. Invariant: nothing else than a regular file below the folder is opened, and no
 * more than ETLHEAP_SOURCE_BYTES_MAX of it is read.
 */
#include "source_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "parser/system/digest.h"
#include "parser/system/files.h"

static etlheap_source_status status_of_failure(int reason)
{
    if (reason == ENOENT || reason == ENOTDIR)
        return ETLHEAP_SOURCE_MISSING;
    return reason == EPERM ? ETLHEAP_SOURCE_REFUSED : ETLHEAP_SOURCE_UNREADABLE;
}

/* Reads the whole file; one byte more than is allowed says that there are too many. */
static etl_status read_bytes(int file, etlheap_source_text *out, etl_error *err)
{
    etl_path_kind kind;
    u64 size_bytes = 0;
    if (!etl_file_examine(file, &kind, &size_bytes)) {
        out->status = ETLHEAP_SOURCE_UNREADABLE;
        return ETL_OK;
    }
    const size_t room = (size_t)etl_min_u64(size_bytes, ETLHEAP_SOURCE_BYTES_MAX) + 1;
    out->bytes = malloc(room);
    if (!out->bytes)
        return etl_no_memory(err);
    const i64 size = etl_file_read(file, out->bytes, room);
    if (size < 0)
        out->status = ETLHEAP_SOURCE_UNREADABLE;
    else if (size_bytes > ETLHEAP_SOURCE_BYTES_MAX || (u64)size > ETLHEAP_SOURCE_BYTES_MAX)
        out->status = ETLHEAP_SOURCE_TOO_LARGE;
    else
        out->size = (size_t)size;
    return ETL_OK;
}

static bool begins_with(const etlheap_source_text *text, const char *mark, size_t size)
{
    return text->size >= size && memcmp(text->bytes, mark, size) == 0;
}

/* In big-endian UTF-16, the bytes of each unit are the other way round. */
static void swap_units(u8 *bytes, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2) {
        const u8 first = bytes[i];
        bytes[i] = bytes[i + 1];
        bytes[i + 1] = first;
    }
}

static void decode_utf16(const etlheap_source_text *text, bool is_big, etlheap_text *out)
{
    const size_t size = text->size - 2;
    u8 *const units = malloc(size + 1);
    if (!units) {
        out->failed = true;
        return;
    }
    memcpy(units, text->bytes + 2, size);
    if (is_big)
        swap_units(units, size);
    etlheap_text_add_utf16(out, (etl_bytes){ units, size });
    free(units);
}

/* Without a mark it is UTF-8; writers replace what is not. */
void etlheap_source_text_decode(etlheap_source_text *text)
{
    if (begins_with(text, "\xff\xfe", 2))
        decode_utf16(text, false, &text->lines);
    else if (begins_with(text, "\xfe\xff", 2))
        decode_utf16(text, true, &text->lines);
    else if (begins_with(text, "\xef\xbb\xbf", 3))
        etlheap_text_add(&text->lines, (const char *)text->bytes + 3, text->size - 3);
    else
        etlheap_text_add(&text->lines, (const char *)text->bytes, text->size);
    if (text->lines.size > 0 && memchr(text->lines.bytes, '\0', text->lines.size))
        text->status = ETLHEAP_SOURCE_BINARY;
}

etl_status etlheap_source_text_read(const char *folder, const char *path, etlheap_source_text *out,
                                    etl_error *err)
{
    const int file = etl_file_open_below(folder, path, &out->name);
    out->status = file >= 0 ? ETLHEAP_SOURCE_SHOWN : status_of_failure(errno);
    if (file < 0)
        return ETL_OK;
    const etl_status status = read_bytes(file, out, err);
    (void)etl_file_close(file);
    if (status == ETL_OK && out->status == ETLHEAP_SOURCE_SHOWN)
        etlheap_source_text_decode(out);
    return status == ETL_OK && out->lines.failed ? etl_no_memory(err) : status;
}

void etlheap_source_text_free(etlheap_source_text *text)
{
    free(text->name);
    free(text->bytes);
    etlheap_text_free(&text->lines);
    *text = (etlheap_source_text){ .status = ETLHEAP_SOURCE_SHOWN };
}

/* --- checksums ------------------------------------------------------------------------------ */

typedef enum line_ends { AS_ON_DISK, AS_LF, AS_CRLF, LINE_ENDS } line_ends;

/* Adds the bytes with ends of lines of one kind. */
static void add_lines(etl_digest *digest, const u8 *bytes, size_t size, line_ends ends)
{
    size_t done = 0;
    for (size_t i = 0; i < size && ends != AS_ON_DISK; i++) {
        if (bytes[i] != '\n')
            continue;
        const size_t end = i > done && bytes[i - 1] == '\r' ? i - 1 : i;
        etl_digest_add(digest, bytes + done, end - done);
        etl_digest_add(digest, "\r\n" + (ends == AS_LF), ends == AS_LF ? 1 : 2);
        done = i + 1;
    }
    if (size > done)
        etl_digest_add(digest, bytes + done, size - done);
}

bool etlheap_source_text_is(const etlheap_source_text *text, const etlheap_source_file *file)
{
    const etl_digest_kind kind = file->checksum_size == 16   ? ETL_DIGEST_MD5
                                 : file->checksum_size == 20 ? ETL_DIGEST_SHA1
                                                             : ETL_DIGEST_SHA256;
    if (file->checksum_size == 0)
        return false;
    for (u32 ends = 0; ends < LINE_ENDS; ends++) {
        u8 sum[ETL_DIGEST_BYTES_MAX];
        etl_digest digest = etl_digest_begin(kind);
        add_lines(&digest, text->bytes, text->size, (line_ends)ends);
        const size_t size = etl_digest_end(&digest, sum);
        if (size == file->checksum_size && memcmp(sum, file->checksum, size) == 0)
            return true;
    }
    return false;
}
