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

u64 cold_file_present(const char *path, u64 offset, u64 size)
{
    const u64 page = (u64)sysconf(_SC_PAGESIZE);
    const u64 first = offset / page * page, bytes = offset + size - first;
    const size_t count = (size_t)((bytes + page - 1) / page);
    const int file = open(path, O_RDONLY);
    void *const view = file < 0
                           ? MAP_FAILED
                           : mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file, (off_t)first);
    unsigned char *const pages = calloc(count, 1);
    u64 present = 0;
    if (view != MAP_FAILED && pages != NULL && mincore(view, (size_t)bytes, pages) == 0) {
        for (size_t i = 0; i < count; i++)
            present += (pages[i] & 1u) * page;
    }
    if (view != MAP_FAILED)
        (void)munmap(view, (size_t)bytes);
    if (file >= 0)
        (void)close(file);
    free(pages);
    return present;
}

bool cold_file_arrives(const char *path, u64 offset, u64 size)
{
    const struct timespec moment = { .tv_nsec = 2000000 };
    for (u32 i = 0; i < 5000; i++) {
        if (cold_file_present(path, offset, size) >= size)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}
