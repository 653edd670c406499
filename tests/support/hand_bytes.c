/*
 * hand_bytes.c - memory between pages that cannot be touched.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "hand_bytes.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

static u8 *reserve_pages(size_t page, size_t inner);

hand_guarded hand_guard(size_t size, hand_edge edge)
{
    /* The largest that systems have. */
    const size_t page = 65536;
    const size_t inner = (size / page + 1) * page;
    const size_t whole = inner + 2 * page;
    u8 *const pages = reserve_pages(page, inner);
    if (!pages)
        abort();
    u8 *const at = edge == HAND_AT_END ? pages + page + inner - size : pages + page;
    return (hand_guarded){ at, size, pages, whole };
}

/* A page, pages to use, and a page; the first and the last cannot be touched. */
static u8 *reserve_pages(size_t page, size_t inner)
{
    const size_t whole = inner + 2 * page;
#ifdef _WIN32
    u8 *const pages = VirtualAlloc(NULL, whole, MEM_RESERVE, PAGE_NOACCESS);
    return pages ? (VirtualAlloc(pages + page, inner, MEM_COMMIT, PAGE_READWRITE) ? pages : NULL)
                 : NULL;
#else
    u8 *const pages = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    return mprotect(pages + page, inner, PROT_READ | PROT_WRITE) == 0 ? pages : NULL;
#endif
}

hand_guarded hand_guard_bytes(etl_bytes bytes, hand_edge edge)
{
    const hand_guarded guarded = hand_guard(bytes.size, edge);
    if (bytes.size > 0)
        memcpy(guarded.at, bytes.at, bytes.size);
    return guarded;
}

void hand_unguard(hand_guarded *guarded)
{
#ifdef _WIN32
    (void)VirtualFree(guarded->pages, 0, MEM_RELEASE);
#else
    (void)munmap(guarded->pages, guarded->pages_size);
#endif
    *guarded = (hand_guarded){ NULL, 0, NULL, 0 };
}
