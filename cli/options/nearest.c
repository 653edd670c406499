/*
 * nearest.c - collects the names that a mistyped word probably meant.
 *
 * In: a word, then one candidate after the other. Out: the nearest few, by edit distance, for a
 * note.
 */
#include "nearest.h"

#include <stdio.h>

#include "parse_values.h"
#include "synonyms.h"
#include "parser/system/name_fold.h"

#define DISTANCE_LENGTH_MAX 32

/* Levenshtein's distance, one row of the table at a time. */
u32 cli_edit_distance(const char *a, const char *b)
{
    u32 row[DISTANCE_LENGTH_MAX + 1];
    const size_t a_size = strlen(a);
    const size_t b_size = strlen(b);
    if (a_size > DISTANCE_LENGTH_MAX || b_size > DISTANCE_LENGTH_MAX)
        return UINT32_MAX;
    for (u32 j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        u32 diagonal = row[0];
        row[0] = (u32)i;
        for (size_t j = 1; j <= b_size; j++) {
            const u32 change = diagonal + (cli_lower(a[i - 1]) == cli_lower(b[j - 1]) ? 0 : 1);
            const u32 step = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[b_size];
}

/* From so many letters on, a word is another one, and not a slip of the finger. */
static u32 too_far(size_t size)
{
    return size < 6 ? 3 : (u32)size / 2;
}

u32 cli_nearest_distance(const char *word, const char *name)
{
    char stem[64];
    const char *const dot = strrchr(name, '.');
    const size_t size = dot ? (size_t)(dot - name) : strlen(name);
    u32 distance = cli_edit_distance(word, name);
    if (size > 0 && size < sizeof stem) {
        memcpy(stem, name, size);
        stem[size] = '\0';
        const u32 of_stem = cli_edit_distance(word, stem);
        distance = of_stem < distance ? of_stem : distance;
    }
    const bool is_part = strlen(word) >= 3 && etl_name_contains(name, word);
    return is_part && distance > 1 ? 1 : distance;
}

static bool is_nearer(const cli_candidate *a, const cli_candidate *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    if (a->weight != b->weight)
        return a->weight > b->weight;
    return strcmp(a->name, b->name) < 0;
}

void cli_nearest_consider(cli_nearest *best, const char *name, u64 weight)
{
    cli_candidate fresh = { name, cli_nearest_distance(best->word, name), weight };
    /* What is far is as far as anything: then what has most events is likely. */
    if (fresh.distance >= too_far(strlen(best->word)))
        fresh.distance = UINT32_MAX;
    u32 at = 0;
    while (at < best->count && strcmp(best->at[at].name, name) != 0)
        at++;
    if (at < best->count) {
        fresh.weight = etl_sat_add_u64(fresh.weight, best->at[at].weight);
        memmove(&best->at[at], &best->at[at + 1], (best->count - at - 1) * sizeof *best->at);
        best->count--;
    }
    for (at = 0; at < best->count && is_nearer(&best->at[at], &fresh); at++)
        ;
    if (at == CLI_NEAREST_MAX)
        return;
    if (best->count < CLI_NEAREST_MAX)
        best->count++;
    memmove(&best->at[at + 1], &best->at[at], (best->count - at - 1) * sizeof *best->at);
    best->at[at] = fresh;
}

bool cli_nearest_is_near(const cli_nearest *best)
{
    return best->count > 0 && best->at[0].distance != UINT32_MAX;
}

void cli_nearest_write(const cli_nearest *best, const char *all, char *out, size_t size)
{
    const bool is_near = cli_nearest_is_near(best);
    size_t used = 0;
    snprintf(out, size, "%s", is_near ? "; did you mean " : all);
    for (u32 i = 0; i < best->count && (!is_near || best->at[i].distance != UINT32_MAX); i++) {
        const char *const between = i == 0 ? "" : is_near ? " or " : ", ";
        used = strlen(out);
        snprintf(out + used, size - used, "%s%.60s", between, best->at[i].name);
    }
    used = strlen(out);
    snprintf(out + used, size - used, "%s", is_near ? "?" : "");
}

/* What the word is another word for, else the nearest choice that a slip could explain. The first
 * three letters of a choice are near enough, so abbreviations get an answer too. */
void cli_hint(const char *word, const char *const *choices, char hint[CLI_HINT_SIZE])
{
    const size_t size = strlen(word);
    const char *nearest = cli_synonym(word, choices);
    u32 least = nearest ? 0 : too_far(size);
    for (; *choices && least > 0; choices++) {
        const bool begins = size >= 3 && strncmp(word, *choices, size) == 0;
        const u32 distance = begins ? 0 : cli_edit_distance(word, *choices);
        if (distance < least) {
            least = distance;
            nearest = *choices;
        }
    }
    hint[0] = '\0';
    if (nearest)
        snprintf(hint, CLI_HINT_SIZE, ", did you mean %s?", nearest);
}
