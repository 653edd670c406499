// sample_template.cpp - a program with the long names that templates have: a cache of glyphs
// whose map allocates. Built with clang and lld; see oracle_terminal.py.
#define NOINLINE __declspec(noinline)

extern "C" NOINLINE void *take_memory(unsigned long long bytes)
{
    static char memory[65536];
    static unsigned long long used;
    used += bytes;
    return memory + used % sizeof memory;
}

namespace rendering {
namespace text {

template <class Key, class Value> struct key_value {
    Key key;
    Value value;
};

template <class T> struct pool_allocator {
    NOINLINE T *allocate(unsigned long long count)
    {
        return static_cast<T *>(take_memory(count * sizeof(T)));
    }
};

template <class Key, class Value, class Allocator = pool_allocator<key_value<Key, Value>>>
struct open_hash_map {
    Allocator allocator;
    NOINLINE Value *emplace(Key key, Value value)
    {
        key_value<Key, Value> *const at = allocator.allocate(16);
        at->key = key;
        at->value = value;
        return &at->value;
    }
};

struct glyph_identifier {
    int index;
};

struct rasterized_glyph {
    long long edges[4];
};

struct glyph_cache {
    open_hash_map<glyph_identifier, rasterized_glyph> glyphs;
    NOINLINE void *rasterize(glyph_identifier glyph)
    {
        rasterized_glyph shape;
        for (long long &edge : shape.edges)
            edge = glyph.index;
        return glyphs.emplace(glyph, shape);
    }
};

} // namespace text
} // namespace rendering

rendering::text::glyph_cache cache;

extern "C" int entry()
{
    return cache.rasterize({ 7 }) != nullptr;
}
