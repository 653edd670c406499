/*
 * machine_windows.c - see machine.h; the C library there has no aligned_alloc.
 */
#include "machine.h"

#include <malloc.h>
#include <windows.h>

void *machine_alloc_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void machine_free_aligned(void *memory)
{
    _aligned_free(memory);
}

/* Large pages are for those who have a privilege. */
void machine_expect_use(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

/* The heap there does so by itself. */
void machine_give_back(void)
{
}

u32 machine_processors(void)
{
    const DWORD online = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return online < 1 ? 1 : online;
}
