/*
 * shell_words.c - quotes words for shells.
 *
 * In: a word, or a name that an option takes as a pattern. Out: the word as a shell reads it.
 *
 *     POSIX      'a$(b)!'     single quotes: nothing in them means anything, also to bash -i; a
 *                             single quote is \'\\'\' there
 *     Windows    "a b"        double quotes, the only ones that cmd and PowerShell share; cmd
 *                             expands %NAME% in them, and PowerShell $NAME, $(...) and `, and
 *                             ends them at typographic quotes
 *
 * No quotes of Windows make all characters harmless. Names avoid them with the wildcard ?. Other
 * words are typed by the user; if PowerShell would expand one, it gets the single quotes of
 * PowerShell.
 */
#include "shell_words.h"

#include "display.h"
#include "formats/io/build_log.h"

#include "parser/system/files.h"

etlheap_shell etlheap_shell_here(void)
{
    return etl_path_is_separator('\\') ? ETLHEAP_SHELL_WINDOWS : ETLHEAP_SHELL_POSIX;
}

const char *etlheap_shell_name(etlheap_shell shell)
{
    return shell == ETLHEAP_SHELL_WINDOWS ? "windows" : "posix";
}

/* U+2018 to U+201F: PowerShell takes them for quotes. */
static bool is_typographic_quote(const char *at)
{
    const u8 *const bytes = (const u8 *)at;
    return bytes[0] == 0xE2 && bytes[1] == 0x80 && bytes[2] >= 0x98 && bytes[2] <= 0x9F;
}

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does a word mean the same without quotes? PowerShell makes a list at a comma, and cuts options at
 * a full stop or colon. */
static bool is_plain(const char *word, etlheap_shell shell)
{
    const bool for_windows = shell == ETLHEAP_SHELL_WINDOWS;
    const char *const signs = !for_windows ? "._-/:+,@%" : *word == '-' ? "_-/+" : "._-/:+";
    bool plain = *word != '\0';
    for (const char *at = word; *at != '\0'; at++)
        plain &= is_alphanumeric(*at) || strchr(signs, *at) != NULL;
    return plain;
}

/* Single quotes; a quote inside is closed, written, and opened again. */
static void add_single_quoted(etlheap_text *text, const char *word, const char *quote)
{
    etlheap_text_add_string(text, "'");
    for (const char *at = word; *at != '\0'; at++) {
        if (*at == '\'')
            etlheap_text_add_string(text, quote);
        else
            etlheap_text_add(text, at, 1);
    }
    etlheap_text_add_string(text, "'");
}

/* Backslashes are literal unless they stand before a quote. No file of Windows has a double quote
 * in its name, and patterns have a wildcard for it. */
static void add_double_quoted(etlheap_text *text, const char *word)
{
    size_t backslashes = 0;
    etlheap_text_add_string(text, "\"");
    for (const char *at = word; *at != '\0'; at++) {
        backslashes = *at == '\\' ? backslashes + 1 : 0;
        etlheap_text_add(text, *at == '"' ? "?" : at, 1);
    }
    for (size_t i = 0; i < backslashes; i++)
        etlheap_text_add_string(text, "\\");
    etlheap_text_add_string(text, "\"");
}

/* Would PowerShell change a word in double quotes? A dollar before other characters is literal. */
static bool is_expanded(const char *word)
{
    bool expanded = false;
    for (const char *at = word; *at != '\0'; at++) {
        const bool names = is_alphanumeric(at[1]) || (at[1] != '\0' && strchr("_({$^?:", at[1]));
        expanded |= *at == '`' || (*at == '$' && names) || is_typographic_quote(at);
    }
    return expanded;
}

void etlheap_shell_add(etlheap_text *text, etlheap_shell shell, const char *word)
{
    if (is_plain(word, shell))
        etlheap_text_add_string(text, word);
    else if (shell == ETLHEAP_SHELL_POSIX)
        add_single_quoted(text, word, "'\\''");
    else if (is_expanded(word))
        add_single_quoted(text, word, "''");
    else
        add_double_quoted(text, word);
}

/* Is a character shown, and does the shell take it as it is? */
static bool stays(etlheap_shell shell, const char *at, const etlheap_glyph *glyph)
{
    const bool for_windows = shell == ETLHEAP_SHELL_WINDOWS;
    return glyph->shown && !(for_windows && (strchr("\"%$`", *at) ||
                                             (glyph->size == 3 && is_typographic_quote(at))));
}

void etlheap_shell_add_name(etlheap_text *text, etlheap_shell shell, const char *name,
                            const char *separators)
{
    etlheap_log_line line = { 0 };
    etlheap_text pattern = { 0 };
    (void)etlheap_log_line_take(&line, "x", 1); /* the command precedes the name */
    for (size_t left = strlen(name); left > 0;) {
        const etlheap_glyph glyph = etlheap_glyph_at(name, left);
        const bool is_command = etlheap_log_line_take(&line, name, glyph.size) < glyph.size;
        if (is_command || strchr(separators, *name) || !stays(shell, name, &glyph))
            etlheap_text_add_string(&pattern, "?");
        else
            etlheap_text_add(&pattern, name, glyph.size);
        name += glyph.size;
        left -= glyph.size;
    }
    etlheap_shell_add(text, shell, etlheap_text_of(&pattern));
    text->failed |= pattern.failed;
    etlheap_text_free(&pattern);
}
