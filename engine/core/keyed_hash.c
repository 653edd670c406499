/* keyed_hash.c - SHA-256 and HMAC; see keyed_hash.h. */
#include "keyed_hash.h"

#include <string.h>

#define BLOCK_BYTES 64u

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of primes. */
static const u32 round_words[BLOCK_BYTES] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static u32 rotate(u32 value, u32 bits)
{
    return value >> bits | value << (32 - bits);
}

static u32 load_big(const u8 *at)
{
    return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

static void store_big(u8 *at, u32 value)
{
    at[0] = (u8)(value >> 24);
    at[1] = (u8)(value >> 16);
    at[2] = (u8)(value >> 8);
    at[3] = (u8)value;
}

/* FIPS 180-4, 6.2.2. */
static void add_block(u32 words[8], const u8 *block)
{
    u32 w[BLOCK_BYTES], s[8];
    for (u32 i = 0; i < 16; i++)
        w[i] = load_big(block + (size_t)4 * i);
    for (u32 i = 16; i < BLOCK_BYTES; i++) {
        const u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, words, sizeof s);
    for (u32 i = 0; i < BLOCK_BYTES; i++) {
        const u32 a = s[0], e = s[4];
        const u32 one = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                        ((e & s[5]) ^ (~e & s[6])) + round_words[i] + w[i];
        const u32 two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                        ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (u32 i = 0; i < 8; i++)
        words[i] += s[i];
}

void sha256_begin(sha256_state *state)
{
    /* FIPS 180-4, 5.3.3. */
    *state = (sha256_state){ .words = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(sha256_state *state, const void *bytes, size_t size)
{
    const u8 *at = bytes;
    while (size > 0) {
        const size_t used = (size_t)(state->bytes % BLOCK_BYTES), room = BLOCK_BYTES - used;
        const size_t taken = size < room ? size : room;
        memcpy(state->block + used, at, taken);
        state->bytes += taken;
        if (taken == room)
            add_block(state->words, state->block);
        at += taken;
        size -= taken;
    }
}

void sha256_end(sha256_state *state, u8 out[KEYED_HASH_BYTES])
{
    static const u8 padding[BLOCK_BYTES] = { 0x80 };
    const u64 bits = state->bytes * 8;
    const size_t used = (size_t)(state->bytes % BLOCK_BYTES);
    u8 size[8];
    store_big(size, (u32)(bits >> 32));
    store_big(size + 4, (u32)bits);
    sha256_add(state, padding, (used < 56 ? 56 : 120) - used);
    sha256_add(state, size, sizeof size);
    for (u32 i = 0; i < 8; i++)
        store_big(out + (size_t)4 * i, state->words[i]);
}

void hash_key_set(hash_key *key, const void *bytes, size_t size)
{
    u8 block[BLOCK_BYTES] = { 0 }, inner[BLOCK_BYTES], outer[BLOCK_BYTES];
    if (size > BLOCK_BYTES) {
        sha256_state state;
        sha256_begin(&state);
        sha256_add(&state, bytes, size);
        sha256_end(&state, block);
    } else if (size > 0) {
        memcpy(block, bytes, size);
    }
    for (u32 i = 0; i < BLOCK_BYTES; i++) {
        inner[i] = block[i] ^ 0x36;
        outer[i] = block[i] ^ 0x5c;
    }
    sha256_begin(&key->inner);
    sha256_add(&key->inner, inner, sizeof inner);
    sha256_begin(&key->outer);
    sha256_add(&key->outer, outer, sizeof outer);
}

void keyed_hash_end(const hash_key *key, sha256_state *state, u8 out[KEYED_HASH_BYTES])
{
    u8 inner[KEYED_HASH_BYTES];
    sha256_state outer = key->outer;
    sha256_end(state, inner);
    sha256_add(&outer, inner, sizeof inner);
    sha256_end(&outer, out);
}
