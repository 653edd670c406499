/* fuzz_pdb.c - any bytes as a PDB: opened, asked for a spread of addresses and for
 * its publics. Names and files are read to their ends. */
#include "fuzz.h"
#include "parser/symbols.h"

#define ADDRESSES 512u

static void touch(etl_bytes bytes)
{
    volatile u8 last = 0;
    for (size_t i = 0; i < bytes.size; i++)
        last = bytes.at[i];
    (void)last;
}

static void resolve(etl_pdb_resolver *resolver)
{
    u32 rvas[ADDRESSES];
    for (u32 i = 0; i < ADDRESSES; i++)
        rvas[i] = 0x1000 + i * 7;
    rvas[ADDRESSES - 1] = UINT32_MAX;
    if (etl_pdb_resolver_begin(resolver, rvas, ADDRESSES, NULL) != ETL_OK)
        return;
    etl_pdb_location found;
    while (etl_pdb_resolver_next(resolver, &found)) {
        touch(found.function.name);
        touch(found.function.file);
        touch(found.alloc_type);
        for (u32 i = 0; i < found.inline_count; i++)
            touch(found.inlined[i].name);
    }
    etl_pdb_public entry;
    for (u32 at = 0, count = 0; count < 10000 && etl_pdb_public_next(resolver, &at, &entry);
         count++)
        touch(entry.name);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etl_pdb_file *file = NULL;
    etl_pdb_resolver *resolver = NULL;
    etl_error err;
    if (etl_pdb_open_memory((etl_bytes){ data, size }, &file, &err) != ETL_OK)
        return 0;
    if (etl_pdb_resolver_open(file, ETL_PDB_WANT_ALL, &resolver, &err) == ETL_OK)
        resolve(resolver);
    etl_pdb_resolver_close(resolver);
    etl_pdb_close(file);
    return 0;
}
