/* fuzz_stacktags.c - any bytes as a stack tags file. */
#include "fuzz.h"

#include "engine/names/tags.h"
#include "formats/read/stack_tags.h"

/* Every tag has a name, every entry point a tag, and what is told of them is true. */
static void check(const etlheap_tags *tags)
{
    u32 by_function = 0;
    for (size_t i = 0; i < tags->rows.count; i++) {
        if (etlheap_strings_get(&tags->strings, tags->rows.at[i].path)[0] == '\0')
            __builtin_trap();
    }
    for (size_t i = 0; i < tags->entries.count; i++) {
        if (tags->entries.at[i].tag >= tags->rows.count)
            __builtin_trap();
        by_function += tags->entries.at[i].symbol != 0;
    }
    if (by_function != etlheap_tags_function_entries(tags))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etlheap_tags *tags;
    etl_error err = { .status = ETL_OK };
    if (etlheap_tags_open(&tags, NULL) != ETL_OK)
        return 0;
    const etl_status status =
        etlheap_stack_tags_parse((etl_bytes){ data, size }, "x.stacktags", tags, &err);
    if (status != ETL_OK && (err.status != status || err.message[0] == '\0'))
        __builtin_trap();
    check(tags);
    etlheap_tags_close(tags);
    return 0;
}
