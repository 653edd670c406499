/* suspect_score.h - the likelihood that a group of blocks leaks, from its sums. */
#ifndef ETLHEAP_SUSPECT_SCORE_H
#define ETLHEAP_SUSPECT_SCORE_H

#include "suspect_sums.h"

/* Groups with lower scores are not listed. */
#define SUSPECT_SCORE_MIN 50u

/* The score of a group, 0 to 100. */
u32 suspect_score(const suspect_sums *sums, const suspect_time *time);

#endif
