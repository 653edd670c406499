/* output_format.h - the format of the output, and whether it goes to a file. */
#ifndef CLI_OUTPUT_FORMAT_H
#define CLI_OUTPUT_FORMAT_H

#include "options.h"

/* The format of the output: --format, or text. */
const etlheap_format *cli_format_of(const cli_options *options);

/* True if a format can write the output of a command. */
bool cli_format_fits(const etlheap_format *format, u32 command_bit);

/* The format for the suffix of a file's name, as used by the command; NULL for text, and for other
 * names. */
const char *cli_format_of_name(const char *name, u32 command_bit);

/* What to write in place of a file with this name, if its suffix means a format that etlheap never
 * writes, such as .pdf. NULL: it means none. */
const char *cli_format_instead(const char *name);

/* A format with this suffix, whatever command writes it; NULL: none. */
const etlheap_format *cli_format_of_any(const char *name);

/* The name of the side output's format. */
const char *cli_side_format(u32 side);

/* Makes the error that a format belongs to `export`, and how to use it. ETL_ERR_ARGUMENT. */
etl_status cli_refuse_exporter(const char *spelled, const etlheap_exporter *exporter,
                               etl_error *err);

/* True if -o names a file; "-" is standard output. */
bool cli_output_is_file(const cli_options *options);

/* True if -o names a file to which text is written compressed. */
bool cli_output_is_compressed(const cli_options *options);

#endif
