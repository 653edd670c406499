/*
 * nearest.h - the names that a mistyped word probably meant.
 */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include "engine/engine.h"

#define CLI_NEAREST_MAX 5

/* A name and how far it is from what was typed. */
typedef struct cli_candidate {
    const char *name;
    u32 distance;
    u64 weight; /* the more the better among equals: how many events, for example */
} cli_candidate;

/* The best candidates, nearest first. Start from {.word = ...}; names are borrowed. */
typedef struct cli_nearest {
    const char *word;
    cli_candidate at[CLI_NEAREST_MAX];
    u32 count;
} cli_nearest;

/* Letters to change; a word that is part of the other, in either direction, is as near as one. */
u32 cli_nearest_distance(const char *word, const char *name);

/* The same name again adds to its weight only if it is listed. */
void cli_nearest_consider(cli_nearest *best, const char *name, u64 weight);

/* Is the first one so near that it was likely meant? */
bool cli_nearest_is_near(const cli_nearest *best);

/* "; did you mean A or B?" of those that are near, else `all` and the names of most weight. Long
 * names are cut, and what does not fit is left out. */
void cli_nearest_write(const cli_nearest *best, const char *all, char *out, size_t size);

#endif
