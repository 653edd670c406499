/*
 * lz77_reference.h - the plainest XPRESS LZ77 decoder, for comparing others with.
 */
#ifndef TESTS_LZ77_REFERENCE_H
#define TESTS_LZ77_REFERENCE_H

#include "parser/base.h"

/*
 * Decodes until `wanted` bytes are out. Returns how many bytes of input that
 * took, or SIZE_MAX when the input ends early or is invalid.
 */
size_t lz77_reference_decode(const u8 *in, size_t size, u8 *out, size_t wanted);

#endif
