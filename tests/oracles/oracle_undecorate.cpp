// Goal: decorated names of every construct of the language, from a real compiler.
// Method: nothing here runs; clang compiles it for Windows, and the oracle compares
// the names of its symbols. No header is included: there is no Windows library.

typedef decltype(sizeof 0) size_t;
typedef decltype(nullptr) nullptr_t;

void *operator new(size_t);
void *operator new[](size_t);
void operator delete(void *) noexcept;
void operator delete(void *, size_t) noexcept;
void operator delete[](void *) noexcept;
void operator delete[](void *, size_t) noexcept;
inline void *operator new(size_t, void *at) noexcept { return at; }

// What the linker wants of the runtime library to place thread-local variables.
extern "C" unsigned _tls_index;
unsigned _tls_index = 0;
extern "C" __declspec(thread) int _Init_thread_epoch;
__declspec(thread) int _Init_thread_epoch = 0;

#define KEEP __declspec(noinline) __attribute__((used))

// --- primitives, pointers, references, arrays ----------------------------------------------------

enum color { red, green };
enum class shade : unsigned char { dark = 1, light = 200 };
struct point { int x, y; };
union number { int i; float f; };
class hidden;
typedef int array3[3];
typedef int (*function_pointer)(char, ...);
typedef int function_type(long, double);

KEEP void primitives1(bool, char, signed char, unsigned char, short, unsigned short, int, unsigned) {}
KEEP void primitives2(long, unsigned long, long long, unsigned long long, float, double, long double) {}
KEEP void primitives3(wchar_t, char16_t, char32_t, char8_t, nullptr_t) {}
KEEP void tags(color, shade, point, number, hidden *, const hidden &) {}
KEEP void pointers(int *, const int *, volatile int *, const volatile int *, int *const, int **, const int *const *) {}
KEEP void references(int &, const int &, int &&, const point &&, int *&, int (&)[3], int (&&)[4]) {}
KEEP void arrays(int[], int (*)[3], const int (*)[3][4], int *(*)[5], array3 *, const array3 &) {}
KEEP void restricted(int *__restrict, char *__restrict *, int __unaligned *, const point *__restrict) {}
KEEP void functions1(function_pointer, function_type *, function_type &, void (*)(), void (**)(int)) {}
KEEP void functions2(int (*(*)(char))(long), int (*(*)())[3], void (*)(void (*)(void (*)()))) {}
KEEP void functions3(void (*)() noexcept, int (*const)(int) noexcept, void (&)(int) noexcept) {}
KEEP void variadic(const char *, ...) {}
KEEP void repeated(point, point *, point *, point, const point &, const point &, point *) {}
KEEP int (*returns_function(int))(char) { return nullptr; }
KEEP int (*returns_array(int))[7] { return nullptr; }
KEEP const point returns_const() { return {}; }
KEEP const point *const returns_pointer() { return nullptr; }
KEEP auto deduced(int x) { return x; }
KEEP decltype(auto) deduced_reference(int &x) { return (x); }
KEEP auto trailing(int x) -> long long { return x; }

int global_int;
extern const int global_const;
const int global_const = 3;
int *global_pointer;
const char *const volatile *global_pointers;
int global_array[3][4];
int (*global_array_pointer)[3];
function_pointer global_function_pointer;
volatile point global_point;
point &global_reference = const_cast<point &>(global_point);
function_type *const *global_function_pointers;
thread_local int global_thread = global_int;

// --- calling conventions ------------------------------------------------------------------------

KEEP void __stdcall convention_stdcall(int, char) {}
KEEP void __fastcall convention_fastcall(int, char) {}
KEEP void __vectorcall convention_vectorcall(int, double) {}
KEEP void conventions(void(__stdcall *)(int), void(__fastcall *)(int), void(__vectorcall *)(int)) {}
KEEP int __regcall convention_regcall(int x) { return x; }
extern "C" {
KEEP void c_cdecl(int) {}
KEEP void __stdcall c_stdcall(int, long long) {}
KEEP void __fastcall c_fastcall(int, int, int) {}
KEEP void __vectorcall c_vectorcall(int, double) {}
KEEP void _underscored(void) {}
int c_variable;
KEEP int *c_local_static(void) { static int counter; struct inner { KEEP static int *get() { static int more; return &more; } }; counter++; return *inner::get() ? &counter : nullptr; }
}

// --- classes ------------------------------------------------------------------------------------

namespace app {
namespace detail {
inline namespace v2 {

struct base {
    virtual ~base();
    virtual int first(int) const = 0;
    virtual void second() volatile;
    int data = 0;
};
base::~base() {}
void base::second() volatile {}

class other {
public:
    virtual ~other() {}
    virtual void third(other &);
protected:
    virtual other *clone() { return nullptr; }
    KEEP void protected_member() {}
    KEEP static void protected_static() {}
private:
    KEEP void private_member() const {}
    KEEP static int private_static(const other *) { return 0; }
    virtual void private_virtual() {}
    static int private_data;
};
int other::private_data = 1;
void other::third(other &) {}

struct derived : base, other {
    derived();
    derived(const derived &);
    derived(derived &&) noexcept;
    explicit derived(int, const char *);
    ~derived() override;
    derived &operator=(const derived &);
    int first(int) const override;
    void third(other &) override;
    derived *clone() override;
    static derived instance;
    static constexpr int limits[2] = { 1, 2 };
    static inline const base *table[3] = {};
};
derived::derived() {}
derived::derived(const derived &d) : base(d), other(d) {}
derived::derived(derived &&d) noexcept : base(d), other(d) {}
derived::derived(int, const char *) {}
derived::~derived() {}
derived &derived::operator=(const derived &) { return *this; }
int derived::first(int) const { return 1; }
void derived::third(other &) {}
derived *derived::clone() { return new derived(*this); }
derived derived::instance;

} // namespace v2
} // namespace detail

struct virtual_base { virtual ~virtual_base() {} virtual void called(); int v = 0; };
void virtual_base::called() {}
struct left : virtual virtual_base { void called() override; left(); };
struct right : virtual virtual_base { right(); };
struct diamond : left, right { diamond(); ~diamond(); void called() override; };
left::left() {}
right::right() {}
diamond::diamond() {}
diamond::~diamond() {}
void left::called() {}
void diamond::called() {}
KEEP virtual_base *make_diamond() { return new diamond[3]; }
KEEP void drop_diamonds(diamond *d) { delete[] d; }

class outer {
public:
    struct nested {
        enum kind { one, two };
        class deeper { public: KEEP int method(kind, nested *) const { return 0; } };
        KEEP static deeper make(kind) { return {}; }
    };
    KEEP void qualified() const {}
    KEEP void qualified() volatile {}
    KEEP void qualified() const volatile {}
    KEEP void referenced() const volatile & {}
    KEEP void referenced() & {}
    KEEP void referenced() && {}
    KEEP void referenced() const && noexcept {}
    KEEP void unaligned_member() __unaligned {}
    KEEP void restricted_member() __restrict {}
    int field;
    int more[4];
};

} // namespace app
using namespace app;
using namespace app::detail;

// --- operators ----------------------------------------------------------------------------------

struct ordering { int value; };
template <class T> struct iterator { T *at; };

struct operators {
    int n;
#define BINARY(op) KEEP operators operator op(const operators &) const { return *this; }
    BINARY(+) BINARY(-) BINARY(*) BINARY(/) BINARY(%) BINARY(&) BINARY(|) BINARY(^) BINARY(<<) BINARY(>>)
    BINARY(==) BINARY(!=) BINARY(<) BINARY(<=) BINARY(>) BINARY(>=) BINARY(&&) BINARY(||)
#define ASSIGN(op) KEEP operators &operator op(int) { return *this; }
    ASSIGN(=) ASSIGN(+=) ASSIGN(-=) ASSIGN(*=) ASSIGN(/=) ASSIGN(%=) ASSIGN(&=) ASSIGN(|=) ASSIGN(^=) ASSIGN(<<=) ASSIGN(>>=)
#define UNARY(op) KEEP operators operator op() { return *this; }
    UNARY(+) UNARY(-) UNARY(*) UNARY(&) UNARY(~) UNARY(!) UNARY(++) UNARY(--)
    KEEP operators operator++(int) { return *this; }
    KEEP operators operator--(int) { return *this; }
    KEEP operators *operator->() { return this; }
    KEEP int operators::*operator->*(int) { return nullptr; }
    KEEP int operator[](size_t) const { return n; }
    KEEP int operator()(int, ...) const { return n; }
    KEEP operators operator,(int) { return *this; }
    KEEP int operator<=>(const ordering &) const { return 0; }
    KEEP int operator co_await() const { return 0; }
    KEEP void *operator new(size_t n) { return ::operator new(n); }
    KEEP void *operator new[](size_t n) { return ::operator new[](n); }
    KEEP void operator delete(void *) {}
    KEEP void operator delete[](void *) {}
    KEEP operator int() const { return n; }
    KEEP operator const char *() { return nullptr; }
    KEEP explicit operator bool() const { return n != 0; }
    KEEP operator iterator<const operators>() const { return {}; }
    typedef int (*to_function)(char);
    typedef int (&to_array)[3];
    KEEP operator to_function() const { return nullptr; }
    KEEP operator to_array() { return *(int (*)[3])this; }
    KEEP operator int operators::*() { return nullptr; }
    KEEP operator const volatile int &() { return n; }
    template <class T> KEEP operator iterator<T>() const { return {}; }
    template <class T> KEEP operator T *() const { return nullptr; }
    template <class T> KEEP operators(T, int) {}
    template <class T> KEEP int operator<<(T) { return n; }
    KEEP ~operators() {}
};
template operators::operators(const char *, int);
template operators::operator iterator<long>() const;
template operators::operator point *() const;
template int operators::operator<<<double>(double);
KEEP unsigned long long operator""_bytes(unsigned long long n) { return n; }
KEEP int operator""_text(const char *, size_t) { return 0; }
template <char... Cs> KEEP int operator""_digits() { return 0; }
template int operator""_digits<'1', '2'>();

// --- templates ----------------------------------------------------------------------------------

template <class T, class U = T> struct pair { T a; U b; KEEP void swap(const pair &) const {} struct part { KEEP void touch(pair *) {} }; };
template <class T> struct allocator { KEEP T *allocate(size_t) { return nullptr; } };
template <class T, class A = allocator<T>> struct vector {
    KEEP vector() {}
    KEEP explicit vector(const A &) {}
    ~vector() {}
    KEEP void push_back(T &&) {}
    KEEP void push_back(const T &) {}
    KEEP static vector make(const vector &, A *) { return {}; }
    template <class... Args> T *emplace(Args &&...) { return nullptr; }
    KEEP vector &operator=(const vector &) { return *this; }
    struct iterator { T *p; KEEP iterator &operator++() { return *this; } };
    KEEP iterator begin() { return {}; }
    static T *shared;
};
template <class T, class A> T *vector<T, A>::shared;

template struct pair<int>;
template struct pair<char, const char *>;
template struct pair<pair<int>, pair<int, pair<int, int>>>;
template struct pair<int[3], int (*)[4]>;
template struct pair<const int[2][3], volatile int>;
template struct pair<int *const, const point &>;
template struct pair<int &&, color>;
template struct vector<int>;
template struct vector<pair<int, vector<char>>>;
template struct vector<point *, allocator<void>>;
template struct vector<hidden *>;
template int *vector<int>::emplace<>();
template int *vector<int>::emplace<int, const char *, pair<int> &>(int &&, const char *&&, pair<int> &);

template <class F> struct callable { KEEP void call() {} };
template <class R, class... Args> struct callable<R(Args...)> { KEEP R call(Args...) { return R(); } KEEP callable(R (*)(Args...)) {} };
template struct callable<void()>;
template struct callable<int(char, ...)>;
template struct callable<int(int, const point &)>;
template struct callable<void(callable<void()>, callable<int(int, const point &)> *)>;
template struct callable<void (*)(int)>;
template struct callable<void() const>;
template struct callable<int(int) volatile &>;
template struct callable<int(int) const &&>;
template struct callable<void() noexcept>;
template struct callable<void(__stdcall *)(int)>;
template struct callable<void (&)(int)>;
template struct callable<void (outer::*)(int) const>;
template struct callable<int outer::*>;
template struct callable<const int (outer::*)[4]>;
template struct callable<void (pair<int>::*(*)(void (*)()))(int)>;

template <int N> struct integer { KEEP int get() const { return N; } };
template struct integer<0>; template struct integer<1>; template struct integer<10>; template struct integer<11>;
template struct integer<-1>; template struct integer<2147483647>; template struct integer<(-2147483647 - 1)>;
template <unsigned long long N, bool B, char C, shade S, color E> struct constants { KEEP void get() const {} };
template struct constants<18446744073709551615ull, true, 'x', shade::light, green>;
template struct constants<0, false, '\0', shade::dark, red>;
template <long long N> KEEP void signed_constant() {}
template void signed_constant<-9223372036854775807ll - 1>();

template <const int *P> struct by_pointer { KEEP void get() const {} };
template <const int &R> struct by_reference { KEEP void get() const {} };
template <void (*F)(int, ...)> struct by_function { KEEP void get() const {} };
template <class M, M P> struct by_member { KEEP void get() const {} };
KEEP void target(int, ...) {}
static int internal_variable;
template struct by_pointer<&global_int>; template struct by_pointer<nullptr>; template struct by_pointer<&internal_variable>;
template struct by_reference<global_int>; template struct by_reference<global_const>;
template struct by_function<target>; template struct by_function<nullptr>;
struct multiple : virtual_base, outer { void method(int); int extra; };
void multiple::method(int) {}
template struct by_member<int outer::*, &outer::field>; template struct by_member<int outer::*, nullptr>;
template struct by_member<void (outer::*)() const, &outer::qualified>;
template struct by_member<void (multiple::*)(int), &multiple::method>; template struct by_member<void (multiple::*)(int), nullptr>;
template struct by_member<int multiple::*, &multiple::extra>;
template struct by_member<void (diamond::*)(), &diamond::called>; template struct by_member<void (diamond::*)(), nullptr>;
template struct by_member<int diamond::*, nullptr>;
template struct by_member<void (virtual_base::*)(), &virtual_base::called>;
template <auto V> struct by_auto { KEEP void get() const {} };
template struct by_auto<7>; template struct by_auto<'c'>; template struct by_auto<nullptr>; template struct by_auto<&global_int>;
template struct by_auto<&target>; template struct by_auto<true>; template struct by_auto<-3ll>; template struct by_auto<green>;

template <template <class...> class C, class... Ts> struct apply { KEEP C<Ts...> *make() { return nullptr; } };
template <class... Ts> struct tuple { template <class... Us> KEEP tuple(const tuple<Us...> &, Ts...) {} KEEP tuple() {} };
template struct tuple<>; template struct tuple<int>; template struct tuple<int, tuple<>, tuple<char, int>>;
template tuple<int>::tuple(const tuple<char, long> &, int);
template struct apply<tuple>; template struct apply<tuple, int, char>; template struct apply<vector, int>;
template <class... Ts, int... Ns> KEEP void packs(tuple<Ts...>, integer<Ns>...) {}
KEEP void use_packs() { packs(tuple<int, char>(), integer<1>(), integer<2>()); }
template <class T> using alias = vector<T, allocator<void>>;
template <template <class> class C> struct of_alias { KEEP void get() {} };
template struct of_alias<alias>; template struct of_alias<allocator>;
template <class T> T variable_template = T();
template int variable_template<int>; template const point *variable_template<const point *>;
template <class T, class U> KEEP auto mixed(T t, U u) -> decltype(t + u) { return t + u; }
template auto mixed<int, double>(int, double) -> double;
template <class T> concept any_type = true;
template <any_type T> KEEP void constrained(T) {}
template void constrained<point>(point);
template <class T> KEEP void many(T *, T **, const T *, vector<T>, vector<T> &, pair<T, T>, pair<vector<T>, T> *, T &, T &&, T *const *, vector<vector<T>>) {}
template void many<outer::nested::deeper>(outer::nested::deeper *, outer::nested::deeper **, const outer::nested::deeper *, vector<outer::nested::deeper>,
    vector<outer::nested::deeper> &, pair<outer::nested::deeper, outer::nested::deeper>, pair<vector<outer::nested::deeper>, outer::nested::deeper> *,
    outer::nested::deeper &, outer::nested::deeper &&, outer::nested::deeper *const *, vector<vector<outer::nested::deeper>>);

// --- local things --------------------------------------------------------------------------------

namespace {
int anonymous_variable = 3;
KEEP int anonymous_function(int x) { return x + anonymous_variable; }
struct anonymous_type { KEEP virtual int method(anonymous_type *) { return 1; } };
namespace inside { KEEP void twice(anonymous_type &) {} }
} // namespace
template struct vector<anonymous_type>;

KEEP int use_anonymous() { anonymous_type t; inside::twice(t); return anonymous_function(t.method(nullptr)); }

struct guarded { KEEP guarded(int) {} KEEP ~guarded() {} int n; };
inline int inline_statics() { static guarded a(global_int); static guarded b(global_int + 1); return a.n + b.n; }
KEEP int use_statics() { static guarded c(2); return c.n + inline_statics(); }
template <class T> int *template_static(T t) { static int n = global_int; if (t) { static thread_local guarded g(n); n += g.n; } return &n; }
template int *template_static<int>(int);
KEEP int local_class(int x)
{
    struct local { KEEP int get(int y) const { static int calls; return ++calls + y; } };
    { struct local { KEEP int get() const { return 3; } }; x += local().get(); }
    return local().get(x);
}
guarded dynamic_object(global_int);
guarded dynamic_array[2] = { 1, 2 };
namespace app { static guarded dynamic_static(3); inline guarded dynamic_inline(4); }
template <class T> struct holder { static guarded member; };
template <class T> guarded holder<T>::member(5);
template struct holder<int>; template struct holder<vector<point>>;

// --- lambdas -------------------------------------------------------------------------------------

template <class F> KEEP auto run(F f) { return f(1); }
template <class F> struct deferred { F f; ~deferred() { f(0); } };
template <class F> deferred(F) -> deferred<F>;
KEEP int lambdas(int x)
{
    auto first = [](int y) { return y; };
    auto second = [&x](auto y) mutable { x++; return y; };
    auto third = [=] { return [x](int z) { return x + z; }; };
    deferred guard{ [&](int n) { x = n; } };
    int (*plain)(int) = first;
    return run(first) + run(second) + run(third()) + plain(2) + run([](int n) noexcept { return n; });
}
auto global_lambda = [](point p) { return p.x; };
KEEP int use_global_lambda() { return global_lambda(point()); }
struct with_lambda { int n = [] { return 4; }(); KEEP int get(int k = [] { return 5; }()) { return n + k; } };
KEEP int use_with_lambda() { return with_lambda().get(); }

// --- strings, RTTI, exceptions --------------------------------------------------------------------

KEEP const void *strings(int n)
{
    switch (n) {
    case 0: return "hello world";
    case 1: return L"wide text";
    case 2: return u"sixteen";
    case 3: return U"thirty-two";
    case 4: return u8"eight \xc3\xa9";
    case 5: return "a text that is longer than thirty-two characters, so its end is missing";
    case 6: return L"a wide text that is longer than thirty-two characters, so its end is missing";
    case 7: return u"sixteen bits, and longer than thirty-two bytes";
    case 8: return U"thirty-two bits, and longer than thirty-two bytes";
    case 9: return "\a\b\f\n\r\t\v\\\"'\x01\x7f\xff ?,/:.-_$@#";
    case 10: return L"\x20ac\xd83d\xde00\x7f\t";
    case 11: return "";
    case 12: return L"";
    case 13: return "a\0b\0c";
    case 14: return U"";
    default: return "x";
    }
}
namespace std { class type_info { public: virtual ~type_info(); KEEP const char *name() const { return nullptr; } }; }
KEEP const void *rtti(base *b) { return &typeid(*b); }
KEEP const void *rtti_types(int n) { return n == 0 ? &typeid(int *) : n == 1 ? &typeid(vector<int>) : n == 2 ? &typeid(void (*)(int)) : n == 3 ? &typeid(diamond) : &typeid(const outer *[3]); }
KEEP void *cast(other *o) { return dynamic_cast<derived *>(o); }
typedef void (virtual_base::*virtual_pointer)();
KEEP virtual_pointer vcall() { return &virtual_base::called; }
KEEP void thrower(int n) { if (n) throw derived(); throw vector<int>(); }
KEEP void (*first_virtual())(base *) { auto p = &base::second; return *(void (**)(base *))&p; }

// --- long names: beyond 4096 characters only a hash is left -----------------------------------------

template <class T> struct n1 { struct type { KEEP void leaf(T) {} }; };
template <class T, class U> struct wide_name_that_is_long_enough_to_add_up { KEEP void leaf() {} };
#define W(a, b) wide_name_that_is_long_enough_to_add_up<a, b>
typedef W(n1<point>, W(n1<number>, n1<color>)) w1;
typedef W(w1, W(n1<w1>, n1<n1<w1>>)) w2;
typedef W(w2, W(n1<w2>, n1<n1<w2>>)) w3;
typedef W(w3, W(n1<w3>, n1<n1<w3>>)) w4;
template struct n1<w1>::type; template struct n1<w2>::type; template struct n1<w3>::type; template struct n1<w4>::type;
