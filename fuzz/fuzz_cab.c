/* fuzz_cab.c - any bytes as a compressed symbol file (.pd_). */
#include "fuzz.h"

#include "engine/symbol_store/symbol_cab.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPANDED_BYTES_MAX ((u64)16 << 20)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const char *const path = fuzz_file(data, size);
    char target[512];
    etl_error err;
    symbol_partial partial;
    const char *const folder = getenv("TMPDIR");
    snprintf(target, sizeof target, "%s/etlheap-fuzz-%ld.out", folder ? folder : "/tmp",
             (long)getpid());
    if (symbol_partial_open(&partial, target)) {
        (void)symbol_cab_expand(path, "app.pdb", EXPANDED_BYTES_MAX, &partial, &err);
        symbol_partial_drop(&partial);
    }
    unlink(target);
    return 0;
}
