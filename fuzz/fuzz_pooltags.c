/* fuzz_pooltags.c - any bytes as descriptions of pool tags. */
#include "fuzz.h"

#include "formats/read/pool_tags_read.h"
#include "parser/base.h"
#include "parser/system/name_fold.h"

/* Every byte is printable ASCII or part of a longer character. */
static void check_text(const char *text)
{
    u8 bytes[8];
    for (const char *at = text; *at != '\0';) {
        if (etl_name_next_utf8(&at, bytes) == 0)
            __builtin_trap();
    }
    if (strlen(text) > 2048)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etlheap_pool_tags *tags;
    etlheap_skipped_lines skipped;
    etl_error err = { .status = ETL_OK };
    if (etlheap_pool_tags_open(&tags, NULL) != ETL_OK)
        return 0;
    const etl_status status =
        etlheap_pool_tags_parse((etl_bytes){ data, size }, "pooltag.txt", tags, &skipped, &err);
    if (status != ETL_OK && (err.status != status || err.message[0] == '\0'))
        __builtin_trap();
    if ((skipped.count == 0) != (skipped.first == 0))
        __builtin_trap();
    for (size_t i = 0; i + 4 <= size && i < 64; i += 4) {
        char tag[5] = "";
        memcpy(tag, data + i, 4);
        const char *const text = etlheap_pool_tags_describe(tags, tag);
        if (text != NULL)
            check_text(text);
    }
    etlheap_pool_tags_close(tags);
    return 0;
}
