/*
 * machine_posix.c - see machine.h; by the C library and POSIX.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "machine.h"

#include <stdlib.h>
#include <sys/mman.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <unistd.h>

#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)

void *machine_alloc_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void machine_free_aligned(void *memory)
{
    free(memory);
}

/*
 * To map a page of 4 KiB costs the system as much as to fill it: where memory is used
 * once and whole, as by a report on a small store, that would be a third of the time.
 * Whole large pages only: what lies beside the memory is somebody else's.
 */
void machine_expect_use(const void *memory, size_t size)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t first = (uintptr_t)memory;
    const uintptr_t start = (first + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
    const uintptr_t end = (first + size) & ~(LARGE_PAGE_BYTES - 1);
    if (memory != NULL && start < end)
        (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size;
#endif
}

void machine_give_back(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

u32 machine_processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (u32)etl_min_u64((u64)online, UINT32_MAX);
}
