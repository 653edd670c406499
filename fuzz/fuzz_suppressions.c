/* fuzz_suppressions.c - any bytes as a file of suppressions, and as names to match. */
#include "engine/compare/suppressions.h"
#include "fuzz.h"

#include <stdlib.h>

#define NAME_BYTES_MAX 64

/* The end of the bytes as a name. A suppression that was found must match it. */
static void find(const etlheap_suppressions *suppressions, const u8 *data, size_t size)
{
    char name[NAME_BYTES_MAX + 1] = "";
    const size_t used = size < NAME_BYTES_MAX ? size : NAME_BYTES_MAX;
    if (used > 0)
        memcpy(name, data + size - used, used);
    const etlheap_frame frame = { .symbol = name };
    const u32 found = suppressions_find(suppressions, &frame);
    if (found == SUPPRESSION_NONE)
        return;
    const char *const pattern = suppressions->list.at[found].pattern;
    if (!suppression_matches(pattern, name) && !suppression_matches(pattern, "<unknown module>"))
        abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etlheap_suppressions *suppressions;
    etl_error err = { .status = ETL_OK };
    if (etlheap_suppressions_open(&suppressions, NULL) != ETL_OK)
        return 0;
    const etl_status status =
        etlheap_suppressions_add(suppressions, "fuzz", (etl_bytes){ data, size }, &err);
    if (status != ETL_OK && err.message[0] == '\0')
        abort();
    for (u32 i = 0; i < etlheap_suppressions_count(suppressions); i++) {
        const char *const pattern = suppressions->list.at[i].pattern;
        if (pattern[0] == '\0' || strchr(pattern, '\n'))
            abort();
    }
    find(suppressions, data, size);
    etlheap_suppressions_close(suppressions);
    return 0;
}
