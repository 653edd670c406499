/*
 * parquet_dictionary.h - the distinct values of a column in a row group, in order of first use.
 *
 * An entry is a number or a text; the bytes of texts are stored one after the other. Entries are
 * found by a hash table that is never more than half full. Running out of memory is sticky
 * (`failed`): entries are then 0.
 */
#ifndef PARQUET_DICTIONARY_H
#define PARQUET_DICTIONARY_H

#include "formats/io/text_buffer.h"

/* Start from {0}. One holds numbers or texts, not both. */
typedef struct parquet_dictionary {
    u64 *items;  /* by entry: the number, or the end of the text in `bytes` */
    u64 *hashes; /* by entry */
    u32 *slots;  /* entry + 1; 0: free */
    u32 count, capacity;
    u32 slot_count;     /* a power of two, twice the capacity */
    etlheap_text bytes; /* of all texts */
    bool failed;
} parquet_dictionary;

u32 parquet_dictionary_number(parquet_dictionary *dictionary, u64 value);
u32 parquet_dictionary_text(parquet_dictionary *dictionary, const char *text, size_t size);

/* The text of an entry; valid until the next one is added. */
etl_bytes parquet_dictionary_text_of(const parquet_dictionary *dictionary, u32 entry);

/* Removes all entries and keeps the memory. */
void parquet_dictionary_clear(parquet_dictionary *dictionary);
void parquet_dictionary_free(parquet_dictionary *dictionary);

#endif
