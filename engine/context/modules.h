/*
 * modules.h - the module at an address, by process and time.
 *
 * An address is looked up among the modules that its process had at that moment. Traces lose loads
 * and unloads, so if there was none, the answer is a guess: a module that the process had before or
 * later, or else one of another process with its id. System libraries are at the same place in all
 * processes, so the latter is mostly right for them; a program file is never guessed from another
 * process.
 */
#ifndef ETLHEAP_MODULES_H
#define ETLHEAP_MODULES_H

#include "context.h"

#define MODULES_KERNEL_PID 0u

/* A moment from which addresses of a process may mean other modules. */
typedef struct module_epoch {
    u32 pid;
    i64 ticks;
} module_epoch;

/* The place of a method's code, from some time on. */
typedef struct method_range {
    u64 start;
    i64 load_ticks;
    u32 pid, process; /* final id; 0: any process with the pid */
    u32 size_bytes;
    u32 module; /* the method's, see methods.h */
} method_range;

typedef struct method_table {
    ETLHEAP_VECTOR(method_range) list; /* by (pid, start, load time) */
    ETLHEAP_VECTOR(u64) reach;         /* largest end of this and all earlier ones of its pid */
    u32 function_count;                /* distinct methods: the last modules of the list */
} method_table;

typedef struct module_table {
    ETLHEAP_VECTOR(etlheap_module_info) list; /* by (pid, base, load time) */
    ETLHEAP_VECTOR(u64) reach;           /* largest end of this and all earlier ones of its pid */
    ETLHEAP_VECTOR(bool) is_program;     /* by module: a process was started from this file */
    ETLHEAP_VECTOR(module_epoch) epochs; /* by (pid, ticks) */
    method_table methods;
} module_table;

/* The processes of a run, which own modules. */
typedef struct module_owners {
    const u32 *ids;                        /* final ids by the run's ids; NULL: they are equal */
    const etlheap_process_info *processes; /* by final id - 1 */
    size_t count;
} module_owners;

/* The process and time of a look-up. */
typedef struct module_space {
    u32 pid;
    u32 process; /* final id; 0: any process with the pid */
    i64 ticks;
} module_space;

/* The time span in which the answer of a look-up is certain. */
typedef struct module_span {
    i64 from_ticks, until_ticks; /* [from_ticks, until_ticks) */
} module_span;

#define MODULE_SPAN_ALWAYS ((module_span){ INT64_MIN, INT64_MAX })

/* Makes the table from the run's image events. Adds strings to the context's, which must outlive
 * the table. False if memory runs out. */
bool modules_build(module_table *out, trace_context *context, const module_owners *owners);

/* Builds the index of a sorted list. False if memory runs out. */
bool modules_index(module_table *out, const module_owners *owners);
void modules_free(module_table *modules);

/* The .NET method that a module stands for; NULL: it is an image. */
static inline const char *modules_function(const etlheap_module_info *module)
{
    const bool is_method = module->pid == ETL_NO_ID && !module->has_rsds &&
                           module->pdb_name != NULL && module->pdb_name[0] != '\0';
    return is_method ? module->pdb_name : NULL;
}

/* The number of images, which are the first modules. */
static inline u32 modules_image_count(const module_table *modules)
{
    return (u32)modules->list.count - modules->methods.function_count;
}

/* The module at `address`, by the rules above. Kernel addresses are looked up among the kernel's
 * modules. UINT32_MAX: none. */
u32 modules_find(const module_table *modules, const module_space *space, u64 address);

/* True if the module also covers the address. Only for processes without epochs, whose modules
 * never share addresses. */
bool modules_is_at(const module_table *modules, u32 module, const module_space *space, u64 address);

/* The time span in which addresses of the space certainly mean the module. */
module_span modules_span(const module_table *modules, u32 module, const module_space *space);

/* The time span in which all modules of the process are loaded. A look-up in it that finds a module
 * is never a guess. */
module_span modules_sure_span(const module_table *modules, u32 pid, u32 process);

/* True if addresses of the process mean different modules at different times. */
bool modules_has_epochs(const module_table *modules, u32 pid);

/* The epoch of a process at a time. Look-ups among its modules give the same answer throughout an
 * epoch; nearly every process has only one. The kernel has its own, with pid 0. */
u32 modules_epoch(const module_table *modules, u32 pid, i64 ticks);

void modules_sort_epochs(module_table *modules);

/* --- for modules_build.c ------------------------------------------------------- */

/* Compares two places in the order of the table. */
int modules_compare_place(u32 pid_a, u64 base_a, i64 ticks_a, u32 pid_b, u64 base_b, i64 ticks_b);

#endif
