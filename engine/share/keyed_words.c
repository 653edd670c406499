/*
 * keyed_words.c - makes the words of an anonymised store; see keyed_words.h.
 *
 * In: a key, and names. Out: words.
 *
 * A function's name in which something changes from build to build (stable_name.h) becomes a word
 * of two parts, of which comparisons leave out the second, as they do with the hash of a name of
 * Rust:
 *
 *     App::run<`lambda at app.cpp:3:51'>   ->   fn_HASH OF THE STABLE NAME::hHASH OF THE NAME
 *
 * So diffs and trends of anonymised stores pair the same functions as those of the originals.
 * Invariant: a word depends only on the key and the name, and in modules' and functions' prefixes
 * on the built-in list, so files of one key agree.
 */
#include "keyed_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/core/stable_name.h"
#include "parser/system/name_fold.h"

#define DIGITS 16 /* of a hash in a word */

typedef struct sort_row {
    const char *text;
    bool is_folded;
} sort_row;

static const sort_row sorts[WORD_SORT_COUNT] = {
#define SORT_ROW(name, text, folded) { text, folded },
    WORD_SORTS(SORT_ROW)
#undef SORT_ROW
};

/* --- the list of allocator frames ---------------------------------------------------- */

/* Which group of the list a pattern is in. */
static u32 group_of(const etlheap_pattern *pattern)
{
    if (pattern->symbol != NULL)
        return 0;
    return pattern->unnamed_only ? 2 : 1;
}

bool keyed_words_open(keyed_words *words, const void *key, size_t key_bytes)
{
    u32 count;
    const etlheap_pattern *const list = etlheap_allocator_frames(&count);
    frame_patterns *const groups[] = { &words->functions, &words->modules, &words->runtimes };
    *words = (keyed_words){ .patterns = calloc((size_t)count + 1, sizeof *words->patterns) };
    hash_key_set(&words->key, key, key_bytes);
    bool ok = words->patterns != NULL;
    for (u32 group = 0, end = 0; ok && group < ETL_COUNT_OF(groups); group++) {
        const u32 first = end;
        for (u32 i = 0; i < count; i++) {
            if (group_of(&list[i]) == group)
                words->patterns[end++] = list[i];
        }
        ok = frame_patterns_open(groups[group], words->patterns + first, end - first, 0);
    }
    return ok;
}

void keyed_words_close(keyed_words *words)
{
    frame_patterns_close(&words->functions);
    frame_patterns_close(&words->modules);
    frame_patterns_close(&words->runtimes);
    free(words->patterns);
    ETLHEAP_VECTOR_FREE(&words->from);
    ETLHEAP_VECTOR_FREE(&words->to);
    etlheap_index_free(&words->heap_index);
}

/* --- hashes -------------------------------------------------------------------------- */

static void hash_of(const keyed_words *words, const char *sort, const void *bytes, size_t size,
                    u8 out[KEYED_HASH_BYTES])
{
    etl_digest state = keyed_hash_begin(&words->key);
    etl_digest_add(&state, sort, strlen(sort) + 1);
    etl_digest_add(&state, bytes, size);
    keyed_hash_end(&words->key, &state, out);
}

/* The first bytes of the hash, as they are read. */
static u64 number_of(const keyed_words *words, const char *sort, const void *bytes, size_t size)
{
    u8 hash[KEYED_HASH_BYTES];
    u64 number = 0;
    hash_of(words, sort, bytes, size, hash);
    for (u32 i = 0; i < 8; i++)
        number = number << 8 | hash[i];
    return number;
}

u64 keyed_words_check(const keyed_words *words)
{
    return number_of(words, "key", "", 0);
}

void keyed_guid(const keyed_words *words, const u8 guid[16], u32 more, u8 out[16])
{
    u8 hash[KEYED_HASH_BYTES], bytes[20];
    memcpy(bytes, guid, 16);
    memcpy(bytes + 16, &more, sizeof more);
    hash_of(words, "guid", bytes, sizeof bytes, hash);
    memcpy(out, hash, 16);
}

u32 keyed_number(const keyed_words *words, u32 number)
{
    const u32 hash = (u32)number_of(words, "number", &number, sizeof number);
    return number == 0 ? 0 : hash == 0 ? 1 : hash;
}

/* --- words --------------------------------------------------------------------------- */

/* Writes a word with a prefix before that of its sort. */
static bool write_word(const keyed_words *words, word_sort sort, const char *class,
                       const char *name, char out[KEYED_WORD_SIZE])
{
    const size_t size = strlen(name);
    const char *const text = sorts[sort].text;
    out[0] = '\0';
    if (size == 0)
        return true;
    char *const changed = malloc(ETL_NAME_FOLDED_SIZE(size));
    if (changed == NULL)
        return false;
    const bool is_code = sort == WORD_FUNCTION || sort == WORD_TYPE;
    const char *hashed = name;
    size_t hashed_size = size;
    if (sorts[sort].is_folded || (is_code && stable_name_differs(name))) {
        hashed_size = is_code ? stable_name_write(name, changed) : etl_name_fold(name, changed);
        hashed = changed;
    }
    const int length = snprintf(out, KEYED_WORD_SIZE, "%s%s_%0*" PRIx64, class, text, DIGITS,
                                number_of(words, text, hashed, hashed_size));
    if (is_code && hashed == changed)
        snprintf(out + length, KEYED_WORD_SIZE - (size_t)length, "::h%0*" PRIx64, DIGITS,
                 number_of(words, text, name, size));
    free(changed);
    return true;
}

bool keyed_word(const keyed_words *words, word_sort sort, const char *name,
                char out[KEYED_WORD_SIZE])
{
    return write_word(words, sort, "", name, out);
}

bool keyed_module(const keyed_words *words, const char *name, bool is_program,
                  char out[KEYED_WORD_SIZE])
{
    const char *class = "";
    if (frame_patterns_match(&words->modules, name, NULL, false))
        class = "allocator_";
    else if (frame_patterns_match(&words->runtimes, name, NULL, false))
        class = "runtime_";
    if (!write_word(words, WORD_MODULE, class, name, out))
        return false;
    const size_t size = strlen(out);
    if (size > 0 && (is_program || etl_name_glob("*.exe", name)))
        snprintf(out + size, KEYED_WORD_SIZE - size, ".exe");
    return true;
}

bool keyed_function(const keyed_words *words, const char *module, const char *name,
                    char out[KEYED_WORD_SIZE])
{
    const bool is_allocator = frame_patterns_match(&words->functions, module, name, false);
    return write_word(words, WORD_FUNCTION, is_allocator ? "allocator_" : "", name, out);
}

/* --- heaps --------------------------------------------------------------------------- */

static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

#define LETTERS  ((u32)sizeof letters - 1)
#define ROUNDS   10u
#define TAG_MASK 0x7fffffffu

#define CUSTOM_MARK (u64)12 /* the highest bits of what is no handle of Windows */
#define POOL_MARK   (u64)13
#define LOGGED_MARK (u64)14 /* logged_names.h */
#define KERNEL_MARK (u64)15 /* of addresses */

/* Permutes the numbers below half * half: a Feistel network whose round function is the keyed
 * hash. So two tags never become one, as two short hashes would. */
static u32 permute(const keyed_words *words, u32 number, u32 half)
{
    u32 left = number / half, right = number % half;
    for (u32 round = 0; round < ROUNDS; round++) {
        const u32 input[] = { half, round, right };
        const u32 next = (left + (u32)(number_of(words, "tag", input, sizeof input) % half)) % half;
        left = right;
        right = next;
    }
    return left * half + right;
}

/* Tags of four letters and digits, or of three and a space, and how many there are of each. */
static const struct {
    u32 letters, count, half; /* half * half is at least count */
} tag_sorts[] = { { 4, LETTERS *LETTERS *LETTERS *LETTERS, LETTERS *LETTERS },
                  { 3, LETTERS *LETTERS *LETTERS, 489 } };

/* The number of a tag among all of its sort; false: it is of neither. */
static bool rank_of_tag(u32 tag, u32 *sort, u32 *rank)
{
    *sort = tag >> 24 == ' ';
    *rank = 0;
    for (u32 i = 0; i < tag_sorts[*sort].letters; i++) {
        const char c = (char)(tag >> (8 * i) & 0xff);
        const char *const at = c == '\0' ? NULL : strchr(letters, c);
        if (at == NULL)
            return false;
        *rank = *rank * LETTERS + (u32)(at - letters);
    }
    return true;
}

static u32 tag_of_rank(u32 sort, u32 rank)
{
    u32 tag = sort == 0 ? 0 : ' ';
    for (u32 i = 0; i < tag_sorts[sort].letters; i++, rank /= LETTERS)
        tag = tag << 8 | (u32)(u8)letters[rank % LETTERS];
    return tag;
}

/* A tag of letters and digits stays one. Each sort is permuted among itself, and so are the others;
 * what is not of the sort is permuted again. */
static u32 keyed_tag(const keyed_words *words, u32 tag)
{
    u32 sort, rank;
    if (rank_of_tag(tag, &sort, &rank)) {
        do
            rank = permute(words, rank, tag_sorts[sort].half);
        while (rank >= tag_sorts[sort].count);
        return tag_of_rank(sort, rank);
    }
    do
        tag = permute(words, tag, 1u << 16);
    while ((tag & ~TAG_MASK) != 0 || rank_of_tag(tag, &sort, &rank));
    return tag;
}

/* The name of a heap of a custom allocator is "NAME", "NAME 3" or "NAME ~0a3f1". */
static u64 renamed_custom(const keyed_words *words, const char *name)
{
    const size_t size = strcspn(name, " ");
    const bool has_number = name[size] != '\0';
    u64 hash = number_of(words, "allocator", name, size), renamed = CUSTOM_MARK << 60;
    char word[ETLHEAP_HEAP_NAME_SIZE + ETL_CUSTOM_NAME_MAX + 1] = "a_";
    const u32 length = has_number ? ETL_CUSTOM_HEAP_NAME_MAX : ETL_CUSTOM_NAME_MAX;
    for (u32 i = 2; i < length; i++, hash /= LETTERS)
        word[i] = letters[hash % LETTERS];
    snprintf(word + length, sizeof word - length, "%s", name + size);
    (void)etlheap_heap_of_name(word, &renamed);
    return renamed;
}

static u64 renamed_heap(const keyed_words *words, u64 handle)
{
    char name[ETLHEAP_HEAP_NAME_SIZE];
    u64 same;
    const u64 mark = handle >> 60;
    if (mark == POOL_MARK)
        return (handle >> 32 << 32) | keyed_tag(words, (u32)handle & TAG_MASK);
    if (mark == 0 || mark == KERNEL_MARK || mark == LOGGED_MARK)
        return handle; /* an address, or a number whose name is elsewhere */
    if (mark != CUSTOM_MARK)
        return mark << 60 | number_of(words, "heap", &handle, sizeof handle) >> 4;
    etlheap_heap_name(handle, name);
    if (etlheap_heap_of_name(name, &same) && same == handle)
        return renamed_custom(words, name);
    return CUSTOM_MARK << 60 | number_of(words, "allocator", &handle, sizeof handle) >> 10;
}

static bool same_heap(const void *owner, u32 id, const void *key)
{
    const keyed_words *const words = owner;
    return words->from.at[id - 1] == *(const u64 *)key;
}

bool keyed_heap(keyed_words *words, u64 handle, u64 *out)
{
    const u64 hash = etlheap_hash_u64(handle);
    u32 id = etlheap_index_find(&words->heap_index, hash, same_heap, words, &handle);
    if (id == 0) {
        if (!ETLHEAP_PUSH(&words->from, handle) ||
            !ETLHEAP_PUSH(&words->to, renamed_heap(words, handle)))
            return false;
        id = (u32)words->from.count;
        if (!etlheap_index_add(&words->heap_index, hash, id))
            return false;
    }
    *out = words->to.at[id - 1];
    return true;
}
