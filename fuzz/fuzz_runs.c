/*
 * fuzz_runs.c - any bytes as the index of a batch (runs.ndjson). What is read of a line
 * lies in it, no two lines have one file or output, and the index made of the lines as
 * they are is read as the same lines.
 */
#include <stdlib.h>

#include "formats/runs.h"
#include "formats/io/text_buffer.h"
#include "fuzz.h"

static bool is_equal(etl_bytes a, etl_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static bool lies_in(etl_bytes part, etl_bytes whole)
{
    return part.at >= whole.at && part.size <= whole.size &&
           (size_t)(part.at - whole.at) <= whole.size - part.size;
}

static void check_lines(const etlheap_runs *runs)
{
    for (u32 i = 0; i < etlheap_runs_count(runs); i++) {
        const etlheap_run_line *const line = etlheap_runs_at(runs, i);
        if (!lies_in(line->file, line->text) || line->verdict >= ETLHEAP_VERDICT_COUNT ||
            memchr(line->text.at, '\n', line->text.size) != NULL)
            abort();
        const bool is_none = line->file.size == 4 && memcmp(line->file.at, "null", 4) == 0;
        if (i > 0 && !is_none && is_equal(line->file, etlheap_runs_at(runs, i - 1)->file))
            abort();
    }
}

/* All lines as they are, one after the other. */
static u32 copy_lines(const etlheap_runs *runs, etlheap_text *text)
{
    etlheap_sink *sink = NULL;
    if (etlheap_sink_open_text(text, &sink, NULL) != ETL_OK)
        return 0;
    for (u32 i = 0; i < etlheap_runs_count(runs); i++)
        etlheap_run_copy(etlheap_runs_at(runs, i), sink);
    if (etlheap_sink_close(sink, NULL) != ETL_OK)
        abort();
    return etlheap_runs_count(runs);
}

/* Opens the bytes, closes them again and gives their lines; false when refused. */
static bool read_index(const void *bytes, size_t size, etlheap_text *text, u32 *count)
{
    etlheap_runs *runs = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_runs_open(fuzz_file(bytes, size), &runs, &err) != ETL_OK) {
        if (err.message[0] == '\0')
            abort();
        return false;
    }
    check_lines(runs);
    *count = copy_lines(runs, text);
    etlheap_runs_close(runs);
    return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etlheap_text once = { 0 }, twice = { 0 };
    u32 count, again;
    if (read_index(data, size, &once, &count)) {
        if (!read_index(etlheap_text_of(&once), once.size, &twice, &again) || again != count ||
            twice.size != once.size ||
            (once.size > 0 &&
             memcmp(etlheap_text_of(&once), etlheap_text_of(&twice), once.size) != 0))
            abort();
    }
    etlheap_text_free(&once);
    etlheap_text_free(&twice);
    return 0;
}
