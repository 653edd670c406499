/* suspect_score.h - the likelihood that a group of blocks leaks, from its sums. */
#ifndef ETLHEAP_SUSPECT_SCORE_H
#define ETLHEAP_SUSPECT_SCORE_H

#include "suspect_sums.h"

/* Groups with lower scores are not listed. */
#define SUSPECT_SCORE_MIN 50u

/* The score of a group, 0 to 100. */
u32 suspect_score(const suspect_sums *sums, const suspect_time *time);

/* The highest score of a group that may not leak any more. */
#define SUSPECT_SCORE_DOUBT 75u

/* True if no never-freed block was allocated in the second half of the time. */
bool suspect_has_stopped(const suspect_sums *sums);

/* The score, at most SUSPECT_SCORE_DOUBT if the group has stopped or does not grow. */
u32 suspect_cap(u32 score, const suspect_sums *sums, i64 growth_rate);

#endif
