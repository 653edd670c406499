/*
 * address_numbers.h - distinct addresses as small numbers.
 *
 * Stacks are many and their addresses few: what is found out about an address is
 * kept in arrays by its number, in place of a table to be searched for each frame.
 * Numbers are given from 0 in the order in which addresses come.
 */
#ifndef ETLHEAP_ADDRESS_NUMBERS_H
#define ETLHEAP_ADDRESS_NUMBERS_H

#include "intern.h"

#define ADDRESS_NUMBERS_MAX ((u32)1 << 30)

typedef struct address_numbers {
    struct address_slot *slots;
    u32 mask;  /* slot count - 1; 0 while empty */
    u32 count; /* addresses */
} address_numbers;

/* Start from {0}. numbers[i] becomes that of addresses[i], which gets one if it has
 * none. False without memory or beyond ADDRESS_NUMBERS_MAX. */
bool address_numbers_add(address_numbers *table, const u64 *addresses, u32 count, u32 *numbers);

/* The address of each number: `count` of them. */
void address_numbers_list(const address_numbers *table, u64 *addresses);

/* What it has allocated. */
u64 address_numbers_bytes(const address_numbers *table);

void address_numbers_free(address_numbers *table);

#endif
