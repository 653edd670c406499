/* fuzz_suppressions.c - any bytes as a file of suppressions, and as names to match. */
#include "engine/compare/suppressions.h"
#include "engine/core/stable_name.h"
#include "fuzz.h"

#include <stdlib.h>

#define NAME_BYTES_MAX 64

/* The first suppression whose stable form matches that of the name; one by one, unlike the program,
 * which leaves names and patterns out that are stable already. */
static u32 find_stable(const etlheap_suppressions *suppressions, const char *name)
{
    char stable[NAME_BYTES_MAX + 1];
    (void)stable_name_write(name, stable);
    for (u32 i = 0; i < etlheap_suppressions_count(suppressions); i++) {
        if (suppression_matches(suppressions->list.at[i].stable, stable))
            return i;
    }
    return SUPPRESSION_NONE;
}

/* The end of the bytes as the name of a function that is in no module. The first
 * suppression of the file that matches the module must be found, without case; if none
 * does, the first that matches the function, with case. */
static void find(const etlheap_suppressions *suppressions, const u8 *data, size_t size)
{
    char name[NAME_BYTES_MAX + 1] = "";
    const size_t used = size < NAME_BYTES_MAX ? size : NAME_BYTES_MAX;
    if (used > 0)
        memcpy(name, data + size - used, used);
    const etlheap_frame frame = { .symbol = name };
    u32 by_module = SUPPRESSION_NONE, by_function = SUPPRESSION_NONE;
    for (u32 i = etlheap_suppressions_count(suppressions); i-- > 0;) {
        const char *const pattern = suppressions->list.at[i].pattern;
        if (suppression_matches_module(pattern, "<unknown module>"))
            by_module = i;
        if (suppression_matches(pattern, name))
            by_function = i;
    }
    u32 expected = by_module != SUPPRESSION_NONE ? by_module : by_function, found;
    if (expected == SUPPRESSION_NONE)
        expected = find_stable(suppressions, name);
    suppression_finder finder;
    if (suppression_finder_open(&finder, suppressions) &&
        suppressions_find(&finder, &frame, &found) && found != expected)
        abort();
    suppression_finder_close(&finder);
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
