/*
 * build_log.c - finds what a build server would take for a command, byte by byte.
 *
 * In: the bytes of the output, in pieces of any length. Out: for each byte, whether it completes
 * the beginning of a command:
 *
 *     blanks  :  [:]     GitHub Actions: at the beginning of a line
 *     ##  letters  [[]   Azure Pipelines, ##[error] and ##vso[...]; TeamCity, ##teamcity[...]
 *
 * The last character is the one to replace, so nothing has to be held back. All output passes here
 * after it was put together. So a command cannot be made of two names, or of a name that a cut, a
 * wrapped line or a column has moved to the beginning of a line. Invariant: the answer does not
 * depend on how the output is cut into pieces.
 *
 * The servers are programs for .NET, which compare by the rules of a language: blanks are those of
 * Unicode, a carriage return ends a line, and characters without width are skipped ("#U+00AD#[").
 * Sources: Runner.Common/ActionCommand.cs of actions/runner (TrimStart, StartsWith), documentation
 * of "Logging commands" of Azure Pipelines and "Service messages" of TeamCity.
 */
#include "build_log.h"

#include "parser/parser.h"

enum { LOG_INSIDE = 2 };
enum { HASHES_NONE, HASHES_ONE, HASHES_TWO, HASHES_WORD };
enum { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_INSIDE };

typedef struct code_range {
    u32 first, last;
} code_range;

/* White space of Unicode; U+180E was white space in older versions. */
static const code_range blanks[] = {
    { '\t', '\t' },     { ' ', ' ' },       { 0xA0, 0xA0 },
    { 0x1680, 0x1680 }, { 0x180E, 0x180E }, { 0x2000, 0x200A },
    { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 },
};

/* Line feed, vertical tab, form feed, carriage return, next line, separators of lines and
 * paragraphs. */
static const code_range line_ends[] = {
    { '\n', '\r' },
    { 0x85, 0x85 },
    { 0x2028, 0x2029 },
};

/* Default_Ignorable_Code_Point of Unicode, and the controls that comparisons skip. */
static const code_range skipped[] = {
    { 0x00, 0x08 },       { 0x0E, 0x1A },       { 0x1C, 0x1F },     { 0x7F, 0x84 },
    { 0x86, 0x9F },       { 0xAD, 0xAD },       { 0x034F, 0x034F }, { 0x061C, 0x061C },
    { 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },   { 0x180B, 0x180F }, { 0x200B, 0x200F },
    { 0x202A, 0x202E },   { 0x2060, 0x206F },   { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F },
    { 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFFB }, { 0x1BCA0, 0x1BCA3 },
    { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
};

static bool is_in(u32 character, const code_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    }
    return false;
}

static bool is_letter(u32 character)
{
    const u32 lower = character | 0x20;
    return lower >= 'a' && lower <= 'z';
}

/* ESC [ 1 m and the like: the program's own colours. */
static bool is_escape(etlheap_log_line *line, u32 character)
{
    if (character == 0x1B) {
        line->escape = ESCAPE_BEGUN;
        return true;
    }
    if (line->escape == ESCAPE_BEGUN && character == '[') {
        line->escape = ESCAPE_INSIDE;
        return true;
    }
    const bool inside = line->escape == ESCAPE_INSIDE;
    if (!inside || (character >= 0x40 && character <= 0x7E))
        line->escape = ESCAPE_NONE;
    return inside;
}

static bool completes(etlheap_log_line *line, u32 character)
{
    const u8 hashes = line->hashes;
    const bool special = character < 0x20 || character >= 0x7F;
    if (special && is_in(character, line_ends, ETL_COUNT_OF(line_ends))) {
        *line = (etlheap_log_line){ 0 };
        return false;
    }
    if (is_escape(line, character) || (special && is_in(character, skipped, ETL_COUNT_OF(skipped))))
        return false;
    const bool follows = hashes == HASHES_TWO || hashes == HASHES_WORD;
    line->hashes = HASHES_NONE;
    if (character == '#')
        line->hashes = hashes == HASHES_ONE || hashes == HASHES_TWO ? HASHES_TWO : HASHES_ONE;
    else if (follows && is_letter(character))
        line->hashes = HASHES_WORD;
    if (line->colons == 0 && is_in(character, blanks, ETL_COUNT_OF(blanks)))
        return false;
    const bool second = line->colons == 1 && character == ':';
    line->colons = line->colons == 0 && character == ':' ? 1 : LOG_INSIDE;
    return second || (follows && character == '[');
}

/* A character of several bytes only changes what the line is; it is never replaced. */
static bool takes_byte(etlheap_log_line *line, u8 byte)
{
    if (byte < 0x80) {
        line->left = 0;
        return completes(line, byte);
    }
    if (byte >= 0xC0) {
        line->left = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
        line->character = byte & (0x3Fu >> line->left);
        return false;
    }
    line->character = line->character << 6 | (byte & 0x3Fu);
    if (line->left == 1)
        (void)completes(line, line->character);
    if (line->left > 0)
        line->left--;
    return false;
}

/* Nearly all bytes are printable ASCII inside a line, without a hash before them. */
static size_t plain_bytes(const etlheap_log_line *line, const u8 *bytes, size_t size)
{
    size_t count = 0;
    if (line->colons != LOG_INSIDE || line->hashes != HASHES_NONE || line->escape != ESCAPE_NONE)
        return 0;
    while (count < size && bytes[count] >= 0x20 && bytes[count] < 0x7F && bytes[count] != '#')
        count++;
    return count;
}

size_t etlheap_log_line_take(etlheap_log_line *line, const void *bytes, size_t size)
{
    const u8 *const all = bytes;
    size_t at = plain_bytes(line, all, size);
    while (at < size && !takes_byte(line, all[at])) {
        at++;
        at += plain_bytes(line, all + at, size - at);
    }
    return at;
}
