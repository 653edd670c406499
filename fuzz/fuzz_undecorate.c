/* fuzz_undecorate.c - any bytes as a decorated name, and as a name to compare. */
#include <stdlib.h>

#include "engine/core/stable_name.h"
#include "fuzz.h"
#include "parser/symbols.h"

/* The stable form is not longer, and says whether it differs. */
static void check_stable(const u8 *data, size_t size)
{
    char *const name = malloc(size + 1), *const out = malloc(size + 1);
    if (name == NULL || out == NULL)
        abort();
    memcpy(name, data, size);
    name[size] = '\0';
    const size_t length = stable_name_write(name, out);
    if (length != strlen(out) || stable_name_differs(name) != (strcmp(name, out) != 0))
        __builtin_trap();
    free(name);
    free(out);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    char name[ETL_UNDECORATED_CAPACITY];
    const etl_bytes decorated = { data, size };
    size_t length = 0;
    const bool has_nul = size > 0 && memchr(data, 0, size) != NULL; /* no linker writes one */
    if (etl_undecorate(decorated, name, sizeof name, &length) && !has_nul && strlen(name) != length)
        __builtin_trap();
    if (etl_demangle(decorated, name, sizeof name, &length) && !has_nul && strlen(name) != length)
        __builtin_trap();
    (void)etl_undecorate_c(decorated, true);
    (void)etl_undecorate_c(decorated, false);
    (void)etl_undecorate_arm64ec(decorated);
    (void)etl_is_data_name(decorated);
    check_stable(data, size);
    return 0;
}
