/*
 * summary_run.c - what is added to a summary, and where it goes. Traces are added by
 * engine/run/summary_traces.c.
 */
#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/result/archive.h"
#include "parser/system/files.h"
#include "summary_build.h"
#include "engine/result/summary_file.h"
#include "parser/sized.h"

typedef struct store_input {
    const char *path, *name;
    ehs_content content;
    u64 bytes;
} store_input;

/* Stores while they are added. */
typedef struct adding {
    store_input *inputs;
    u64 done_bytes, total_bytes;
    etlheap_progress_fn *progress;
    void *progress_user;
} adding;

static etl_status look_at(store_input *input, etl_error *err);
static etl_status add_store(etlheap_summary *s, adding *a, u32 index, etl_error *err);

etl_status summary_add_result(etlheap_summary *s, const etlheap_result *result, const char *origin,
                              etl_error *err)
{
    if (result->part.is_part)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "is a store of a part of a recording, and a summary has the totals of "
                             "whole recordings: name the whole store or its traces");
    if (result->summary == NULL && s->every_ns < 0)
        s->every_ns = 0; /* nobody asked for windows */
    const etl_status status = result->summary == NULL ? summary_collect(s, result, origin, err)
                                                      : summary_fold(s, result, origin, err);
    if (status == ETL_OK && s->options.memory_bytes_max != 0 &&
        summary_bytes(s) > s->options.memory_bytes_max)
        return etl_fail_hint(err, ETL_ERR_LIMIT, ETL_HINT_MORE_MEMORY,
                             "the summary takes more than the memory allowed");
    return status;
}

/* Summaries first: they say which windows the others are to be cut into. */
etl_status etlheap_summary_add_stores(etlheap_summary *s, const char *const *paths,
                                      const char *const *names, u32 path_count,
                                      etlheap_progress_fn *progress, void *progress_user,
                                      etl_error *err)
{
    static const ehs_content order[] = { EHS_CONTENT_SUMMARY, EHS_CONTENT_STORE };
    adding a = { .progress = progress, .progress_user = progress_user };
    a.inputs = calloc((size_t)path_count + 1, sizeof *a.inputs);
    etl_status status = a.inputs == NULL ? etl_no_memory(err) : ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < path_count; i++) {
        a.inputs[i] =
            (store_input){ .path = paths[i], .name = names != NULL ? names[i] : paths[i] };
        status = look_at(&a.inputs[i], err);
        a.total_bytes = etl_sat_add_u64(a.total_bytes, a.inputs[i].bytes);
    }
    for (size_t k = 0; k < ETL_COUNT_OF(order); k++) {
        for (u32 i = 0; status == ETL_OK && i < path_count; i++) {
            if (a.inputs[i].content == order[k])
                status = add_store(s, &a, i, err);
        }
    }
    free(a.inputs);
    return status;
}

static etl_status name_input(const char *name, const etl_error *inner, etl_error *err)
{
    return etl_fail_hint(err, inner->status, inner->hint, "%s: %.150s", summary_path(name),
                         inner->message);
}

static etl_status look_at(store_input *input, etl_error *err)
{
    etl_error inner = { .status = ETL_OK };
    etl_map map;
    ehs_reader reader;
    etl_status status = etl_map_open(input->path, false, &map, &inner);
    if (status == ETL_OK)
        status = ehs_reader_open(&reader, map.bytes, &inner);
    if (status == ETL_OK) {
        input->content = reader.content;
        input->bytes = map.bytes.size;
        ehs_reader_close(&reader);
    }
    etl_map_close(&map);
    return status == ETL_OK ? status : name_input(input->name, &inner, err);
}

static etl_status add_store(etlheap_summary *s, adding *a, u32 index, etl_error *err)
{
    const store_input *const input = &a->inputs[index];
    const archive_request request = { .memory_bytes_max = s->options.memory_bytes_max };
    etl_error inner = { .status = ETL_OK };
    etl_map map;
    etlheap_result *result = NULL;
    etl_status status = etl_map_open(input->path, false, &map, &inner);
    if (status == ETL_OK)
        status = archive_open(&map, &request, &result, &inner);
    if (status == ETL_OK && result->told.anonymised.scheme != 0)
        status = etl_fail_with(&inner, ETL_ERR_ARGUMENT, 0,
                               "%.150s is anonymised, and a summary has no place for the words of "
                               "its functions: use the store itself",
                               summary_path(input->name));
    if (status == ETL_OK)
        status = summary_add_result(s, result, input->name, &inner);
    etlheap_result_free(result);
    if (status == ETL_ERR_ARGUMENT) /* it names the files */
        return etl_fail_hint(err, status, inner.hint, "%s", inner.message);
    if (status != ETL_OK)
        return name_input(input->name, &inner, err);
    a->done_bytes = etl_sat_add_u64(a->done_bytes, input->bytes);
    return a->progress == NULL || a->progress(a->progress_user, a->done_bytes, a->total_bytes)
               ? ETL_OK
               : cancelled(err);
}

etl_status etlheap_summary_write(etlheap_summary *s, const etlheap_store_options *options,
                                 etl_error *err)
{
    etlheap_result *finished = NULL;
    etlheap_store_options own = { .size = sizeof own };
    etl_status status = etl_read_sized(options, "etlheap_store_options", &own, sizeof own, err);
    if (status == ETL_OK && own.write == NULL)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a store takes a function to write it");
    if (status == ETL_OK)
        status = summary_finish(s, &finished, err);
    if (status != ETL_OK)
        return status;
    status = summary_save(finished, &own);
    etlheap_result_free(finished);
    if (status == ETL_ERR_IO)
        return etl_fail_with(err, status, 0, "the summary cannot be written");
    return status == ETL_OK ? status : etl_fail_with(err, status, 0, "out of memory");
}
