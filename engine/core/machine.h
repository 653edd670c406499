/* machine.h - memory and processors of the computer that the engine runs on. */
#ifndef ETLHEAP_MACHINE_H
#define ETLHEAP_MACHINE_H

#include "parser/base.h"

/* Allocates memory at a multiple of `alignment`; `size` must be a multiple of it, too. Release it
 * only with machine_free_aligned. NULL if memory runs out. */
void *machine_alloc_aligned(size_t alignment, size_t size);
void machine_free_aligned(void *memory);

/* Tells the system that all of a large piece of memory will be used soon, so that it can map larger
 * pages. */
void machine_expect_use(const void *memory, size_t size);

/* Returns freed memory that the C library keeps to the system. Takes milliseconds, so call it after
 * a stage that needed much more memory than the next one. */
void machine_give_back(void);

/* The number of processors that are switched on, at least 1. */
u32 machine_processors_online(void);

/*
 * The number of processors that this process may use, at least 1: those in its affinity mask,
 * limited by the quota of a container or batch system, rounded up. Reads a few files on Linux, in a
 * tenth of a millisecond.
 */
u32 machine_processors(void);

/* Bytes of memory that are free or reclaimable and that the process may use; UINT64_MAX:
 * unknown. */
u64 machine_memory_available(void);

#endif
