/* fuzz_zip.c - any bytes as a zip of traces: no member is longer than allowed. */
#include "formats/formats.h"
#include "fuzz.h"

#include <sys/stat.h>

#define MEMBER_BYTES_MAX ((u64)1 << 20)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const etlheap_unpack_options options = { .size = sizeof options,
                                             .member_bytes_max = MEMBER_BYTES_MAX };
    const char *const path = fuzz_file(data, size);
    etlheap_unpacked *zip = NULL;
    etl_error err;
    (void)etlheap_is_packed(path);
    if (etlheap_unpack(path, &options, &zip, &err) != ETL_OK)
        return 0;
    for (u32 i = 0; i < etlheap_unpacked_count(zip); i++) {
        struct stat facts;
        if (stat(etlheap_unpacked_member_of(zip, i).path, &facts) != 0 ||
            (u64)facts.st_size > MEMBER_BYTES_MAX)
            __builtin_trap();
    }
    etlheap_unpacked_close(zip);
    return 0;
}
