/*
 * fuzz_source.c - the path of a source file in a PDB, and the bytes of such a file.
 *
 * In: a path up to the first line end, then what the file holds. Out: nothing, or a crash.
 * Invariant that it checks: names of a mapped path lead nowhere but down, the text of a
 * file is free of NUL.
 */
#include <stdlib.h>

#include "formats/parts/source_lines.h"
#include "formats/parts/source_roots.h"
#include "fuzz.h"
#include "parser/system/below.h"

#define PATH_BYTES_MAX 8192

static const etlheap_source_root made_roots[] = {
    { "C:\\src", "." }, { "c:/src/sub/", "sub" }, { "/", "root" }, { "\\\\server\\share", "" }
};
static const etlheap_source_roots roots = { made_roots, ETL_COUNT_OF(made_roots) };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void map_path(const char *path)
{
    const char *rest = NULL;
    char names[ETL_BELOW_BYTES_MAX];
    const etlheap_source_root *const root = etlheap_source_roots_find(&roots, path, &rest);
    require(etlheap_source_paths_same(path, path));
    require((root != NULL) == etlheap_source_roots_have(&roots, path));
    if (!root)
        return;
    require(rest > path && rest <= path + strlen(path) && rest[0] != '/' && rest[0] != '\\');
    const u32 count = etl_below_names(rest, names);
    require(count <= ETL_BELOW_NAMES_MAX);
    const char *name = names;
    for (u32 i = 0; i < count; i++) {
        require(name[0] != '\0' && !strpbrk(name, "/\\"));
        require(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
        name += strlen(name) + 1;
        require(name <= names + sizeof names);
    }
}

static void read_file(const u8 *bytes, size_t size)
{
    etlheap_source_text text = { .status = ETLHEAP_SOURCE_SHOWN, .size = size };
    text.bytes = malloc(size + 1);
    require(text.bytes != NULL);
    memcpy(text.bytes, bytes, size);
    etlheap_source_text_decode(&text);
    if (text.status == ETLHEAP_SOURCE_SHOWN && text.lines.size > 0)
        require(memchr(text.lines.bytes, '\0', text.lines.size) == NULL);
    for (u32 sum = 0; sum < 3; sum++) {
        static const u8 sizes[] = { 16, 20, 32 };
        const etlheap_source_file file = { .checksum_size = sizes[sum], .checksum = bytes };
        if (size >= sizes[sum])
            (void)etlheap_source_text_is(&text, &file);
    }
    etlheap_source_text_free(&text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    char path[PATH_BYTES_MAX];
    const u8 *const end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    if (length >= sizeof path)
        return 0;
    memcpy(path, data, length);
    path[length] = '\0';
    map_path(path);
    if (end)
        read_file(end + 1, size - length - 1);
    return 0;
}
