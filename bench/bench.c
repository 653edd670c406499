/* bench.c - see bench.h. */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

double bench_now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void *bench_allocate(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (memory == NULL)
        abort();
    return memory;
}
