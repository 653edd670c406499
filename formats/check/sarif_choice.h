/*
 * sarif_choice.h - which results a SARIF log lists if there are more than a host takes.
 *
 * GitHub shows 5,000 results of a run and drops the others. The choice takes from all
 * failures alike: as many of the largest stacks of each subject as fit, and if one of
 * each is too many, as many of the subjects that exceed each budget most as fit.
 */
#ifndef ETLHEAP_SARIF_CHOICE_H
#define ETLHEAP_SARIF_CHOICE_H

#include "formats/formats.h"

#define SARIF_RESULTS_DEFAULT 5000u

typedef struct sarif_choice {
    u32 subjects_max; /* of a budget */
    u32 stacks_max;   /* of a subject */
    u64 found;        /* results there are */
    u32 listed;       /* those that are written */
} sarif_choice;

/* results_max: 0 takes SARIF_RESULTS_DEFAULT. */
sarif_choice sarif_choose(const etlheap_gate *gate, u32 results_max);

/* True: the budget has a result that says so. */
static inline bool sarif_is_unmeasured(const etlheap_gate_budget *budget)
{
    return budget->is_unmeasured && budget->outcome == ETLHEAP_OUTCOME_FAIL;
}

#endif
