/*
 * demo.c - writes the files of the demo.
 *
 * In: compressed files, which are part of the program, so that an installed program needs nothing
 * but itself. Out: the files. The test suite's writer of traces made them (make demo-update), and
 * `make check` compares them with what that writer makes now.
 */
#include "demo.h"

#include "cli/messages.h"
#include "cli/outputs.h"
#include "demo_data.h"

#include <stdio.h>
#include <stdlib.h>

/* What is printed of the files. Those of one folder are one line. */
static const struct {
    const char *name, *summary;
} summaries[] = {
    { "demo.etl", "20 s: BatteryMeter.exe leaks, MemoryTestApp.exe has spikes" },
    { "longer.etl", "60 s of the same leak" },
    { "fixed.etl", "20 s of BatteryMeter.exe without the leak, with call stacks of frees" },
    { "exercise.etl", "12 s: HeapTestApp.exe leaks at a constant rate" },
    { "runner.etl", "6 s: a test runner that marks the beginning of each test" },
    { "pool.etl", "5 s: a driver leaks kernel pool" },
    { "pool-before.etl", "5 s of an earlier version of the driver" },
    { "symbols", "the PDBs of these programs" },
};

static char *path_below(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *const path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static etl_status write_file(const cli_demo_data *file, const char *path, etl_error *err)
{
    etlheap_sink *sink = NULL;
    cli_output_make_folder(path);
    etl_status status = etlheap_sink_open_file(path, &sink, err);
    if (status == ETL_OK)
        status = etlheap_sink_unpack(sink, file->frame, file->frame_bytes, err);
    if (status == ETL_OK)
        return etlheap_sink_close(sink, err);
    etlheap_sink_discard(sink);
    return status;
}

int cli_demo_write(const char *folder)
{
    etl_error err = { .status = ETL_OK };
    for (const cli_demo_data *file = cli_demo_files; file->name; file++) {
        char *const path = path_below(folder, file->name);
        const etl_status status = path ? write_file(file, path, &err) : etl_no_memory(&err);
        if (status != ETL_OK)
            cli_complain_error(path ? path : folder, &err);
        free(path);
        if (status != ETL_OK)
            return cli_exit_of(status);
    }
    for (size_t i = 0; i < ETL_COUNT_OF(summaries); i++)
        printf("wrote   %s/%-15s  %s\n", folder, summaries[i].name, summaries[i].summary);
    if (fflush(stdout) == 0)
        return CLI_EXIT_DONE;
    cli_complain("standard output", "cannot be written");
    return CLI_EXIT_INPUT;
}
