/*
 * bench_symbols.c - measures how fast the PDB reader names addresses.
 *
 *     bench_symbols PDB ADDRESSES RUNS
 *
 * In: a PDB that make_pdb wrote. Out: JSON with the number of addresses, the seconds to open the
 * file, and for each run the addresses per second.
 *
 * The addresses are distinct, sorted and spread evenly over all functions. Each run resolves all of
 * them, with lines and inlined calls, on one thread and with a new resolver. Invariant: every
 * answer is compared with what make_pdb's layout implies, so a run with wrong names counts as 0.
 */
#include "bench.h"
#include "pdb_model.h"

#include "parser/pdb.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS_MAX 1000

typedef struct workload {
    const etl_pdb_file *file;
    u32 *rvas;
    size_t count;
} workload;

static bool make_workload(workload *w, size_t count);
static bool measure(const workload *w, int runs, double open_seconds);
static double run(const workload *w);
static bool is_right(const etl_pdb_location *location);
static bool is_frame_right(const etl_pdb_frame *frame, u32 inlinee, bool is_second_half);
static bool ends_with_number(etl_bytes name, u32 number);

int main(int argc, char **argv)
{
    const long count = argc == 4 ? atol(argv[2]) : 0;
    const int runs = argc == 4 ? atoi(argv[3]) : 0;
    if (count < 1 || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: bench_symbols PDB ADDRESSES RUNS\n");
        return 2;
    }
    etl_error error;
    etl_pdb_file *file;
    const double begin = bench_now_seconds();
    if (etl_pdb_open(argv[1], &file, &error) != ETL_OK) {
        fprintf(stderr, "bench_symbols: %s: %s\n", argv[1], error.message);
        return 1;
    }
    const double open_seconds = bench_now_seconds() - begin;
    workload w = { .file = file };
    const bool ok = make_workload(&w, (size_t)count) && measure(&w, runs, open_seconds);
    free(w.rvas);
    etl_pdb_close(file);
    return ok ? 0 : 1;
}

static bool make_workload(workload *w, size_t count)
{
    const u32 code_bytes = etl_pdb_sections(w->file)[0].size_bytes;
    if (count > code_bytes) {
        fprintf(stderr, "bench_symbols: the PDB has only %u addresses\n", code_bytes);
        return false;
    }
    w->rvas = bench_allocate(count, sizeof *w->rvas);
    w->count = count;
    for (size_t i = 0; i < count; i++)
        w->rvas[i] = PDB_MODEL_CODE_RVA + (u32)((u64)i * code_bytes / count);
    /* With an even distance, all addresses could be starts of functions, so it varies. */
    for (size_t i = 0; i + 1 < count; i++)
        w->rvas[i] += (u32)(i * 2654435761u % (w->rvas[i + 1] - w->rvas[i]));
    return true;
}

static bool measure(const workload *w, int runs, double open_seconds)
{
    double rates[RUNS_MAX];
    for (int i = 0; i < runs; i++) {
        rates[i] = run(w);
        if (rates[i] <= 0) {
            fprintf(stderr, "bench_symbols: wrong answers\n");
            return false;
        }
    }
    printf("{\"addresses\":%zu,\"open_seconds\":%.6f,\"addresses_per_second\":[", w->count,
           open_seconds);
    for (int i = 0; i < runs; i++)
        printf("%s%.0f", i > 0 ? "," : "", rates[i]);
    printf("]}\n");
    return true;
}

/* Addresses per second; 0 when an answer is wrong. */
static double run(const workload *w)
{
    etl_pdb_resolver *resolver;
    etl_pdb_location location;
    size_t right = 0;
    const double begin = bench_now_seconds();
    if (etl_pdb_resolver_open(w->file, ETL_PDB_WANT_ALL, &resolver, NULL) != ETL_OK ||
        etl_pdb_resolver_begin(resolver, w->rvas, w->count, NULL) != ETL_OK)
        abort();
    while (etl_pdb_resolver_next(resolver, &location))
        right += is_right(&location);
    etl_pdb_resolver_close(resolver);
    const double seconds = bench_now_seconds() - begin;
    return right == w->count ? (double)w->count / seconds : 0;
}

static bool is_right(const etl_pdb_location *location)
{
    const u32 function = (location->rva - PDB_MODEL_CODE_RVA) / PDB_MODEL_FUNCTION_BYTES;
    const u32 offset = location->rva - pdb_model_function_rva(function);
    const u32 step = offset / PDB_MODEL_LINE_BYTES;
    const u32 line = step < PDB_MODEL_LINES ? step : PDB_MODEL_LINES - 1;
    const bool in_outer =
        pdb_model_has_inlined(function) && offset - PDB_MODEL_INLINE_AT < PDB_MODEL_INLINE_BYTES;
    const bool in_inner = in_outer && offset - PDB_MODEL_INNER_AT < PDB_MODEL_INNER_BYTES;
    if (location->kind != ETL_PDB_SYMBOL_PROCEDURE || location->displacement != offset ||
        location->function.line != pdb_model_first_line(function) + line ||
        location->function.file.size == 0 || !ends_with_number(location->function.name, function) ||
        location->inline_count != (u32)in_outer + (u32)in_inner)
        return false;
    if (in_outer && !is_frame_right(&location->inlined[location->inline_count - 1],
                                    pdb_model_inlinee(function, 0),
                                    offset - PDB_MODEL_INLINE_AT >= PDB_MODEL_INLINE_BYTES / 2))
        return false;
    return !in_inner || is_frame_right(&location->inlined[0], pdb_model_inlinee(function, 1),
                                       offset - PDB_MODEL_INNER_AT >= PDB_MODEL_INNER_BYTES / 2);
}

/* The name is "large::inlined::vector<item_N>::push_back", and the second half of
 * the code is some lines further down. */
static bool is_frame_right(const etl_pdb_frame *frame, u32 inlinee, bool is_second_half)
{
    static const char tail[] = ">::push_back";
    const size_t tail_size = sizeof tail - 1;
    const u32 delta = is_second_half ? PDB_MODEL_LINE_DELTA : 0;
    if (frame->line != PDB_MODEL_INLINEE_LINE + inlinee + delta || frame->file.size == 0 ||
        frame->name.size < tail_size)
        return false;
    const etl_bytes head = { frame->name.at, frame->name.size - tail_size };
    return memcmp(head.at + head.size, tail, tail_size) == 0 && ends_with_number(head, inlinee);
}

/* "..._NUMBER" */
static bool ends_with_number(etl_bytes name, u32 number)
{
    size_t at = name.size;
    do {
        if (at == 0 || name.at[--at] != '0' + number % 10)
            return false;
        number /= 10;
    } while (number > 0);
    return at > 0 && name.at[at - 1] == '_';
}
