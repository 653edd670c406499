/*
 * fuzz.h - what every fuzz target provides: one function, called with any bytes.
 *
 * With clang it is linked with libFuzzer (make fuzz T=pdb TIME=60), with any
 * compiler with replay.c, which runs saved inputs and damaged copies of them.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "parser/base.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Writes the bytes to a temporary file and returns its name, which stays the same
 * throughout the process; for readers that map files. */
const char *fuzz_file(const u8 *data, size_t size);

#endif
