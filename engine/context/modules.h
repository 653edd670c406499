/*
 * modules.h - which module an address belonged to, by process and time.
 *
 * An address is looked up among the modules that its process had at that moment.
 * Traces lose loads and unloads, so where none was there the answer is a guess: a
 * module that the process had before or later, or else one that another process
 * with its id had. System libraries lie at one place in all processes, so the last
 * is mostly right for them; a program is never guessed from another process.
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

/* Where code of a method lies, from when on. */
typedef struct method_range {
    u64 start;
    i64 load_ticks;
    u32 pid, process; /* final id; 0: whichever has the pid */
    u32 size_bytes;
    u32 module; /* the method's, see methods.h */
} method_range;

typedef struct method_table {
    ETLHEAP_VECTOR(method_range) list; /* by (pid, start, load time) */
    ETLHEAP_VECTOR(u64) reach;         /* largest end of this and all earlier of its pid */
    u32 function_count;                /* methods that differ: the last of all modules */
} method_table;

typedef struct module_table {
    ETLHEAP_VECTOR(etlheap_module_info) list; /* by (pid, base, load time) */
    ETLHEAP_VECTOR(u64) reach;                /* largest end of this and all earlier of its pid */
    ETLHEAP_VECTOR(bool) is_program;     /* by module: the file that a process was started from */
    ETLHEAP_VECTOR(module_epoch) epochs; /* by (pid, ticks) */
    method_table methods;
} module_table;

/* The processes of a run, to whom modules belong. */
typedef struct module_owners {
    const u32 *ids;                        /* final id by the run's; NULL: they are the same */
    const etlheap_process_info *processes; /* by final id - 1 */
    size_t count;
} module_owners;

/* Whose addresses are looked up, and when. */
typedef struct module_space {
    u32 pid;
    u32 process; /* final id; 0: whichever has the pid */
    i64 ticks;
} module_space;

/* The time for which a look-up's answer is no guess. */
typedef struct module_span {
    i64 from_ticks, until_ticks; /* until is not part of it */
} module_span;

#define MODULE_SPAN_ALWAYS ((module_span){ INT64_MIN, INT64_MAX })

/*
 * Makes the table from the run's image events. Strings are added to the
 * context's, which must outlive the table. False without memory.
 */
bool modules_build(module_table *out, trace_context *context, const module_owners *owners);

/* Makes what look-ups need of a list in its order. False without memory. */
bool modules_index(module_table *out, const module_owners *owners);
void modules_free(module_table *modules);

/* The method of .NET that a module stands for; NULL: it is an image. */
static inline const char *modules_function(const etlheap_module_info *module)
{
    const bool is_method = module->pid == ETL_NO_ID && !module->has_rsds &&
                           module->pdb_name != NULL && module->pdb_name[0] != '\0';
    return is_method ? module->pdb_name : NULL;
}

/* How many modules are images. They are the first ones. */
static inline u32 modules_image_count(const module_table *modules)
{
    return (u32)modules->list.count - modules->methods.function_count;
}

/* The module at `address`, as above. Kernel addresses are looked up among the
 * kernel's modules. UINT32_MAX: none. */
u32 modules_find(const module_table *modules, const module_space *space, u64 address);

/* Whether the module covers the address, too. Only for processes without epochs, whose modules
 * never share addresses. */
bool modules_is_at(const module_table *modules, u32 module, const module_space *space, u64 address);

/* When the module is sure to be what addresses of the space mean. */
module_span modules_span(const module_table *modules, u32 module, const module_space *space);

/* The time in which every module of the process is loaded. A look-up in it that finds a module is
 * never a guess. */
module_span modules_sure_span(const module_table *modules, u32 pid, u32 process);

/* Do addresses of the process mean other modules at other times? */
bool modules_has_epochs(const module_table *modules, u32 pid);

/* Look-ups among one process's modules give the same answer at all times of an
 * epoch; nearly every process has but one. The kernel's have their own, pid 0. */
u32 modules_epoch(const module_table *modules, u32 pid, i64 ticks);

void modules_sort_epochs(module_table *modules);

/* --- for modules_build.c ------------------------------------------------------- */

/* The order of the table. */
int modules_compare_place(u32 pid_a, u64 base_a, i64 ticks_a, u32 pid_b, u64 base_b, i64 ticks_b);

#endif
