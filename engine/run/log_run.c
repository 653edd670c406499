/*
 * log_run.c - analyzes traces into a log and opens the log like a store.
 *
 * In: traces and options. Out: a result of mode RESULT_STORE.
 *
 *     engine_run ──bytes of an .ehs file──▶ memory ──────────────┬─▶ archive_open ──▶ result
 *                                              │ too many        │
 *                                              └─▶ temporary file, then mapped
 *
 * The code that answers questions cannot tell where the log is. Invariants: log_run_wanted must say
 * yes for all that an event list cannot answer: single blocks, several questions, windows that
 * overlap. The run only learns that a write failed; `home` keeps the first error, which the user is
 * told (blame).
 */
#include "log_run.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/core/arena.h"
#include "engine/core/machine.h"
#include "engine/core/unlinked.h"
#include "engine/core/timebase.h"
#include "engine/query/cuts_plan.h"
#include "engine/query/needs.h"
#include "engine/query/query.h"
#include "engine/result/archive.h"
#include "parser/system/files.h"
#include "store_part.h"

#define MEMORY_SHARE 4u /* of the memory allowed */

/* Answering from a larger log takes hundreds of MiB in a few large arrays. The C library never
 * makes these from the many small pieces that the run has freed, so they are given back first. */
#define LARGE_LOG_BYTES ((size_t)128 << 20)

/* The place of the log, and the first error. */
typedef struct log_home {
    const char *folder; /* NULL: no files */
    u64 memory_bytes_max;
    ETLHEAP_VECTOR(u8) memory;
    int file;     /* -1: all of it is in memory */
    int error;    /* errno of the first failure of the file */
    bool is_full; /* no memory */
} log_home;

static bool write_log(void *user, const void *bytes, size_t size);
static void forget_log(void *user);
static etl_status open_log(log_home *home, etl_map *out, etl_error *err);
static etl_status blame(const log_home *home, etl_status status, etl_error *err);

/* Do the windows overlap? An event list can only be kept for windows that do not. */
static bool overlap(const traces_named *traces, const etlheap_question *question)
{
    const bool in_windows = question->kind == ETLHEAP_ASK_WINDOWS;
    timebase base;
    window_cuts cuts = { .session = NULL };
    const bool is_known =
        timebase_open(&base, traces->traces, traces->count) &&
        window_cuts_open(&cuts, base.base, question->query, in_windows ? question->windows : NULL);
    const bool is_cut = cuts.session != NULL;
    window_cuts_free(&cuts);
    timebase_close(&base);
    return is_known && !is_cut;
}

bool log_run_wanted(const traces_named *traces, const options_read *read)
{
    const etlheap_options *const options = &read->own;
    if (options->question_count == 0 || options->inventory_only || options->store != NULL)
        return false;
    return options->question_count > 1 || (read->needs & (NEEDS_LOG | NEEDS_BLOCKS)) != 0 ||
           overlap(traces, &read->question);
}

etl_status log_run(const traces_named *traces, const etlheap_options *options,
                   const log_run_options *how, etlheap_result **out, etl_error *err)
{
    etlheap_options own = *options;
    log_home home = { .folder = own.temporary_folder,
                      .memory_bytes_max = how->memory_bytes_max,
                      .file = -1 };
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = write_log,
                                          .user = &home,
                                          .is_temporary = true,
                                          .is_without_info = !how->with_inventory,
                                          .is_without_frees = (how->needs & NEEDS_FREES) == 0 };
    etlheap_result *facts = NULL;
    etl_map map = { .memory = NULL };
    *out = NULL;
    if (own.memory_bytes_max != 0)
        home.memory_bytes_max =
            etl_min_u64(home.memory_bytes_max, own.memory_bytes_max / MEMORY_SHARE);
    own.inventory_only = false;
    own.store = &store;
    machine_give_back(); /* what a run before has left, as in a comparison of two traces */
    const log_extra extra = { .forget = forget_log,
                              .user = &home,
                              .lacks_addresses = (how->needs & NEEDS_ADDRESSES) == 0,
                              .lacks_threads = (how->needs & NEEDS_THREADS) == 0,
                              .lacks_freer_threads = (how->needs & NEEDS_FREE_THREADS) == 0 };
    etl_status status = engine_run(traces, &own, NULL, &extra, &facts, err);
    stack_table stacks = { .groups = NULL };
    if (status == ETL_OK)
        stack_table_move(&stacks, &facts->stacks);
    if (status == ETL_OK && !how->with_addresses && !stack_table_keep_numbers(&stacks))
        status = etl_no_memory(err);
    etlheap_result_free(facts);
    status = status == ETL_OK ? open_log(&home, &map, err) : blame(&home, status, err);
    if (map.bytes.size >= LARGE_LOG_BYTES)
        machine_give_back();
    own.store = NULL;
    const archive_request request = { .memory_bytes_max = own.memory_bytes_max,
                                      .cancel = own.cancel,
                                      .is_log = true,
                                      .stacks = &stacks };
    if (status == ETL_OK)
        status = archive_open(&map, &request, out, err);
    stack_table_free(&stacks);
    if (home.file >= 0)
        (void)etl_file_close(home.file);
    ETLHEAP_VECTOR_FREE(&home.memory);
    return status;
}

/* Opens the temporary store and writes its part. */
static etl_status write_part(log_home *home, const etlheap_options *options, etl_error *err)
{
    etl_map map = { .memory = NULL };
    etlheap_result *whole = NULL;
    etlheap_options own = *options;
    const archive_request request = { .memory_bytes_max = own.memory_bytes_max,
                                      .cancel = own.cancel };
    etl_status status = open_log(home, &map, err);
    if (status == ETL_OK)
        status = archive_open(&map, &request, &whole, err);
    if (status == ETL_OK)
        status = store_part_write(whole, own.store->part, &own, err);
    etlheap_result_free(whole);
    return status;
}

etl_status log_run_part(const traces_named *traces, const etlheap_options *options,
                        etlheap_result **out, etl_error *err)
{
    log_home home = { .folder = options->temporary_folder,
                      .memory_bytes_max = LOG_MEMORY_BYTES,
                      .file = -1 };
    etlheap_store_options store = *options->store;
    store.write = write_log;
    store.user = &home;
    store.is_temporary = true;
    store.part = NULL;
    etlheap_options own = *options;
    own.store = &store;
    if (own.memory_bytes_max != 0)
        home.memory_bytes_max =
            etl_min_u64(home.memory_bytes_max, own.memory_bytes_max / MEMORY_SHARE);
    *out = NULL;
    etl_status status = engine_run(traces, &own, NULL, NULL, out, err);
    if (status != ETL_OK)
        status = blame(&home, status, err);
    else
        status = write_part(&home, options, err);
    if (status != ETL_OK) {
        etlheap_result_free(*out);
        *out = NULL;
    }
    if (home.file >= 0)
        (void)etl_file_close(home.file);
    ETLHEAP_VECTOR_FREE(&home.memory);
    return status;
}

/* Moves the bytes so far from memory to a file, because there are more than allowed. */
static bool move_to_file(log_home *home)
{
    home->file = unlinked_file(home->folder);
    const bool is_done =
        home->file >= 0 && (home->memory.count == 0 ||
                            etl_file_write(home->file, home->memory.at, home->memory.count));
    home->error = is_done ? 0 : errno;
    ETLHEAP_VECTOR_FREE(&home->memory);
    return is_done;
}

static bool write_log(void *user, const void *bytes, size_t size)
{
    log_home *const home = user;
    const bool fits = home->memory.count + size <= home->memory_bytes_max;
    if (home->file < 0 && (fits || home->folder == NULL)) {
        home->is_full = !ETLHEAP_RESERVE(&home->memory, size);
        if (home->is_full)
            return false;
        memcpy(home->memory.at + home->memory.count, bytes, size);
        home->memory.count += size;
        return true;
    }
    if (home->file < 0 && !move_to_file(home))
        return false;
    const bool is_done = etl_file_write(home->file, bytes, size);
    if (!is_done)
        home->error = errno;
    return is_done;
}

static void forget_log(void *user)
{
    log_home *const home = user;
    home->memory.count = 0;
    if (home->file >= 0)
        (void)etl_file_close(home->file);
    home->file = -1;
}

/* Opens the log as bytes. If they are in memory, the map owns them from here on. */
static etl_status open_log(log_home *home, etl_map *out, etl_error *err)
{
    if (home->file >= 0) {
        if (!etl_file_seek(home->file, 0))
            return etl_fail_with(err, ETL_ERR_IO, 0, "the temporary file cannot be read back");
        return etl_map_descriptor(home->file, false, out, err);
    }
    ETLHEAP_TRIM(&home->memory);
    u8 *const bytes = home->memory.at;
    *out = (etl_map){ .bytes = { bytes, home->memory.count }, .memory = bytes };
    home->memory.at = NULL;
    return ETL_OK;
}

/* Replaces the run's "write failed" by its cause. */
static etl_status blame(const log_home *home, etl_status status, etl_error *err)
{
    if (home->error != 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "a temporary file in %.100s cannot be written: %s",
                             home->folder, strerror(home->error));
    return home->is_full ? etl_no_memory(err) : status;
}
