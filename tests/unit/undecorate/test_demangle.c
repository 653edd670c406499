/*
 * Goal: names of Rust, and of C++ from MinGW, become what people call the functions; hostile ones
 * are refused in time and in bounds.
 * Method: names with their texts, as llvm-cxxfilt 16 writes them without parameters; names cut at
 * each place, and names that refer to themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "parser/base.h"
#include "parser/undecorate.h"

/* NULL: refused. The input is in memory of its own size; valid until the next call. */
static const char *demangled(const char *mangled, size_t size)
{
    static char out[4096];
    u8 *const input = malloc(size + 1);
    size_t length = 0;
    assert_non_null(input);
    memcpy(input, mangled, size);
    const bool is_read = etl_demangle((etl_bytes){ input, size }, out, sizeof out, &length);
    free(input);
    if (is_read)
        assert_int_equal(length, strlen(out));
    return is_read ? out : NULL;
}

static void check(const char *const (*pairs)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const got = demangled(pairs[i][0], strlen(pairs[i][0]));
        if (got == NULL)
            fail_msg("%s is refused", pairs[i][0]);
        else
            assert_string_equal(got, pairs[i][1]);
        for (size_t size = 0; size < strlen(pairs[i][0]); size++)
            (void)demangled(pairs[i][0], size);
    }
}

static void rust_loses_its_hashes(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "_ZN4leak5cache6insert17h0123456789abcdefE", "leak::cache::insert" },
        { "__ZN4leak5cache6insert17h0123456789abcdefE", "leak::cache::insert" },
        { "_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$16reserve_for_push17hfedcba9876543210E",
          "alloc::raw_vec::RawVec<T,A>::reserve_for_push" },
        { "_ZN29_$LT$a..B$u20$as$u20$c..D$GT$4drop17h0123456789abcdefE", "<a::B as c::D>::drop" },
        { "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
        { "_RNvMs_NtCs7qp2U7fqm6G_5alloc7raw_vecINtB4_6RawVechE7reserveCs1234_4leak",
          "<alloc::raw_vec::RawVec<u8>>::reserve" },
        { "_RNvXs1_NtCs7qp2U7fqm6G_5alloc3vecINtB5_3VechENtNtNtCs7qp2U7fqm6G_"
          "4core3ops4drop4Drop4dropCs"
          "1234_4leak",
          "<alloc::vec::Vec<u8> as core::ops::drop::Drop>::drop" },
        { "_RNCNvCs1234_4leak4mains_0B3_", "leak::main::{closure#1}" },
        { "_RNvYlNtNtCs7qp2U7fqm6G_4core3fmt5Debug3fmtCs1234_4leak",
          "<i32 as core::fmt::Debug>::fmt" },
        { "_RINvCs1234_4leak4growKj10_EB2_", "leak::grow::<16>" },
        { "_RINvCs1234_4leak4growRNtB2_3FooEB2_", "leak::grow::<&leak::Foo>" },
    };
    check(pairs, ETL_COUNT_OF(pairs));
}

static void cpp_is_named_by_scopes_and_arguments(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "_Z4growi", "grow" },
        { "_ZN3foo3barEv", "foo::bar" },
        { "_ZNK3foo3barEv", "foo::bar" },
        { "_ZN3fooC1Ev", "foo::foo" },
        { "_ZN1a3fooIiED2Ev", "a::foo<int>::~foo" },
        { "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int>>::push_back" },
        { "_ZnwmSt11align_val_t", "operator new" },
        { "_ZdaPv", "operator delete[]" },
        { "_ZN1alsIiEERS_S0_T_", "a::operator<< <int>" },
        { "_ZN12_GLOBAL__N_14growEv", "(anonymous namespace)::grow" },
        { "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
        { "_ZZN1a1fEPKcE5cache", "a::f::cache" },
        { "_ZN1a1fIPFivEEEvT_", "a::f<int (*)()>" },
        { "_ZN1a1fIRA32_KcEEvT_", "a::f<char const (&) [32]>" },
        { "_ZN1a1fIM1bFivEEEvT_", "a::f<int (b::*)()>" },
        { "_ZN1a1fILi5ELb1ELm7EEEvv", "a::f<5, true, 7ul>" },
        { "_ZN1a1fIJicEEEvDpT_", "a::f<int, char>" },
        { "_ZN1acvPcEv", "a::operator char*" },
        { "_ZThn8_N1a1fEv", "non-virtual thunk to a::f" },
        { "_ZN1a1fEv.cold", "a::f.cold" },
        { "__ZN1a1fEv", "a::f" },
    };
    check(pairs, ETL_COUNT_OF(pairs));
}

static void other_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "",           "_",          "_Z",        "_R",    "_Zebra",
                                         "malloc",     "_Rx",        "_RN",       "_ZN",   "_ZN1a",
                                         "?f@@YAXXZ",  "_ZNS_1aE",   "_ZS_1",     "_RB_",  "_ZT",
                                         "_ZNS9_1aEv", "_Read_file", "_RNvC3foo", "_ZN3fo" };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        if (demangled(names[i], strlen(names[i])) != NULL)
            fail_msg("%s is read", names[i]);
    }
}

/* Each level refers to the one before it twice: the text would double with each. */
static void names_that_repeat_themselves_end(void **state)
{
    (void)state;
    static const char *const parts[][2] = {
        { "_ZN1aI", "S0_S0_I" }, { "_Z", "P" },      { "_RIC1a", "TB0_B0_" }, { "_R", "I" },
        { "_Z1fI", "J" },        { "_Z", "Z" },      { "_RNvC1a", "B_" },     { "_ZN1aE", "NSt" },
        { "_D1a", "Qb" },        { "_D1a1bF", "A" }, { "_D1a1bF", "DFQb" },   { "_D1a", "__T1bTQc" }
    };
    char name[ETL_MANGLED_SIZE_MAX];
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++) {
        const size_t head = strlen(parts[i][0]), step = strlen(parts[i][1]);
        memcpy(name, parts[i][0], head);
        for (size_t at = head; at < sizeof name; at++)
            name[at] = parts[i][1][(at - head) % step];
        (void)demangled(name, sizeof name);
    }
}

/* Without attributes, and without the type of the symbol itself. */
static void d_is_named_by_modules_and_arguments(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "_D4main5Cache3putMFiZv", "main.Cache.put" },
        { "__D4main5Cache3putMFiZv", "main.Cache.put" },
        { "_D4main5Cache3getMxFNaNbZAya", "main.Cache.get" },
        { "_D4main5Cache6__ctorMFAyaZCQzQw", "main.Cache.this" },
        { "_D4main5Cache6__dtorMFZv", "main.Cache.~this" },
        { "_D4main5Cache6__initZ", "main.Cache.__init" },
        { "_Dmain", "D main" },
        { "_D4main5outerFiZ5innerMFZv", "main.outer.inner" },
        { "_D3std5stdio__T7writelnTAyaZQnFNfQjZv",
          "std.stdio.writeln!(immutable(char)[]).writeln" },
        { "_D4main__T3mapTHAyaiVi12VAyaa3_616263ZQBcFZv",
          "main.map!(int[immutable(char)[]], 12, \"abc\").map" },
        { "_D4main17__T3fooTiTG4dTPvZ3fooFZv", "main.foo!(int, double[4], void*).foo" },
        { "_D4main__T1fTPFiZbTDFZvTS4main1SS4main1gZ1fFZv",
          "main.f!(bool function(int)*, void delegate(), main.S, main.g).f" },
        { "_D4main4dataHiAa", "main.data" },
        { "_D4main1xB2ia", "main.x" },
    };
    check(pairs, ETL_COUNT_OF(pairs));
}

static void names_that_only_begin_like_those_of_d_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "_D3D11CreateDevice",
                                         "_D3",
                                         "_D4main",
                                         "_DllMain",
                                         "_D4mainQa",
                                         "_D4main3fooFQbZv!",
                                         "_D4main3fooFiZ",
                                         "_D4main__T3fooTiFZv",
                                         "_D9main3fooFZv",
                                         "_D4main3fooGiv" };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++)
        assert_null(demangled(names[i], strlen(names[i])));
}

static void the_text_must_fit(void **state)
{
    (void)state;
    static const char name[] = "_ZN3foo3barEv";
    const etl_bytes bytes = { (const u8 *)name, sizeof name - 1 };
    for (size_t capacity = 0; capacity <= sizeof "foo::bar"; capacity++) {
        char *const out = malloc(capacity + 1);
        assert_non_null(out);
        assert_int_equal(etl_demangle(bytes, out, capacity, NULL), capacity == sizeof "foo::bar");
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rust_loses_its_hashes),
        cmocka_unit_test(cpp_is_named_by_scopes_and_arguments),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(names_that_repeat_themselves_end),
        cmocka_unit_test(d_is_named_by_modules_and_arguments),
        cmocka_unit_test(names_that_only_begin_like_those_of_d_are_refused),
        cmocka_unit_test(the_text_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
