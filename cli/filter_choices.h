/*
 * filter_choices.h - what a filter that selects nothing could select instead.
 */
#ifndef CLI_FILTER_CHOICES_H
#define CLI_FILTER_CHOICES_H

#include "engine/engine.h"

#define CLI_FILTER_CHOICES_SIZE 320

/*
 * Writes how a note goes on: "; there is heap, extent", "; the threads with most memory are 7,
 * Render (9)". `open` is a query without the filter in question, `key` what the filter looks
 * at: kind, heap, thread or type. Nothing is written for other keys, and if the
 * answer cannot be had.
 */
void cli_filter_choices(const etlheap_result *result, const etlheap_query *open, etlheap_key key,
                        char out[CLI_FILTER_CHOICES_SIZE]);

#endif
