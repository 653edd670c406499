/*
 * version.c - `etlheap --version`: what a report of a fault should begin with.
 */
#include "about.h"
#include "cli/view/http_library.h"

#if defined(__x86_64__)
#define PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define PROCESSOR "arm64"
#else
#define PROCESSOR "64-bit"
#endif

static void write_libraries(bool (*library)(u32 index, etlheap_library *out), const char *separator,
                            etlheap_sink *sink);

/* Scripts read the first line alone, which therefore stays as it is. */
bool cli_write_version(const cli_command_list *commands, const char *word, etlheap_sink *sink)
{
    (void)commands;
    (void)word;
    etlheap_sink_text(sink, "etlheap " ETLHEAP_VERSION "\nlibraries");
    write_libraries(etlheap_engine_library, "  ", sink);
    write_libraries(etlheap_formats_library, ", ", sink);
    write_libraries(view_http_named, ", ", sink);
    etlheap_sink_format(sink, "\nprocessor  " PROCESSOR ", %s\n", etlheap_cpu_features());
    etlheap_sink_format(sink, "threads    %u by default (%u processors online)\n",
                        etlheap_default_jobs(), etlheap_online_processors());
    return true;
}

static void write_libraries(bool (*library)(u32 index, etlheap_library *out), const char *separator,
                            etlheap_sink *sink)
{
    etlheap_library found;
    for (u32 i = 0; library(i, &found); i++)
        etlheap_sink_format(sink, "%s%s %s", i == 0 ? separator : ", ", found.name, found.version);
}
