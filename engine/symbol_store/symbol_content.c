/*
 * symbol_content.c - what a file is, by its first bytes.
 */
#include <stdio.h>

#include "parser/system/files.h"
#include "symbol_content.h"

typedef struct magic {
    const char *bytes;
    size_t size;
    symbol_content content;
} magic;

/* Source: LLVM's "The MSF File Format"; microsoft/pdb-rs on MSFZ; ECMA-335 II.24
 * (BSJB); PE Format; [MS-CAB] 2.1. */
static const magic magics[] = {
    { "Microsoft C/C++ MSF 7.00\r\n\x1a"
      "DS",
      29, SYMBOL_CONTENT_PDB },
    { "Microsoft C/C++ program database", 32, SYMBOL_CONTENT_PDB },
    { "Microsoft MSFZ Container", 24, SYMBOL_CONTENT_PDB },
    { "BSJB", 4, SYMBOL_CONTENT_PDB },
    { "MZ", 2, SYMBOL_CONTENT_IMAGE },
    { "MSCF", 4, SYMBOL_CONTENT_CABINET },
};

static bool begins_with(etl_bytes head, const magic *wanted);
static bool is_markup(etl_bytes head);

symbol_content symbol_content_of(etl_bytes head)
{
    for (size_t i = 0; i < ETL_COUNT_OF(magics); i++)
        if (begins_with(head, &magics[i]))
            return magics[i].content;
    return is_markup(head) ? SYMBOL_CONTENT_MARKUP : SYMBOL_CONTENT_UNKNOWN;
}

static bool begins_with(etl_bytes head, const magic *wanted)
{
    return head.size >= wanted->size && memcmp(head.at, wanted->bytes, wanted->size) == 0;
}

/* White space and a byte order mark may come before the first bracket. */
static bool is_markup(etl_bytes head)
{
    size_t i = 0;
    if (head.size >= 3 && memcmp(head.at, "\xef\xbb\xbf", 3) == 0)
        i = 3;
    while (i < head.size && strchr(" \t\r\n", head.at[i]) && head.at[i] != 0)
        i++;
    return i < head.size && head.at[i] == '<';
}

/* Source: as above; [MS-CAB] 2.1 for cbCabinet. */
u64 symbol_content_size(etl_bytes head)
{
    enum { BLOCK_BYTES_AT = 32, BLOCK_COUNT_AT = 40, CABINET_BYTES_AT = 8 };
    const symbol_content content = symbol_content_of(head);
    const bool is_msf7 = content == SYMBOL_CONTENT_PDB && begins_with(head, &magics[0]);
    if (is_msf7 && head.size >= BLOCK_COUNT_AT + sizeof(u32))
        return (u64)etl_load_u32(head.at + BLOCK_BYTES_AT) * etl_load_u32(head.at + BLOCK_COUNT_AT);
    if (content == SYMBOL_CONTENT_CABINET && head.size >= CABINET_BYTES_AT + sizeof(u32))
        return etl_load_u32(head.at + CABINET_BYTES_AT);
    return 0;
}

symbol_content symbol_content_of_file(const char *path)
{
    FILE *const file = etl_file_stream(path);
    if (!file)
        return SYMBOL_CONTENT_UNKNOWN;
    u8 head[SYMBOL_CONTENT_BYTES];
    const size_t size = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    return symbol_content_of((etl_bytes){ head, size });
}
