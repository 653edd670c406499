/* symbol_of_builds.c - patterns of functions whose names change with every build
 * (stable_name.h). */
#include "engine/core/stable_name.h"
#include "engine/engine.h"

#include <string.h>

size_t etlheap_symbol_of_builds(const char *symbol, char *out)
{
    const char *at = symbol;
    const char *const end = symbol + strlen(symbol);
    stable_name reader = stable_name_begin(symbol);
    stable_piece piece;
    size_t length = 0;
    while (stable_name_next(&reader, &piece)) {
        if (piece.at < symbol || piece.at >= end)
            continue; /* it stands for what was left out */
        if (piece.at > at)
            out[length++] = '*';
        memcpy(out + length, piece.at, piece.size);
        length += piece.size;
        at = piece.at + piece.size;
    }
    if (at < end)
        out[length++] = '*';
    out[length] = '\0';
    return length;
}
