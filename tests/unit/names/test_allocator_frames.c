/*
 * Goal: the built-in cull list takes the allocators of each runtime by the names that people see,
 * and takes no program's own functions.
 * Method: decorated names as linkers have them, made readable as symbols.c does, and looked up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/query/query.h"
#include "parser/undecorate.h"

/* Does the list take a function of a program's own module? */
static bool is_culled(const char *module, const char *symbol)
{
    u32 count = 0;
    const etlheap_pattern *const patterns = etlheap_allocator_frames(&count);
    for (u32 i = 0; i < count; i++) {
        if (!patterns[i].unnamed_only && etlheap_pattern_matches(&patterns[i], module, symbol))
            return true;
    }
    return false;
}

/* The name that a report shows for a public name. */
static const char *readable(const char *name, char *text, size_t size)
{
    const etl_bytes bytes = etl_undecorate_arm64ec((etl_bytes){ (const u8 *)name, strlen(name) });
    if (etl_undecorate(bytes, text, size, NULL) || etl_demangle(bytes, text, size, NULL))
        return text;
    memcpy(text, bytes.at, bytes.size);
    text[bytes.size] = '\0';
    return text;
}

static void check(const char *module, const char *const *names, size_t count, bool wanted)
{
    char text[1024];
    for (size_t i = 0; i < count; i++) {
        const char *const name = readable(names[i], text, sizeof text);
        if (is_culled(module, name) != wanted)
            fail_msg("%s (%s) is %s", names[i], name, wanted ? "not culled" : "culled");
    }
}

static void allocators_of_rust_are_culled(void **state)
{
    (void)state;
    static const char *const names[] = {
        "__rust_alloc",
        "__rust_realloc",
        "__rust_alloc_zeroed",
        "__rdl_alloc",
        "__rg_alloc",
        "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE",
        "_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$16reserve_for_push17hfedcba9876543210E",
        "_RNvMs_NtCs7qp2U7fqm6G_5alloc7raw_vecINtB4_6RawVechE7reserveCs1234_4leak",
    };
    check("app.exe", names, ETL_COUNT_OF(names), true);
}

static void allocators_of_mingw_are_culled(void **state)
{
    (void)state;
    static const char *const names[] = { "_Znwy", "_ZnayRKSt9nothrow_t", "_ZdlPv",
                                         "_ZNSt15__new_allocatorIiE8allocateEyPKv" };
    check("app.exe", names, ETL_COUNT_OF(names), true);
}

static void allocators_of_d_are_culled(void **state)
{
    (void)state;
    static const char *const names[] = {
        "_d_newclass",
        "_d_newarrayT",
        "_d_arrayappendcTX",
        "_d_allocmemory",
        "gc_malloc",
        "_D4core6memory2GC6mallocFNaNbkkxC8TypeInfoZPv",
        "_D4core8internal2gc4impl12conservativeQw14ConservativeGC6mallocMFNbkkxC8TypeInfoZPv",
        "_D2rt8lifetime12__arrayAllocFNaNbkxC8TypeInfoxQlZv",
    };
    check("app.exe", names, ETL_COUNT_OF(names), true);
}

/* Thunks stand between code for x64 and for ARM64, and decorate the functions they lead to. */
static void thunks_and_allocators_of_arm64ec_are_culled(void **state)
{
    (void)state;
    static const char *const names[] = { "$ientry_thunk$cdecl$i8$i8",
                                         "$iexit_thunk$cdecl$i8$i8i8",
                                         "#HeapAlloc$exit_thunk",
                                         "#malloc",
                                         "EXP+#malloc",
                                         "??2@$$hYAPEAX_K@Z" };
    static const char *const heap[] = { "#RtlAllocateHeap", "#RtlFreeHeap" };
    check("app.exe", names, ETL_COUNT_OF(names), true);
    check("ntdll.dll", heap, ETL_COUNT_OF(heap), true);
}

static void functions_of_programs_stay(void **state)
{
    (void)state;
    static const char *const names[] = {
        "?grow@@$$hYAXXZ",
        "#grow",
        "_ZN4leak5cache6insert17h0123456789abcdefE",
        "_RNvNtCs1234_7mycrate3foo3bar",
        "_ZN5cache6insertEv",
        "_D4main5Cache3putMFiZv",
        "_D4main__T6mallocTiZQkFZv",
        "_D4main2gc4impl3runFZv",
    };
    check("app.exe", names, ETL_COUNT_OF(names), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocators_of_rust_are_culled),
        cmocka_unit_test(allocators_of_mingw_are_culled),
        cmocka_unit_test(allocators_of_d_are_culled),
        cmocka_unit_test(thunks_and_allocators_of_arm64ec_are_culled),
        cmocka_unit_test(functions_of_programs_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
