/*
 * fuzz.h - what every fuzz target provides: one function, called with any bytes.
 *
 * With clang it is linked with libFuzzer (make fuzz T=pdb TIME=60), with any
 * compiler with replay.c, which runs saved inputs and damaged copies of them.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "parser/base.h"

/* 1: checks that take longer than what they check are for a share of the inputs. */
#ifndef FUZZ_SAMPLE
#define FUZZ_SAMPLE 0
#endif

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/*
 * A target may know of better changes to its inputs than any: this is then linked
 * with it. The bytes are changed in place, up to `size_max` of them; the same seed
 * makes the same change. The fuzzer, or replay.c, has changes of its own.
 */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t size_max);

/* Writes the bytes to a temporary file and returns its name, which stays the same
 * throughout the process; for readers that map files. */
const char *fuzz_file(const u8 *data, size_t size);

#endif
