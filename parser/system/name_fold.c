/*
 * name_fold.c - compares, matches, hashes and writes names without regard to case. name_fold.h says
 * why simple case folding is used.
 *
 * In: NUL-terminated names in UTF-8 that may be invalid. Out: comparisons, hashes, or the folded
 * name.
 *
 *     etl_name_next    one folded character at a time; everything else is a loop over it
 *         ASCII        by arithmetic
 *         others       decode, then a binary search in the runs of name_folds.c
 *
 * No name is copied to be compared. Invariants: the NUL at the end is never passed, not even by a
 * character that is cut off. An invalid byte becomes a number above U+10FFFF, so it is equal only
 * to the same byte, and etl_name_next_utf8 writes it back unchanged.
 */
#include "name_fold.h"

#include "utf8.h"

#define NOT_UTF8        0x110000u /* + the byte */
#define CODE_POINT_LAST 0x10ffffu
#define FNV1A_PRIME     0x100000001b3u

/* The number of bytes that follow the first byte of a character; 0 if the byte is ASCII or cannot
 * begin one. */
static u32 following_bytes(u8 lead)
{
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    return lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
}

/* Reads one character. A NUL is not a continuation byte, so the end is never passed. */
static u32 take(const char **at)
{
    static const u32 least[ETL_NAME_BYTES_MAX] = { 0, 0x80, 0x800, 0x10000 };
    const u8 *const bytes = (const u8 *)*at;
    const u32 following = following_bytes(bytes[0]);
    u32 code_point = following == 0 ? NOT_UTF8 + bytes[0] : bytes[0] & (0x3fu >> following);
    for (u32 i = 1; i <= following; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            ++*at;
            return NOT_UTF8 + bytes[0];
        }
        code_point = code_point << 6 | (bytes[i] & 0x3fu);
    }
    if (following > 0 && (code_point < least[following] || code_point > CODE_POINT_LAST ||
                          (code_point & ~0x7ffu) == 0xd800)) {
        ++*at;
        return NOT_UTF8 + bytes[0];
    }
    *at += following + 1;
    return code_point;
}

static u32 fold(u32 code_point)
{
    size_t low;
    ETL_BISECT(low, 0, etl_name_fold_run_count, etl_name_fold_runs[low].last < code_point);
    if (low == etl_name_fold_run_count)
        return code_point;
    const etl_name_fold_run *const run = &etl_name_fold_runs[low];
    const bool folds = code_point >= run->first && (code_point - run->first) % run->step == 0;
    return folds ? (u32)((i64)code_point + run->delta) : code_point;
}

u32 etl_name_next(const char **at)
{
    const u8 byte = (u8) * *at;
    if (byte >= 0x80)
        return fold(take(at));
    *at += byte != 0;
    return byte >= 'A' && byte <= 'Z' ? byte + 32u : byte;
}

size_t etl_name_next_utf8(const char **at, u8 bytes[ETL_NAME_BYTES_MAX])
{
    const u32 character = etl_name_next(at);
    if (character > CODE_POINT_LAST) {
        bytes[0] = (u8)character;
        return 1;
    }
    return character == 0 ? 0 : etl_utf8_encode(character, bytes);
}

int etl_name_compare(const char *a, const char *b)
{
    for (;;) {
        const u32 x = etl_name_next(&a), y = etl_name_next(&b);
        if (x != y || x == 0)
            return (x > y) - (x < y);
    }
}

bool etl_name_same(const char *a, const char *b)
{
    return etl_name_compare(a, b) == 0;
}

size_t etl_name_begins(const char *name, const char *start)
{
    const char *at = name;
    while (*start != '\0') {
        const u32 wanted = etl_name_next(&start);
        if (etl_name_next(&at) != wanted)
            return 0;
    }
    return (size_t)(at - name);
}

bool etl_name_contains(const char *name, const char *part)
{
    bool found = *part == '\0';
    while (!found && *name != '\0') {
        found = etl_name_begins(name, part) > 0;
        (void)etl_name_next(&name);
    }
    return found;
}

/* On a mismatch after a star, the star takes one character more. */
bool etl_name_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *star_text = NULL;
    while (*text != '\0') {
        const char *next = pattern, *next_text = text;
        const u32 wanted = etl_name_next(&next);
        const u32 character = etl_name_next(&next_text);
        if (wanted == '*') {
            star = pattern = next;
            star_text = text;
        } else if (wanted == '?' || wanted == character) {
            pattern = next;
            text = next_text;
        } else if (star != NULL) {
            pattern = star;
            (void)etl_name_next(&star_text);
            text = star_text;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

size_t etl_name_fold(const char *name, char *out)
{
    char *to = out;
    u8 bytes[ETL_NAME_BYTES_MAX];
    for (size_t size; (size = etl_name_next_utf8(&name, bytes)) != 0;) {
        memcpy(to, bytes, size);
        to += size;
    }
    *to = '\0';
    return (size_t)(to - out);
}

u64 etl_name_hash(const char *name, u64 seed)
{
    u64 hash = seed;
    for (u32 character; (character = etl_name_next(&name)) != 0;)
        hash = etl_mix_u64(hash ^ character);
    return hash;
}

u64 etl_name_fnv1a(u64 hash, const char *name)
{
    u8 bytes[ETL_NAME_BYTES_MAX];
    for (size_t size; (size = etl_name_next_utf8(&name, bytes)) != 0;) {
        for (size_t i = 0; i < size; i++)
            hash = (hash ^ bytes[i]) * FNV1A_PRIME;
    }
    return hash;
}
