/*
 * Goal: chunks that memory may not hold go to a file without a name and are read
 * back as they were; what cannot be written or read is an error. The chunks of a
 * wide journal leave to whoever takes them, one after the other.
 * Method: the same slices kept in memory, on disk and handed out; a folder that is
 * not there, a file that may not grow, a file that was closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/journal_check.h"
#include "tests/support/temporary.h"

#define T0          CHECK_START
#define SLICES      6u
#define SLICE_WORDS 9000u /* more than the alignment of a chunk in the file */

static int open_on_disk(void **state)
{
    if (journal_check_open(state) != 0)
        return 1;
    journal_check *const f = *state;
    f->journal.spill_folder = strdup(temporary_folder());
    f->journal.resident_bytes_max = 0;
    return f->journal.spill_folder == NULL;
}

/* Allocates in each event of the slice, the first of a size that does not fit; the
 * second slice is empty. */
static void note_slice(journal_check *f, u32 number)
{
    static i64 ticks[SLICE_WORDS];
    const u32 count = number == 1 ? 0 : SLICE_WORDS - number;
    for (u32 i = 0; i < count; i++)
        ticks[i] = T0 + number * CHECK_SECOND + i;
    journal_check_begin(f, ticks, count);
    for (u32 i = 0; i < count; i++) {
        const u64 size = i == 0 ? JOURNAL_BIG + number : i;
        journal_check_alloc(f, (noted_event){ ticks[i], i }, 1 + number * SLICE_WORDS + i, size);
    }
}

/* A second is longer than chunks are held open. */
static etl_status add_slice(journal_check *f, u32 number)
{
    note_slice(f, number);
    return journal_end_slice(&f->journal, T0 + (number + 1) * CHECK_SECOND);
}

static void add_slices(journal_check *f)
{
    for (u32 i = 0; i < SLICES; i++)
        assert_int_equal(add_slice(f, i), ETL_OK);
}

static void assert_all_told(journal_check *f)
{
    const told *row = journal_check_read(f);
    u32 time = 0;
    for (u32 number = 0; number < SLICES; number++) {
        const u32 count = number == 1 ? 0 : SLICE_WORDS - number;
        for (u32 i = 0; i < count; i++) {
            const u32 origin = 1 + number * SLICE_WORDS + i;
            time++;
            if (i == 0)
                journal_check_told(row++, time, JOURNAL_NONE, 0, 0);
            journal_check_told(row++, time, JOURNAL_ALLOC, origin,
                               i == 0 ? JOURNAL_BIG + number : i);
        }
    }
    assert_ptr_equal(row, f->told.at + f->told.count);
}

/* --- disk --- */

static void chunks_come_back_from_disk_as_they_were(void **state)
{
    journal_check *const f = *state;
    add_slices(f);
    assert_all_told(f);
    for (size_t c = 0; c < f->journal.chunks.count; c++) {
        const journal_chunk *const chunk = &f->journal.chunks.at[c];
        assert_true(chunk->entries == NULL || chunk->count == 0);
        assert_null(chunk->ticks);
        assert_int_equal(chunk->file_offset % (64 * ETL_KIB), 0);
    }
    assert_int_equal(f->journal.resident_bytes, 0);
    assert_true(f->journal.file_bytes >= SLICES * 64 * ETL_KIB);
}

static void chunks_in_memory_are_the_same(void **state)
{
    journal_check *const f = *state;
    add_slices(f);
    assert_all_told(f);
    assert_int_equal(f->journal.file, -1);
    assert_true(f->journal.resident_bytes > 5 * (SLICE_WORDS - SLICES) * sizeof(journal_entry));
}

static void what_memory_may_hold_stays_there(void **state)
{
    journal_check *const f = *state;
    f->journal.resident_bytes_max = 2 * (SLICE_WORDS + 2) * sizeof(journal_entry);
    add_slices(f);
    assert_all_told(f);
    u32 in_memory = 0;
    for (size_t c = 0; c < f->journal.chunks.count; c++)
        in_memory += f->journal.chunks.at[c].count > 0 && f->journal.chunks.at[c].entries != NULL;
    assert_int_equal(in_memory, 2);
    assert_true(f->journal.resident_bytes <= f->journal.resident_bytes_max);
}

static void without_a_folder_everything_stays_in_memory(void **state)
{
    journal_check *const f = *state;
    f->journal.resident_bytes_max = 0;
    add_slices(f);
    assert_int_equal(f->journal.file, -1);
    assert_all_told(f);
}

static void file_has_no_name(void **state)
{
    journal_check *const f = *state;
    char folder[TEMPORARY_PATH_BYTES];
    assert_true(temporary_subfolder(folder, "etlheap-test-journal"));
    free(f->journal.spill_folder);
    f->journal.spill_folder = strdup(folder);
    add_slices(f);
    assert_true(f->journal.file_bytes > 0);
    assert_int_equal(rmdir(folder), 0);
    assert_all_told(f);
}

static void folder_that_is_not_there_is_an_error(void **state)
{
    journal_check *const f = *state;
    free(f->journal.spill_folder);
    f->journal.spill_folder = strdup("/nonexistent/folder");
    assert_int_equal(add_slice(f, 0), ETL_ERR_IO);
}

static void folder_with_an_endless_name_is_an_error(void **state)
{
    journal_check *const f = *state;
    char *const folder = calloc(1, 5000);
    assert_non_null(folder);
    memset(folder, '/', 4990);
    free(f->journal.spill_folder);
    f->journal.spill_folder = folder;
    assert_int_equal(add_slice(f, 0), ETL_ERR_IO);
}

/* As when the disk is full. */
static void file_that_may_not_grow_is_an_error(void **state)
{
    journal_check *const f = *state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = { 100 * ETL_KIB, before.rlim_max };
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const etl_status first = add_slice(f, 0), second = add_slice(f, 2);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(signal(SIGXFSZ, handler) != SIG_ERR);
    assert_int_equal(first, ETL_OK);
    assert_int_equal(second, ETL_ERR_IO);
}

static void chunk_that_cannot_be_read_is_told(void **state)
{
    journal_check *const f = *state;
    add_slices(f);
    assert_int_equal(journal_close(&f->journal), ETL_OK);
    assert_int_equal(close(f->journal.file), 0);
    assert_null(journal_map(&f->journal, 0));
    assert_non_null(journal_map(&f->journal, 1)); /* has nothing on disk */
    f->journal.file = -1;
}

/* --- chunks that leave --- */

/* What was taken, and when to refuse. */
typedef struct taker {
    journal_check *f;
    u32 chunks, entries, late, refused;
    i64 latest;
} taker;

static etl_status take(void *user, journal_chunk *chunk, const journal_late *late,
                       size_t late_count)
{
    taker *const t = user;
    assert_int_equal(chunk->first_rank, t->entries);
    for (u32 i = 0; i < chunk->count; i++) {
        assert_true(chunk->ticks[i] > t->latest);
        t->latest = chunk->ticks[i];
        assert_int_equal(chunk->entries[i] % 8, JOURNAL_ALLOC);
        assert_int_equal(chunk->wide.partners[i], t->entries + i);
    }
    for (size_t i = 0; i < late_count; i++) {
        assert_int_equal(late[i].entry % 8, JOURNAL_LATE_FREE);
        assert_int_equal(late[i].size, i == 0 ? 0 : JOURNAL_BIG + 2);
        assert_int_equal(late[i].how, ETLHEAP_FREE_HEAP_DESTROY);
    }
    t->entries += chunk->count;
    t->late += (u32)late_count;
    return ++t->chunks == t->refused ? ETL_ERR_IO : ETL_OK;
}

static void wide_chunks_leave_in_order(void **state)
{
    journal_check *const f = *state;
    taker t = { .f = f, .latest = INT64_MIN };
    f->journal.take = take;
    f->journal.take_user = &t;
    add_slices(f);
    assert_int_equal(journal_close(&f->journal), ETL_OK);
    assert_int_equal(t.chunks, SLICES + 1);
    assert_int_equal(t.entries, f->journal.next_rank);
    assert_int_equal(f->journal.resident_bytes, 0);
    for (size_t c = 0; c < f->journal.chunks.count; c++) {
        assert_null(f->journal.chunks.at[c].entries);
        assert_null(f->journal.chunks.at[c].wide.sizes);
    }
}

/* With their chunk, by time; sizes are told in full. */
static void late_ends_leave_with_their_chunk(void **state)
{
    journal_check *const f = *state;
    taker t = { .f = f, .latest = INT64_MIN };
    f->journal.take = take;
    f->journal.take_user = &t;
    note_slice(f, 0);
    const journal_block large = { .alloc_ticks = T0, .size = JOURNAL_BIG + 2, .origin = 40 };
    const journal_block none = { .alloc_ticks = T0, .origin = 41 };
    const journal_moment later = { T0 + 9, JOURNAL_LATE, ETLHEAP_FREE_HEAP_DESTROY, false };
    const journal_moment sooner = { T0 + 8, JOURNAL_LATE, ETLHEAP_FREE_HEAP_DESTROY, false };
    assert_true(journal_note_end(&f->journal.shards[40 % HEAP_SHARDS], &large, later));
    assert_true(journal_note_end(&f->journal.shards[41 % HEAP_SHARDS], &none, sooner));
    journal_check_end(f, T0 + CHECK_SECOND);
    assert_int_equal(t.chunks, 1);
    assert_int_equal(t.late, 2);
}

static void refusal_to_take_ends_the_run(void **state)
{
    journal_check *const f = *state;
    taker t = { .f = f, .latest = INT64_MIN, .refused = 2 };
    f->journal.take = take;
    f->journal.take_user = &t;
    assert_int_equal(add_slice(f, 0), ETL_OK);
    assert_int_equal(add_slice(f, 2), ETL_ERR_IO);
}

int main(void)
{
#define ON_DISK(name) cmocka_unit_test_setup_teardown(name, open_on_disk, journal_check_close)
#define RULE(name)    cmocka_unit_test_setup_teardown(name, journal_check_open, journal_check_close)
    const struct CMUnitTest tests[] = {
        ON_DISK(chunks_come_back_from_disk_as_they_were),
        RULE(chunks_in_memory_are_the_same),
        ON_DISK(what_memory_may_hold_stays_there),
        RULE(without_a_folder_everything_stays_in_memory),
        ON_DISK(file_has_no_name),
        ON_DISK(folder_that_is_not_there_is_an_error),
        ON_DISK(folder_with_an_endless_name_is_an_error),
        ON_DISK(file_that_may_not_grow_is_an_error),
        ON_DISK(chunk_that_cannot_be_read_is_told),
        RULE(wide_chunks_leave_in_order),
        RULE(late_ends_leave_with_their_chunk),
        RULE(refusal_to_take_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
