/* fuzz_undecorate.c - any bytes as a decorated name. */
#include "fuzz.h"
#include "parser/symbols.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    char name[ETL_UNDECORATED_CAPACITY];
    const etl_bytes decorated = { data, size };
    size_t length = 0;
    const bool has_nul = size > 0 && memchr(data, 0, size) != NULL; /* no linker writes one */
    if (etl_undecorate(decorated, name, sizeof name, &length) && !has_nul && strlen(name) != length)
        __builtin_trap();
    (void)etl_undecorate_c(decorated, true);
    (void)etl_undecorate_c(decorated, false);
    (void)etl_undecorate_arm64ec(decorated);
    (void)etl_is_data_name(decorated);
    return 0;
}
