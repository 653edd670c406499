/*
 * Goal: chunks that memory may not hold go to a file without a name and are read
 * back as they were; what cannot be written or read is an error. The chunks of a
 * wide event list leave to whoever takes them, one after the other.
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

#include "tests/support/event_list_check.h"
#include "tests/support/temporary.h"

#define T0          CHECK_START
#define SLICES      6u
#define SLICE_WORDS 9000u /* more than the alignment of a chunk in the file */

static int open_on_disk(void **state)
{
    if (event_list_check_open(state) != 0)
        return 1;
    event_list_check *const f = *state;
    f->event_list.spill_folder = strdup(temporary_folder());
    f->event_list.resident_bytes_max = 0;
    return f->event_list.spill_folder == NULL;
}

/* Allocates in each event of the slice, the first of a size that does not fit; the
 * second slice is empty. */
static void note_slice(event_list_check *f, u32 number)
{
    static i64 ticks[SLICE_WORDS];
    const u32 count = number == 1 ? 0 : SLICE_WORDS - number;
    for (u32 i = 0; i < count; i++)
        ticks[i] = T0 + number * CHECK_SECOND + i;
    event_list_check_begin(f, ticks, count);
    for (u32 i = 0; i < count; i++) {
        const u64 size = i == 0 ? ENTRY_BIG + number : i;
        event_list_check_alloc(f, (noted_event){ ticks[i], i }, 1 + number * SLICE_WORDS + i, size);
    }
}

/* A second is longer than chunks are held open. */
static etl_status add_slice(event_list_check *f, u32 number)
{
    note_slice(f, number);
    return event_list_end_slice(&f->event_list, T0 + (number + 1) * CHECK_SECOND);
}

static void add_slices(event_list_check *f)
{
    for (u32 i = 0; i < SLICES; i++)
        assert_int_equal(add_slice(f, i), ETL_OK);
}

static void assert_all_told(event_list_check *f)
{
    const told *row = event_list_check_read(f);
    u32 time = 0;
    for (u32 number = 0; number < SLICES; number++) {
        const u32 count = number == 1 ? 0 : SLICE_WORDS - number;
        for (u32 i = 0; i < count; i++) {
            const u32 origin = 1 + number * SLICE_WORDS + i;
            time++;
            if (i == 0)
                event_list_check_told(row++, time, ENTRY_NONE, 0, 0);
            event_list_check_told(row++, time, ENTRY_ALLOC, origin,
                                  i == 0 ? ENTRY_BIG + number : i);
        }
    }
    assert_ptr_equal(row, f->told.at + f->told.count);
}

/* --- disk --- */

static void chunks_come_back_from_disk_as_they_were(void **state)
{
    event_list_check *const f = *state;
    add_slices(f);
    assert_all_told(f);
    for (size_t c = 0; c < f->event_list.chunks.count; c++) {
        const event_chunk *const chunk = &f->event_list.chunks.at[c];
        assert_true(chunk->entries == NULL || chunk->count == 0);
        assert_null(chunk->ticks);
        assert_int_equal(chunk->file_offset % (64 * ETL_KIB), 0);
    }
    assert_int_equal(f->event_list.resident_bytes, 0);
    assert_true(f->event_list.file_bytes >= SLICES * 64 * ETL_KIB);
}

static void chunks_in_memory_are_the_same(void **state)
{
    event_list_check *const f = *state;
    add_slices(f);
    assert_all_told(f);
    assert_int_equal(f->event_list.file, -1);
    assert_true(f->event_list.resident_bytes > 5 * (SLICE_WORDS - SLICES) * sizeof(event_entry));
}

static void what_memory_may_hold_stays_there(void **state)
{
    event_list_check *const f = *state;
    f->event_list.resident_bytes_max = 2 * (SLICE_WORDS + 2) * sizeof(event_entry);
    add_slices(f);
    assert_all_told(f);
    u32 in_memory = 0;
    for (size_t c = 0; c < f->event_list.chunks.count; c++)
        in_memory +=
            f->event_list.chunks.at[c].count > 0 && f->event_list.chunks.at[c].entries != NULL;
    assert_int_equal(in_memory, 2);
    assert_true(f->event_list.resident_bytes <= f->event_list.resident_bytes_max);
}

static void without_a_folder_everything_stays_in_memory(void **state)
{
    event_list_check *const f = *state;
    f->event_list.resident_bytes_max = 0;
    add_slices(f);
    assert_int_equal(f->event_list.file, -1);
    assert_all_told(f);
}

static void file_has_no_name(void **state)
{
    event_list_check *const f = *state;
    char folder[TEMPORARY_PATH_BYTES];
    assert_true(temporary_subfolder(folder, "etlheap-test-event list"));
    free(f->event_list.spill_folder);
    f->event_list.spill_folder = strdup(folder);
    add_slices(f);
    assert_true(f->event_list.file_bytes > 0);
    assert_int_equal(rmdir(folder), 0);
    assert_all_told(f);
}

static void folder_that_is_not_there_is_an_error(void **state)
{
    event_list_check *const f = *state;
    free(f->event_list.spill_folder);
    f->event_list.spill_folder = strdup("/nonexistent/folder");
    assert_int_equal(add_slice(f, 0), ETL_ERR_IO);
}

static void folder_with_an_endless_name_is_an_error(void **state)
{
    event_list_check *const f = *state;
    char *const folder = calloc(1, 5000);
    assert_non_null(folder);
    memset(folder, '/', 4990);
    free(f->event_list.spill_folder);
    f->event_list.spill_folder = folder;
    assert_int_equal(add_slice(f, 0), ETL_ERR_IO);
}

/* As when the disk is full. */
static void file_that_may_not_grow_is_an_error(void **state)
{
    event_list_check *const f = *state;
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
    event_list_check *const f = *state;
    add_slices(f);
    assert_int_equal(event_list_close(&f->event_list), ETL_OK);
    assert_int_equal(close(f->event_list.file), 0);
    assert_null(event_list_map(&f->event_list, 0));
    assert_non_null(event_list_map(&f->event_list, 1)); /* has nothing on disk */
    f->event_list.file = -1;
}

/* --- chunks that leave --- */

/* What was taken, and when to refuse. */
typedef struct taker {
    event_list_check *f;
    u32 chunks, entries, late, refused;
    i64 latest;
} taker;

static etl_status take(void *user, event_chunk *chunk, const late_entry *late, size_t late_count)
{
    taker *const t = user;
    assert_int_equal(chunk->first_rank, t->entries);
    for (u32 i = 0; i < chunk->count; i++) {
        assert_true(chunk->ticks[i] > t->latest);
        t->latest = chunk->ticks[i];
        assert_int_equal(chunk->entries[i] % 8, ENTRY_ALLOC);
        assert_int_equal(chunk->wide.partners[i], t->entries + i);
    }
    for (size_t i = 0; i < late_count; i++) {
        assert_int_equal(late[i].entry % 8, ENTRY_LATE_FREE);
        assert_int_equal(late[i].size, i == 0 ? 0 : ENTRY_BIG + 2);
        assert_int_equal(late[i].how, ETLHEAP_FREE_HEAP_DESTROY);
    }
    t->entries += chunk->count;
    t->late += (u32)late_count;
    return ++t->chunks == t->refused ? ETL_ERR_IO : ETL_OK;
}

static void wide_chunks_leave_in_order(void **state)
{
    event_list_check *const f = *state;
    taker t = { .f = f, .latest = INT64_MIN };
    f->event_list.take = take;
    f->event_list.take_user = &t;
    add_slices(f);
    assert_int_equal(event_list_close(&f->event_list), ETL_OK);
    assert_int_equal(t.chunks, SLICES + 1);
    assert_int_equal(t.entries, f->event_list.next_rank);
    assert_int_equal(f->event_list.resident_bytes, 0);
    for (size_t c = 0; c < f->event_list.chunks.count; c++) {
        assert_null(f->event_list.chunks.at[c].entries);
        assert_null(f->event_list.chunks.at[c].wide.sizes);
    }
}

/* With their chunk, by time; sizes are told in full. */
static void late_ends_leave_with_their_chunk(void **state)
{
    event_list_check *const f = *state;
    taker t = { .f = f, .latest = INT64_MIN };
    f->event_list.take = take;
    f->event_list.take_user = &t;
    note_slice(f, 0);
    const entry_block large = { .alloc_ticks = T0, .size = ENTRY_BIG + 2, .origin = 40 };
    const entry_block none = { .alloc_ticks = T0, .origin = 41 };
    const entry_place later = { T0 + 9, ENTRY_LATE, ETLHEAP_FREE_HEAP_DESTROY, false };
    const entry_place sooner = { T0 + 8, ENTRY_LATE, ETLHEAP_FREE_HEAP_DESTROY, false };
    assert_true(shard_events_note_end(&f->event_list.shards[40 % HEAP_SHARDS], &large, later));
    assert_true(shard_events_note_end(&f->event_list.shards[41 % HEAP_SHARDS], &none, sooner));
    event_list_check_end(f, T0 + CHECK_SECOND);
    assert_int_equal(t.chunks, 1);
    assert_int_equal(t.late, 2);
}

static void refusal_to_take_ends_the_run(void **state)
{
    event_list_check *const f = *state;
    taker t = { .f = f, .latest = INT64_MIN, .refused = 2 };
    f->event_list.take = take;
    f->event_list.take_user = &t;
    assert_int_equal(add_slice(f, 0), ETL_OK);
    assert_int_equal(add_slice(f, 2), ETL_ERR_IO);
}

int main(void)
{
#define ON_DISK(name) cmocka_unit_test_setup_teardown(name, open_on_disk, event_list_check_close)
#define RULE(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, event_list_check_open, event_list_check_close)
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
