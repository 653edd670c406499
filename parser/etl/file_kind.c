/*
 * file_kind.c - recognises what people open by mistake, by its first bytes.
 */
#include "file_kind.h"

#include "parser/base.h"

/* So many bytes are enough to call a file text or empty space. */
#define SAMPLE_BYTES     512u
#define TAR_MAGIC_OFFSET 257u

typedef struct file_magic {
    const char *bytes;
    size_t size;
    const char *phrase;
} file_magic;

#define MAGIC(bytes, phrase)                                                                       \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, phrase                                                           \
    }

static const file_magic magics[] = {
    MAGIC("\x89"
          "EHS\r\n\x1A\n",
          "a store of etlheap (.ehs), which etlheap_open_store opens"),
    MAGIC("PK\x03\x04", "a zip archive; unpack it first"),
    MAGIC("MZ", "a Windows program or library"),
    MAGIC("\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
    MAGIC("\x1f\x8b", "a gzip archive; unpack it first"),
    MAGIC("7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    MAGIC("\xfd"
          "7zXZ",
          "an xz archive; unpack it first"),
    MAGIC("BZh", "a bzip2 archive; unpack it first"),
    MAGIC("MSCF", "a cabinet file; unpack it first"),
    MAGIC("Rar!", "a rar archive; unpack it first"),
    MAGIC("Microsoft C/C++ MSF", "a PDB symbol file"),
    MAGIC("ElfFile", "a Windows event log (.evtx)"),
    MAGIC("Nettrace", "a .NET EventPipe trace (.nettrace)"),
    MAGIC("PERFILE2", "a recording of Linux perf (perf.data)"),
    MAGIC("2ELIFREP", "a recording of Linux perf (perf.data)"),
    MAGIC("\x14\0\0\0!FastSerialization.1",
          "a file that PerfView converted (.etlx) or an older EventPipe trace; open the .etl file"),
    MAGIC("MDMP", "a minidump"),
    MAGIC("PAGEDU", "a memory dump"),
    MAGIC("\x7f"
          "ELF",
          "a Linux program or library"),
    MAGIC("SQLite format 3", "an SQLite database"),
    MAGIC("\xff\xfe", "text (UTF-16)"),
    MAGIC("\xef\xbb\xbf", "text (UTF-8)"),
};

static bool is_tar(etl_bytes file);
static bool is_text(const u8 *bytes, size_t size);
static bool is_zero(const u8 *bytes, size_t size);

const char *etl_file_kind(etl_bytes file)
{
    for (size_t i = 0; i < ETL_COUNT_OF(magics); i++)
        if (file.size >= magics[i].size && memcmp(file.at, magics[i].bytes, magics[i].size) == 0)
            return magics[i].phrase;
    if (is_tar(file))
        return "a tar archive; unpack it first";
    const size_t size = file.size < SAMPLE_BYTES ? file.size : SAMPLE_BYTES;
    if (is_text(file.at, size))
        return "text";
    if (is_zero(file.at, size))
        return "zero bytes; it may not have been copied completely";
    return NULL;
}

/* A tar archive begins with the name of its first file. */
static bool is_tar(etl_bytes file)
{
    static const char magic[] = "ustar";
    const size_t size = sizeof magic - 1;
    return file.size >= TAR_MAGIC_OFFSET + size &&
           memcmp(file.at + TAR_MAGIC_OFFSET, magic, size) == 0;
}

static bool is_text(const u8 *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const bool is_space = bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r';
        if (bytes[i] == 0x7f || (bytes[i] < 0x20 && !is_space))
            return false;
    }
    return true;
}

static bool is_zero(const u8 *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}
