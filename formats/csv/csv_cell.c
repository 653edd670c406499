/*
 * csv_cell.c - writes a cell of CSV: quoted as in RFC 4180, and on request without formulas.
 *
 * A spreadsheet runs a cell that begins with = + - or @, or with a tab or carriage return before
 * them. An apostrophe in front makes the cell text. If the spreadsheet of another country separates
 * cells with semicolons, or a program with tabs, a cell may also begin inside one of ours.
 */
#include "formats/writers.h"

#include "formats/io/units.h"

/* Characters with which formulas begin, also in their wide forms. */
static bool begins_formula(const char *text, size_t size)
{
    static const char *const wide[] = { "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                        "\xEF\xBC\xA0" };
    bool begins = size == 1 && strchr("=+-@", *text) != NULL;
    for (size_t i = 0; i < ETL_COUNT_OF(wide); i++)
        begins |= size == 3 && memcmp(text, wide[i], 3) == 0;
    return begins;
}

/* Blanks and quotes at the beginning of a cell may be left out by who reads it. */
static void write_text_only(etlheap_sink *sink, const char *text)
{
    bool at_begin = true;
    if (*text == '\t' || *text == '\r' || *text == '\n')
        etlheap_sink_text(sink, "'");
    for (size_t left = strlen(text); left > 0;) {
        const size_t length = etlheap_units_utf8_length(text, left);
        const size_t size = length > 0 ? length : 1;
        if (at_begin && begins_formula(text, size))
            etlheap_sink_text(sink, "'");
        if (strchr(";\t\r\n", *text))
            at_begin = true;
        else if (!strchr(" \"", *text))
            at_begin = false;
        etlheap_sink_write(sink, text, size);
        etlheap_sink_text(sink, *text == '"' ? "\"" : "");
        text += size;
        left -= size;
    }
}

static void write_doubled(etlheap_sink *sink, const char *text)
{
    while (*text != '\0') {
        const size_t size = strcspn(text, "\"");
        etlheap_sink_write(sink, text, size);
        text += size;
        if (*text == '"') {
            etlheap_sink_text(sink, "\"\"");
            text++;
        }
    }
}

void etlheap_csv_cell(etlheap_sink *sink, const char *text)
{
    const bool safe = etlheap_sink_is_csv_safe(sink);
    const bool quoted = text[strcspn(text, safe ? ",;\"\t\r\n" : ",\"\r\n")] != '\0';
    etlheap_sink_text(sink, quoted ? "\"" : "");
    if (safe)
        write_text_only(sink, text);
    else
        write_doubled(sink, text);
    etlheap_sink_text(sink, quoted ? "\"" : "");
}
