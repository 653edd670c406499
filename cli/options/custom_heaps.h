/* custom_heaps.h - --custom-heap: allocators that log their own events. */
#ifndef CLI_CUSTOM_HEAPS_H
#define CLI_CUSTOM_HEAPS_H

#include "options.h"

/*
 * Adds the allocator that the text describes (parser/custom_events.h), or for "@FILE" those in the
 * file: one per line; empty lines and lines with # are skipped. ETL_ERR_ARGUMENT (the message names
 * the option or line, and the position), ETL_ERR_IO.
 */
etl_status cli_custom_heaps_add(cli_custom_heaps *heaps, const char *spelled, const char *text,
                                etl_error *err);

/* Finds the handle for a word of --heap: a number, the name of a heap of a built-in or described
 * allocator, or a pool tag with its type. */
bool cli_custom_heap_named(const cli_options *options, const char *word, u64 *handle);

#endif
