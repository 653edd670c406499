/*
 * symbols_sources.c - the source files in which the looked-up lines are.
 *
 * In: for each line of a PDB, its file and the file's checksum. Out: a list of files by build, each
 * once. Invariant: a file that was compiled in several states has one entry for each, because lines
 * of all of them were found.
 */
#include "engine/etlheap_symbols.h"
#include "symbols.h"

static bool same_file(const void *owner, u32 id, const void *key)
{
    const symbol_file_set *const files = owner;
    return memcmp(&files->list.at[id - 1], key, sizeof(symbol_file)) == 0;
}

bool symbol_files_add(symbol_file_set *files, const symbol_file *file)
{
    const size_t count = files->list.count;
    /* Neighbours mostly lie in one file. */
    if (count > 0 && same_file(files, (u32)count, file))
        return true;
    const u64 hash = etlheap_hash_bytes(file, sizeof *file);
    if (etlheap_index_find(&files->index, hash, same_file, files, file) != 0)
        return true;
    return count < UINT32_MAX - 1 && ETLHEAP_PUSH(&files->list, *file) &&
           etlheap_index_add(&files->index, hash, (u32)count + 1);
}

void symbol_files_free(symbol_file_set *files)
{
    ETLHEAP_VECTOR_FREE(&files->list);
    etlheap_index_free(&files->index);
}

uint32_t etlheap_symbols_source_count(const etlheap_symbols *symbols)
{
    return (uint32_t)symbols->files.list.count;
}

bool etlheap_symbols_source_at(const etlheap_symbols *symbols, uint32_t index,
                               etlheap_source_file *out)
{
    if (index >= symbols->files.list.count)
        return false;
    const symbol_file *const file = &symbols->files.list.at[index];
    *out = (etlheap_source_file){ .file = etlheap_strings_get(&symbols->strings, file->file),
                                  .module = symbols->builds.at[file->build].module->name,
                                  .checksum = file->checksum.bytes,
                                  .checksum_size = file->checksum.size };
    return true;
}
