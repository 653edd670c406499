/*
 * pool_tags_read.c - reads descriptions of pool tags in the form of pooltag.txt.
 *
 * In: the bytes of a file, which is not trusted. Out: tags and descriptions, in an
 * etlheap_pool_tags; the number of lines that say nothing.
 *
 *     rem  a comment
 *     AfdB - afd.sys      -     Afd data buffer        "afd.sys: Afd data buffer"
 *     CM?? - nt!cm        - Internal allocations       any two characters
 *     Irp  - <unknown>    - Io, IRP packets            "Io, IRP packets"
 *     Dh 0 - <unknown>    - default object             a space in the tag
 *     CMAl - nt!cm        -internal allocator          no space before the description
 *
 * The format is known from pooltag.txt of the Debugging Tools for Windows and of the Windows Server
 * 2003 Resource Kit Tools: a line is a tag, " - ", a binary and a description. Some lines are
 * headings or lack a part; they are counted and skipped. The encoding is not stated: bytes that are
 * not UTF-8 are read as Latin-1. Invariant: a line is never refused for its content, and what is
 * kept of it has a limit.
 */
#include "pool_tags_read.h"

#include <stdlib.h>
#include <strings.h>

#include "parser/system/map.h"

#define FILE_BYTES_MAX (4u << 20) /* published files have about 100 KB */
#define TAG_BYTES      4u
#define TEXT_BYTES_MAX 200u /* of a description in the file; the rest is cut off */
#define TEXT_SIZE      (3 * TEXT_BYTES_MAX + 1)

/* A line taken apart; points into the file. */
typedef struct tag_line {
    etl_bytes tag, binary, text;
} tag_line;

static bool is_blank(u8 byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static etl_bytes trim(etl_bytes text)
{
    while (text.size > 0 && is_blank(text.at[0]))
        text = (etl_bytes){ text.at + 1, text.size - 1 };
    while (text.size > 0 && is_blank(text.at[text.size - 1]))
        text.size--;
    return text;
}

/* Takes the next line, without its end. */
static etl_bytes take_line(etl_bytes *left)
{
    const u8 *const end = memchr(left->at, '\n', left->size);
    const size_t size = end == NULL ? left->size : (size_t)(end - left->at);
    const etl_bytes line = { left->at, size };
    const size_t taken = size + (end != NULL);
    *left = (etl_bytes){ left->at + taken, left->size - taken };
    return line;
}

/* Cuts a text at its first dash after a blank, with or without a blank behind it. */
static bool cut(etl_bytes *text, etl_bytes *before)
{
    for (size_t i = 1; i < text->size; i++) {
        if (text->at[i] != '-' || !is_blank(text->at[i - 1]))
            continue;
        *before = (etl_bytes){ text->at, i - 1 };
        *text = (etl_bytes){ text->at + i + 1, text->size - i - 1 };
        return true;
    }
    return false;
}

static bool is_word(etl_bytes text, const char *word)
{
    return text.size == strlen(word) && strncasecmp((const char *)text.at, word, text.size) == 0;
}

/* True for blank lines and comments. */
static bool is_comment(etl_bytes line)
{
    const etl_bytes text = trim(line);
    return text.size == 0 || (text.size >= 3 && is_word((etl_bytes){ text.at, 3 }, "rem") &&
                              (text.size == 3 || is_blank(text.at[3])));
}

static bool read_line(etl_bytes line, tag_line *out)
{
    *out = (tag_line){ .text = line };
    if (!cut(&out->text, &out->tag))
        return false;
    while (out->tag.size > 0 && is_blank(out->tag.at[out->tag.size - 1]))
        out->tag.size--;
    (void)cut(&out->text, &out->binary);
    out->binary = trim(out->binary);
    out->text = trim(out->text);
    return out->tag.size >= 1 && out->tag.size <= TAG_BYTES && !is_blank(out->tag.at[0]) &&
           memchr(out->tag.at, '\0', out->tag.size) == NULL && out->text.size > 0;
}

/* Writes "afd.sys: Afd data buffer". */
static void describe(const tag_line *line, char out[2 * TEXT_SIZE])
{
    const bool is_known = line->binary.size > 0 && !is_word(line->binary, "<unknown>");
    etl_bytes binary = line->binary, text = line->text;
    binary.size = etl_min_u64(binary.size, TEXT_BYTES_MAX);
    text.size = etl_min_u64(text.size, TEXT_BYTES_MAX);
    out[0] = '\0';
    if (is_known) {
        etl_text_to_utf8(binary, out, TEXT_SIZE);
        strcat(out, ": ");
    }
    etl_text_to_utf8(text, out + strlen(out), TEXT_SIZE - 2);
}

static etl_status add_line(const tag_line *line, etlheap_pool_tags *tags, etl_error *err)
{
    char tag[TAG_BYTES + 1] = "", text[2 * TEXT_SIZE];
    memcpy(tag, line->tag.at, line->tag.size);
    describe(line, text);
    return etlheap_pool_tags_add(tags, tag, text, err);
}

etl_status etlheap_pool_tags_parse(etl_bytes file, const char *name, etlheap_pool_tags *tags,
                                   etlheap_skipped_lines *skipped, etl_error *err)
{
    static const u8 mark[] = { 0xEF, 0xBB, 0xBF };
    etl_error why = { .status = ETL_OK };
    etl_status status = ETL_OK;
    tag_line line;
    *skipped = (etlheap_skipped_lines){ .count = 0 };
    if (file.size > FILE_BYTES_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "%.80s is too large for pool tags", name);
    if (file.size >= sizeof mark && memcmp(file.at, mark, sizeof mark) == 0)
        file = (etl_bytes){ file.at + sizeof mark, file.size - sizeof mark };
    for (u32 number = 1; status == ETL_OK && file.size > 0; number++) {
        const etl_bytes bytes = take_line(&file);
        if (is_comment(bytes))
            continue;
        if (read_line(bytes, &line))
            status = add_line(&line, tags, &why);
        else if (skipped->count++ == 0)
            skipped->first = number;
        if (status != ETL_OK)
            status =
                etl_fail_with(err, status, 0, "%.80s, line %u: %.100s", name, number, why.message);
    }
    return status;
}

etl_status etlheap_pool_tags_read(const char *path, etlheap_pool_tags *tags,
                                  etlheap_skipped_lines *skipped, etl_error *err)
{
    etl_map map = { .memory = NULL };
    etl_error why = { .status = ETL_OK };
    etl_status status = etl_map_open(path, true, &map, &why);
    *skipped = (etlheap_skipped_lines){ .count = 0 };
    if (status != ETL_OK)
        return etl_fail_with(err, status, 0, "pool tags %.80s: %.120s", path, why.message);
    status = etlheap_pool_tags_parse(map.bytes, path, tags, skipped, err);
    etl_map_close(&map);
    return status;
}
