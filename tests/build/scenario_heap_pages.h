/*
 * scenario_heap_pages.h - a trace with three heaps whose pages are known, "heap-pages".
 *
 * server.exe has three heaps. Each begins with 64 KiB committed and 16 MiB reserved, and commits 64
 * KiB (or PAGES_ROUND_BYTES) at a time.
 *
 *     PAGES_CACHE     1,024 blocks of 4 KiB from 64 commits; at 2 s, 15 of 16 blocks are freed, and
 *                     nothing is decommitted: 256 KiB of 4,160 KiB are in use
 *     PAGES_SESSIONS  48 commits, each filled with 15 blocks that stay: it grows by 2,880 KiB of
 *                     blocks. A snapshot states PAGES_UNSEEN_BYTES more than its commits add up to
 *     PAGES_REQUESTS  has one block that stays; ten times it commits 1 MiB, allocates 20 blocks,
 *                     frees them and decommits 1 MiB
 *
 * Two commits of PAGES_CACHE have an Expand about the same pages, one before it and one after it,
 * and a snapshot of it agrees.
 */
#ifndef TESTS_SCENARIO_HEAP_PAGES_H
#define TESTS_SCENARIO_HEAP_PAGES_H

#include "scenario.h"

#define PAGES_CACHE        UINT64_C(0x1a0000000000)
#define PAGES_SESSIONS     UINT64_C(0x1b0000000000)
#define PAGES_REQUESTS     UINT64_C(0x1c0000000000)
#define PAGES_FIRST_BYTES  0x10000u
#define PAGES_RESERVED     0x1000000u
#define PAGES_COMMIT_BYTES 0x10000u
#define PAGES_ROUND_BYTES  0x100000u
#define PAGES_BLOCK_BYTES  4096u
#define PAGES_UNSEEN_BYTES 0x10000u

void scenario_heap_pages(const scenario_run *run, etl_build *b);

#endif
