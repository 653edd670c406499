/*
 * abilities.h - what a trace can be analysed for, and how to record the rest.
 */
#ifndef ETLHEAP_ABILITIES_H
#define ETLHEAP_ABILITIES_H

#include "engine/engine.h"

typedef struct etlheap_ability {
    const char *word;     /* in the `can` array */
    const char *question; /* what it answers, as a phrase */
    const char *remedy;   /* how to record it: a sentence with the command */
    size_t offset;        /* of its bool in etlheap_abilities */
} etlheap_ability;

u32 etlheap_ability_count(void);
const etlheap_ability *etlheap_ability_at(u32 index);
bool etlheap_ability_is_set(const etlheap_abilities *abilities, const etlheap_ability *ability);

/* Is there something to record? .NET is only where a process runs it: a trace may have methods
 * of one process and lack them of another, or need none. */
bool etlheap_ability_is_missing(const etlheap_abilities *abilities, const etlheap_ability *ability);

/* Neither heap nor VirtualAlloc nor extent events, nor those of custom allocators: there is
 * nothing to report. */
bool etlheap_abilities_lack_memory(const etlheap_abilities *abilities);

#endif
