/*
 * cold_file.c - see cold_file.h.
 */
#define _DEFAULT_SOURCE /* mincore */
#include "cold_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whole pages around a range. */
typedef struct page_range {
    u64 first, bytes;
} page_range;

static u64 page_bytes(void)
{
    return (u64)sysconf(_SC_PAGESIZE);
}

static page_range pages_of(u64 offset, u64 size)
{
    const u64 first = offset / page_bytes() * page_bytes();
    const u64 end = (offset + size + page_bytes() - 1) / page_bytes() * page_bytes();
    return (page_range){ first, end - first };
}

bool cold_file_write(const char *path, const void *bytes, size_t size)
{
    FILE *const file = fopen(path, "wb");
    const bool is_written =
        file != NULL && fwrite(bytes, 1, size, file) == size && fflush(file) == 0;
    if (file == NULL || fclose(file) != 0 || !is_written)
        return false;
    return cold_file_evict(path);
}

bool cold_file_evict(const char *path)
{
    const int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0)
        return false;
    const bool is_done = fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 &&
                         fstat(file, &status) == 0;
    (void)close(file);
    return is_done && cold_file_present(path, 0, (u64)status.st_size) == 0;
}

/* Marks the pages of a range that are in the page cache; those that were marked stay so. */
static void mark_present(const char *path, u64 first, u64 bytes, u8 *marks)
{
    const size_t count = (size_t)(bytes / page_bytes());
    const int file = open(path, O_RDONLY);
    void *const view = file < 0
                           ? MAP_FAILED
                           : mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file, (off_t)first);
    unsigned char *const pages = calloc(count + 1, 1);
    if (view != MAP_FAILED && pages != NULL && mincore(view, (size_t)bytes, pages) == 0) {
        for (size_t i = 0; i < count; i++)
            marks[i] |= pages[i] & 1u;
    }
    if (view != MAP_FAILED)
        (void)munmap(view, (size_t)bytes);
    if (file >= 0)
        (void)close(file);
    free(pages);
}

static u64 marked_bytes(const u8 *marks, u64 bytes)
{
    u64 marked = 0;
    for (u64 i = 0; i < bytes / page_bytes(); i++)
        marked += marks[i] * page_bytes();
    return marked;
}

u64 cold_file_present(const char *path, u64 offset, u64 size)
{
    const page_range range = pages_of(offset, size);
    u8 *const marks = calloc((size_t)(range.bytes / page_bytes()) + 1, 1);
    if (marks == NULL)
        return 0;
    mark_present(path, range.first, range.bytes, marks);
    const u64 present = marked_bytes(marks, range.bytes);
    free(marks);
    return present;
}

/* The system may take pages back at any time, so that all are not there at once; single ones are
 * passed over by it, too. */
bool cold_file_arrives(const char *path, u64 offset, u64 size)
{
    const struct timespec moment = { .tv_nsec = 2000000 };
    const page_range range = pages_of(offset, size);
    u8 *const marks = calloc((size_t)(range.bytes / page_bytes()) + 1, 1);
    bool is_there = false;
    for (u32 i = 0; marks != NULL && !is_there && i < 5000; i++) {
        mark_present(path, range.first, range.bytes, marks);
        is_there = marked_bytes(marks, range.bytes) >= range.bytes - range.bytes / 16;
        if (!is_there)
            nanosleep(&moment, NULL);
    }
    free(marks);
    return is_there;
}
