/*
 * machine_posix.c - processors, memory and large pages, by the C library and POSIX. machine.h has
 * the contract.
 */
#define _GNU_SOURCE 1 /* madvise, sched_getaffinity */
#include "machine.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <unistd.h>

#include "parser/system/cgroup.h"

#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)
#define MASK_BITS_MAX    (1 << 16) /* processors; Linux allows an eighth of it */

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

u32 machine_processors_online(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (u32)etl_min_u64((u64)online, UINT32_MAX);
}

/* A mask must be as large as the kernel's, whose size nobody tells. 0: not known. */
static u32 affinity_count(void)
{
#if defined(CPU_ALLOC)
    for (int size = CPU_SETSIZE; size <= MASK_BITS_MAX; size *= 2) {
        cpu_set_t *const mask = CPU_ALLOC((size_t)size);
        if (mask == NULL)
            return 0;
        const size_t bytes = CPU_ALLOC_SIZE((size_t)size);
        const int count = sched_getaffinity(0, bytes, mask) == 0 ? CPU_COUNT_S(bytes, mask) : 0;
        CPU_FREE(mask);
        if (count > 0)
            return (u32)count;
    }
#endif
    return 0;
}

u32 machine_processors(void)
{
    const u32 affine = affinity_count(), quota = etl_cgroup_processors("");
    const u32 most = affine > 0 ? affine : machine_processors_online();
    return quota > 0 && quota < most ? quota : most;
}

u64 machine_memory_available(void)
{
    return etl_memory_available("");
}
