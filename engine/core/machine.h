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

/* Online processors, of all groups of them; at least 1. */
u32 machine_processors(void);

#endif
