/*
 * layout_pool.h - events of the kernel's pools (private to the parser).
 *
 * Versions 0-2, hooks 0x0E20 to 0x0E27, class POOL:
 *   +0     u32     PoolType       low bits POOL_TYPE: odd is paged, 512 is NonPagedNx, 0x20
 *                                 session; 0x10000000: a big block
 *   +4     u32     Tag            four bytes of text; bit 31: protected, on old systems
 *   +8     size_t  NumberOfBytes  also of frees
 *   +8+P   ptr     Entry
 *   +8+2P  u32     SessionId      of session events only
 * Source: phnt ETW_POOL_EVENT, MOF PoolArgs; a description of a real trace has 24 bytes for 0x0E20
 * and 0x0E22. SessionId is in MOF only. No public file has these records: tested on built bytes.
 *
 * 0x0E24 to 0x0E27 tell of pages: one was added to a pool, or holds a big block. They have the same
 * structure in phnt and MOF. They are decoded, and do not count: a page is no block, and a big
 * block has an allocation of its own, with bit 28 of PoolType. That it has one is not confirmed.
 *
 * 0x0E28 to 0x0E2F list the blocks at the start and at the end. phnt gives them the same structure,
 * MOF an empty one. They are read as an array of it, without SessionId, if their length is a
 * multiple of 8+2P; others are counted (etl_pool_block_count).
 *
 * Before Vista the numbers had other meanings: 0x21 is a free, 0x22 statistics.
 */
#ifndef ETL_LAYOUT_POOL_H
#define ETL_LAYOUT_POOL_H

#define ETL_HOOK_POOL_ALLOC               0x0e20u
#define ETL_HOOK_POOL_ALLOC_SESSION       0x0e21u
#define ETL_HOOK_POOL_FREE                0x0e22u
#define ETL_HOOK_POOL_FREE_SESSION        0x0e23u
#define ETL_HOOK_POOL_ADD_PAGE            0x0e24u
#define ETL_HOOK_POOL_ADD_PAGE_SESSION    0x0e25u
#define ETL_HOOK_POOL_BIG_PAGE            0x0e26u
#define ETL_HOOK_POOL_BIG_PAGE_SESSION    0x0e27u
#define ETL_HOOK_POOL_DCSTART             0x0e28u
#define ETL_HOOK_POOL_DCEND               0x0e29u
#define ETL_HOOK_POOL_BIG_DCSTART         0x0e2au
#define ETL_HOOK_POOL_BIG_DCEND           0x0e2bu
#define ETL_HOOK_POOL_SESSION_DCSTART     0x0e2cu
#define ETL_HOOK_POOL_SESSION_DCEND       0x0e2du
#define ETL_HOOK_POOL_BIG_SESSION_DCSTART 0x0e2eu
#define ETL_HOOK_POOL_BIG_SESSION_DCEND   0x0e2fu

#define ETL_LAYOUT_POOL(V, GAP, LATE)                                                              \
    V(0, U32, pool_block.pool_type, HEX32, "pool_type")                                            \
    V(0, U32, pool_block.tag, HEX32, "tag")                                                        \
    V(0, PTR, pool_block.size_bytes, U64, "size")                                                  \
    V(0, PTR, pool_block.entry, HEX64, "entry")

#define ETL_LAYOUT_POOL_SESSION(V, GAP, LATE)                                                      \
    ETL_LAYOUT_POOL(V, GAP, LATE)                                                                  \
    V(0, U32, pool_block.session_id, U32, "session_id")

#define ETL_ROWS_POOL(X, ALSO)                                                                     \
    X(HOOK_POOL_ALLOC, POOL_ALLOC, 2, LAYOUT(POOL), "Pool/Alloc")                                  \
    X(HOOK_POOL_ALLOC_SESSION, POOL_ALLOC_SESSION, 2, LAYOUT(POOL_SESSION), "Pool/AllocSession")   \
    X(HOOK_POOL_FREE, POOL_FREE, 2, LAYOUT(POOL), "Pool/Free")                                     \
    X(HOOK_POOL_FREE_SESSION, POOL_FREE_SESSION, 2, LAYOUT(POOL_SESSION), "Pool/FreeSession")      \
    X(HOOK_POOL_ADD_PAGE, POOL_PAGE, 2, LAYOUT(POOL), "Pool/AddPoolPage")                          \
    X(HOOK_POOL_ADD_PAGE_SESSION, POOL_PAGE_SESSION, 2, LAYOUT(POOL_SESSION),                      \
      "Pool/AddPoolPageSession")                                                                   \
    ALSO(HOOK_POOL_BIG_PAGE, POOL_PAGE, 2, LAYOUT(POOL), "Pool/BigPoolPage")                       \
    ALSO(HOOK_POOL_BIG_PAGE_SESSION, POOL_PAGE_SESSION, 2, LAYOUT(POOL_SESSION),                   \
         "Pool/BigPoolPageSession")                                                                \
    X(HOOK_POOL_DCSTART, POOL_DCSTART, 2, LAYOUT(POOL), "Pool/PoolSnapDCStart")                    \
    X(HOOK_POOL_DCEND, POOL_DCEND, 2, LAYOUT(POOL), "Pool/PoolSnapDCEnd")                          \
    ALSO(HOOK_POOL_BIG_DCSTART, POOL_DCSTART, 2, LAYOUT(POOL), "Pool/BigPoolSnapDCStart")          \
    ALSO(HOOK_POOL_BIG_DCEND, POOL_DCEND, 2, LAYOUT(POOL), "Pool/BigPoolSnapDCEnd")                \
    X(HOOK_POOL_SESSION_DCSTART, POOL_SESSION_DCSTART, 2, LAYOUT(POOL),                            \
      "Pool/PoolSnapSessionDCStart")                                                               \
    X(HOOK_POOL_SESSION_DCEND, POOL_SESSION_DCEND, 2, LAYOUT(POOL), "Pool/PoolSnapSessionDCEnd")   \
    ALSO(HOOK_POOL_BIG_SESSION_DCSTART, POOL_SESSION_DCSTART, 2, LAYOUT(POOL),                     \
         "Pool/BigPoolSnapSessionDCStart")                                                         \
    ALSO(HOOK_POOL_BIG_SESSION_DCEND, POOL_SESSION_DCEND, 2, LAYOUT(POOL),                         \
         "Pool/BigPoolSnapSessionDCEnd")

#endif
