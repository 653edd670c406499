/*
 * pattern_index.c - builds the sorted pieces of patterns and searches them. pattern_index.h draws
 * a search.
 *
 * In: pieces of patterns, later names. Out: for a name, the first pattern that matches it.
 *
 * Each pattern keeps the piece that fewest other patterns have, so that a search tries few of them.
 * Most places of a name are dismissed by a hash of their first bytes. Steps grow with the length of
 * the name and the logarithm of the number of patterns, apart from patterns that are tried.
 *
 * Invariant: a name that matches a pattern contains each of its pieces, letter by letter. Without
 * regard to case, letters are those of etl_name_next, and every byte may begin one: the rules that
 * the caller tries may begin in the middle of a character.
 */
#include "pattern_index.h"

#include "parser/system/name_fold.h"

#define LEAD_BYTES_MAX     4u
#define LEAD_BITS_MIN      4096u
#define LEAD_BITS_BY_PIECE 16u

/* Pieces from first to end, which all begin alike. */
typedef struct piece_range {
    size_t first, end;
} piece_range;

/* The bytes of the letter at *at, which is moved past it; 0 at the end of the name. */
static size_t next_letter(const pattern_index *index, const char **at, u8 bytes[ETL_NAME_BYTES_MAX])
{
    if (index->ignores_case)
        return etl_name_next_utf8(at, bytes);
    bytes[0] = (u8) * *at;
    *at += bytes[0] != 0;
    return bytes[0] != 0;
}

/* --- building -------------------------------------------------------------------------- */

bool pattern_index_add(pattern_index *index, u32 pattern, const char *piece, size_t size)
{
    pattern_piece row = { .text = (const u8 *)piece, .size = (u32)size, .pattern = pattern };
    if (size == 0)
        return true;
    if (size > UINT32_MAX / 2)
        return pattern_index_add_open(index, pattern);
    if (index->ignores_case) {
        u8 *const folded = etlheap_arena_alloc(&index->arena, ETL_NAME_FOLDED_SIZE(size));
        if (folded == NULL)
            return false;
        row.text = folded;
        row.size = 0;
        for (const char *at = piece; at < piece + size;) {
            u8 bytes[ETL_NAME_BYTES_MAX];
            const size_t letter = etl_name_next_utf8(&at, bytes);
            memcpy(folded + row.size, bytes, letter);
            row.size += (u32)letter;
        }
    }
    index->pattern_end = pattern + 1;
    return ETLHEAP_PUSH(&index->pieces, row);
}

bool pattern_index_add_glob(pattern_index *index, u32 pattern, const char *glob)
{
    const size_t before = index->pieces.count;
    while (*glob != '\0') {
        const size_t size = strcspn(glob, "*?");
        if (!pattern_index_add(index, pattern, glob, size))
            return false;
        glob += size + (glob[size] != '\0');
    }
    return index->pieces.count > before || pattern_index_add_open(index, pattern);
}

bool pattern_index_add_open(pattern_index *index, u32 pattern)
{
    return ETLHEAP_PUSH(&index->open, pattern);
}

static int by_text(const void *a, const void *b)
{
    const pattern_piece *const x = a, *const y = b;
    const int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);
    if (order != 0)
        return order;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static bool same_text(const pattern_piece *a, const pattern_piece *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static void count_copies(pattern_index *index)
{
    for (size_t i = 0, end; i < index->pieces.count; i = end) {
        for (end = i + 1; end < index->pieces.count; end++) {
            if (!same_text(&index->pieces.at[i], &index->pieces.at[end]))
                break;
        }
        for (size_t k = i; k < end; k++)
            index->pieces.at[k].copies = (u32)(end - i);
    }
}

static bool is_rarer(const pattern_piece *a, const pattern_piece *b)
{
    return a->copies != b->copies ? a->copies < b->copies : a->size > b->size;
}

/* Keeps one piece of each pattern. */
static bool keep_rarest(pattern_index *index)
{
    pattern_piece *const pieces = index->pieces.at;
    size_t *const best = calloc((size_t)index->pattern_end + 1, sizeof *best); /* + 1; 0: none */
    size_t kept = 0;
    if (best == NULL)
        return false;
    for (size_t i = 0; i < index->pieces.count; i++) {
        size_t *const own = &best[pieces[i].pattern];
        if (*own == 0 || is_rarer(&pieces[i], &pieces[*own - 1]))
            *own = i + 1;
    }
    for (size_t i = 0; i < index->pieces.count; i++) {
        if (best[pieces[i].pattern] == i + 1)
            pieces[kept++] = pieces[i];
    }
    index->pieces.count = kept;
    free(best);
    return true;
}

static u32 lead_bit(const pattern_index *index, const u8 *bytes)
{
    u32 lead = 0;
    memcpy(&lead, bytes, index->lead_bytes);
    return (u32)etl_mix_u64(lead) & (index->lead_bits - 1);
}

static bool set_leads(pattern_index *index)
{
    index->lead_bytes = LEAD_BYTES_MAX;
    index->lead_bits = LEAD_BITS_MIN;
    while (index->lead_bits / LEAD_BITS_BY_PIECE < index->pieces.count)
        index->lead_bits *= 2;
    index->leads = calloc(index->lead_bits / 64, sizeof *index->leads);
    for (size_t i = 0; i < index->pieces.count; i++)
        index->lead_bytes = index->pieces.at[i].size < index->lead_bytes ? index->pieces.at[i].size
                                                                         : index->lead_bytes;
    for (size_t i = 0; index->leads != NULL && i < index->pieces.count; i++) {
        const u32 bit = lead_bit(index, index->pieces.at[i].text);
        index->leads[bit / 64] |= (u64)1 << bit % 64;
    }
    return index->leads != NULL;
}

bool pattern_index_finish(pattern_index *index, pattern_matches_fn *matches, const void *patterns)
{
    index->matches = matches;
    index->patterns = patterns;
    if (index->pieces.count > UINT32_MAX / LEAD_BITS_BY_PIECE)
        return false;
    if (index->pieces.count > 1)
        qsort(index->pieces.at, index->pieces.count, sizeof *index->pieces.at, by_text);
    count_copies(index);
    index->tried = calloc(index->pieces.count + 1, sizeof *index->tried);
    return index->tried != NULL && keep_rarest(index) && set_leads(index);
}

void pattern_index_free(pattern_index *index)
{
    ETLHEAP_VECTOR_FREE(&index->pieces);
    ETLHEAP_VECTOR_FREE(&index->open);
    etlheap_arena_free(&index->arena);
    free(index->leads);
    free(index->tried);
    *index = (pattern_index){ .ignores_case = index->ignores_case };
}

/* --- searching -------------------------------------------------------------------------- */

/* May a piece begin here? */
static bool may_begin(const pattern_index *index, const char *at)
{
    u8 bytes[LEAD_BYTES_MAX + ETL_NAME_BYTES_MAX];
    size_t size = 0;
    while (size < index->lead_bytes) {
        const size_t letter = next_letter(index, &at, bytes + size);
        if (letter == 0)
            return false;
        size += letter;
    }
    const u32 bit = lead_bit(index, bytes);
    return (index->leads[bit / 64] >> bit % 64 & 1) != 0;
}

/* The first piece of the range that has at least this byte at `depth`; all end later than that. */
static size_t first_with(pattern_index *index, const piece_range *range, u32 depth, u32 byte)
{
    const pattern_piece *const pieces = index->pieces.at;
    size_t low = range->first, high = range->end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        index->steps++;
        if (pieces[middle].size <= depth || pieces[middle].text[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One search: for the first pattern, or for all patterns that are not marked yet. */
typedef struct pattern_goal {
    const char *name;
    u32 best;
    bool *marked; /* NULL: the first */
} pattern_goal;

/* Tries a pattern. False if it cannot change the outcome, nor can any later pattern. */
static bool try_pattern(pattern_index *index, pattern_goal *goal, u32 pattern)
{
    if (goal->marked == NULL && pattern >= goal->best)
        return false;
    if (goal->marked != NULL && goal->marked[pattern])
        return true;
    index->steps++;
    if (!index->matches(index->patterns, pattern, goal->name))
        return true;
    if (goal->marked != NULL)
        goal->marked[pattern] = true;
    else
        goal->best = pattern;
    return true;
}

/* Tries the patterns whose piece is all of what was narrowed down to; they come first. */
static void try_whole(pattern_index *index, const piece_range *range, u32 depth, pattern_goal *goal)
{
    const pattern_piece *const pieces = index->pieces.at;
    if (range->first == range->end || pieces[range->first].size != depth ||
        index->tried[range->first] == index->name)
        return;
    index->tried[range->first] = index->name;
    for (size_t i = range->first; i < range->end && pieces[i].size == depth; i++) {
        if (!try_pattern(index, goal, pieces[i].pattern))
            break;
    }
}

/* Tries the patterns whose piece begins at `at`. */
static void search_at(pattern_index *index, const char *at, pattern_goal *goal)
{
    piece_range range = { 0, index->pieces.count };
    u32 depth = 0;
    while (range.first < range.end) {
        u8 bytes[ETL_NAME_BYTES_MAX];
        const size_t size = next_letter(index, &at, bytes);
        if (size == 0)
            break;
        for (size_t i = 0; i < size && range.first < range.end; i++, depth++)
            range = (piece_range){ first_with(index, &range, depth, bytes[i]),
                                   first_with(index, &range, depth, bytes[i] + 1u) };
        try_whole(index, &range, depth, goal);
    }
}

static void search(pattern_index *index, pattern_goal *goal)
{
    if (++index->name == 0) {
        memset(index->tried, 0, index->pieces.count * sizeof *index->tried);
        index->name = 1;
    }
    for (size_t i = 0; i < index->open.count; i++) {
        if (!try_pattern(index, goal, index->open.at[i]))
            break;
    }
    for (const char *at = goal->name; index->pieces.count > 0 && *at != '\0'; at++) {
        index->steps++;
        if (may_begin(index, at))
            search_at(index, at, goal);
    }
}

u32 pattern_index_first(pattern_index *index, const char *name)
{
    pattern_goal goal = { .name = name, .best = PATTERN_NONE };
    search(index, &goal);
    return goal.best;
}

void pattern_index_mark(pattern_index *index, const char *name, bool *marked)
{
    pattern_goal goal = { .name = name, .marked = marked };
    search(index, &goal);
}
