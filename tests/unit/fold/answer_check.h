/*
 * answer_check.h - answers of questions as text, so that they can be compared whole.
 */
#ifndef TESTS_ANSWER_CHECK_H
#define TESTS_ANSWER_CHECK_H

#include "engine/engine.h"

/* All that the answer has. Walks are read to their end. To be freed. */
char *answer_check_text(const etlheap_answer *answer);

#endif
