/*
 * modules.h - which module an address belonged to, by process and time.
 */
#ifndef ETLHEAP_MODULES_H
#define ETLHEAP_MODULES_H

#include "context.h"

/* A moment from which addresses of a process may mean other modules. */
typedef struct module_epoch {
    u32 pid;
    i64 ticks;
} module_epoch;

typedef struct module_table {
    ETLHEAP_VECTOR(etlheap_module_info) list; /* by (pid, base, load time) */
    ETLHEAP_VECTOR(u64) reach;                /* largest end of this and all earlier of its pid */
    ETLHEAP_VECTOR(module_epoch) epochs;      /* by (pid, ticks) */
} module_table;

/*
 * Makes the table from the run's image events. Strings are added to the
 * context's, which must outlive the table. False without memory.
 */
bool modules_build(module_table *out, trace_context *context);

/* Makes what look-ups need of a list in its order. False without memory. */
bool modules_index(module_table *out);
void modules_free(module_table *modules);

/*
 * The module at `address` of the process, as loaded at `ticks`; else the one that
 * was there last before, or first after (rundowns may be all there is). Kernel
 * addresses are looked up among the kernel's modules. UINT32_MAX: none.
 */
u32 modules_find(const module_table *modules, u32 pid, u64 address, i64 ticks);

/* Whether a module that was found for one address is what is found for another, at
 * any time: of a process whose modules never share addresses. */
bool modules_is_at(const module_table *modules, u32 module, u32 pid, u64 address);

/* Do addresses of the process mean other modules at other times? */
bool modules_has_epochs(const module_table *modules, u32 pid);

/* Look-ups among one process's modules give the same answer at all times of an
 * epoch; nearly every process has but one. The kernel's have their own, pid 0. */
u32 modules_epoch(const module_table *modules, u32 pid, i64 ticks);

#endif
