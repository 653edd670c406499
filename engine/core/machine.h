/*
 * machine.h - what the engine asks of the machine it runs on, beside files.
 */
#ifndef ETLHEAP_MACHINE_H
#define ETLHEAP_MACHINE_H

#include "parser/base.h"

/* Memory at a multiple of `alignment`, of which `size` is a multiple too; given back
 * by machine_free_aligned alone. NULL without memory. */
void *machine_alloc_aligned(size_t alignment, size_t size);
void machine_free_aligned(void *memory);

/* A hint that large memory will soon be used whole: asks for pages that are mapped
 * in fewer steps, where there are any. */
void machine_expect_use(const void *memory, size_t size);

/* Gives memory that was freed back to the system, where the C library keeps it. Takes
 * milliseconds: for the end of a stage that needed much more than the next one does. */
void machine_give_back(void);

/* Processors that the computer has switched on, at least 1. */
u32 machine_processors_online(void);

/*
 * Processors that this process may use, at least 1: those of its affinity mask, and no more
 * than its quota, which containers and batch systems set, rounded up. Reads a few files on
 * Linux, a tenth of a millisecond.
 */
u32 machine_processors(void);

/* Bytes of memory that are free, or hold what the system can do without, and that the
 * process may use; UINT64_MAX: not known. */
u64 machine_memory_available(void);

#endif
