/*
 * undecorate_print.h - prints nodes as text (private to name undecoration).
 *
 * A type surrounds what it declares: `int (*` before, `)(char)` after. So printing is not a single
 * walk in order. What is still to be printed is on a stack of sayings; processing one prints its
 * first words and pushes the rest:
 *
 *     pointer to function  ->  before(pointee) "(" convention "*" ... ")" after(pointee)
 */
#ifndef ETL_UNDECORATE_PRINT_H
#define ETL_UNDECORATE_PRINT_H

#include "undecorate_internal.h"

/* Text that grows up to a capacity, plus one byte for a NUL. */
typedef struct und_text {
    char *out;
    size_t length;
    size_t length_max;
    bool is_full; /* something did not fit, so the text is useless */
} und_text;

/* The kinds of sayings. */
typedef enum und_say {
    UND_SAY_TEXT,          /* its text */
    UND_SAY_NODE,          /* a node as a whole */
    UND_SAY_LIST,          /* the items from a cell on, separated by its text */
    UND_SAY_MORE,          /* the same, with its text also before the first item */
    UND_SAY_ARGUMENTS,     /* template arguments of an identifier, if any */
    UND_SAY_SPACE,         /* a space, unless the text ends with punctuation */
    UND_SAY_BEFORE,        /* the part of a type before the name it declares */
    UND_SAY_AFTER,         /* ... and after it */
    UND_SAY_QUALS,         /* qualifiers of a type, each with a space before it */
    UND_SAY_SIGNATURE,     /* of a function type: access to return type */
    UND_SAY_CONVENTION,    /* of a function type: calling convention */
    UND_SAY_DECLARATOR,    /* of a pointer: from its parenthesis to its class */
    UND_SAY_STAR,          /* of a pointer: the sign and its qualifiers */
    UND_SAY_PARAMETERS,    /* of a function type: its parameters and qualifiers */
    UND_SAY_OFFSETS,       /* of a function type: the offsets of a thunk */
    UND_SAY_PARAMETERS_END /* of a function type: the part after the last parameter */
} und_say;

typedef struct und_saying {
    const char *text;
    u8 say;
    und_id node;
} und_saying;

typedef struct und_printer {
    const und_node *nodes;
    const u8 *input;
    u32 *work_left;
    und_text text;
    u16 count;
    und_saying sayings[UND_SAYINGS_MAX]; /* the next one is last */
} und_printer;

/* Print a symbol in the name-only form, with a NUL, or an identifier without one. False if the text
 * does not fit, or takes more work than a name may. */
bool und_print_symbol(und_parse *p, und_id symbol, char *out, size_t capacity, size_t *length);
bool und_print_identifier(und_parse *p, und_id identifier, char *out, size_t capacity,
                          size_t *length);

/* Pushes sayings, to be printed in the order of the array, before earlier ones. */
void und_say_all(und_printer *printer, const und_saying *sayings, size_t count);

#define UND_SAY_ALL(printer, ...)                                                                  \
    und_say_all((printer), (const und_saying[]){ __VA_ARGS__ },                                    \
                sizeof((const und_saying[]){ __VA_ARGS__ }) / sizeof(und_saying))

/* One saying for UND_SAY_ALL. */
#define UND_TEXT(words)                                                                            \
    {                                                                                              \
        .text = (words), .say = UND_SAY_TEXT                                                       \
    }
#define UND_SAY(what, id)                                                                          \
    {                                                                                              \
        .say = (what), .node = (id)                                                                \
    }
#define UND_LIST(id, between)                                                                      \
    {                                                                                              \
        .text = (between), .say = UND_SAY_LIST, .node = (id)                                       \
    }

/* Prints the part of a type that a saying names; for type 0, nothing. */
void und_say_type(und_printer *printer, und_saying saying);

void und_put(und_text *text, const char *words, size_t size);
void und_put_words(und_text *text, const char *words);
void und_put_space(und_text *text);
void und_put_number(und_text *text, const und_node *number);
void und_put_quals(und_text *text, unsigned quals, bool has_space_before);

#endif
