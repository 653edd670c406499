/*
 * process_names.c - finds the name of a process that its record spells with characters lost.
 *
 * In: the context of a complete run. Out: the same, with names of processes replaced.
 *
 * Process records hold the name of the program in the 8-bit code page of the recording system,
 * which the trace does not state. Characters beyond ASCII are read as other ones, and those that
 * the code page lacks are question marks:
 *
 *     the file            日本語.exe      Прога.exe    中国.exe
 *     as read             <93>ú<96>{<8c>ê.exe   Ïðîãà.exe    ??.exe
 *                         doubtful       doubtful     doubtful
 *
 * The path of the program's image and the command line are UTF-16 in the same trace. A file there
 * gives its name to the process if it fits what was read: ASCII before the first doubtful
 * character and the extension are equal, and it has a character beyond ASCII. Invariant: a name
 * that has neither such characters nor question marks never changes.
 */
#include "process_names.h"

#include "parser/system/name_fold.h"

#include <stdlib.h>

#define SHORT_NAME_MIN 14u   /* characters of a name that older systems cut */
#define PROGRAM_MAX    1024u /* bytes of a command line that may name the program without quotes */

static bool is_beyond_ascii(u32 character)
{
    return character >= 0x80;
}

/* The first character that the code page may have changed; NULL: the name is certain. */
static const char *first_doubt(const char *name)
{
    for (const char *at = name; *at != '\0'; at++) {
        if (is_beyond_ascii((u8)*at) || *at == '?')
            return at;
    }
    return NULL;
}

static u32 count_characters(const char *name)
{
    u32 count = 0;
    while (etl_name_next(&name) != 0)
        count++;
    return count;
}

static bool has_wide_character(const char *name)
{
    for (const char *at = name; *at != '\0'; at++) {
        if (is_beyond_ascii((u8)*at))
            return true;
    }
    return false;
}

/* The extension counts if the doubts end before it; a name that was cut may lack it. */
static bool same_extension(const char *read, const char *file)
{
    const char *const dot = strrchr(read, '.');
    const char *const other = strrchr(file, '.');
    if (dot == NULL)
        return count_characters(read) >= SHORT_NAME_MIN || other == NULL;
    if (first_doubt(dot) != NULL)
        return true;
    return other != NULL &&
           (count_characters(read) >= SHORT_NAME_MIN ? etl_name_begins(other, dot) > 0
                                                     : etl_name_same(other, dot));
}

bool process_names_fit(const char *read, const char *file)
{
    const char *const doubt = first_doubt(read);
    if (doubt == NULL || !has_wide_character(file) || strpbrk(file, "?*\"") != NULL)
        return false;
    const char *a = read, *b = file;
    while (a < doubt) {
        if (etl_name_next(&a) != etl_name_next(&b))
            return false;
    }
    return same_extension(read, file);
}

static const char *file_name(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '\\' || *at == '/')
            name = at + 1;
    }
    return name;
}

static const char *name_of(const trace_context *context, const process_history *process)
{
    return etlheap_strings_get(&context->strings, process->name);
}

static bool is_doubtful(const trace_context *context, const process_history *process)
{
    return process->name != 0 && first_doubt(name_of(context, process)) != NULL;
}

/* Names processes after their images; `names` by id - 1. */
static bool take_from_images(trace_context *context, u32 *names)
{
    for (size_t i = 0; i < context->images.count; i++) {
        const image_row *const image = &context->images.at[i];
        const u32 id = context_process_at(context, image->pid, image->told_ticks);
        if (id == 0 || names[id - 1] != 0 || !is_doubtful(context, &context->processes.at[id - 1]))
            continue;
        const char *const file = file_name(etlheap_strings_get(&context->strings, image->path));
        if (process_names_fit(name_of(context, &context->processes.at[id - 1]), file) &&
            !etlheap_strings_add(&context->strings, file, strlen(file), &names[id - 1]))
            return false;
    }
    return true;
}

/* Adds the name of a file of `size` bytes at the start of the command line, with the extension of
 * the name as read if it has none. *id stays 0 if it does not fit. */
static bool take_file(trace_context *context, const char *read, const char *line, size_t size,
                      u32 *id)
{
    const char *const dot = strrchr(read, '.');
    const char *const extension = dot == NULL || first_doubt(dot) != NULL ? "" : dot;
    char *const path = malloc(size + strlen(extension) + 1);
    if (path == NULL)
        return false;
    memcpy(path, line, size);
    path[size] = '\0';
    const char *const file = file_name(path);
    if (strchr(file, '.') == NULL)
        memcpy(path + size, extension, strlen(extension) + 1);
    const bool ok = !process_names_fit(read, file) ||
                    etlheap_strings_add(&context->strings, file, strlen(file), id);
    free(path);
    return ok;
}

/* Takes the program from a command line: in quotes, or up to one of the blanks. */
static bool take_from_line(trace_context *context, const process_history *process, u32 *id)
{
    const char *const read = name_of(context, process);
    const char *line = etlheap_strings_get(&context->strings, process->command_line);
    line += strspn(line, " \t");
    if (*line == '"')
        return take_file(context, read, line + 1, strcspn(line + 1, "\""), id);
    for (size_t size = strcspn(line, " \t"); *id == 0; size += strcspn(line + size, " \t")) {
        if (!take_file(context, read, line, size, id))
            return false;
        if (line[size] == '\0' || size > PROGRAM_MAX)
            break;
        size++;
    }
    return true;
}

bool process_names_repair(trace_context *context)
{
    const size_t count = context->processes.count;
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = is_doubtful(context, &context->processes.at[i]);
    if (!any)
        return true;
    u32 *const names = calloc(count, sizeof *names);
    bool ok = names != NULL && take_from_images(context, names);
    for (size_t i = 0; ok && i < count; i++) {
        if (names[i] == 0 && is_doubtful(context, &context->processes.at[i]))
            ok = take_from_line(context, &context->processes.at[i], &names[i]);
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (names[i] != 0)
            context->processes.at[i].name = names[i];
    }
    free(names);
    return ok;
}
