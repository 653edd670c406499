/*
 * abilities.h - the questions that people ask of a trace: whether it can answer each, why, and how
 * to record what is missing.
 */
#ifndef ETLHEAP_ABILITIES_H
#define ETLHEAP_ABILITIES_H

#include "engine/engine.h"

#include "parser/base.h"

#define ETLHEAP_WHY_SIZE 256

/* A question, and whether a result can answer it. Strings are static. */
typedef struct etlheap_ability {
    const char *word;     /* its name */
    const char *question; /* what it asks, as a phrase */
    const char *record;   /* how to record what is missing: a phrase with the command; NULL:
                             nothing is missing, or the file was made from more than it keeps */
    const char *with;     /* the kind of memory that is recorded by the same command; NULL: none */
    bool can;             /* the result can answer it */
    bool is_listed;       /* in the `can` array, if the recording has what it takes */
    bool has_data;        /* the recording has what it takes, if not memory to use it for */
    bool is_extra;        /* a recording is complete without it */
    bool has_own_line;    /* text says it elsewhere */
    char why[ETLHEAP_WHY_SIZE]; /* what the recording has or lacks, as a sentence */
} etlheap_ability;

u32 etlheap_ability_count(void);

/* The question with this number, below the count. Kinds of memory come first. */
void etlheap_ability_of(const etlheap_result *result, u32 index, etlheap_ability *out);

/* True if no events of any kind of memory were kept: there is nothing to report. */
bool etlheap_abilities_lack_memory(const etlheap_abilities *abilities);

#endif
