/*
 * bench_sum.c - the limit that reading a file cannot pass: sums its 64-bit words
 * over a fresh mapping.
 *
 *     bench_sum FILE THREADS      prints the sum
 *
 * Each thread takes the next 4 MiB until none is left, as a reader with tasks
 * would. The whole program is what is timed, so mapping, page faults and start
 * count for it as they do for the reader it is compared with. The sum is printed
 * because a compiler removes a loop whose result nobody needs.
 */
#include "parser/base.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)4 << 20)
#define THREADS_MAX 256

typedef struct work {
    const u8 *bytes;
    size_t size;
    _Atomic size_t next;
    _Atomic u64 sum;
} work;

static bool map_file(const char *path, work *w);
static void *sum_pieces(void *context);
static u64 sum_words(const u8 *bytes, size_t count);

int main(int argc, char **argv)
{
    const int threads = argc == 3 ? atoi(argv[2]) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: bench_sum FILE THREADS\n");
        return 2;
    }
    work w = { .size = 0 };
    if (!map_file(argv[1], &w)) {
        perror(argv[1]);
        return 1;
    }
    pthread_t started[THREADS_MAX];
    int count = 0;
    while (count + 1 < threads && pthread_create(&started[count], NULL, sum_pieces, &w) == 0)
        count++;
    sum_pieces(&w);
    for (int i = 0; i < count; i++)
        pthread_join(started[i], NULL);
    printf("%016llx\n", (unsigned long long)atomic_load(&w.sum));
    return count + 1 == threads ? 0 : 1;
}

static bool map_file(const char *path, work *w)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        return false;
    w->size = (size_t)about.st_size;
    void *const mapping = mmap(NULL, w->size, PROT_READ, MAP_PRIVATE, file, 0);
    w->bytes = mapping;
    return mapping != MAP_FAILED;
}

static void *sum_pieces(void *context)
{
    work *const w = context;
    u64 sum = 0;
    for (;;) {
        const size_t at = atomic_fetch_add(&w->next, PIECE_BYTES);
        if (at >= w->size)
            break;
        const size_t left = w->size - at;
        sum += sum_words(w->bytes + at, (left < PIECE_BYTES ? left : PIECE_BYTES) / 8);
    }
    atomic_fetch_add(&w->sum, sum);
    return NULL;
}

/* Four sums at once, so that memory and not the addition sets the pace. */
static u64 sum_words(const u8 *bytes, size_t count)
{
    u64 sums[4] = { 0 };
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        sums[0] += etl_load_u64(bytes + i * 8);
        sums[1] += etl_load_u64(bytes + i * 8 + 8);
        sums[2] += etl_load_u64(bytes + i * 8 + 16);
        sums[3] += etl_load_u64(bytes + i * 8 + 24);
    }
    for (; i < count; i++)
        sums[0] += etl_load_u64(bytes + i * 8);
    return sums[0] + sums[1] + sums[2] + sums[3];
}
