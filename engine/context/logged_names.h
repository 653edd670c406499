/*
 * logged_names.h - names that a recording gives to numbers in place of a heap.
 *
 * Memory of some kinds belongs to no heap, but to something whose name an event states: a handle to
 * a type of objects, a view of a file to its path. Such names are longer than a heap's number has
 * room for, and may be logged only at the end. So the number has what the events themselves have,
 * and names are looked up when rows are made:
 *
 *     63..60   1110, which neither addresses, custom heaps (1100) nor pool tags (1101) begin with
 *     59..56   the kind's number in stores (formats/ehs.md)
 *     55..0    the key: the index of a type of objects, the address of a file object. Addresses of
 *              the kernel lose their upper 8 bits, which are all 1
 *
 *     handle_event.heap = logged_heap(NUMBER, event->object_type);
 *     logged_names_add(&context->logged_names, logged_heap(NUMBER, key), event->name, strings)
 *
 * A number that gets two different names has none, because no time says which of them is meant:
 * what has it is shown by its number. The result does not depend on the order of the events. Traces
 * of one run share the table. A store keeps it (table logged_name).
 */
#ifndef ETLHEAP_LOGGED_NAMES_H
#define ETLHEAP_LOGGED_NAMES_H

#include "engine/core/intern.h"
#include "engine/engine.h"

typedef struct logged_name {
    u64 heap;
    const char *name; /* while names are added: NULL if there are two */
} logged_name;

/* In ascending order of numbers after logged_names_finish. Starts from {0}. */
typedef struct logged_names {
    ETLHEAP_VECTOR(logged_name) list;
    etlheap_index index;
} logged_names;

/* The number of a key of the kind with this number in stores. */
u64 logged_heap(u32 kind_number, u64 key);

/* True if the number is one of logged_heap. */
bool logged_heap_is(u64 heap);

/* Writes what a number without a name is called, such as "handle 0x11", or returns false: it is not
 * one of logged_heap, or of an unknown kind. */
bool logged_heap_word(u64 heap, char out[ETLHEAP_HEAP_NAME_SIZE]);

/* Finds the number of such a word; false if no number has it. */
bool logged_heap_of_word(const char *word, u64 *heap);

/* Adds a name in UTF-16; its text goes to `strings`. Empty names are not added. False if memory
 * runs out. */
bool logged_names_add(logged_names *names, u64 heap, etl_bytes name, etlheap_strings *strings);

/* The same with text that lives as long as the names. */
bool logged_names_add_text(logged_names *names, u64 heap, const char *name);

/* Drops numbers with two names, and sorts the others. After that no name may be added. */
void logged_names_finish(logged_names *names);

/* The name of a number; NULL: it has none. */
const char *logged_names_find(const logged_names *names, u64 heap);

void logged_names_free(logged_names *names);

#endif
