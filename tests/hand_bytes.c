/*
 * hand_bytes.c - memory between pages that cannot be touched.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>
#include <unistd.h>

#include "hand_bytes.h"

hand_guarded hand_guard(size_t size, hand_edge edge)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (size / page + 1) * page;
    const size_t whole = inner + 2 * page;
    u8 *const pages = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, inner, PROT_READ | PROT_WRITE) != 0)
        abort();
    u8 *const at = edge == HAND_AT_END ? pages + page + inner - size : pages + page;
    return (hand_guarded){ at, size, pages, whole };
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
    (void)munmap(guarded->pages, guarded->pages_size);
    *guarded = (hand_guarded){ NULL, 0, NULL, 0 };
}
