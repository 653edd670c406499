/* part_words.c - the part of a recording that a store has, as words. */
#include "formats/formats.h"

#include <stdio.h>
#include <string.h>

#include "formats/io/units.h"

/* Appends to a text that is cut off where it does not fit. */
static void add(char out[ETLHEAP_PART_WORDS_SIZE], const char *before, const char *word)
{
    const size_t used = strlen(out);
    snprintf(out + used, ETLHEAP_PART_WORDS_SIZE - used, "%s%s", before, word);
}

static void add_window(const etlheap_part *part, char out[ETLHEAP_PART_WORDS_SIZE])
{
    char from[ETLHEAP_UNITS_SIZE] = "the begin", to[ETLHEAP_UNITS_SIZE] = "the end";
    const bool has_from = part->from_ns != INT64_MIN, has_to = part->to_ns != INT64_MAX;
    if (has_from)
        etlheap_units_moment(part->from_ns, from);
    if (has_to)
        etlheap_units_moment(part->to_ns, to);
    add(out, from, has_from ? " s" : "");
    add(out, " to ", to);
    add(out, has_to ? " s" : "", "");
}

void etlheap_part_words(const etlheap_part *part, char out[ETLHEAP_PART_WORDS_SIZE])
{
    out[0] = '\0';
    if (part->from_ns != INT64_MIN || part->to_ns != INT64_MAX)
        add_window(part, out);
    for (u32 i = 0; i < part->process_count; i++) {
        const char *const first = out[0] == '\0' ? "processes " : ", processes ";
        add(out, i == 0 ? first : ", ", part->processes[i]);
    }
    bool is_first = true;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if ((part->kinds >> kind & 1) == 0)
            continue;
        const char *const first = out[0] == '\0' ? "kinds " : ", kinds ";
        add(out, is_first ? first : ", ", etlheap_kind_name((etlheap_kind)kind));
        is_first = false;
    }
}
