/*
 * short_names.h - shortens texts to fit a line.
 *
 *     std::vector<std::pair<int,char>,std::allocator<...> >::push_back (app.exe)  a.cpp:42
 *     std::vector<…>::push_back (app.exe)  a.cpp:42
 *
 * Names of functions first lose their template arguments. Then they are broken where there are two
 * spaces. Longer texts are cut in the middle.
 */
#ifndef ETLHEAP_SHORT_NAMES_H
#define ETLHEAP_SHORT_NAMES_H

#include "formats/formats.h"

#include "parser/base.h"

/* The place for a text. */
typedef struct etlheap_fit {
    u32 columns;  /* at least 1 */
    bool is_name; /* name of a function: the cut keeps more of its start */
    bool breaks;  /* a name may continue on the next line, indented by four more */
    bool ascii;   /* use three dots as ellipsis */
} etlheap_fit;

/* Appends text, cut if it does not fit. A cut text fills the columns. */
void etlheap_display_add_fitted(etlheap_text *to, const char *text, size_t size,
                                const etlheap_fit *fit);

/* Appends a name with an ellipsis for each list of template arguments. Everything else stays:
 * `operator<<`, `<lambda_1>`, an unmatched bracket. */
void etlheap_display_add_short(etlheap_text *to, const char *name, size_t size,
                               const char *ellipsis);

/* The number of bytes up to the first space outside template arguments, where a line may end. */
size_t etlheap_display_word_size(const char *text, size_t size);

#endif
