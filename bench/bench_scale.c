/*
 * bench_scale.c - what a second thread is worth on this machine: a fixed amount
 * of arithmetic in registers, shared by threads.
 *
 *     bench_scale THREADS      prints a number that depends on all of it
 *
 * It reads no memory and waits for nothing, so on two free cores two threads
 * take half the time of one. Where they do not, the "cores" share one unit of
 * execution or somebody else is using it, and no program scales better there.
 */
#include "parser/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES      256u
#define PIECE_STEPS 4000000u
#define THREADS_MAX 256

typedef struct work {
    _Atomic u32 next;
    _Atomic u64 sum;
} work;

static u64 do_piece(u64 seed);
static void *do_pieces(void *context);

int main(int argc, char **argv)
{
    const int threads = argc == 2 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: bench_scale THREADS\n");
        return 2;
    }
    work w = { .next = 0 };
    pthread_t started[THREADS_MAX];
    int count = 0;
    while (count + 1 < threads && pthread_create(&started[count], NULL, do_pieces, &w) == 0)
        count++;
    do_pieces(&w);
    for (int i = 0; i < count; i++)
        pthread_join(started[i], NULL);
    printf("%016llx\n", (unsigned long long)atomic_load(&w.sum));
    return count + 1 == threads ? 0 : 1;
}

static void *do_pieces(void *context)
{
    work *const w = context;
    for (;;) {
        const u32 piece = atomic_fetch_add(&w->next, 1);
        if (piece >= PIECES)
            return NULL;
        atomic_fetch_add(&w->sum, do_piece(piece));
    }
}

/* Four chains of adds, shifts and multiplications side by side, as hashing and
 * decoding have them: enough to keep the units of one core busy. */
static u64 do_piece(u64 seed)
{
    u64 a = seed, b = seed + 1, c = seed + 2, d = seed + 3;
    for (u32 i = 0; i < PIECE_STEPS; i++) {
        a = a * 0x9E3779B97F4A7C15u + i;
        b = (b ^ b >> 29) + a;
        c = c * 0xD6E8FEB86659FD93u + i;
        d = (d ^ d >> 31) + c;
    }
    return a ^ b ^ c ^ d;
}
