/*
 * replay.c - runs a fuzz target without a fuzzer.
 *
 *     replay_TARGET ROUNDS FILE...
 *
 * Each file is run as it is, then ROUNDS times damaged: cut, bytes changed, parts
 * swapped, always in the same way for the same file. Prints how many inputs ran.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static u64 next_random(u64 *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static u8 *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    const long end = ftell(file);
    u8 *const bytes = end < 0 ? NULL : malloc((size_t)end + 1);
    *size = end < 0 ? 0 : (size_t)end;
    rewind(file);
    const bool ok = bytes != NULL && fread(bytes, 1, *size, file) == *size;
    fclose(file);
    return ok ? bytes : NULL;
}

/* What the target itself knows of changes, if it does. */
#pragma weak LLVMFuzzerCustomMutator

static u64 random_state;

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t size_max)
{
    (void)size_max;
    for (u64 i = next_random(&random_state) % 8; size > 0 && i > 0; i--) {
        const size_t at = next_random(&random_state) % size;
        const u64 how = next_random(&random_state) % 3;
        u32 byte = how == 0 ? UINT8_MAX : 0;
        if (how == 2)
            byte = data[at] ^ 1u << next_random(&random_state) % 8;
        data[at] = (u8)byte;
    }
    return size;
}

/* A damaged copy in memory of its own size, so that reading past it is found out. */
static void run_damaged(const u8 *bytes, size_t size)
{
    const bool is_cut = next_random(&random_state) % 4 == 0;
    size_t kept = is_cut ? next_random(&random_state) % (size + 1) : size;
    const size_t room = 2 * kept + 64;
    u8 *const changed = malloc(room);
    if (changed == NULL)
        abort();
    memcpy(changed, bytes, kept);
    kept = LLVMFuzzerCustomMutator != NULL && !is_cut
               ? LLVMFuzzerCustomMutator(changed, kept, room, (unsigned)next_random(&random_state))
               : LLVMFuzzerMutate(changed, kept, room);
    u8 *const copy = malloc(kept + (kept == 0));
    if (copy == NULL)
        abort();
    memcpy(copy, changed, kept);
    free(changed);
    LLVMFuzzerTestOneInput(copy, kept);
    free(copy);
}

int main(int argc, char **argv)
{
    const long rounds = argc > 2 ? strtol(argv[1], NULL, 10) : -1;
    if (rounds < 0) {
        fprintf(stderr, "usage: %s ROUNDS FILE...\n", argv[0]);
        return 2;
    }
    unsigned long count = 0;
    for (int i = 2; i < argc; i++) {
        size_t size;
        u8 *const bytes = read_file(argv[i], &size);
        if (bytes == NULL) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        random_state = size + (u64)i;
        LLVMFuzzerTestOneInput(bytes, size);
        for (long round = 0; round < rounds; round++)
            run_damaged(bytes, size);
        count += (unsigned long)rounds + 1;
        free(bytes);
    }
    printf("%lu inputs\n", count);
    return 0;
}
