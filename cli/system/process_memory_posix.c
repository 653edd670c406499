/*
 * process_memory_posix.c - limits by RLIMIT_DATA, which since Linux 4.7 covers all private
 * writable memory of a process, mappings too. Other systems count the heap's oldest part
 * alone, so there the limit is the engine's own, which sees most but not all.
 */
#include "process_memory.h"

#if defined(__linux__)
#include <malloc.h>
#endif
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "parser/system/files.h"

/* Sanitizers keep several times the memory that they hand out. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    !defined(IS_SANITIZED)
#define HAS_LIMIT 1
#else
#define HAS_LIMIT 0
#endif

#define LARGE_BYTES (128 << 10) /* such a block is a mapping, which freeing it ends */

/* The sixth number of /proc/self/statm, in pages. Asked without memory of its own. */
u64 cli_memory_in_use(void)
{
    char text[160];
    const int file = etl_file_open("/proc/self/statm");
    const i64 size = file >= 0 ? etl_file_read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        (void)etl_file_close(file);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    char *at = text;
    for (u32 i = 0; i < 5; i++)
        (void)strtoull(at, &at, 10);
    return strtoull(at, &at, 10) * (u64)sysconf(_SC_PAGESIZE);
}

static void give_back_at_once(void)
{
#if defined(__GLIBC__)
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

bool cli_memory_set_limit(u64 bytes)
{
    struct rlimit limit;
    if (!HAS_LIMIT || getrlimit(RLIMIT_DATA, &limit) != 0)
        return false;
    give_back_at_once();
    limit.rlim_cur = bytes == 0 || (limit.rlim_max != RLIM_INFINITY && bytes > limit.rlim_max)
                         ? limit.rlim_max
                         : (rlim_t)bytes;
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}
