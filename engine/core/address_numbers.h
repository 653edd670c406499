/*
 * address_numbers.h - dense numbers for distinct addresses.
 *
 * A trace has many stacks but few distinct addresses. Facts about an address are therefore kept in
 * an array by its number, so that no table is searched for each frame. Numbers count from 0, in the
 * order in which addresses first occur.
 */
#ifndef ETLHEAP_ADDRESS_NUMBERS_H
#define ETLHEAP_ADDRESS_NUMBERS_H

#include "intern.h"

#define ADDRESS_NUMBERS_MAX ((u32)1 << 30)

typedef struct address_numbers {
    struct address_slot *slots;
    u32 mask;  /* slot count - 1; 0 while empty */
    u32 count; /* distinct addresses */
} address_numbers;

/* Start from {0}. Sets numbers[i] to the number of addresses[i], and adds addresses that are new.
 * False if memory runs out, or there are more than ADDRESS_NUMBERS_MAX addresses. */
bool address_numbers_add(address_numbers *table, const u64 *addresses, u32 count, u32 *numbers);

/* Writes the address of each number; `addresses` has room for `count`. */
void address_numbers_list(const address_numbers *table, u64 *addresses);

/* The number of bytes allocated. */
u64 address_numbers_bytes(const address_numbers *table);

void address_numbers_free(address_numbers *table);

#endif
