/*
 * bench_xpress.c - the XPRESS decoder alone, on the buffers of real traces.
 *
 *     bench_xpress RUNS TRACE...
 *
 * All compressed buffers of the traces are gathered in memory first. A run
 * decodes each of them into the same output, and repeats that until it has made
 * 256 MiB, so that small collections can be timed. Printed as JSON: bytes in and
 * out of one pass, and of each run the output bytes per second.
 */
#include "bench.h"

#include "parser/etl/layout.h"
#include "parser/parser.h"
#include "parser/etl/xpress.h"

#include <stdio.h>
#include <stdlib.h>

#define RUN_BYTES (256 * ETL_MIB)
#define RUNS_MAX  1000

typedef struct stream {
    u8 *bytes;
    size_t size;
    size_t wanted;
} stream;

typedef struct streams {
    stream *at;
    size_t count;
    size_t capacity;
    u64 size;
    u64 wanted;
    size_t wanted_max;
} streams;

static bool gather(const char *path, streams *all);
static bool add_stream(streams *all, FILE *file, const etl_buffer_info *info);
static bool measure(const streams *all, int runs);
static double run(const streams *all, u8 *out);
static bool decodes(const stream *s, u8 *out);

int main(int argc, char **argv)
{
    const int runs = argc > 2 ? atoi(argv[1]) : 0;
    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: bench_xpress RUNS TRACE...\n");
        return 2;
    }
    streams all = { 0 };
    bool ok = true;
    for (int i = 2; ok && i < argc; i++)
        ok = gather(argv[i], &all);
    ok = ok && measure(&all, runs);
    for (size_t i = 0; i < all.count; i++)
        free(all.at[i].bytes);
    free(all.at);
    return ok ? 0 : 1;
}

static bool gather(const char *path, streams *all)
{
    etl_trace *trace;
    etl_error error;
    if (etl_open(path, NULL, &trace, &error) != ETL_OK) {
        fprintf(stderr, "bench_xpress: %s: %s\n", path, error.message);
        return false;
    }
    FILE *const file = fopen(path, "rb");
    bool ok = file != NULL;
    for (u32 i = 0; ok && i < etl_buffer_count(trace); i++) {
        const etl_buffer_info *const info = etl_buffer_info_of(trace, i);
        if (info->flags & ETL_BUFFER_COMPRESSED)
            ok = add_stream(all, file, info);
    }
    if (!ok)
        fprintf(stderr, "bench_xpress: %s: cannot be read\n", path);
    if (file != NULL)
        fclose(file);
    etl_close(trace);
    return ok;
}

static bool add_stream(streams *all, FILE *file, const etl_buffer_info *info)
{
    if (all->count == all->capacity) {
        all->capacity = all->capacity * 2 + 64;
        all->at = realloc(all->at, all->capacity * sizeof *all->at);
        if (all->at == NULL)
            abort();
    }
    const size_t size = info->stored_size - ETL_BUFFER_HEADER_BYTES;
    const size_t wanted = info->valid_size - ETL_BUFFER_HEADER_BYTES;
    u8 *const bytes = bench_allocate(1, size + 1);
    all->at[all->count++] = (stream){ bytes, size, wanted };
    all->size += size;
    all->wanted += wanted;
    if (wanted > all->wanted_max)
        all->wanted_max = wanted;
    return fseeko(file, (off_t)(info->offset + ETL_BUFFER_HEADER_BYTES), SEEK_SET) == 0 &&
           fread(bytes, 1, size, file) == size;
}

static bool measure(const streams *all, int runs)
{
    double rates[RUNS_MAX];
    u8 *const out = bench_allocate(1, all->wanted_max + ETL_XPRESS_SLACK);
    bool ok = all->count > 0;
    for (int i = 0; ok && i < runs; i++) {
        rates[i] = run(all, out);
        ok = rates[i] > 0;
    }
    free(out);
    if (!ok) {
        fprintf(stderr, "bench_xpress: no compressed buffers, or damaged ones\n");
        return false;
    }
    printf("{\"buffers\":%zu,\"in\":%llu,\"out\":%llu,\"bytes_per_second\":[", all->count,
           (unsigned long long)all->size, (unsigned long long)all->wanted);
    for (int i = 0; i < runs; i++)
        printf("%s%.0f", i > 0 ? "," : "", rates[i]);
    printf("]}\n");
    return true;
}

/* Output bytes per second, 0 when a buffer is damaged. The count of good buffers
 * is needed, so that no compiler leaves the decoding out. */
static double run(const streams *all, u8 *out)
{
    const u64 passes = RUN_BYTES / all->wanted + 1;
    u64 decoded = 0;
    const double begin = bench_now_seconds();
    for (u64 pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < all->count; i++)
            decoded += decodes(&all->at[i], out);
    }
    const double seconds = bench_now_seconds() - begin;
    return decoded == passes * all->count ? (double)(passes * all->wanted) / seconds : 0;
}

static bool decodes(const stream *s, u8 *out)
{
    etl_xpress_output output = { .at = out, .wanted = s->wanted, .slack = ETL_XPRESS_SLACK };
    const etl_xpress_end end = etl_xpress_plain((etl_bytes){ s->bytes, s->size }, &output);
    return end == ETL_XPRESS_DONE && output.size == s->wanted;
}
