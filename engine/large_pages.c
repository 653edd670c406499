/*
 * large_pages.c - etlheap_expect_use; see arena.h.
 *
 * To map a page of 4 KiB costs the system as much as to fill it. Where memory is used
 * once and whole, as by a report on a small store, that would be a third of the time.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "arena.h"

#if defined(__linux__)
#include <sys/mman.h>

#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)

/* Whole pages only: what lies beside the memory is somebody else's. */
void etlheap_expect_use(const void *memory, size_t size)
{
    const uintptr_t first = (uintptr_t)memory;
    const uintptr_t start = (first + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
    const uintptr_t end = (first + size) & ~(LARGE_PAGE_BYTES - 1);
    if (memory != NULL && start < end)
        (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

#else

void etlheap_expect_use(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

#endif
