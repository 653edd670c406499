/*
 * journal_merge.c - the shards' lists into chunks, and chunks to and from disk.
 *
 * The lists are sorted by time. To merge on many threads, a slice's time is cut
 * into buckets of about equal count; in each, entries are spread over as many
 * bins as there are entries, by time, which leaves next to nothing to sort: an
 * insertion sort finishes it. A bin that is crowded (many events in few ticks)
 * is sorted properly, so no pattern of times is slow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "journal.h"
#include "workers.h"

#define SAMPLE_STEP        512u
#define ENTRIES_PER_BUCKET 16384u
#define CROWD              24u

typedef struct bucket {
    size_t from[HEAP_SHARDS], to[HEAP_SHARDS]; /* in the shards' lists */
    size_t first;                              /* in the chunk */
    bool failed;
} bucket;

typedef struct merge_work {
    const event_journal *journal;
    ETLHEAP_VECTOR(bucket) buckets;
    ETLHEAP_VECTOR(i64) sample;
    journal_entry *entries; /* of the chunk */
} merge_work;

static bool cut_buckets(merge_work *work, i64 end_ticks, size_t *total);
static void merge_bucket(void *context, u32 task);
static void sort_entries(shard_entry *rows, shard_entry *sorted, u32 *starts, size_t count);
static etl_status spill(event_journal *journal);

static int by_ticks(const void *a, const void *b)
{
    const shard_entry *const x = a, *const y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* The first entry at or after `ticks`. */
static size_t find_ticks(const shard_journal *shard, i64 ticks)
{
    size_t low = 0, high = shard->entries.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (shard->entries.at[middle].ticks < ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

etl_status journal_end_slice(event_journal *journal, i64 end_ticks, u32 jobs)
{
    for (u32 i = 0; i < HEAP_SHARDS; i++) {
        shard_journal *const shard = &journal->shards[i];
        if (shard->is_unsorted)
            qsort(shard->entries.at, shard->entries.count, sizeof *shard->entries.at, by_ticks);
        shard->is_unsorted = false;
    }
    if (end_ticks != INT64_MAX)
        end_ticks = etl_sat_add_i64(end_ticks, -journal->patience_ticks);
    merge_work work = { .journal = journal };
    size_t total = 0;
    bool ok = cut_buckets(&work, end_ticks, &total) && total < UINT32_MAX;
    work.entries = ok ? malloc((total + 1) * sizeof *work.entries) : NULL;
    const journal_chunk chunk = { .entries = work.entries,
                                  .first_index = journal->count,
                                  .count = (u32)total };
    ok = work.entries != NULL && ETLHEAP_PUSH(&journal->chunks, chunk);
    if (ok) {
        etlheap_workers_run(jobs, (u32)work.buckets.count, merge_bucket, &work);
        for (size_t i = 0; i < work.buckets.count; i++)
            ok = ok && !work.buckets.at[i].failed;
    } else {
        free(work.entries);
    }
    for (u32 i = 0; ok && i < HEAP_SHARDS; i++) {
        shard_journal *const shard = &journal->shards[i];
        const size_t taken = find_ticks(shard, end_ticks);
        journal->from_index += etl_min_u64(taken, find_ticks(shard, journal->from_ticks));
        if (taken > 0)
            memmove(shard->entries.at, shard->entries.at + taken,
                    (shard->entries.count - taken) * sizeof *shard->entries.at);
        shard->entries.count -= taken;
    }
    journal->count += total;
    journal->resident_bytes += total * sizeof(journal_entry);
    ETLHEAP_VECTOR_FREE(&work.buckets);
    ETLHEAP_VECTOR_FREE(&work.sample);
    return ok ? spill(journal) : ETL_ERR_MEMORY;
}

/* Buckets begin where a sample of the times says that so many lie before. */
static bool cut_buckets(merge_work *work, i64 end_ticks, size_t *total)
{
    size_t ends[HEAP_SHARDS];
    for (u32 s = 0; s < HEAP_SHARDS; s++) {
        const shard_journal *const shard = &work->journal->shards[s];
        ends[s] = find_ticks(shard, end_ticks);
        *total += ends[s];
        for (size_t i = 0; i < ends[s]; i += SAMPLE_STEP) {
            if (!ETLHEAP_PUSH(&work->sample, shard->entries.at[i].ticks))
                return false;
        }
    }
    if (*total == 0)
        return true;
    qsort(work->sample.at, work->sample.count, sizeof *work->sample.at, by_value);
    const size_t count = *total / ENTRIES_PER_BUCKET + 1;
    bucket next = { .first = 0 };
    for (size_t b = 1; b <= count; b++) {
        size_t size = 0;
        for (u32 s = 0; s < HEAP_SHARDS; s++) {
            const i64 moment = b < count ? work->sample.at[work->sample.count * b / count] : 0;
            next.to[s] = b < count ? find_ticks(&work->journal->shards[s], moment) : ends[s];
            size += next.to[s] - next.from[s];
        }
        if (size > 0 && !ETLHEAP_PUSH(&work->buckets, next))
            return false;
        next.first += size;
        memcpy(next.from, next.to, sizeof next.from);
    }
    return true;
}

static void merge_bucket(void *context, u32 task)
{
    merge_work *const work = context;
    bucket *const own = &work->buckets.at[task];
    size_t count = 0;
    for (u32 s = 0; s < HEAP_SHARDS; s++)
        count += own->to[s] - own->from[s];
    shard_entry *const rows = malloc(2 * count * sizeof *rows);
    u32 *const starts = calloc(count + 2, sizeof *starts);
    own->failed = rows == NULL || starts == NULL;
    size_t filled = 0;
    for (u32 s = 0; s < HEAP_SHARDS && !own->failed; s++) {
        const size_t size = own->to[s] - own->from[s];
        if (size > 0)
            memcpy(rows + filled, work->journal->shards[s].entries.at + own->from[s],
                   size * sizeof *rows);
        filled += size;
    }
    if (!own->failed)
        sort_entries(rows, rows + count, starts, count);
    for (size_t i = 0; i < count && !own->failed; i++) {
        journal_entry entry = rows[count + i].entry;
        if (i == 0 || rows[count + i].ticks != rows[count + i - 1].ticks)
            entry.owner_flags |= JOURNAL_NEW_TICK;
        work->entries[own->first + i] = entry;
    }
    free(rows);
    free(starts);
}

static void insertion_sort(shard_entry *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const shard_entry row = rows[i];
        size_t at = i;
        for (; at > 0 && rows[at - 1].ticks > row.ticks; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* starts has count + 2 zeros. */
static void sort_entries(shard_entry *rows, shard_entry *sorted, u32 *starts, size_t count)
{
    i64 low = rows[0].ticks, high = rows[0].ticks;
    for (size_t i = 1; i < count; i++) {
        low = rows[i].ticks < low ? rows[i].ticks : low;
        high = rows[i].ticks > high ? rows[i].ticks : high;
    }
    const double scale = (double)count / ((double)high - (double)low + 1.0);
    for (size_t i = 0; i < count; i++) {
        size_t bin = (size_t)(((double)rows[i].ticks - (double)low) * scale);
        bin = bin < count ? bin : count - 1;
        starts[bin + 2]++;
    }
    for (size_t bin = 2; bin < count + 2; bin++)
        starts[bin] += starts[bin - 1];
    for (size_t i = 0; i < count; i++) {
        size_t bin = (size_t)(((double)rows[i].ticks - (double)low) * scale);
        bin = bin < count ? bin : count - 1;
        sorted[starts[bin + 1]++] = rows[i];
    }
    for (size_t bin = 0; bin < count; bin++) {
        const size_t size = starts[bin + 1] - starts[bin];
        if (size > CROWD)
            qsort(sorted + starts[bin], size, sizeof *sorted, by_ticks);
        else if (size > 1)
            insertion_sort(sorted + starts[bin], size);
    }
}

etl_status journal_close(event_journal *journal, u32 jobs)
{
    const etl_status status = journal_end_slice(journal, INT64_MAX, jobs);
    for (u32 i = 0; status == ETL_OK && i < HEAP_SHARDS; i++) {
        shard_journal *const shard = &journal->shards[i];
        shard->survivor_bits = calloc(shard->next_seq / 8 + 1, 1);
        if (shard->survivor_bits == NULL)
            return ETL_ERR_MEMORY;
        for (size_t k = 0; k < shard->survivors.count; k++) {
            const u32 seq = shard->survivors.at[k];
            shard->survivor_bits[seq >> 3] |= (u8)(1u << (seq & 7));
        }
        ETLHEAP_VECTOR_FREE(&shard->survivors);
        ETLHEAP_VECTOR_FREE(&shard->entries);
    }
    return status;
}

/* A file without a name: it is gone when it is closed, however that happens. */
static bool open_file(event_journal *journal)
{
    char path[4096];
    const int length =
        snprintf(path, sizeof path, "%s/etlheap-journal-XXXXXX", journal->spill_folder);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    journal->file = mkstemp(path);
    return journal->file >= 0 && unlink(path) == 0;
}

static bool write_all(int file, const void *bytes, size_t size, u64 offset)
{
    const u8 *at = bytes;
    while (size > 0) {
        const ssize_t written = pwrite(file, at, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
        offset += (u64)written;
    }
    return true;
}

static etl_status spill(event_journal *journal)
{
    if (journal->resident_bytes <= journal->resident_bytes_max || journal->spill_folder == NULL)
        return ETL_OK;
    if (journal->file < 0 && !open_file(journal))
        return ETL_ERR_IO;
    for (size_t i = 0; i < journal->chunks.count; i++) {
        journal_chunk *const chunk = &journal->chunks.at[i];
        const size_t bytes = (size_t)chunk->count * sizeof *chunk->entries;
        if (chunk->entries == NULL)
            continue;
        if (!write_all(journal->file, chunk->entries, bytes, journal->file_bytes))
            return ETL_ERR_IO;
        chunk->file_offset = journal->file_bytes;
        journal->file_bytes += (bytes + 65535) & ~(u64)65535; /* mappable */
        free(chunk->entries);
        chunk->entries = NULL;
    }
    journal->resident_bytes = 0;
    return ETL_OK;
}

const journal_entry *journal_map(const event_journal *journal, size_t index)
{
    static const journal_entry nothing[1];
    const journal_chunk *const chunk = &journal->chunks.at[index];
    if (chunk->entries != NULL)
        return chunk->entries;
    if (chunk->count == 0)
        return nothing;
    void *const at = mmap(NULL, (size_t)chunk->count * sizeof(journal_entry), PROT_READ,
                          MAP_PRIVATE, journal->file, (off_t)chunk->file_offset);
    return at == MAP_FAILED ? NULL : at;
}

void journal_release(const event_journal *journal, size_t index, const journal_entry *entries)
{
    const journal_chunk *const chunk = &journal->chunks.at[index];
    if (chunk->entries == NULL && chunk->count > 0 && entries != NULL)
        munmap((void *)(uintptr_t)entries, (size_t)chunk->count * sizeof(journal_entry));
}
