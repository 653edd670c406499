/*
 * Goal: two builds of one program give a function one stable name, and different functions keep
 * different ones.
 * Method: names as compilers write them, in pairs that differ in what a build changes, and names of
 * people that look alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/core/stable_name.h"

/* The stable form, in memory of exactly the size that the contract asks for. */
static char *stable(const char *name)
{
    char *const out = malloc(strlen(name) + 1);
    assert_non_null(out);
    const size_t length = stable_name_write(name, out);
    assert_int_equal(length, strlen(out));
    assert_true(strlen(out) <= strlen(name));
    assert_int_equal(stable_name_differs(name), strcmp(name, out) != 0);
    return out;
}

static void builds_of_one_function_are_equal(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "App::call<`lambda at leak.cpp:3:51'>",
          "App::call<`lambda at d:\\x (1)\\leak.cpp:44:5'>" },
        { "run(lambda at a/b.cpp:3:51)::operator()", "run(lambda at b.cpp:4:51)::operator()" },
        { "f::<lambda_1>::operator()", "f::<lambda_12>::operator()" },
        { "f<<lambda_0123456789abcdef0123456789abcdef> >::g",
          "f<<lambda_fedcba9876543210fedcba9876543210> >::g" },
        { "lambda_0123456789abcdef0123456789abcdef_::operator()",
          "lambda_fedcba9876543210fedcba9876543210_::operator()" },
        { "main::__l2::<lambda_1>::operator()", "main::__l7::<lambda_3>::operator()" },
        { "`f'::`2'::x", "`f'::`13'::x" },
        { "main::'lambda0'::operator()", "main::'lambda12'::operator()" },
        { "main::{lambda(int)#1}::operator()", "main::{lambda(int)#2}::operator()" },
        { "main::$_0::operator()", "main::$_17::operator()" },
        { "app.__lambda2", "app.__lambda31" },
        { "`anonymous namespace'::grow", "(anonymous namespace)::grow" },
        { "?A0x1234abcd::grow", "?A0xfedc0987::grow" },
        { "A0x1234abcd::grow", "`anonymous-namespace'::grow" },
        { "leak::cache::insert::h0123456789abcdef", "leak::cache::insert::hfedcba9876543210" },
        { "leak::cache::insert::h0123456789abcdef.llvm.42", "leak::cache::insert" },
        { "<leak[1a2b]::Cache as core[846817f741e54dfd]::Drop>::drop",
          "<leak[ffff]::Cache as core[0]::Drop>::drop" },
        { "leak::main::closure$0", "leak::main::closure$3" },
        { "leak::impl$1::drop", "leak::impl$2::drop" },
        { "leak::main::{closure#0}", "leak::main::{closure#5}" },
        { "grow.llvm.1234567890", "grow.llvm.99" },
        { "grow.part.0.cold", "grow.part.1" },
        { "grow.constprop.0.isra.3", "grow" },
        { "grow [clone .cold]", "grow" },
        { "grow$catch$0", "grow$catch$12" },
        { "App.<>c.<Run>b__3_0", "App.<>c.<Run>b__4_10" },
        { "App.<Run>d__12.MoveNext", "App.<Run>d__9.MoveNext" },
        { "App.<>c__DisplayClass3_0.<Run>b__1", "App.<>c__DisplayClass12_1.<Run>b__0" },
        { "App.<Run>g__Local|3_0", "App.<Run>g__Local|11_2" },
        { "<>f__AnonymousType0`2.get_A", "<>f__AnonymousType7`2.get_A" },
        { "Program.run@12-1.Invoke", "Program.run@99.Invoke" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(pairs); i++) {
        char *const one = stable(pairs[i][0]), *const other = stable(pairs[i][1]);
        assert_string_equal(one, other);
        free(one);
        free(other);
    }
}

static void names_of_people_stay(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "grow",
        "lambda_1",
        "my_lambda_1",
        "app::lambda2",
        "f<int[10]>",
        "a::h0123456789abcdef::b",
        "a::h0123456789abcde",
        "std::vector<int,std::allocator<int> >::push_back",
        "operator new[]",
        "`vector deleting destructor'",
        "A0x12345::f",
        "at 3:51)",
        "f at x.cpp:3:51",
        "type at end",
        "run@",
        "main.part",
        "grow.coldest",
        "enum2$<core::option::Option<u32> >::unwrap",
        "List`1.Add",
        "$",
        "#1",
        "[1]::",
        "|1",
        "@8",
        "??@0123456789abcdef0123456789abcdef@",
        "Grow_3_0",
        "DisplayClass3",
    };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        char *const out = stable(names[i]);
        assert_string_equal(out, names[i]);
        free(out);
    }
}

static void what_tells_functions_apart_stays(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "f::{lambda(int)#1}", "f::{lambda(char)#1}" },
        { "f::<lambda_1>::operator()", "g::<lambda_1>::operator()" },
        { "App.<Run>b__3_0", "App.<Stop>b__3_0" },
        { "App.<Run>b__3_0", "App.<Run>d__3" },
        { "f(lambda at a.cpp:1:1)", "f(lambda at b.cpp:1:1)" },
        { "leak::insert::h0123456789abcdef", "leak::remove::h0123456789abcdef" },
        { "<>f__AnonymousType0`2.A", "<>f__AnonymousType0`3.A" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(pairs); i++) {
        char *const one = stable(pairs[i][0]), *const other = stable(pairs[i][1]);
        assert_string_not_equal(one, other);
        free(one);
        free(other);
    }
}

/* Hostile names: what is looked for has no end. */
static void long_names_take_no_long_time(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "lambda at ", ".cold", " [clone ", "`2", "$1", "::h0", "[0"
    };
    enum { SIZE = 1 << 20 };
    char *const name = malloc(SIZE + 1);
    assert_non_null(name);
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++) {
        const size_t size = strlen(parts[i]);
        for (size_t at = 0; at < SIZE; at++)
            name[at] = parts[i][at % size];
        name[SIZE] = '\0';
        free(stable(name));
    }
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_of_one_function_are_equal),
        cmocka_unit_test(names_of_people_stay),
        cmocka_unit_test(what_tells_functions_apart_stays),
        cmocka_unit_test(long_names_take_no_long_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
