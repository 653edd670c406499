/*
 * export_numbers.h - numbers things in the order in which they first occur.
 *
 * Other programs' formats refer to strings, frames and kinds of blocks by number. A key is any
 * bytes; equal bytes have the same number, from 0. Numbers depend only on the order of calls.
 */
#ifndef ETLHEAP_EXPORT_NUMBERS_H
#define ETLHEAP_EXPORT_NUMBERS_H

#include "formats/io/text_buffer.h"

/* Start from {0}. Running out of memory, or of 32 bits, is sticky (`failed`): numbers
 * are then 0 and nothing is new. */
typedef struct export_numbers {
    etlheap_text keys; /* all keys, one after the other */
    size_t *ends;      /* end of each key in `keys` */
    u32 count, capacity;
    u32 *slots; /* open addressing: 0: free, else a number + 1 */
    u32 slot_count;
    u64 slots_seen; /* of all searches: the work, which must grow with the number of calls */
    bool failed;
} export_numbers;

/* Finds the number of a key. True if the key is new; its number is then one more than that of the
 * last new one. */
bool export_number_of(export_numbers *numbers, etl_bytes key, u32 *number);

/* Finds the number of a pair of numbers. */
bool export_number_of_pair(export_numbers *numbers, u64 first, u64 second, u32 *number);

/* How often each key was noted. Start from {0}; without memory, `numbers.failed` is set. */
typedef struct export_repeats {
    export_numbers numbers;
    u32 *counts; /* by number */
    u32 capacity;
} export_repeats;

/* Notes a key. Returns how often it was noted before. */
u32 export_repeats_note(export_repeats *repeats, etl_bytes key);
void export_repeats_free(export_repeats *repeats);

/* The key with a number; valid until the next new one. */
etl_bytes export_number_key(const export_numbers *numbers, u32 number);

void export_numbers_free(export_numbers *numbers);

#endif
