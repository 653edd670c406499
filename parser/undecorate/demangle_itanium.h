/*
 * demangle_itanium.h - shared by the readers of names and of types of the Itanium C++ ABI. Private.
 */
#ifndef ETL_DEMANGLE_ITANIUM_H
#define ETL_DEMANGLE_ITANIUM_H

#include "demangle_inside.h"

#define SUBSTITUTIONS_MAX 256
#define ARGUMENTS_MAX     64
#define TEXT_SIZE         16384

/* A piece of text that was read before. */
typedef struct piece {
    u16 at, size;
    u16 inside; /* where a pointer has to be written; 0: at the end */
} piece;

typedef struct itanium {
    dem_reader *r;
    u32 substitution_count, argument_count;
    size_t text_size;
    size_t
        inside; /* of the type read last: its place for a pointer, from its beginning; 0: the end */
    piece substitutions[SUBSTITUTIONS_MAX];
    piece arguments[ARGUMENTS_MAX]; /* of the template read last */
    char text[TEXT_SIZE];
} itanium;

/* What a name was, for those who read on. */
typedef struct name_facts {
    bool ends_with_arguments; /* the function type begins with the return type */
} name_facts;

/* Copies what was written since `from`. False, and the reader fails, if there is no room. */
bool itanium_keep(itanium *p, size_t from, size_t inside, piece *out);

/* Makes what was written since `from` the next substitution. */
void itanium_substitute(itanium *p, size_t from, size_t inside);

/* Behind the S, the T and the I. */
void itanium_read_substitution(itanium *p);
void itanium_read_parameter(itanium *p);
void itanium_read_arguments(itanium *p);

void itanium_read_name(itanium *p, name_facts *facts);
void itanium_read_type(itanium *p); /* demangle_types.c */

#endif
