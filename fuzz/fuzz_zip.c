/* fuzz_zip.c - any bytes as a zip of traces: no member is longer than allowed. */
#include "formats/formats.h"
#include "fuzz.h"

#include <sys/stat.h>

#define MEMBER_BYTES_MAX ((u64)1 << 20)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const etlheap_zip_options options = { .size = sizeof options,
                                          .member_bytes_max = MEMBER_BYTES_MAX };
    const char *const path = fuzz_file(data, size);
    etlheap_zip *zip = NULL;
    etl_error err;
    (void)etlheap_zip_recognise(path);
    if (etlheap_zip_extract(path, &options, &zip, &err) != ETL_OK)
        return 0;
    for (u32 i = 0; i < etlheap_zip_count(zip); i++) {
        struct stat facts;
        if (stat(etlheap_zip_member_of(zip, i).path, &facts) != 0 ||
            (u64)facts.st_size > MEMBER_BYTES_MAX)
            __builtin_trap();
    }
    etlheap_zip_close(zip);
    return 0;
}
