/* filter_choices.h - what a filter that selects nothing could have selected. */
#ifndef CLI_FILTER_CHOICES_H
#define CLI_FILTER_CHOICES_H

#include "engine/engine.h"

#define CLI_FILTER_CHOICES_SIZE 320

/*
 * Writes the continuation of a note: "; there is heap, extent" or "; the threads with most memory
 * are 7, Render (9)". `open` is a query without the filter, `key` its key: kind, heap, thread or
 * type. Writes nothing for other keys, or if the question fails.
 */
void cli_filter_choices(const etlheap_result *result, const etlheap_query *open, etlheap_key key,
                        char out[CLI_FILTER_CHOICES_SIZE]);

#endif
