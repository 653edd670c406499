/*
 * capture.c - what is written to a sink, as text.
 */
#include "capture.h"
#include "temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(bool good);

void capture_open(capture *out)
{
    FILE *const file = temporary_stream();
    must(file != NULL);
    out->text = NULL;
    out->descriptor = dup(fileno(file));
    must(out->descriptor >= 0 && fclose(file) == 0);
    must(etlheap_sink_open_descriptor(out->descriptor, "capture", &out->sink, NULL) == ETL_OK);
}

const char *capture_text(capture *captured)
{
    must(etlheap_sink_close(captured->sink, NULL) == ETL_OK);
    captured->sink = NULL;
    const off_t size = lseek(captured->descriptor, 0, SEEK_END);
    must(size >= 0);
    captured->text = malloc((size_t)size + 1);
    must(captured->text != NULL);
    must(pread(captured->descriptor, captured->text, (size_t)size, 0) == (ssize_t)size);
    captured->text[size] = '\0';
    return captured->text;
}

void capture_close(capture *captured)
{
    etlheap_sink_discard(captured->sink);
    close(captured->descriptor);
    free(captured->text);
}

static void must(bool good)
{
    if (!good) {
        perror("capture");
        abort();
    }
}
