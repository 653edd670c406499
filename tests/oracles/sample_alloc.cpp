// sample_alloc.cpp - a program that allocates objects of many types, for the
// allocation sites in its PDB. It is compiled without optimization and linked,
// never run.
extern "C" {
volatile int sample_sink;
int _fltused;
void *memset(void *at, int value, unsigned long long size)
{
    for (unsigned long long i = 0; i < size; i++)
        static_cast<char *>(at)[i] = static_cast<char>(value);
    return at;
}
}

static char memory[1 << 20];
static unsigned long long used;

void *operator new(unsigned long long size)
{
    void *const at = memory + used;
    used += size;
    return at;
}
void *operator new[](unsigned long long size)
{
    return operator new(size);
}
void operator delete(void *, unsigned long long) noexcept {}
void operator delete(void *) noexcept {}

extern "C" __declspec(allocator) void *get_memory(unsigned long long size)
{
    return operator new(size);
}

namespace zoo {

struct animal {
    int legs;
    animal() : legs(4) {}
};
class bird {
public:
    bird() : feathers(100) {}
    int feathers;
    struct egg {
        int days = 21;
    };
};
union mixed {
    int number;
    float real;
};
enum class color { red, green };
template <typename T> struct cage {
    T *inside = new T();
    int count = 1;
};

} // namespace zoo

template <typename T> static T *make()
{
    sample_sink = sample_sink + 1;
    return new T();
}

extern "C" int entry()
{
    make<zoo::animal>();
    make<zoo::bird>();
    make<zoo::bird::egg>();
    make<zoo::mixed>();
    make<zoo::color>();
    make<zoo::cage<zoo::bird>>();
    make<zoo::cage<zoo::cage<int>>>();
    make<int>();
    make<unsigned char>();
    make<double>();
    make<wchar_t>();
    make<zoo::animal *>();
    make<const zoo::bird *>();
    zoo::animal *const herd = new zoo::animal[7];
    int **const rows = new int *[5];
    zoo::bird *const cast = static_cast<zoo::bird *>(get_memory(sizeof(zoo::bird)));
    void *const raw = get_memory(10);
    return herd->legs + (rows != nullptr) + cast->feathers + (raw != nullptr);
}
