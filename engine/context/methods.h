/*
 * methods.h - the .NET method at an address, by process and time.
 *
 * Code compiled just in time is in no module that Windows knows, and precompiled code is in an
 * image without an available PDB. The .NET runtime logs both: where the code of a method is, and
 * when it appeared. For all code that resolves addresses, a method is a separate module without an
 * address: its name is that of the file that contains the method, and its function is the method
 * (modules_function). Ranges say where its code is.
 *
 *     logged, slice by slice (methods_told.c)  -->  ranges, and a module for each distinct name
 *
 * An address means the method that was last placed there, until another one is. So addresses keep
 * the name after the method is unloaded; unloaded code does not run.
 */
#ifndef ETLHEAP_METHODS_H
#define ETLHEAP_METHODS_H

#include "modules.h"

/* The largest size of a method's code. A summary reserves this many addresses for each method. */
#define METHOD_BYTES_MAX ((u32)16 * ETL_MIB)

static inline u64 methods_end(u64 start, u32 size_bytes)
{
    return etl_sat_add_u64(start, size_bytes);
}

/* Applies an event of a method; called by context.c. False if memory runs out. */
bool methods_told(trace_context *context, const system_event *row);
bool assembly_told(trace_context *context, const system_event *row);

/* A method at a place for a time, with its names. */
typedef struct method_stay {
    u64 start;
    i64 load_ticks;
    u32 pid, process; /* final id; 0: unknown */
    u32 size_bytes;
    const char *file, *function;
} method_stay;

/* Adds the methods of a run to its modules, which must be indexed. False if memory runs out. */
bool methods_build(module_table *out, trace_context *context, const module_owners *owners);

/* Adds stays, which must be in the order of methods_precedes. Texts must outlive the table; new
 * texts are added to `strings`. */
bool methods_index(module_table *out, etlheap_strings *strings, const method_stay *stays,
                   size_t count);
bool methods_precedes(const method_stay *a, const method_stay *b);

/* The stay at an index of the table's ranges. */
method_stay methods_stay(const module_table *modules, size_t index);

/* True if a process has the .NET runtime, but no method is known. */
bool methods_are_missing(const module_table *modules);

/* The range that contains a return address; NULL: none. */
const method_range *methods_find(const module_table *modules, const module_space *space,
                                 u64 address);

#endif
