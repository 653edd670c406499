/* tag_groups.c - the rows of tag_groups.h as functions with an address. */
#include "tag_groups.h"

const tag_match_row tag_match_rows[] = {
    { "scalar", tag_match_scalar },
#if defined(__SSE2__)
    { "sse2", tag_match_sse2 },
#elif defined(__aarch64__)
    { "neon", tag_match_neon },
#endif
};

const u32 tag_match_row_count = ETL_COUNT_OF(tag_match_rows);
