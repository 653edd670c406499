/*
 * sarif_choice.h - chooses the results in a SARIF log if there are more than a host accepts.
 *
 * GitHub shows 5,000 results of a run and drops the others. The choice takes from all failures
 * equally: as many of the largest stacks of each subject as fit; if even one per subject is too
 * many, as many of the worst subjects of each budget as fit.
 */
#ifndef ETLHEAP_SARIF_CHOICE_H
#define ETLHEAP_SARIF_CHOICE_H

#include "formats/formats.h"

#include "parser/base.h"

#define SARIF_RESULTS_DEFAULT 5000u

typedef struct sarif_choice {
    u32 subjects_max; /* subjects per budget */
    u32 stacks_max;   /* stacks per subject */
    u64 found;        /* number of results */
    u32 listed;       /* number of results written */
} sarif_choice;

/* Makes the choice. results_max 0: SARIF_RESULTS_DEFAULT. */
sarif_choice sarif_choose(const etlheap_gate *gate, u32 results_max);

/* True if the budget has a result saying that nothing was measured. */
static inline bool sarif_is_unmeasured(const etlheap_gate_budget *budget)
{
    return budget->is_unmeasured && budget->outcome == ETLHEAP_OUTCOME_FAIL;
}

#endif
