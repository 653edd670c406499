/*
 * output_format.c - the format that the name of the output asks for.
 *
 * `-o report.json` without --format is JSON, as with other programs that write several
 * formats. The formats of the command are asked, of `export` the exporters; of several
 * suffixes that fit the longest counts: .dhat.json is not just any .json.
 */
#include "options.h"

#include <strings.h>

static bool ends_in(const char *name, size_t size, const char *suffix);
static const char *longest(const char *name, size_t size, u32 command_bit);

const char *cli_format_of_name(const char *name, u32 command_bit)
{
    const char *const packed = ".zst";
    size_t size = strlen(name);
    if (ends_in(name, size, packed))
        size -= strlen(packed);
    return longest(name, size, command_bit);
}

/* Text is what is written anyway: NULL stands for it. */
static const char *longest(const char *name, size_t size, u32 command_bit)
{
    const bool is_export = command_bit == CLI_EXPORT;
    const u32 count = is_export ? etlheap_exporter_count() : etlheap_format_count();
    const char *found = NULL;
    size_t most = 0;
    for (u32 i = 0; i < count; i++) {
        const etlheap_format *const format = is_export ? NULL : etlheap_format_at(i);
        const etlheap_exporter *const exporter = is_export ? etlheap_exporter_at(i) : NULL;
        const char *const suffix = is_export ? exporter->suffix : format->suffix;
        if (!suffix || strlen(suffix) <= most || !ends_in(name, size, suffix) ||
            (format && !cli_format_fits(format, command_bit)))
            continue;
        found = is_export ? exporter->name : format->name;
        most = strlen(suffix);
    }
    return found;
}

static bool ends_in(const char *name, size_t size, const char *suffix)
{
    const size_t length = strlen(suffix);
    return size > length && strncasecmp(name + size - length, suffix, length) == 0;
}
