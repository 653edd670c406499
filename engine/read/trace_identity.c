/*
 * trace_identity.c - identifies a trace by its content: a hash of sessions, buffers and some
 * records. Invariant: the id must not depend on the file's name or on how it is read.
 */
#include "trace_identity.h"

#include <xxhash.h>

#define SAMPLED_BUFFERS 64u

static void add_session(XXH3_state_t *hash, const etl_session *session);
static void add_buffer(XXH3_state_t *hash, const etl_buffer_info *buffer);
static etl_status add_records(XXH3_state_t *hash, const etl_trace *trace, u32 index,
                              etl_scratch *scratch);

static void add_words(XXH3_state_t *hash, const u64 *words, size_t count)
{
    (void)XXH3_128bits_update(hash, words, count * sizeof *words);
}

etl_status trace_identify(const etl_trace *trace, u64 id[2])
{
    XXH3_state_t *const hash = XXH3_createState();
    etl_scratch scratch = { 0 };
    etl_status status = ETL_OK;
    const u32 buffers = etl_buffer_count(trace);
    const u32 samples = buffers < SAMPLED_BUFFERS ? buffers : SAMPLED_BUFFERS;
    if (hash == NULL)
        return ETL_ERR_MEMORY;
    (void)XXH3_128bits_reset(hash);
    for (u32 i = 0; i < etl_session_count(trace); i++)
        add_session(hash, etl_session_of(trace, i));
    for (u32 i = 0; i < buffers; i++)
        add_buffer(hash, etl_buffer_info_of(trace, i));
    for (u32 i = 0; status == ETL_OK && i < samples; i++) {
        const u64 index = samples < 2 ? 0 : (u64)i * (buffers - 1) / (samples - 1);
        status = add_records(hash, trace, (u32)index, &scratch);
    }
    etl_scratch_free(&scratch);
    const XXH128_hash_t sum = XXH3_128bits_digest(hash);
    (void)XXH3_freeState(hash);
    id[0] = sum.low64 == 0 ? 1 : sum.low64;
    id[1] = sum.high64;
    return status;
}

static void add_session(XXH3_state_t *hash, const etl_session *session)
{
    const u64 words[] = { (u64)session->header_ticks,
                          (u64)session->start_time_filetime,
                          (u64)session->boot_time_filetime,
                          session->clock_hz,
                          session->clock,
                          session->cpu_count,
                          session->pointer_bytes,
                          session->os_build };
    add_words(hash, words, ETL_COUNT_OF(words));
}

static void add_buffer(XXH3_state_t *hash, const etl_buffer_info *buffer)
{
    const u64 words[] = { buffer->valid_size, (u64)buffer->sequence, buffer->type, buffer->cpu };
    add_words(hash, words, ETL_COUNT_OF(words));
}

static etl_status add_records(XXH3_state_t *hash, const etl_trace *trace, u32 index,
                              etl_scratch *scratch)
{
    etl_diag_counts counted = { 0 }; /* damage is told of when the trace is read */
    etl_buffer buffer;
    const etl_status status = etl_buffer_load(trace, index, scratch, &counted, &buffer);
    if (status == ETL_OK && buffer.end > buffer.at)
        (void)XXH3_128bits_update(hash, buffer.base + buffer.at, buffer.end - buffer.at);
    return status;
}
