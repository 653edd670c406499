/*
 * stable_name.c - leaves out of a name what changes from build to build. stable_name.h has
 * examples.
 *
 * In: a readable name, as PDBs, compilers' demanglers and .NET write it. Out: pieces that stay.
 *
 * At each place, the character there selects a rule, which looks at what follows and at the
 * characters before, and says how much is left out and what stands for it. Rules demand the exact
 * spelling of a compiler, because a rule that takes too much adds up functions of the program that
 * have nothing in common. Invariant: the replacement is not longer than what it replaces.
 *
 * Source of the spellings: clang lib/AST/MicrosoftMangle.cpp, ItaniumMangle.cpp, CGDebugInfo.cpp;
 * llvm lib/Demangle; names in PDBs of MSVC 2015 to 2022; rustc compiler/rustc_symbol_mangling and
 * debuginfo/type_names.rs; Roslyn GeneratedNames.cs; F# compiler IlxGen; dmd and Zig.
 */
#include "stable_name.h"

#include <string.h>

/* What a rule leaves out at a place, and what stands for it. */
typedef struct cut {
    size_t size; /* 0: nothing */
    const char *instead;
} cut;

#define ANONYMOUS "(anon)"

/* How far the end of a place in the source, or of a suffix in brackets, is looked for, so that a
 * long name costs no time that grows with its square. */
#define PATH_MAX_SIZE  1024
#define CLONE_MAX_SIZE 64

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_ident(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (u8)c >= 0x80;
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static size_t digits_at(const char *text)
{
    size_t count = 0;
    while (is_digit(text[count]))
        count++;
    return count;
}

static size_t hex_at(const char *text)
{
    size_t count = 0;
    while (is_hex(text[count]) || (text[count] >= 'A' && text[count] <= 'F'))
        count++;
    return count;
}

/* Numbers joined by underscores: 3_0. */
static size_t numbers_at(const char *text)
{
    size_t size = digits_at(text);
    while (size > 0 && text[size] == '_' && is_digit(text[size + 1]))
        size += 1 + digits_at(text + size + 1);
    return size;
}

/* True if the name has `word` just before the place. */
static bool is_before(const char *name, size_t at, const char *word)
{
    const size_t size = strlen(word);
    return at >= size && memcmp(name + at - size, word, size) == 0;
}

static char before(const char *name, size_t at)
{
    return at == 0 ? '\0' : name[at - 1];
}

/* Namespaces without a name, as each compiler spells them; clang's and MSVC's contain a hash of the
 * file's path or content. */
static cut cut_anonymous(const char *name, size_t at)
{
    static const char *const words[] = { "`anonymous namespace'", "`anonymous-namespace'",
                                         "(anonymous namespace)", "{anonymous}", "_GLOBAL__N_1" };
    const char *const text = name + at;
    for (size_t i = 0; i < ETL_COUNT_OF(words); i++) {
        if (begins(text, words[i]))
            return (cut){ strlen(words[i]), ANONYMOUS };
    }
    const size_t mark = text[0] == '?' ? 1 : 0;
    if (begins(text + mark, "A0x") && hex_at(text + mark + 3) == 8 && !is_ident(text[mark + 11]) &&
        !is_ident(before(name, at)))
        return (cut){ mark + 11, ANONYMOUS };
    return (cut){ 0 };
}

/* The number of a block in a function: `2', and __l2 in debug information. */
static cut cut_block(const char *name, size_t at)
{
    const char *const text = name + at;
    const size_t quoted = text[0] == '`' ? digits_at(text + 1) : 0;
    if (quoted > 0 && text[quoted + 1] == '\'')
        return (cut){ quoted + 2, "`'" };
    const size_t plain = begins(text, "::__l") ? digits_at(text + 5) : 0;
    if (plain > 0 && !is_ident(text[5 + plain]))
        return (cut){ 5 + plain, "::__l" };
    return cut_anonymous(name, at);
}

/* lambda_HASH of MSVC; <lambda_1>, 'lambda0', __lambda_2 of others. */
static cut cut_lambda(const char *name, size_t at)
{
    const char *const text = name + at;
    const size_t word = begins(text, "lambda") ? 6 : begins(text, "unnamed") ? 7 : 0;
    if (word == 0)
        return (cut){ 0 };
    const char *const instead = word == 6 ? "lambda" : "unnamed";
    const size_t number_at = word + (text[word] == '_');
    if (number_at > word && hex_at(text + number_at) == 32) {
        const size_t end = number_at + 32;
        return (cut){ end + (text[end] == '_'), instead };
    }
    const size_t count = digits_at(text + number_at);
    const char last = before(name, at);
    if (count == 0 || is_ident(text[number_at + count]) ||
        !(last == '<' || last == '\'' || last == '`' || is_before(name, at, "__")))
        return (cut){ 0 };
    return (cut){ number_at + count, instead };
}

/* closure$0 and impl$1 of Rust, catch$2 of MSVC, $_3 of clang. A suppression reads $ as the end, so
 * that none is left. */
static cut cut_dollar(const char *name, size_t at)
{
    const char *const text = name + at;
    const bool has_mark = text[1] == '_';
    const size_t begin = has_mark ? 2 : 1;
    const size_t count = digits_at(text + begin);
    if (count == 0 || is_ident(text[begin + count]) || (!has_mark && !is_ident(before(name, at))))
        return (cut){ 0 };
    return (cut){ begin + count, has_mark ? "_" : "" };
}

/* {closure#0}, {lambda(int)#1}. */
static cut cut_hash_sign(const char *name, size_t at)
{
    const size_t count = digits_at(name + at + 1);
    return count > 0 && name[at + 1 + count] == '}' ? (cut){ 1 + count, "" } : (cut){ 0 };
}

/* core[846817f741e54dfd]:: of Rust. An array is no scope. */
static cut cut_crate_hash(const char *name, size_t at)
{
    const char *const text = name + at;
    size_t count = 0;
    while (is_hex(text[1 + count]))
        count++;
    if (count == 0 || count > 16 || !begins(text + 1 + count, "]::") || !is_ident(before(name, at)))
        return (cut){ 0 };
    return (cut){ count + 2, "" };
}

/* The size of a line and column before a closing sign, as in ":3:51>"; 0: they are not there. */
static size_t line_size(const char *text)
{
    const size_t line = text[0] == ':' ? digits_at(text + 1) : 0;
    const char *const column = text + 1 + line;
    const size_t count = line > 0 && column[0] == ':' ? digits_at(column + 1) : 0;
    const char next = count > 0 ? column[1 + count] : '\0';
    return next == '\'' || next == '>' || next == ')' ? 1 + line + 1 + count : 0;
}

/* The size of " at " and the folders of a file whose line follows; 0: it is no such place. */
static size_t folder_size(const char *text)
{
    size_t size = 4;
    for (size_t end = 4; end < PATH_MAX_SIZE && text[end] != '\0'; end++) {
        if (line_size(text + end) > 0)
            return size;
        if (text[end] == '/' || text[end] == '\\')
            size = end + 1;
    }
    return 0;
}

/* ::h0123456789abcdef at the end of a name of Rust, or before a suffix; the line of a lambda. */
static cut cut_scope(const char *name, size_t at)
{
    const char *const text = name + at;
    if (begins(text, "::h") && hex_at(text + 3) == 16 && (text[19] == '\0' || text[19] == '.'))
        return (cut){ 19, "" };
    const size_t line = line_size(text);
    return line > 0 ? (cut){ line, "" } : cut_block(name, at);
}

/* <Run>b__3_0, <Run>d__12, <>9__3_0 of C#. */
static cut cut_generated(const char *name, size_t at)
{
    const char *const text = name + at;
    static const char *const kept[] = { ">b__", ">d__", ">c__", ">9__", ">g__", ">e__" };
    for (size_t i = 0; i < ETL_COUNT_OF(kept); i++) {
        const size_t size = begins(text, kept[i]) ? numbers_at(text + 4) : 0;
        if (size > 0 && !is_ident(text[4 + size]))
            return (cut){ 4 + size, kept[i] };
    }
    return (cut){ 0 };
}

/* <>c__DisplayClass3_0 and <>f__AnonymousType1 of C#; __dgliteral2 of D, __anon_3 of Zig. */
static cut cut_counted(const char *name, size_t at)
{
    static const char *const words[] = { "DisplayClass", "AnonymousType", "AnonymousDelegate",
                                         "dgliteral",    "funcliteral",   "foreachbody",
                                         "anon_",        "struct_",       "union_" };
    const char *const text = name + at;
    if (!is_before(name, at, "__"))
        return (cut){ 0 };
    for (size_t i = 0; i < ETL_COUNT_OF(words); i++) {
        const size_t word = strlen(words[i]);
        const size_t size = begins(text, words[i]) ? numbers_at(text + word) : 0;
        if (size > 0 && !is_ident(text[word + size]))
            return (cut){ word + size, words[i] };
    }
    return (cut){ 0 };
}

/* <Main>g__Helper|3_0 of C#. */
static cut cut_local_function(const char *name, size_t at)
{
    const size_t size = is_ident(before(name, at)) ? numbers_at(name + at + 1) : 0;
    return size > 0 && !is_ident(name[at + 1 + size]) ? (cut){ 1 + size, "|" } : (cut){ 0 };
}

/* run@12 and clo@12-1 of F#. */
static cut cut_line(const char *name, size_t at)
{
    const char *const text = name + at;
    size_t size = 1 + digits_at(text + 1);
    if (size == 1 || !is_ident(before(name, at)))
        return (cut){ 0 };
    if (text[size] == '-' && is_digit(text[size + 1]))
        size += 1 + digits_at(text + size + 1);
    return is_ident(text[size]) || text[size] == '@' ? (cut){ 0 } : (cut){ size, "" };
}

/* What gcc and clang append to the names of parts and copies of a function. */
static cut cut_suffix(const char *name, size_t at)
{
    static const char *const words[] = { ".llvm.",     ".part.",   ".constprop.", ".isra.",
                                         ".lto_priv.", ".__uniq.", ".cold.",      ".warm." };
    const char *const text = name + at;
    size_t size = 0;
    for (size_t i = 0; size == 0 && i < ETL_COUNT_OF(words); i++) {
        const size_t word = strlen(words[i]);
        const size_t count = begins(text, words[i]) ? digits_at(text + word) : 0;
        size = count > 0 ? word + count : 0;
    }
    if (size == 0 && (begins(text, ".cold") || begins(text, ".warm")))
        size = 5;
    const char next = text[size];
    return next == '\0' || next == '.' || next == ' ' ? (cut){ size, "" } : (cut){ 0 };
}

/* `lambda at /src/app.cpp:3:51' of clang, of which the file's name stays; [clone .cold] of gcc. */
static cut cut_blank(const char *name, size_t at)
{
    static const char *const kinds[] = { "lambda", "class", "struct", "union", "enum", "type" };
    const char *const text = name + at;
    if (begins(text, " [clone ")) {
        const char *const end = memchr(text, ']', strnlen(text, CLONE_MAX_SIZE));
        return end != NULL ? (cut){ (size_t)(end - text) + 1, "" } : (cut){ 0 };
    }
    for (size_t i = 0; begins(text, " at ") && i < ETL_COUNT_OF(kinds); i++) {
        if (is_before(name, at, kinds[i]))
            return (cut){ folder_size(text), " " };
    }
    return (cut){ 0 };
}

static cut cut_at(const char *name, size_t at)
{
    switch (name[at]) {
    case '`':
        return cut_block(name, at);
    case '(':
    case '{':
    case '?':
    case '_':
        return cut_anonymous(name, at);
    case 'A': {
        const cut found = cut_anonymous(name, at);
        return found.size > 0 ? found : cut_counted(name, at);
    }
    case 'D':
    case 'a':
    case 'd':
    case 'f':
    case 's':
        return cut_counted(name, at);
    case 'u': {
        const cut found = cut_lambda(name, at);
        return found.size > 0 ? found : cut_counted(name, at);
    }
    case 'l':
        return cut_lambda(name, at);
    case '$':
        return cut_dollar(name, at);
    case '#':
        return cut_hash_sign(name, at);
    case '[':
        return cut_crate_hash(name, at);
    case ':':
        return cut_scope(name, at);
    case '>':
        return cut_generated(name, at);
    case '|':
        return cut_local_function(name, at);
    case '@':
        return cut_line(name, at);
    case '.':
        return cut_suffix(name, at);
    case ' ':
        return cut_blank(name, at);
    default:
        return (cut){ 0 };
    }
}

bool stable_name_next(stable_name *reader, stable_piece *out)
{
    const char *const name = reader->name;
    size_t at = reader->at;
    while (name[at] != '\0') {
        const cut found = cut_at(name, at);
        if (found.size > 0 && at > reader->at)
            break; /* first what stands before it; then the rule applies again */
        at += found.size > 0 ? found.size : 1;
        if (found.size == 0)
            continue;
        reader->at = at;
        *out = (stable_piece){ found.instead, strlen(found.instead) };
        if (out->size > 0)
            return true;
    }
    *out = (stable_piece){ name + reader->at, at - reader->at };
    reader->at = at;
    return out->size > 0;
}

bool stable_name_differs(const char *name)
{
    for (size_t at = 0; name[at] != '\0'; at++) {
        if (cut_at(name, at).size > 0)
            return true;
    }
    return false;
}

size_t stable_name_write(const char *name, char *out)
{
    stable_name reader = stable_name_begin(name);
    stable_piece piece;
    size_t size = 0;
    while (stable_name_next(&reader, &piece)) {
        memcpy(out + size, piece.at, piece.size);
        size += piece.size;
    }
    out[size] = '\0';
    return size;
}
