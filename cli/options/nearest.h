/* nearest.h - finds the names that a misspelled word probably meant. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include "engine/engine.h"

#include "parser/base.h"

#define CLI_NEAREST_MAX 5

/* A name and its distance from the typed word. */
typedef struct cli_candidate {
    const char *name;
    u32 distance;
    u64 weight; /* decides among equal distances, larger is better: number of events, for example */
} cli_candidate;

/* The best candidates, nearest first. Start from {.word = ...}. Names are borrowed. */
typedef struct cli_nearest {
    const char *word;
    cli_candidate at[CLI_NEAREST_MAX];
    u32 count;
} cli_nearest;

/* Levenshtein distance, ignoring ASCII case; UINT32_MAX if a word is longer than 32
 * bytes. */
u32 cli_edit_distance(const char *a, const char *b);

/* The number of letters to change. A word that is part of the other, in either direction, counts as
 * one. */
u32 cli_nearest_distance(const char *word, const char *name);

/* Considers a name. A repeated name adds to its weight only if it is listed. */
void cli_nearest_consider(cli_nearest *best, const char *name, u64 weight);

/* True if the first candidate is close enough to be meant. */
bool cli_nearest_is_near(const cli_nearest *best);

/* Writes "; did you mean A or B?" with the near names, else `all` and the names with the largest
 * weights. Long names are cut, and what does not fit is left out. */
void cli_nearest_write(const cli_nearest *best, const char *all, char *out, size_t size);

/* Writes ", did you mean X?" for the choice nearest to a word, or "". `choices` ends with NULL. */
#define CLI_HINT_SIZE 64
void cli_hint(const char *word, const char *const *choices, char hint[CLI_HINT_SIZE]);

#endif
