/*
 * undecorate.h - turns decorated ("mangled") symbol names into readable ones.
 *
 * A linker knows a function by one string, into which the compiler packed its scopes, template
 * arguments and types. People read the qualified name:
 *
 *     ?push@?$stack@H@app@@QEAAXAEBH@Z   ->   app::stack<int>::push
 *     @hash_find@8 (x86 only)            ->   hash_find
 *
 * The result is the "name only" form: scopes, name and template arguments, without access, return
 * type, calling convention and parameters of the symbol. Parts of the name itself are spelled in
 * full: types in template arguments, and the function that encloses a local name with all its
 * types.
 *
 * It equals what `llvm-undname --no-access-specifier --no-member-type --no-calling-convention
 * --no-return-type --no-variable-type` prints up to the parameter list, except that function types
 * inside the name are not shortened (`callable<void __cdecl(int)>`, not `callable<(int)>`).
 *
 * All functions are pure: they allocate nothing and keep no state. Any thread.
 */
#ifndef ETL_UNDECORATE_H
#define ETL_UNDECORATE_H

#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The longest decorated name that is read, in bytes. MSVC and clang write no longer names: they
 * replace a name of more than 4096 characters with its hash (??@...@). Source: clang
 * lib/AST/MicrosoftMangle.cpp, msvc_hashing_ostream.
 */
#define ETL_DECORATED_SIZE_MAX 4096

/* A buffer size that fits nearly all results. */
#define ETL_UNDECORATED_CAPACITY 4096

/*
 * Writes the readable form of a decorated C++ name, one that begins with '?', and a NUL to `out`,
 * and the length without the NUL to *length (may be NULL). Ignores characters after the end of a
 * valid name, which some compilers append.
 *
 * Returns false for other names, for a name that is damaged, of unknown form, nested too deeply or
 * with too many references back, and if the result does not fit into `capacity` bytes. Then the
 * content of `out` is undefined; show the decorated name instead.
 *
 * Uses up to 120 KiB of stack, for usual names a few pages.
 */
bool etl_undecorate(etl_bytes decorated, char *out, size_t capacity, size_t *length);

/*
 * Returns the readable part of the name of a C function, as a view of `decorated`. Returns all of
 * it if nothing is to be removed, as for names with '?'.
 *
 *     name@@16   -> name    __vectorcall, x86 and x64
 *     _name      -> name    __cdecl, x86
 *     _name@8    -> name    __stdcall, x86
 *     @name@8    -> name    __fastcall, x86
 *
 * Only x86 decorates the last three. On x64 a leading underscore is part of the name in the source,
 * so `is_x86` must come from the machine type of the module.
 */
etl_bytes etl_undecorate_c(etl_bytes decorated, bool is_x86);

/* The longest mangled name of another compiler that is read, in bytes. */
#define ETL_MANGLED_SIZE_MAX 8192

/*
 * Writes the readable form of a name that Rust mangled (_R..., _ZN...17h<hash>E), that D mangled
 * (_D...), or that GCC or clang mangled for C++ (_Z...), with a NUL to `out`, and the length to
 * *length (may be NULL): the path or the qualified name, without parameters and without the hashes
 * of Rust. Returns false for other names, for one that is damaged, nested too deeply or of unknown
 * form, and if the result does not fit. Then the content of `out` is undefined; show the mangled
 * name instead.
 */
bool etl_demangle(etl_bytes mangled, char *out, size_t capacity, size_t *length);

/* Returns the name without what marks ARM64EC code: "#malloc" and "EXP+#malloc" are malloc. In
 * names with '?' the mark is part of the grammar. Other names are returned as they are. */
etl_bytes etl_undecorate_arm64ec(etl_bytes decorated);

/* True for the names that linkers know constants and variables by: string literals (??_C@),
 * numbers (__real@, __xmm@), tables of virtual functions, decorated variables. */
bool etl_is_data_name(etl_bytes decorated);

#ifdef __cplusplus
}
#endif

#endif
