/*
 * digest.c - MD5, SHA-1 and SHA-256; see digest.h.
 *
 * In: bytes in pieces. Out: their sum. All three take blocks of 64 bytes, pad the last one with a
 * bit and the number of bits, and differ in the order of bytes in a word and in what a block does:
 * that is a row of a table. Invariant: `block` has the bytes that are not yet in `words`.
 */
#include "digest.h"

typedef void add_block_fn(u32 words[8], const u8 *block);

typedef struct digest_rules {
    u32 start[8];
    u32 word_count;
    bool is_big; /* the first byte of a word is its highest */
    add_block_fn *add_block;
} digest_rules;

static u32 rotate(u32 value, u32 bits)
{
    return value << bits | value >> (32 - bits);
}

static u32 load_big(const u8 *at)
{
    return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

static void store(u8 *at, u32 value, bool is_big)
{
    for (u32 i = 0; i < 4; i++)
        at[is_big ? 3 - i : i] = (u8)(value >> 8 * i);
}

/* --- MD5: RFC 1321, 3.4 ------------------------------------------------------------------- */

/* The integer part of 2^32 times the absolute sine of 1 to 64. */
static const u32 md5_words[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const u8 md5_turns[4][4] = {
    { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
};

static u32 md5_mix(u32 round, u32 x, u32 y, u32 z)
{
    switch (round) {
    case 0:
        return (x & y) | (~x & z);
    case 1:
        return (x & z) | (y & ~z);
    case 2:
        return x ^ y ^ z;
    default:
        return y ^ (x | ~z);
    }
}

static void add_block_md5(u32 words[8], const u8 *block)
{
    static const u8 first[4] = { 0, 1, 5, 0 }, step[4] = { 1, 5, 3, 7 };
    u32 a = words[0], b = words[1], c = words[2], d = words[3];
    for (u32 i = 0; i < 64; i++) {
        const u32 round = i / 16;
        const u32 word = (first[round] + step[round] * i) % 16;
        const u32 sum =
            a + md5_mix(round, b, c, d) + etl_load_u32(block + (size_t)4 * word) + md5_words[i];
        a = d;
        d = c;
        c = b;
        b += rotate(sum, md5_turns[round][i % 4]);
    }
    words[0] += a;
    words[1] += b;
    words[2] += c;
    words[3] += d;
}

/* --- SHA-1: FIPS 180-4, 6.1.2 ------------------------------------------------------------- */

static u32 sha1_mix(u32 round, u32 x, u32 y, u32 z)
{
    if (round == 0)
        return (x & y) ^ (~x & z);
    return round == 2 ? (x & y) ^ (x & z) ^ (y & z) : x ^ y ^ z;
}

static void add_block_sha1(u32 words[8], const u8 *block)
{
    static const u32 round_words[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
    u32 w[80], s[5];
    for (u32 i = 0; i < 16; i++)
        w[i] = load_big(block + (size_t)4 * i);
    for (u32 i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(s, words, sizeof s);
    for (u32 i = 0; i < 80; i++) {
        const u32 round = i / 20;
        const u32 sum =
            rotate(s[0], 5) + sha1_mix(round, s[1], s[2], s[3]) + s[4] + round_words[round] + w[i];
        memmove(s + 1, s, 4 * sizeof *s);
        s[2] = rotate(s[2], 30);
        s[0] = sum;
    }
    for (u32 i = 0; i < 5; i++)
        words[i] += s[i];
}

/* --- SHA-256: FIPS 180-4, 6.2.2 ----------------------------------------------------------- */

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of primes. */
static const u32 sha256_words[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void add_block_sha256(u32 words[8], const u8 *block)
{
    u32 w[64], s[8];
    for (u32 i = 0; i < 16; i++)
        w[i] = load_big(block + (size_t)4 * i);
    for (u32 i = 16; i < 64; i++) {
        const u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 25) ^ rotate(a, 14) ^ a >> 3) + w[i - 7] +
               (rotate(b, 15) ^ rotate(b, 13) ^ b >> 10);
    }
    memcpy(s, words, sizeof s);
    for (u32 i = 0; i < 64; i++) {
        const u32 a = s[0], e = s[4];
        const u32 one = s[7] + (rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7)) +
                        ((e & s[5]) ^ (~e & s[6])) + sha256_words[i] + w[i];
        const u32 two = (rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10)) +
                        ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (u32 i = 0; i < 8; i++)
        words[i] += s[i];
}

/* --- all of them -------------------------------------------------------------------------- */

static const digest_rules rules[ETL_DIGEST_COUNT] = {
    [ETL_DIGEST_MD5] = { .start = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 },
                         .word_count = 4,
                         .add_block = add_block_md5 },
    [ETL_DIGEST_SHA1] = { .start = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
                          .word_count = 5,
                          .is_big = true,
                          .add_block = add_block_sha1 },
    /* FIPS 180-4, 5.3.3. */
    [ETL_DIGEST_SHA256] = { .start = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                       0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
                            .word_count = 8,
                            .is_big = true,
                            .add_block = add_block_sha256 },
};

etl_digest etl_digest_begin(etl_digest_kind kind)
{
    etl_digest digest = { .kind = kind };
    assert((u32)kind < ETL_DIGEST_COUNT);
    memcpy(digest.words, rules[kind].start, sizeof digest.words);
    return digest;
}

void etl_digest_add(etl_digest *digest, const void *bytes, size_t size)
{
    const u8 *at = bytes;
    while (size > 0) {
        const size_t used = (size_t)(digest->bytes % ETL_DIGEST_BLOCK_BYTES);
        const size_t room = ETL_DIGEST_BLOCK_BYTES - used;
        const size_t taken = size < room ? size : room;
        memcpy(digest->block + used, at, taken);
        digest->bytes += taken;
        if (taken == room)
            rules[digest->kind].add_block(digest->words, digest->block);
        at += taken;
        size -= taken;
    }
}

size_t etl_digest_end(etl_digest *digest, u8 out[ETL_DIGEST_BYTES_MAX])
{
    static const u8 padding[ETL_DIGEST_BLOCK_BYTES] = { 0x80 };
    const digest_rules *const of = &rules[digest->kind];
    const u64 bits = digest->bytes * 8;
    const size_t used = (size_t)(digest->bytes % ETL_DIGEST_BLOCK_BYTES);
    u8 size[8];
    store(size, (u32)(of->is_big ? bits >> 32 : bits), of->is_big);
    store(size + 4, (u32)(of->is_big ? bits : bits >> 32), of->is_big);
    etl_digest_add(digest, padding, (used < 56 ? 56 : 120) - used);
    etl_digest_add(digest, size, sizeof size);
    for (u32 i = 0; i < of->word_count; i++)
        store(out + (size_t)4 * i, digest->words[i], of->is_big);
    return (size_t)4 * of->word_count;
}
