/*
 * undecorate.h - readable names of symbols from their decorated ("mangled") ones.
 *
 * A linker knows a function by one string in which the compiler has packed its
 * scopes, template arguments and types. People read the qualified name:
 *
 *     ?push@?$stack@H@app@@QEAAXAEBH@Z   ->   app::stack<int>::push
 *     @hash_find@8 (x86 only)            ->   hash_find
 *
 * The form is the "name only" one: scopes, name and template arguments, without
 * the access, return type, calling convention and parameters of the symbol.
 * What belongs to the name is spelled whole: types among template arguments, and
 * a function that encloses a local name with all of its types.
 *
 * In terms of LLVM: what `llvm-undname --no-access-specifier --no-member-type
 * --no-calling-convention --no-return-type --no-variable-type` prints, up to the
 * list of parameters; but function types inside of the name are not cut, as those
 * options do (`callable<void __cdecl(int)>` would become `callable<(int)>`).
 *
 * Everything here is pure: no allocation, no state, any number of threads.
 */
#ifndef ETL_UNDECORATE_H
#define ETL_UNDECORATE_H

#include "base.h"
#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Longest decorated name that is read, in bytes. MSVC and clang write no longer
 * ones: they replace a name beyond 4096 characters by its hash (??@...@).
 * Source: clang lib/AST/MicrosoftMangle.cpp, msvc_hashing_ostream.
 */
#define ETL_DECORATED_SIZE_MAX 4096

/* Room for the result that is enough for nearly all names. */
#define ETL_UNDECORATED_CAPACITY 4096

/*
 * Writes the readable form of a decorated C++ name (one that begins with '?')
 * and a NUL to `out`, and the length without the NUL to *length (may be NULL).
 *
 * Returns false for every other name, for one that is damaged or of unknown
 * form, nests too deeply or refers back to itself too often, and when the result
 * does not fit into `capacity` bytes. The caller then shows the decorated name;
 * what `out` holds is undefined. Characters after the end of a valid name, which
 * some compilers append, are ignored.
 *
 * Takes up to 120 KiB of stack; a usual name touches a few pages of it.
 */
bool etl_undecorate(etl_bytes decorated, char *out, size_t capacity, size_t *length);

/*
 * The readable part of the name of a C function: a view of `decorated`, which is
 * returned whole when nothing is to be taken off, as for all names with '?'.
 *
 *     name@@16   -> name    __vectorcall, x86 and x64
 *     _name      -> name    __cdecl, x86
 *     _name@8    -> name    __stdcall, x86
 *     @name@8    -> name    __fastcall, x86
 *
 * Only x86 decorates the last three: on x64 a leading underscore belongs to the
 * name that the programmer wrote, so the module's machine type decides.
 */
etl_bytes etl_undecorate_c(etl_bytes decorated, bool is_x86);

#ifdef __cplusplus
}
#endif

#endif
