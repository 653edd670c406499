/*
 * map.c - a whole file as read-only bytes, mapped or read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map.h"

static etl_status check_regular(int fd, size_t *size, etl_error *err);
static bool map_file(int fd, size_t size, etl_map *out);
static etl_status read_file(int fd, size_t size, etl_map *out, etl_error *err);
static ssize_t read_some(int fd, u8 *into, size_t size);

etl_status etl_map_open(const char *path, bool read_it, etl_map *out, etl_error *err)
{
    *out = (etl_map){ 0 };
    /* Without O_NONBLOCK a pipe that nobody writes to would hold us here. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be opened: %s", strerror(errno));
    const etl_status status = etl_map_descriptor(fd, read_it, out, err);
    (void)close(fd);
    return status;
}

etl_status etl_map_descriptor(int descriptor, bool read_it, etl_map *out, etl_error *err)
{
    *out = (etl_map){ 0 };
    size_t size = 0;
    const etl_status status = check_regular(descriptor, &size, err);
    if (status == ETL_OK && size > 0 && (read_it || !map_file(descriptor, size, out)))
        return read_file(descriptor, size, out, err);
    return status;
}

void etl_map_close(etl_map *map)
{
    if (map->is_mapped)
        (void)munmap(map->memory, map->bytes.size);
    else
        free(map->memory);
    *map = (etl_map){ 0 };
}

static etl_status check_regular(int fd, size_t *size, etl_error *err)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be examined: %s", strerror(errno));
    if (S_ISDIR(facts.st_mode))
        return etl_fail_with(err, ETL_ERR_IO, 0, "is a directory, not a file");
    if (!S_ISREG(facts.st_mode))
        return etl_fail_with(err, ETL_ERR_IO, 0, "is not a regular file; copy it into one first");
    *size = (size_t)facts.st_size;
    return ETL_OK;
}

static bool map_file(int fd, size_t size, etl_map *out)
{
    void *const memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    *out = (etl_map){ { memory, size }, memory, true };
    return true;
}

static etl_status read_file(int fd, size_t size, etl_map *out, etl_error *err)
{
    u8 *const memory = malloc(size);
    if (!memory)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for its %zu bytes", size);
    size_t filled = 0;
    while (filled < size) {
        const ssize_t got = read_some(fd, memory + filled, size - filled);
        if (got < 0) {
            (void)etl_fail_with(err, ETL_ERR_IO, filled, "cannot be read: %s", strerror(errno));
            free(memory);
            return ETL_ERR_IO;
        }
        if (got == 0)
            break; /* it shrank since fstat: what is there is the file */
        filled += (size_t)got;
    }
    *out = (etl_map){ { memory, filled }, memory, false };
    return ETL_OK;
}

static ssize_t read_some(int fd, u8 *into, size_t size)
{
    ssize_t got;
    do {
        got = read(fd, into, size);
    } while (got < 0 && errno == EINTR);
    return got;
}
