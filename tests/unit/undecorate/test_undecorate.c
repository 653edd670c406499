/*
 * Goal: decorated names read as people write them, and what is no name of that
 * kind is refused. Method: names with their meaning, by construct of the
 * language; the oracle compares thousands more with other decoders. Inputs and
 * results lie in memory of exactly their size, so that a sanitizer sees overruns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "parser/base.h"
#include "parser/undecorate.h"

typedef struct example {
    const char *decorated;
    const char *name; /* NULL: refused */
} example;

static void check_example(const example *e)
{
    const size_t size = strlen(e->decorated);
    const size_t length = e->name != NULL ? strlen(e->name) : 4000;
    u8 *const input = malloc(size + 1);
    char *const out = malloc(length + 1);
    assert_non_null(input);
    assert_non_null(out);
    memcpy(input, e->decorated, size);
    size_t got = 0;
    const bool is_read = etl_undecorate((etl_bytes){ input, size }, out, length + 1, &got);
    if (is_read != (e->name != NULL))
        fail_msg("%s is %s", e->decorated, is_read ? "read" : "refused");
    if (is_read) {
        assert_string_equal(out, e->name);
        assert_int_equal(got, length);
    }
    free(input);
    free(out);
}

static void check_examples(const example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_example(&examples[i]);
}

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const example examples[] = { __VA_ARGS__ };                                         \
        check_examples(examples, ETL_COUNT_OF(examples));                                          \
    } while (0)

static void functions_and_variables_are_named_by_their_scopes(void **state)
{
    (void)state;
    CHECK({ "?main_loop@@YAHXZ", "main_loop" }, { "?run@app@@YAXH@Z", "app::run" },
          { "?get@list@detail@app@@QEBAHXZ", "app::detail::list::get" },
          { "?count@list@app@@2HA", "app::list::count" }, { "?buffer@@3PADA", "buffer" },
          { "?f@@9", "f" }, { "?f@@$$J0YAXXZ", "f" });
}

static void constructors_and_destructors_are_named_after_their_class(void **state)
{
    (void)state;
    CHECK({ "??0list@app@@QEAA@XZ", "app::list::list" },
          { "??1list@app@@UEAA@XZ", "app::list::~list" },
          { "??0?$list@H@@QAE@XZ", "list<int>::list<int>" },
          { "??$?0H@list@@QAE@H@Z", "list::list<int>" }, { "??0@QAE@XZ", NULL });
}

static void operators_are_spelled(void **state)
{
    (void)state;
    CHECK({ "??2@YAPEAX_K@Z", "operator new" }, { "??_V@YAXPEAX@Z", "operator delete[]" },
          { "??4list@@QEAAAEAV0@AEBV0@@Z", "list::operator=" },
          { "??Rless@@QEBA_NHH@Z", "less::operator()" },
          { "??__Mdate@@QEBAHAEBV0@@Z", "date::operator<=>" },
          { "??__Ltask@@QEAAXXZ", "task::operator co_await" },
          { "??__K_kb@@YA_K_K@Z", "operator \"\"_kb" },
          { "??_Gwidget@@UEAAPEAXI@Z", "widget::`scalar deleting dtor'" });
}

static void codes_without_a_meaning_are_refused(void **state)
{
    (void)state;
    CHECK({ "??_QC@@QAEXXZ", NULL }, { "??__ZC@@QAEXXZ", NULL }, { "??_ax@@QAEXXZ", NULL });
}

static void conversions_tell_their_type(void **state)
{
    (void)state;
    CHECK({ "??Bnumber@@QEBAHXZ", "number::operator int" },
          { "??Bnumber@@QEBAPEBDXZ", "number::operator char const *" },
          { "??Bnumber@@QEBAP6AHD@ZXZ", "number::operator int (__cdecl *)(char)" },
          { "??$?BH@number@@QEBAHXZ", "number::operator<int> int" }, { "??Bnumber@@QAE@XZ", NULL },
          { "??Bnumber@@3HA", NULL });
}

static void template_arguments_are_spelled_whole(void **state)
{
    (void)state;
    CHECK({ "?f@?$t@HPEBDAEAN$$QEA_N@@QEAAXXZ", "t<int, char const *, double &, bool &&>::f" },
          { "?f@?$t@Uitem@app@@W4color@@@@QEAAXXZ", "t<struct app::item, enum color>::f" },
          { "?f@?$t@$$BY02H$$CBH_Q_S_U$$T@@QEAAXXZ",
            "t<int[3], int const, char8_t, char16_t, char32_t, std::nullptr_t>::f" },
          { "?f@?$t@PEAY02HP8item@@EAAHD@ZPEQitem@@H@@QEAAXXZ",
            "t<int (*)[3], int (__cdecl item::*)(char), int item::*>::f" },
          { "?f@?$t@PQc@@QAHPSc@@H@@QAEXXZ", "t<int *c::*, int volatile c::*>::f" },
          { "?f@?$t@PEIAHPEFAHPEDH@@QEAAXXZ",
            "t<int *__restrict, int __unaligned *, int const volatile *>::f" });
}

/* The options of llvm-undname that leave a symbol's types out would take these, too. */
static void function_types_keep_return_type_and_convention(void **state)
{
    (void)state;
    CHECK(
        { "??R?$function@$$A6AXH@Z@std@@QEBAXH@Z", "std::function<void __cdecl(int)>::operator()" },
        { "?f@?$t@$$A8@@BAHHZZ@@QAEXXZ", "t<int __cdecl(int, ...) const>::f" },
        { "?f@?$t@$$A8@@HAAX_E@@QAEXXZ", NULL },
        { "?f@?$t@$$A8@@HAAXX_E@@QAEXXZ", "t<void __cdecl(void) noexcept &&>::f" },
        { "?f@?$t@P6GP6IHD@ZH@Z@@QAEXXZ", "t<int (__fastcall * (__stdcall *)(int))(char)>::f" },
        { "?f@?$t@P6A?AV?$u@$$A6AXH@Z@@XZ@@QAEXXZ",
          "t<class u<void __cdecl(int)> (__cdecl *)(void)>::f" });
}

static void values_are_template_arguments(void **state)
{
    (void)state;
    CHECK({ "?f@?$t@$00$0A@$0?0$0BAA@@@QEAAXXZ", "t<1, 0, -1, 256>::f" },
          { "?f@?$t@$0PPPPPPPPPPPPPPPP@@@QEAAXXZ", "t<18446744073709551615>::f" },
          { "?f@?$t@$1?x@@3HA$1?g@@YAXXZ@@QEAAXXZ", "t<&int x, &void __cdecl g(void)>::f" },
          { "?f@?$t@$E?x@@3HA@@QEAAXXZ", "t<int x>::f" },
          { "?f@?$t@$1?g@c@@QEAAXXZ@@QEAAXXZ", "t<&public: void __cdecl c::g(void)>::f" },
          { "?f@?$t@$H?g@c@@QEAAXXZ7$F7?0@@QEAAXXZ",
            "t<{public: void __cdecl c::g(void), 8}, {8, -1}>::f" },
          { "?f@?$t@$1??4c@@QAEXXZV2@@@QAEXXZ",
            "t<&public: void __thiscall c::operator=(void), class operator=>::f" },
          { "?f@?$t@$F?A@7@@QEAAXXZ", "t<{0, 8}>::f" },
          { "?f@?$t@$MH06$M_N00$MPEAH1?x@@3HA@@QEAAXXZ", "t<7, 1, &int x>::f" });
}

static void packs_and_aliases_leave_no_trace_of_their_ends(void **state)
{
    (void)state;
    CHECK({ "?f@?$t@$$V@@QEAAXXZ", "t<>::f" }, { "?f@?$t@$S@@QEAAXXZ", "t<>::f" },
          { "?f@?$t@H$$ZD$$$VN@@QEAAXXZ", "t<int, char, double>::f" },
          { "?f@?$t@$$Yvec@app@@@@QEAAXXZ", "t<app::vec>::f" }, { "??$f@$$V@@YAXXZ", "f<>" });
}

static void scopes_may_be_functions_and_files(void **state)
{
    (void)state;
    CHECK({ "?x@?1??f@@YAHH@Z@4HA", "`int __cdecl f(int)'::`2'::x" },
          { "?x@?BA@??f@@9@4HA", "`extern \"C\" f'::`16'::x" },
          { "?x@?@??g@c@@SAXXZ@4HA", "`public: static void __cdecl c::g(void)'::`0'::x" },
          { "?f@?A0x1234abcd@app@@YAXXZ", "app::`anonymous namespace'::f" },
          { "??R<lambda_1>@?0??run@@YAXXZ@QEBA@H@Z",
            "`void __cdecl run(void)'::`1'::<lambda_1>::operator()" },
          { "?x@?1???0c@@QEAA@XZ@4HA", "`public: __cdecl c::c(void)'::`2'::x" });
}

static void digits_refer_to_names_before_them(void **state)
{
    (void)state;
    CHECK({ "?f@c@0@YAXXZ", "f::c::f" },
          { "??$f@HVt@@V0@V1@@@YAXXZ", "f<int, class t, class f, class t>" },
          { "?f@?A0x01@c@1@YAXXZ", "0x01::c::`anonymous namespace'::f" },
          { "?f@?$t@V?$u@H@@V1@@@QEAAXXZ", "t<class u<int>, class u<int>>::f" },
          { "?f@?$t@V?$u@H@@V2@@@QEAAXXZ", NULL });
}

/* Templates are the same name when they look the same, however they were written. */
static void names_are_memorized_by_their_look(void **state)
{
    (void)state;
    CHECK({ "?f@?$t@V?$u@H@@U?$u@H@@Vv@@V2@@@QEAAXXZ",
            "t<class u<int>, struct u<int>, class v, class v>::f" },
          { "?f@?$t@V?$u@H@@V?$u@D@@Vv@@V2@@@QEAAXXZ",
            "t<class u<int>, class u<char>, class v, class u<char>>::f" },
          { "?f@?$t@Vu<int>@@V?$u@H@@Vv@@V2@@@QEAAXXZ",
            "t<class u<int>, class u<int>, class v, class v>::f" });
}

static void only_ten_names_are_memorized(void **state)
{
    (void)state;
    CHECK({ "?f@a@b@c@d@e@g@h@i@j@9@YAXXZ", "j::j::i::h::g::e::d::c::b::a::f" },
          { "?f@a@b@c@d@e@g@h@i@j@k@9@YAXXZ", "j::k::j::i::h::g::e::d::c::b::a::f" },
          { "?f@a@b@c@d@e@g@h@i@8@YAXXZ", "i::i::h::g::e::d::c::b::a::f" },
          { "?f@a@b@c@d@e@g@h@i@9@YAXXZ", NULL });
}

static void templates_have_a_memory_of_their_own(void **state)
{
    (void)state;
    CHECK({ "?f@?$t@Vu@@@0@QEAAXXZ", "f::t<class u>::f" },
          { "?f@?$t@Vu@@@1@QEAAXXZ", "t<class u>::t<class u>::f" },
          { "?f@?$t@V0@@@QEAAXXZ", "t<class t>::f" }, { "?f@?$t@V1@@@QEAAXXZ", NULL },
          { "?f@?$t@P6AXPAH0@Z@@QAEXPAD@Z", "t<void (__cdecl *)(int *, int *)>::f" },
          { "?f@?$t@P6AXPAH0@Z@@QAEX0@Z", NULL });
}

static void digits_refer_to_types_of_parameters(void **state)
{
    (void)state;
    CHECK({ "?f@?$t@P6AXPAHDPAD01@Z@@QAEXXZ",
            "t<void (__cdecl *)(int *, char, char *, int *, char *)>::f" },
          { "?f@?$t@P6AXP6AXPAH@Z01@Z@@QAEXXZ",
            "t<void (__cdecl *)(void (__cdecl *)(int *), int *, void (__cdecl *)(int *))>::f" },
          { "?f@?$t@P6AXHD0@Z@@QAEXXZ", NULL }, { "?f@@YAXPAH01@Z", NULL });
}

static void tables_and_rtti_are_told_apart(void **state)
{
    (void)state;
    CHECK({ "??_7widget@@6B@", "const widget::`vftable'" },
          { "??_7widget@@6Bbase@app@@@", "const widget::`vftable'{for `app::base'}" },
          { "??_8widget@@7B@", "const widget::`vbtable'" },
          { "??_R0?AVwidget@@@8", "`RTTI Type Descriptor'" }, { "??_R0?AVwidget@@@8x", NULL },
          { "??_R1A@?0A@EA@widget@@8", "widget::`RTTI Base Class Descriptor at (0, -1, 0, 64)'" },
          { "??_R2widget@@8", "widget::`RTTI Base Class Array'" },
          { "??_R3widget@@8", "widget::`RTTI Class Hierarchy Descriptor'" },
          { "??_R4widget@@6B@", "const widget::`RTTI Complete Object Locator'" });
}

static void thunks_tell_what_they_adjust(void **state)
{
    (void)state;
    CHECK({ "?f@c@@W7EAAXXZ", "[thunk]: c::f`adjustor{8}'" },
          { "?f@c@@W?7EAAXXZ", "[thunk]: c::f`adjustor{4294967288}'" },
          { "?f@c@@$4PPPPPPPM@A@EAAXXZ", "[thunk]: c::f`vtordisp{-4, 0}'" },
          { "?f@c@@$R4BA@M@PPPPPPPM@7EAAXXZ", "[thunk]: c::f`vtordispex{16, 12, -4, 8}'" },
          { "??_9c@@$BBA@AA", "[thunk]: c::`vcall'{16, {flat}}" });
}

static void guards_and_initializers_tell_their_variable(void **state)
{
    (void)state;
    CHECK({ "??_B?1??f@@YAXXZ@51", "`void __cdecl f(void)'::`2'::`local static guard'{2}" },
          { "??__J?1??f@@YAXXZ@51", "`void __cdecl f(void)'::`2'::`local static thread guard'{2}" },
          { "??__Ex@app@@YAXXZ", "`dynamic initializer for 'app::x''" },
          { "??__E?x@c@@2HA@@YAXXZ", "`dynamic initializer for `c::x''" },
          { "??__Fx@@YAXXZ", "`dynamic atexit destructor for 'x''" });
}

static void literals_show_their_text(void **state)
{
    (void)state;
    CHECK(
        { "??_C@_0M@LACCCNMM@hello?5world?$AA@", "\"hello world\"" },
        { "??_C@_13LBAGMAIH@?$AAa?$AA?$AA@", "L\"a\"" },
        { "??_C@_1CC@A@?$AAa?$AAb?$AAc?$AAd?$AAe?$AAf?$AAg?$AAh?$AAi?$AAj?$AAk?$AAl?$AAm?$AAn?$AAo"
          "?$AAp?$AA?$AA@",
          "L\"abcdefghijklmnop\"" },
        { "??_C@_13A@?$AAa?$AA?$AA?$AAb@", NULL }, { "??_C@_12A@?$AAa?$AAb@", NULL },
        { "??_C@_0CD@A@long?0?5so?5cut@", "\"long, so cut\"..." },
        { "??_C@_03A@a?$AAb?$AA?$AA?$AA@", "u\"ab\"" }, { "??_C@_0?0A@a@", NULL },
        { "??_C@_04A@?6?$CC?$HP?a?$AA@", "\"\\n\\\"\\x7F\\xE1\"" },
        { "??_C@_13A@?5?$KM?$AA?$AA@", "L\"\\x20AC\"" });
}

static void hashed_names_stay_hashed(void **state)
{
    (void)state;
    CHECK({ "??@0123456789abcdef0123456789abcdef@", "??@0123456789abcdef0123456789abcdef@" },
          { "??@0123456789abcdef0123456789abcdef@??_R4@",
            "??@0123456789abcdef0123456789abcdef@??_R4@" },
          { "??@0123456789abcdef", NULL });
}

static void what_follows_a_name_is_ignored(void **state)
{
    (void)state;
    CHECK({ "?f@@YAXXZ.llvm.1234", "f" }, { "?x@@3HA@", "x" });
}

static void other_names_are_refused(void **state)
{
    (void)state;
    CHECK({ "", NULL }, { "?", NULL }, { "main", NULL }, { "_main", NULL }, { "@f@8", NULL },
          { ".?AVtype@@", NULL }, { "_ZN3app3runEv", NULL }, { "?f@@YAX", NULL }, { "?f", NULL });
}

static void check_c(const char *decorated, bool is_x86, const char *plain)
{
    const size_t size = strlen(decorated);
    u8 *const input = malloc(size + 1);
    assert_non_null(input);
    memcpy(input, decorated, size);
    const etl_bytes got = etl_undecorate_c((etl_bytes){ input, size }, is_x86);
    assert_int_equal(got.size, strlen(plain));
    assert_memory_equal(got.at, plain, got.size);
    free(input);
}

static void c_functions_of_x86_lose_underscore_and_size(void **state)
{
    (void)state;
    check_c("_malloc", true, "malloc");
    check_c("__open_s", true, "_open_s");
    check_c("_HeapAlloc@12", true, "HeapAlloc");
    check_c("@fast@8", true, "fast");
    check_c("vector@@16", true, "vector");
    check_c("main", true, "main");
}

static void c_functions_of_x64_keep_their_underscore(void **state)
{
    (void)state;
    check_c("_open_s", false, "_open_s");
    check_c("_odd@8", false, "_odd@8");
    check_c("vector@@16", false, "vector");
}

static void c_names_that_are_all_decoration_stay(void **state)
{
    (void)state;
    static const char *const names[] = {
        "", "_", "@", "_@8", "@@8", "@8", "8", "@feat.00", "?f@@8"
    };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        check_c(names[i], true, names[i]);
        check_c(names[i], false, names[i]);
    }
}

static etl_bytes bytes_of(const char *text)
{
    return (etl_bytes){ (const u8 *)text, strlen(text) };
}

static void arm64ec_names_are_those_of_x64(void **state)
{
    (void)state;
    CHECK({ "?grow@@$$hYAXXZ", "grow" }, { "??$make@H@@$$hYAPEAHXZ", "make<int>" },
          { "??0list@app@@$$hQEAA@H@Z", "app::list::list" }, { "?f@@$$hY", NULL });
    static const char *const names[][2] = { { "#malloc", "malloc" },
                                            { "EXP+#malloc", "malloc" },
                                            { "#", "#" },
                                            { "EXP+", "EXP+" },
                                            { "malloc", "malloc" } };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        const etl_bytes got = etl_undecorate_arm64ec(bytes_of(names[i][0]));
        assert_int_equal(got.size, strlen(names[i][1]));
        assert_memory_equal(got.at, names[i][1], got.size);
    }
}

static void names_of_data_are_told_from_those_of_code(void **state)
{
    (void)state;
    static const char *const data[] = { "??_C@_05CJBACGMB@hello?$AA@",
                                        "__real@3ff0000000000000",
                                        "__xmm@00000000000000000000000000000000",
                                        "??_7list@app@@6B@",
                                        "??_R0?AVlist@@@8",
                                        "?count@list@app@@2HA" };
    static const char *const code[] = { "?get@list@app@@QEBAHXZ", "malloc", "__real", "_xmm@1", "",
                                        "??_Elist@@UEAAPEAXI@Z",  "??_C@" };
    for (size_t i = 0; i < ETL_COUNT_OF(data); i++)
        assert_true(etl_is_data_name(bytes_of(data[i])));
    for (size_t i = 0; i < ETL_COUNT_OF(code); i++)
        assert_false(etl_is_data_name(bytes_of(code[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_variables_are_named_by_their_scopes),
        cmocka_unit_test(constructors_and_destructors_are_named_after_their_class),
        cmocka_unit_test(operators_are_spelled),
        cmocka_unit_test(codes_without_a_meaning_are_refused),
        cmocka_unit_test(conversions_tell_their_type),
        cmocka_unit_test(template_arguments_are_spelled_whole),
        cmocka_unit_test(function_types_keep_return_type_and_convention),
        cmocka_unit_test(values_are_template_arguments),
        cmocka_unit_test(packs_and_aliases_leave_no_trace_of_their_ends),
        cmocka_unit_test(scopes_may_be_functions_and_files),
        cmocka_unit_test(digits_refer_to_names_before_them),
        cmocka_unit_test(names_are_memorized_by_their_look),
        cmocka_unit_test(only_ten_names_are_memorized),
        cmocka_unit_test(templates_have_a_memory_of_their_own),
        cmocka_unit_test(digits_refer_to_types_of_parameters),
        cmocka_unit_test(tables_and_rtti_are_told_apart),
        cmocka_unit_test(thunks_tell_what_they_adjust),
        cmocka_unit_test(guards_and_initializers_tell_their_variable),
        cmocka_unit_test(literals_show_their_text),
        cmocka_unit_test(hashed_names_stay_hashed),
        cmocka_unit_test(what_follows_a_name_is_ignored),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(c_functions_of_x86_lose_underscore_and_size),
        cmocka_unit_test(c_functions_of_x64_keep_their_underscore),
        cmocka_unit_test(c_names_that_are_all_decoration_stay),
        cmocka_unit_test(arm64ec_names_are_those_of_x64),
        cmocka_unit_test(names_of_data_are_told_from_those_of_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
