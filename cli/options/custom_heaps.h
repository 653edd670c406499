/*
 * custom_heaps.h - --custom-heap: allocators with events of their own.
 */
#ifndef CLI_CUSTOM_HEAPS_H
#define CLI_CUSTOM_HEAPS_H

#include "options.h"

/*
 * Adds the allocator that the text describes, as parser/custom_events.h has it, or, of
 * "@FILE", those of the file: one a line, empty lines and lines with # are passed over.
 * ETL_ERR_ARGUMENT names the option or the line, and the place in the text; ETL_ERR_IO.
 */
etl_status cli_custom_heaps_add(cli_custom_heaps *heaps, const char *spelled, const char *text,
                                etl_error *err);

/* The handle that a word of --heap stands for: a number, or the name of a heap whose
 * allocator is built in or was described before. */
bool cli_custom_heap_named(const cli_options *options, const char *word, u64 *handle);

#endif
