/*
 * batch.c - which inputs are worked on side by side.
 *
 * In order of size, the largest first, an input gets all threads for itself as
 * long as it is large: the rest is small, and has a thread each. What is left at
 * the end is then the smallest, so threads seldom wait for the last one.
 */
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "parser/sized.h"

/* What an analysis may take, by its input: most traces take far less. */
#define MEMORY_BYTES_FIXED  ((u64)64 << 20)
#define MEMORY_BYTES_A_BYTE 16

typedef struct place {
    u64 bytes;
    u32 index;
    bool again;
} place;

typedef struct batch {
    const etlheap_batch_options *options;
    etlheap_lock *lock; /* of finished() */
    u32 jobs;
    place *places; /* in the order of their beginning */
    u32 side_by_side;
} batch;

static void put_in_order(batch *b);
static u32 count_alone(const batch *b);
static void work_alone(batch *b, place *one);
static void work_beside(void *context, u32 task);

etl_status etlheap_batch_run(const etlheap_batch_options *given, etl_error *err)
{
    etlheap_batch_options own = { .size = sizeof own };
    const etl_status status = etl_read_sized(given, "etlheap_batch_options", &own, sizeof own, err);
    if (status != ETL_OK)
        return status;
    if (own.work == NULL || own.finished == NULL || own.goes_on == NULL ||
        (own.input_bytes == NULL && own.count > 0))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a batch takes sizes of inputs and its three functions");
    const etlheap_batch_options *const options = &own;
    batch b = { .options = options };
    b.jobs = etlheap_workers_jobs(options->jobs);
    b.places = calloc((size_t)options->count + 1, sizeof *b.places);
    b.lock = etlheap_lock_open();
    if (b.places == NULL || b.lock == NULL) {
        free(b.places);
        etlheap_lock_close(b.lock);
        return etl_no_memory(err);
    }
    put_in_order(&b);
    const u32 alone = count_alone(&b);
    for (u32 i = 0; i < alone; i++)
        work_alone(&b, &b.places[i]);
    b.side_by_side = alone;
    etlheap_workers_run(b.jobs, options->count - alone, work_beside, &b);
    for (u32 i = alone; i < options->count; i++) {
        if (b.places[i].again)
            work_alone(&b, &b.places[i]);
    }
    free(b.places);
    etlheap_lock_close(b.lock);
    return ETL_OK;
}

static int by_size(const void *a, const void *b)
{
    const place *const x = a, *const y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* On one thread all orders take the same time, and the one given is expected. */
static void put_in_order(batch *b)
{
    for (u32 i = 0; i < b->options->count; i++)
        b->places[i] = (place){ .bytes = b->options->input_bytes[i], .index = i };
    if (b->jobs > 1)
        qsort(b->places, b->options->count, sizeof *b->places, by_size);
}

/* Whether as many like it as there are threads would be too much at a time. */
static bool exceeds_share(const batch *b, u64 bytes)
{
    const u64 share = b->options->memory_bytes_max / b->jobs;
    if (b->options->memory_bytes_max == 0)
        return false;
    return share < MEMORY_BYTES_FIXED || bytes > (share - MEMORY_BYTES_FIXED) / MEMORY_BYTES_A_BYTE;
}

static u32 count_alone(const batch *b)
{
    const u32 count = b->options->count;
    u64 left = 0;
    for (u32 i = 0; i < count; i++)
        left = etl_sat_add_u64(left, b->places[i].bytes);
    for (u32 i = 0; i < count; i++) {
        const u64 bytes = b->places[i].bytes;
        const bool is_large = bytes > left / b->jobs || i + 1 == count;
        if (b->jobs > 1 && !is_large && !exceeds_share(b, bytes))
            return i;
        left -= bytes;
    }
    return count;
}

static void work_alone(batch *b, place *one)
{
    const etlheap_batch_options *const options = b->options;
    if (!options->goes_on(options->user))
        return;
    (void)options->work(options->user, one->index, b->jobs, true);
    options->finished(options->user, one->index);
}

static void work_beside(void *context, u32 task)
{
    batch *const b = context;
    const etlheap_batch_options *const options = b->options;
    place *const one = &b->places[b->side_by_side + task];
    if (!options->goes_on(options->user))
        return;
    one->again = options->work(options->user, one->index, 1, false) == ETLHEAP_BATCH_AGAIN;
    if (one->again)
        return;
    etlheap_lock_take(b->lock);
    options->finished(options->user, one->index);
    etlheap_lock_give(b->lock);
}
