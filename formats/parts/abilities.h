/* abilities.h - which questions a trace can answer, and how to record the rest. */
#ifndef ETLHEAP_ABILITIES_H
#define ETLHEAP_ABILITIES_H

#include "engine/engine.h"

#include "parser/base.h"

typedef struct etlheap_ability {
    const char *word;     /* in the `can` array */
    const char *question; /* the question it answers, as a phrase */
    const char *remedy;   /* how to record it: a sentence with the command */
    size_t offset;        /* of its bool in etlheap_abilities, unless it is a kind of memory */
    u32 kind;             /* the bit of the kind of memory; 0: something else */
    bool is_extra;        /* a recording is complete without it */
} etlheap_ability;

u32 etlheap_ability_count(void);
etlheap_ability etlheap_ability_at(u32 index);
bool etlheap_ability_is_set(const etlheap_abilities *abilities, const etlheap_ability *ability);

/* True if it is not there, and a recording is complete without it. */
bool etlheap_ability_is_extra(const etlheap_abilities *abilities, const etlheap_ability *ability);

/* True if recording more would help, or for extras, would make more questions possible. Methods of
 * .NET are missing only if a process runs .NET: a trace may have them for one process and lack them
 * for another, or need none. */
bool etlheap_ability_is_missing(const etlheap_abilities *abilities, const etlheap_ability *ability);

/* True if no events of any kind of memory were kept: there is nothing to report. */
bool etlheap_abilities_lack_memory(const etlheap_abilities *abilities);

#endif
