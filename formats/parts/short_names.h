/*
 * short_names.h - texts made short enough for a line.
 *
 *     std::vector<std::pair<int,char>,std::allocator<...> >::push_back (app.exe)  a.cpp:42
 *     std::vector<…>::push_back (app.exe)  a.cpp:42
 *
 * Names of functions first lose the arguments of their templates, then they are broken
 * where two spaces are. What is still too long is cut in the middle.
 */
#ifndef ETLHEAP_SHORT_NAMES_H
#define ETLHEAP_SHORT_NAMES_H

#include "formats/formats.h"

/* Where a text goes. */
typedef struct etlheap_fit {
    u32 columns;  /* at least 1 */
    bool is_name; /* of a function; of its middle more is kept from the start */
    bool breaks;  /* a name may go on below, indented by four more than it is itself */
    bool ascii;   /* three dots for an ellipsis */
} etlheap_fit;

/* Appends display text as it fits. A text that is cut fills the columns. */
void etlheap_display_add_fitted(etlheap_text *to, const char *text, size_t size,
                                const etlheap_fit *fit);

/* Appends a name with an ellipsis for each list of template arguments. What is no such
 * list stays: `operator<<`, `<lambda_1>`, a bracket without its partner. */
void etlheap_display_add_short(etlheap_text *to, const char *name, size_t size,
                               const char *ellipsis);

/* Bytes up to the first space that is not among the arguments of a template: a line may end
 * there. */
size_t etlheap_display_word_size(const char *text, size_t size);

#endif
