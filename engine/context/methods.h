/*
 * methods.h - which method of .NET an address belonged to, by process and time.
 *
 * Code that is compiled just in time lies in no module that Windows knows of, and code
 * compiled before it in an image whose PDB nobody has. The runtime tells of both: where the
 * code of a method is, and when it came. To all who ask what an address means a method is a
 * module of its own, without a place: its name is that of the file the method is from, and
 * its function the method (modules_function). Ranges say where its code lies.
 *
 *     told, slice by slice (methods_told.c)  -->  ranges, and a module for each distinct name
 *
 * An address means the method that was put there last, up to when another is. So a name is
 * known of addresses that no method has at that moment too: code that went is not run.
 */
#ifndef ETLHEAP_METHODS_H
#define ETLHEAP_METHODS_H

#include "modules.h"

/* Code is shorter. A summary gives each method as many addresses. */
#define METHOD_BYTES_MAX ((u32)16 * ETL_MIB)

static inline u64 methods_end(u64 start, u32 size_bytes)
{
    return etl_sat_add_u64(start, size_bytes);
}

/* Applied by the context: see context.c. False without memory. */
bool methods_told(trace_context *context, const system_event *row);
bool assembly_told(trace_context *context, const system_event *row);

/* A stay of a method at a place, with its names. */
typedef struct method_stay {
    u64 start;
    i64 load_ticks;
    u32 pid, process; /* final id; 0: nobody knows */
    u32 size_bytes;
    const char *file, *function;
} method_stay;

/* Adds the methods of a run to its modules, which are indexed. False without memory. */
bool methods_build(module_table *out, trace_context *context, const module_owners *owners);

/* The same of stays in the order of methods_precedes. Texts must outlive the table; those
 * that are made go to `strings`. */
bool methods_index(module_table *out, etlheap_strings *strings, const method_stay *stays,
                   size_t count);
bool methods_precedes(const method_stay *a, const method_stay *b);

/* The stays again; `count` is that of the table's ranges. */
method_stay methods_stay(const module_table *modules, size_t index);

/* Does a process have the runtime, of which no method is known? */
bool methods_are_missing(const module_table *modules);

/* The range that an address to return to lies in; NULL: none. */
const method_range *methods_find(const module_table *modules, const module_space *space,
                                 u64 address);

#endif
