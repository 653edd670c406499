// sample_inline.cpp - a program that is all inlined calls, templates, lambdas,
// operators and namespaces, for its PDB. It is compiled and linked, never run.
#include "sample_inline.hpp"

extern "C" {
volatile int sample_sink;
int _fltused;
}

namespace {

int hidden(int value)
{
    sample_sink = value;
    return shapes::detail::mix(value, sample_sink);
}

struct base {
    virtual int area(int scale) const = 0;
    virtual ~base() {}
};

template <int N> struct square : base {
    int side = N;
    int area(int scale) const override
    {
        auto scaled = [&](int by) {
            auto deeper = [=](int more) { return hidden(more + by) + shapes::detail::mix(by, more); };
            return deeper(side * by) + deeper(scale);
        };
        return scaled(N) + scaled(scale);
    }
};

} // namespace

void operator delete(void *, unsigned long long) noexcept {}
void operator delete(void *) noexcept {}

namespace work {

template <int N> __declspec(noinline) int step(int value)
{
    shapes::ring<shapes::point, 4 + N % 3> points;
    for (int i = 0; i < value % 7; i++)
        points.push({ value + N, i });
    shapes::ring<int, 5> numbers;
    numbers.push(hidden(value * N));
    numbers.push(shapes::detail::mix(N, value));
    const shapes::point total = points.sum();
    if (total < shapes::point{ N, value } + total)
        return numbers.sum() + total.y;
    square<N> made;
    const base *shape = &made;
    return shape->area(value) + numbers.sum();
}

template <int N> struct steps {
    __declspec(noinline) static int run(int value)
    {
        return step<N>(value) + steps<N - 1>::run(value + N);
    }
};
template <> struct steps<0> {
    static int run(int value) { return value; }
};

__declspec(noinline) static int several_files(int value)
{
    int result = value;
#line 10 "sample_other.inc"
    sample_sink = result;
    result = shapes::detail::mix(result, 1);
#line 75 "sample_inline.cpp"
    sample_sink = result;
    return result * 2;
}

} // namespace work

extern "C" int entry()
{
    return work::steps<40>::run(sample_sink) + work::several_files(sample_sink);
}
