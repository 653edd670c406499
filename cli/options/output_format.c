/*
 * output_format.c - in which format the output is written, and which formats a command has.
 *
 * `-o report.json` without --format is JSON, as with other programs that write several
 * formats. The formats of the command are asked, of `export` the exporters; of several
 * suffixes that fit the longest counts: .dhat.json is not just any .json.
 */
#include "output_format.h"

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

const char *cli_format_instead(const char *name)
{
    static const char page[] = "etlheap export INPUT -o FILE.html writes a page with pictures";
    static const char cells[] = "spreadsheets open CSV: -o FILE.csv";
    static const char words[] = "Markdown is for documents: --format markdown";
    static const struct {
        const char *suffix, *instead;
    } others[] = {
        { ".pdf", page },   { ".png", page },   { ".svg", page },   { ".jpg", page },
        { ".jpeg", page },  { ".gif", page },   { ".webp", page },  { ".bmp", page },
        { ".xlsx", cells }, { ".xls", cells },  { ".xlsb", cells }, { ".ods", cells },
        { ".doc", words },  { ".docx", words }, { ".odt", words },  { ".rtf", words },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(others); i++) {
        if (ends_in(name, strlen(name), others[i].suffix))
            return others[i].instead;
    }
    return NULL;
}

const etlheap_format *cli_format_of_any(const char *name)
{
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        const etlheap_format *const format = etlheap_format_at(i);
        if (format->suffix && ends_in(name, strlen(name), format->suffix))
            return format;
    }
    return NULL;
}

static bool ends_in(const char *name, size_t size, const char *suffix)
{
    const size_t length = strlen(suffix);
    return size > length && strncasecmp(name + size - length, suffix, length) == 0;
}

const etlheap_format *cli_format_of(const cli_options *options)
{
    return etlheap_format_named(options->format ? options->format : "text");
}

bool cli_format_fits(const etlheap_format *format, u32 command_bit)
{
    return (command_bit == CLI_REPORT && format->write_report) ||
           (command_bit == CLI_ALLOCATIONS && format->write_allocations) ||
           (command_bit == CLI_WINDOWS && format->write_windows) ||
           (command_bit == CLI_DIFF && format->write_diff) ||
           (command_bit == CLI_TREND && format->write_trend) ||
           (command_bit == CLI_CHECK && format->write_check) ||
           (command_bit == CLI_SYMBOLS && format->write_symbols) ||
           (command_bit == CLI_INFO && format->write_info) ||
           (command_bit == CLI_DUMP && format->write_record);
}

const char *cli_side_format(u32 side)
{
    static const char *const names[CLI_SIDE_COUNT] = {
        [CLI_SIDE_JUNIT] = "junit",
        [CLI_SIDE_SARIF] = "sarif",
        [CLI_SIDE_MARKDOWN] = "markdown",
        [CLI_SIDE_JSON] = "json",
    };
    return side < CLI_SIDE_COUNT ? names[side] : "";
}

etl_status cli_refuse_exporter(const char *spelled, const etlheap_exporter *exporter,
                               etl_error *err)
{
    return etl_fail_with(
        err, ETL_ERR_ARGUMENT, 0,
        "%s: '%s' is a format of the command export: etlheap export INPUT --format %s -o FILE%s",
        spelled, exporter->name, exporter->name, exporter->suffix);
}

bool cli_output_is_file(const cli_options *options)
{
    return options->output && strcmp(options->output, "-") != 0;
}

bool cli_output_is_compressed(const cli_options *options)
{
    const size_t size = options->output ? strlen(options->output) : 0;
    return cli_output_is_file(options) && size > 4 &&
           strcmp(options->output + size - 4, ".zst") == 0;
}
