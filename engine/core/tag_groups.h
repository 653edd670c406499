/*
 * tag_groups.h - compares sixteen one-byte tags at once.
 *
 * A hash table keeps one byte of each entry's hash next to its slots, in groups of sixteen. One
 * comparison then shows which of the sixteen slots may match and whether the probe can end, and
 * touches one cache line. (The idea is Google's "Swiss table"; the code is ours.)
 *
 * A tag is ETL_TAG_USED | 7 bits of hash; 0 marks a free slot. Masks have bit i for slot i. SSE2
 * and NEON are always present on their 64-bit processors, so the implementation is chosen at
 * compile time; the table of all implementations of this machine is for tests.
 */
#ifndef ETLHEAP_TAG_GROUPS_H
#define ETLHEAP_TAG_GROUPS_H

#include "parser/base.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define TAG_GROUP_SIZE 16u
#define TAG_FREE       ((u8)0)
#define TAG_USED       ((u8)0x80)

static inline u8 tag_of(u64 hash)
{
    return (u8)(TAG_USED | (hash & 0x7F));
}

/* The reference implementation: bit i is set if tags[i] == tag. */
static inline u32 tag_match_scalar(const u8 tags[TAG_GROUP_SIZE], u8 tag)
{
    u32 mask = 0;
    for (u32 i = 0; i < TAG_GROUP_SIZE; i++)
        mask |= (u32)(tags[i] == tag) << i;
    return mask;
}

#if defined(__SSE2__)
static inline u32 tag_match_sse2(const u8 tags[TAG_GROUP_SIZE], u8 tag)
{
    const __m128i group = _mm_loadu_si128((const __m128i *)(const void *)tags);
    const __m128i equal = _mm_cmpeq_epi8(group, _mm_set1_epi8((char)tag));
    return (u32)_mm_movemask_epi8(equal);
}
#define tag_match tag_match_sse2
#elif defined(__aarch64__)
static inline u32 tag_match_neon(const u8 tags[TAG_GROUP_SIZE], u8 tag)
{
    /* NEON has no move-mask: keep one bit per lane and add lanes up by halves. */
    static const u8 bits[TAG_GROUP_SIZE] = { 1, 2, 4, 8, 16, 32, 64, 128,
                                             1, 2, 4, 8, 16, 32, 64, 128 };
    const uint8x16_t equal = vceqq_u8(vld1q_u8(tags), vdupq_n_u8(tag));
    const uint8x16_t kept = vandq_u8(equal, vld1q_u8(bits));
    return (u32)vaddv_u8(vget_low_u8(kept)) | (u32)vaddv_u8(vget_high_u8(kept)) << 8;
}
#define tag_match tag_match_neon
#else
#define tag_match tag_match_scalar
#endif

typedef struct tag_match_row {
    const char *isa;
    u32 (*match)(const u8 tags[TAG_GROUP_SIZE], u8 tag);
} tag_match_row;

/* All implementations in this build, the scalar one first. */
extern const tag_match_row tag_match_rows[];
extern const u32 tag_match_row_count;

#endif
