// sample_inline.hpp - functions that sample_inline.cpp inlines from another file.
#ifndef SAMPLE_INLINE_HPP
#define SAMPLE_INLINE_HPP

extern "C" volatile int sample_sink;

namespace shapes {

struct point {
    int x, y;
    point operator+(const point &other) const { return { x + other.x, y + other.y }; }
    point &operator+=(const point &other)
    {
        x += other.x;
        y += other.y;
        return *this;
    }
    bool operator<(const point &other) const
    {
        sample_sink += x;
        return x < other.x;
    }
};

template <typename T, int Size> class ring {
public:
    void push(const T &value)
    {
        note(next_);
        items_[next_] = value;
        next_ = advance(next_);
    }
    T sum() const
    {
        T total = T();
        for (int i = 0; i < Size; i++)
            total += items_[advance(i)];
        return total;
    }

private:
    static void note(int what) { sample_sink = what + sample_sink; }
    static int advance(int at)
    {
        note(at);
        return at + 1 == Size ? 0 : at + 1;
    }
    T items_[Size];
    int next_ = 0;
};

namespace detail {
inline int mix(int a, int b)
{
    sample_sink = a;
    sample_sink = b;
    return a * 31 + (b ^ (a >> 3));
}
} // namespace detail

} // namespace shapes

#endif
