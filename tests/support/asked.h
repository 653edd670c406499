/*
 * asked.h - one question as members of etlheap_options, for as long as the block it stands in.
 */
#ifndef TESTS_ASKED_H
#define TESTS_ASKED_H

#include "engine/engine.h"

/* The question is there if the condition holds; `asked_windows` may be NULL. */
#define ASKED_IF(condition, asked_kind, asked_query, asked_windows)                                \
    .questions = &(const etlheap_question){ .size = sizeof(etlheap_question),                      \
                                            .kind = (asked_kind),                                  \
                                            .query = (asked_query),                                \
                                            .windows = (asked_windows) },                          \
    .question_count = (condition) ? 1 : 0

#define ASKED(asked_kind, asked_query, asked_windows)                                              \
    ASKED_IF(true, asked_kind, asked_query, asked_windows)

#define ASKED_TABLE(asked_query)  ASKED(ETLHEAP_ASK_TABLE, asked_query, NULL)
#define ASKED_EVENTS(asked_query) ASKED(ETLHEAP_ASK_EVENTS, asked_query, NULL)
#define ASKED_WINDOWS(asked_query, asked_windows)                                                  \
    ASKED(ETLHEAP_ASK_WINDOWS, asked_query, asked_windows)

#endif
