/*
 * pattern_index.h - finds the first of many patterns that matches a name, without trying them all.
 *
 * A name can match a pattern only if it contains the pattern's pieces, the texts between wildcards.
 * The index keeps one piece of each pattern, sorted by text. A search looks at each place of the
 * name where a piece may begin, and narrows the sorted pieces down byte by byte:
 *
 *     name      std::Leaky::grow              pieces   ... | Leak | LeakyCache | Leaky::g | ...
 *                    ▲ here                                  └───── after "Leak" ──────┘
 *
 * Only patterns whose piece stands in the name are tried, by the caller's own rule. So the index
 * decides how fast a pattern is found, never which one.
 */
#ifndef ETLHEAP_PATTERN_INDEX_H
#define ETLHEAP_PATTERN_INDEX_H

#include "arena.h"

#define PATTERN_NONE UINT32_MAX

typedef struct pattern_piece {
    const u8 *text; /* folded if case does not matter */
    u32 size;
    u32 pattern;
    u32 copies; /* pieces with this text, of all patterns */
} pattern_piece;

/* True if the pattern matches the name. */
typedef bool pattern_matches_fn(const void *patterns, u32 pattern, const char *name);

/* For one thread. */
typedef struct pattern_index {
    ETLHEAP_VECTOR(pattern_piece) pieces; /* by text, then by pattern */
    ETLHEAP_VECTOR(u32) open;             /* patterns without a piece: always tried; ascending */
    etlheap_arena arena;                  /* texts that had to be folded */
    u64 *leads;                           /* bit by hash of a piece's first bytes */
    u32 lead_bits;                        /* a power of two */
    u32 lead_bytes;                       /* hashed; no piece is shorter */
    u32 pattern_end;                      /* larger than any pattern */
    bool ignores_case;
    pattern_matches_fn *matches;
    const void *patterns; /* for matches */
    u32 *tried;           /* by piece: the last name in which it was found */
    u32 name;             /* number of the current name */
    u64 steps;            /* places, pieces and patterns looked at so far; tests bound it */
} pattern_index;

/* Adds a part of a pattern that stands in every name it matches; an empty part adds nothing.
 * Numbers of patterns ascend. The text is borrowed, and a NUL or wildcard follows it. False if
 * memory runs out. */
bool pattern_index_add(pattern_index *index, u32 pattern, const char *piece, size_t size);

/* Adds the pieces of a pattern for etl_name_glob. */
bool pattern_index_add_glob(pattern_index *index, u32 pattern, const char *glob);

/* Adds a pattern of which names need not contain any text. */
bool pattern_index_add_open(pattern_index *index, u32 pattern);

/* Prepares the index for searches; nothing may be added afterwards. False if memory runs out. */
bool pattern_index_finish(pattern_index *index, pattern_matches_fn *matches, const void *patterns);

void pattern_index_free(pattern_index *index);

/* Returns the first pattern that matches the name, PATTERN_NONE if none does. */
u32 pattern_index_first(pattern_index *index, const char *name);

/* Sets marked[pattern] for each pattern that matches the name. */
void pattern_index_mark(pattern_index *index, const char *name, bool *marked);

#endif
