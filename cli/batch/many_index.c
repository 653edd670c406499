/*
 * many_index.c - writes the index of a batch, FOLDER/runs.ndjson: one line for each input.
 *
 * In: the lines that earlier batches left, and an etlheap_run for each input that finishes. Out:
 * the index, and in each item of the list what an earlier line says about it (`before`).
 *
 *     open     lock the file and read its lines; a partial last line is ended
 *     add      append one line and flush it
 *     finish   read all lines back, write them in order to a new file, rename it
 *
 * Lines are appended so that a killed batch loses only the line it was writing. If an input has
 * several lines, the last one counts. Invariant: lines of inputs that are not in this batch are
 * copied unchanged. The lock is held until the index is closed, so no two batches write to one
 * folder.
 */
#include "many_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "parser/system/files.h"

static int read_index(many_list *list, const char *path, bool *is_whole);
static void note_line(many_list *list, const etlheap_run_line *line);
static etl_status close_sink(many_index *index, etl_error *err);
static etl_status write_lines(const many_list *list, const etlheap_runs *runs, etlheap_sink *sink,
                              etl_error *err);

static int fail(const char *path, const char *what)
{
    char message[240];
    snprintf(message, sizeof message, "%s: %s", what, strerror(errno));
    cli_complain(path, message);
    return CLI_EXIT_INPUT;
}

int cli_many_index_open(many_list *list, many_index *out)
{
    etl_error err = { .status = ETL_OK };
    u64 size_bytes = 0;
    bool is_whole = true;
    *out = (many_index){ .list = list, .file = -1 };
    out->path = cli_many_path(list->folder, ETLHEAP_RUNS_NAME);
    if (!out->path) {
        cli_complain(NULL, "out of memory");
        return CLI_EXIT_INPUT;
    }
    out->file = etl_file_open_exclusive(out->path, &size_bytes);
    if (out->file < 0 && errno == EWOULDBLOCK) {
        cli_complain(out->path, "another etlheap store is at work in this folder; wait for it, or "
                                "use another --out-dir");
        return CLI_EXIT_INPUT;
    }
    if (out->file < 0)
        return fail(out->path, "cannot be written");
    const int status = size_bytes > 0 ? read_index(list, out->path, &is_whole) : CLI_EXIT_DONE;
    if (status != CLI_EXIT_DONE)
        return status;
    if (etlheap_sink_open_descriptor(out->file, out->path, &out->sink, &err) != ETL_OK) {
        cli_complain_error(NULL, &err);
        return CLI_EXIT_INPUT;
    }
    /* A killed run may have left part of a line: end it, so that the next line stays readable. */
    if (!is_whole)
        etlheap_sink_text(out->sink, "\n");
    return CLI_EXIT_DONE;
}

static int read_index(many_list *list, const char *path, bool *is_whole)
{
    etl_error err = { .status = ETL_OK };
    etlheap_runs *runs;
    if (etlheap_runs_open(path, &runs, &err) != ETL_OK) {
        cli_complain_error(path, &err);
        return CLI_EXIT_INPUT;
    }
    *is_whole = etlheap_runs_is_whole(runs);
    for (u32 i = 0; i < etlheap_runs_count(runs); i++)
        note_line(list, etlheap_runs_at(runs, i));
    etlheap_runs_close(runs);
    return CLI_EXIT_DONE;
}

static void note(many_item *item, const etlheap_run_line *line, bool other_name)
{
    item->before = (many_before){ .given = true,
                                  .other_name = other_name,
                                  .verdict = line->verdict,
                                  .input_bytes = line->input_bytes,
                                  .output_bytes = line->output_bytes,
                                  .marks = line->marks };
}

/* If another input's store lies where this item's store goes, that is noted and nothing else. */
static void note_line(many_list *list, const etlheap_run_line *line)
{
    many_item *const same = cli_many_by_file(list, line->file);
    many_item *const meant = cli_many_by_output(list, line->output);
    if (meant && meant != same)
        note(meant, line, true);
    if (same && !same->before.other_name)
        note(same, line, false);
}

bool cli_many_index_add(many_index *index, const etlheap_run *run)
{
    etlheap_run_write(run, index->sink);
    etlheap_sink_flush(index->sink);
    return etlheap_sink_ok(index->sink);
}

int cli_many_index_finish(many_index *index)
{
    etl_error err = { .status = ETL_OK };
    etlheap_runs *runs = NULL;
    etlheap_sink *sink = NULL;
    etl_status status = close_sink(index, &err);
    if (status == ETL_OK)
        status = etlheap_runs_open(index->path, &runs, &err);
    if (status == ETL_OK)
        status = etlheap_sink_open_file(index->path, &sink, &err);
    if (status == ETL_OK)
        status = write_lines(index->list, runs, sink, &err);
    etlheap_runs_close(runs);
    if (status == ETL_OK) {
        /* The ordered index must survive a crash of the machine. */
        etlheap_sink_settle(sink);
        status = etlheap_sink_close(sink, &err);
    } else {
        etlheap_sink_discard(sink);
    }
    if (status != ETL_OK)
        cli_complain_error(index->path, &err);
    return cli_exit_of(status);
}

void cli_many_index_close(many_index *index)
{
    etlheap_sink_discard(index->sink);
    if (index->file >= 0)
        (void)etl_file_close(index->file);
    free(index->path);
    *index = (many_index){ .file = -1 };
}

static etl_status close_sink(many_index *index, etl_error *err)
{
    etlheap_sink *const sink = index->sink;
    index->sink = NULL;
    return etlheap_sink_close(sink, err);
}

/* First the lines of other batches, unchanged, then the items of this batch in their order. */
static etl_status write_lines(const many_list *list, const etlheap_runs *runs, etlheap_sink *sink,
                              etl_error *err)
{
    const u32 count = etlheap_runs_count(runs);
    const etlheap_run_line **const of_item = calloc((size_t)list->count + 1, sizeof *of_item);
    if (!of_item)
        return etl_no_memory(err);
    for (u32 i = 0; i < count; i++) {
        const etlheap_run_line *const line = etlheap_runs_at(runs, i);
        const many_item *const item = cli_many_by_file(list, line->file);
        if (item)
            of_item[item - list->items] = line;
        else
            etlheap_run_copy(line, sink);
    }
    for (u32 i = 0; i < list->count; i++) {
        if (of_item[i] && list->items[i].state == MANY_SKIPPED)
            etlheap_run_skip(of_item[i], &list->items[i].stamps, sink);
        else if (of_item[i])
            etlheap_run_copy(of_item[i], sink);
    }
    free(of_item);
    return ETL_OK;
}
