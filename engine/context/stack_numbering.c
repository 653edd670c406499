/*
 * stack_numbering.c - numbers the addresses of a stack table, in short steps.
 *
 * In: stacks in the order of their ids. Out: a number for each frame, in the table. Stacks that
 * come one after the other often have the same outer frames, whose numbers are copied. Invariant:
 * the result does not depend on how stacks are divided into steps, so steps may run beside other
 * tasks of a slice; only one at a time, and while nobody adds stacks.
 */
#include "stack_numbering.h"

#include <stdlib.h>

/* How many outer frames two stacks have in common. */
static u32 common_frames(const stack_entry *a, const stack_entry *b)
{
    const u32 least = a->count < b->count ? a->count : b->count;
    u32 count = 0;
    while (count < least && a->frames[a->count - 1 - count] == b->frames[b->count - 1 - count])
        count++;
    return count;
}

/* Numbers the next stack. `numbers` is behind the numbers of the stack before it. */
static bool number_stack(stack_numbering *numbering, const stack_table *table, u32 *numbers)
{
    const u32 at = numbering->stack_count;
    const stack_entry *const entry = &table->list.at[at];
    const u32 known = at == 0 ? 0 : common_frames(&entry[-1], entry);
    const u32 fresh = entry->count - known;
    if (!address_numbers_add(&numbering->addresses, entry->frames, fresh, numbers))
        return false;
    memcpy(numbers + fresh, numbers - known, known * sizeof *numbers);
    return true;
}

bool stack_numbering_step(stack_numbering *numbering, const stack_table *table, u32 frame_count)
{
    const size_t start = numbering->numbers.count;
    while (numbering->stack_count < table->list.count &&
           numbering->numbers.count - start < frame_count) {
        const stack_entry *const entry = &table->list.at[numbering->stack_count];
        if (!ETLHEAP_RESERVE(&numbering->numbers, entry->count))
            return false;
        u32 *const numbers = numbering->numbers.at + numbering->numbers.count;
        if (!number_stack(numbering, table, numbers))
            return false;
        numbering->numbers.count += entry->count;
        numbering->stack_count++;
    }
    return true;
}

bool stack_numbering_finish(stack_numbering *numbering, stack_table *table)
{
    while (numbering->stack_count < table->list.count) {
        if (!stack_numbering_step(numbering, table, UINT32_MAX))
            return false;
    }
    const u32 count = numbering->addresses.count;
    u64 *const addresses = malloc(((size_t)count + 1) * sizeof *addresses);
    /* A table of no stacks has numbers as well: of nothing. */
    if (addresses == NULL || !ETLHEAP_RESERVE(&numbering->numbers, 1)) {
        free(addresses);
        return false;
    }
    address_numbers_list(&numbering->addresses, addresses);
    u64 first = 0;
    for (size_t i = 0; i < table->list.count; i++) {
        table->list.at[i].first_number = first;
        first += table->list.at[i].count;
    }
    table->addresses = addresses;
    table->number_count = count;
    table->numbers = numbering->numbers.at;
    table->numbered_count = numbering->numbers.count;
    numbering->numbers.at = NULL;
    stack_numbering_free(numbering);
    return true;
}

u64 stack_numbering_bytes(const stack_numbering *numbering)
{
    return address_numbers_bytes(&numbering->addresses) +
           numbering->numbers.capacity * sizeof *numbering->numbers.at;
}

void stack_numbering_free(stack_numbering *numbering)
{
    address_numbers_free(&numbering->addresses);
    ETLHEAP_VECTOR_FREE(&numbering->numbers);
    numbering->stack_count = 0;
}
