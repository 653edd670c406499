/*
 * ehs_stacks.c - saves the distinct stacks of a result as a sorted, prefix-compressed list, and
 * loads them. ehs_stacks.h has the columns.
 *
 * In (save): the stack table. Out: stacks sorted from the outermost frame inwards, each as the
 * number of frames it shares with the one before and the rest. In (load): those columns. Out: a
 * stack table with the same ids.
 *
 * Addresses are numbered first, and sorting compares the numbers. Invariant: on loading, `shared`
 * never exceeds the length of the stack before, and no stack is longer than the limit; both are
 * checked before a frame is copied.
 */
#include "ehs_stacks.h"

#include <stdlib.h>

#include "engine/core/address_numbers.h"
#include "engine/core/digit_sort.h"

/*
 * A stack to be saved. Its frames are numbers: the places of their addresses in the file, in
 * ascending order. Numbers have their highest byte first and go from the outermost frame inwards,
 * so that comparing bytes compares stacks.
 */
typedef struct sorted_stack {
    const u32 *frames;
    u32 count;
    u32 id;
} sorted_stack;

typedef struct stack_columns {
    u32 *id, *shared, *own;
} stack_columns;

static u32 *number_frames(const stack_table *stacks, address_numbers *addresses);
static u32 *save_addresses(ehs_saver *saver, const address_numbers *addresses);
static bool save_sorted(ehs_saver *saver, const sorted_stack *sorted, size_t count);
static bool save_u32(ehs_saver *saver, ehs_column column, const u32 *values, size_t count);
static etl_status rebuild(ehs_loader *loader, ehs_frames kind, stack_table *out);

/* A stack comes before the stacks that continue it. */
static int by_outer_frames(const void *a, const void *b)
{
    const sorted_stack *const x = a, *const y = b;
    const u32 common = x->count < y->count ? x->count : y->count;
    const int order = memcmp(x->frames, y->frames, common * sizeof *x->frames);
    if (order != 0)
        return order;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static u32 highest_byte_first(u32 number)
{
    return __builtin_bswap32(number);
}

/* Replaces numbers by places, from the last frame on. */
static void place_frames(u32 *frames, u32 count, const u32 *places)
{
    for (u32 i = 0; i < count / 2; i++) {
        const u32 inner = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = inner;
    }
    for (u32 i = 0; i < count; i++)
        frames[i] = highest_byte_first(places[frames[i]]);
}

bool ehs_stacks_save(ehs_saver *saver, const stack_table *stacks)
{
    const size_t count = stacks->list.count;
    address_numbers addresses = { 0 };
    sorted_stack *const sorted = calloc(count + 1, sizeof *sorted);
    u32 *const frames = number_frames(stacks, &addresses);
    u32 *const places = frames == NULL ? NULL : save_addresses(saver, &addresses);
    bool ok = sorted != NULL && places != NULL;
    u32 *at = frames;
    for (u32 i = 0; ok && i < count; i++) {
        const u32 frame_count = stacks->list.at[i].count;
        place_frames(at, frame_count, places);
        sorted[i] = (sorted_stack){ at, frame_count, i + 1 };
        at += frame_count;
    }
    if (ok) {
        qsort(sorted, count, sizeof *sorted, by_outer_frames);
        ok = save_sorted(saver, sorted, count);
    }
    free(sorted);
    free(frames);
    free(places);
    address_numbers_free(&addresses);
    return ok;
}

/* Numbers all frames, stack by stack. Takes half the memory of the stacks; NULL without memory. */
static u32 *number_frames(const stack_table *stacks, address_numbers *addresses)
{
    size_t total = 0;
    for (size_t i = 0; i < stacks->list.count; i++)
        total += stacks->list.at[i].count;
    u32 *const numbers = malloc((total + 1) * sizeof *numbers);
    u32 *at = numbers;
    bool ok = numbers != NULL;
    for (size_t i = 0; ok && i < stacks->list.count; i++) {
        const stack_entry *const stack = &stacks->list.at[i];
        assert(stack->count <= EHS_STACK_FRAMES_MAX);
        ok = address_numbers_add(addresses, stack->frames, stack->count, at);
        at += stack->count;
    }
    if (ok)
        return numbers;
    free(numbers);
    return NULL;
}

/* The addresses in order, each with its number. *rows is the memory, to be freed; NULL without
 * memory. */
static const digit_row *sort_addresses(const address_numbers *numbers, digit_row **rows)
{
    const size_t count = numbers->count;
    u64 *const addresses = malloc((count + 1) * sizeof *addresses);
    const digit_row *sorted = NULL;
    *rows = malloc((2 * count + 1) * sizeof **rows);
    if (addresses != NULL && *rows != NULL) {
        address_numbers_list(numbers, addresses);
        for (u32 i = 0; i < count; i++)
            (*rows)[i] = (digit_row){ .low = addresses[i], .id = i };
        sorted = digit_sort(*rows, *rows + count, count, NULL, NULL);
    }
    free(addresses);
    return sorted;
}

/* Sorts and saves the distinct addresses, which are few. Returns the place of each number; NULL
 * without memory. */
static u32 *save_addresses(ehs_saver *saver, const address_numbers *addresses)
{
    digit_row *memory = NULL;
    const digit_row *const sorted = sort_addresses(addresses, &memory);
    const size_t count = addresses->count;
    u64 *const part = malloc(EHS_PART_ROWS * sizeof *part);
    u32 *const places = malloc((count + 1) * sizeof *places);
    bool ok = sorted != NULL && part != NULL && places != NULL;
    for (size_t first = 0; ok && first < count; first += EHS_PART_ROWS) {
        const u32 rows = (u32)etl_min_u64(count - first, EHS_PART_ROWS);
        for (u32 i = 0; i < rows; i++) {
            part[i] = sorted[first + i].low;
            places[sorted[first + i].id] = (u32)(first + i);
        }
        ok = ehs_blocks_add(&saver->blocks, &saver->codec, EHS_FRAME_ADDRESS,
                            (u32)(first / EHS_PART_ROWS), part, rows);
    }
    free(part);
    free(memory);
    if (ok)
        return places;
    free(places);
    return NULL;
}

static u32 shared_frames(const sorted_stack *before, const sorted_stack *stack)
{
    u32 shared = 0;
    while (shared < before->count && shared < stack->count &&
           before->frames[shared] == stack->frames[shared])
        shared++;
    return shared;
}

static bool save_sorted(ehs_saver *saver, const sorted_stack *sorted, size_t count)
{
    ETLHEAP_VECTOR(u32) frames = { 0 };
    u32 *const memory = malloc((3 * count + 1) * sizeof *memory);
    bool ok = memory != NULL;
    const stack_columns columns =
        ok ? (stack_columns){ memory, memory + count, memory + 2 * count } : (stack_columns){ 0 };
    for (size_t i = 0; ok && i < count; i++) {
        const sorted_stack *const stack = &sorted[i];
        const u32 shared = i == 0 ? 0 : shared_frames(stack - 1, stack);
        columns.id[i] = stack->id;
        columns.shared[i] = shared;
        columns.own[i] = stack->count - shared;
        ok = ETLHEAP_RESERVE(&frames, stack->count - shared);
        for (u32 k = shared; ok && k < stack->count; k++)
            frames.at[frames.count++] = highest_byte_first(stack->frames[k]);
    }
    ok = ok && save_u32(saver, EHS_STACK_ID, columns.id, count) &&
         save_u32(saver, EHS_STACK_SHARED, columns.shared, count) &&
         save_u32(saver, EHS_STACK_OWN, columns.own, count) &&
         save_u32(saver, EHS_STACK_FRAME, frames.at, frames.count);
    ETLHEAP_VECTOR_FREE(&frames);
    free(memory);
    return ok;
}

static bool save_u32(ehs_saver *saver, ehs_column column, const u32 *values, size_t count)
{
    for (size_t first = 0; first < count; first += EHS_PART_ROWS) {
        const size_t left = count - first;
        if (!ehs_blocks_add(&saver->blocks, &saver->codec, column, (u32)(first / EHS_PART_ROWS),
                            values + first, (u32)(left < EHS_PART_ROWS ? left : EHS_PART_ROWS)))
            return false;
    }
    return true;
}

etl_status ehs_stacks_load(ehs_loader *loader, ehs_frames kind, stack_table *out)
{
    u64 count;
    etl_status status = ETL_OK;
    (void)ehs_reader_parts(loader->reader, EHS_STACK_ID, &count);
    *out = (stack_table){ 0 };
    out->list.at = ehs_loader_alloc(loader, count, sizeof *out->list.at, &status);
    if (out->list.at == NULL)
        return status;
    out->list.capacity = (size_t)count;
    if (count > STACK_NUMBER_MAX)
        return etl_fail_with(loader->err, ETL_ERR_LIMIT, 0, "the store has too many stacks");
    status = rebuild(loader, kind, out);
    out->list.count = status == ETL_OK ? (size_t)count : 0;
    return status;
}

/* A column of all stacks or frames, read whole. */
typedef struct loaded_column {
    u32 *values;
    u64 count;
} loaded_column;

static etl_status load_u32(ehs_loader *loader, ehs_column column, loaded_column *out)
{
    etl_status status = ETL_OK;
    (void)ehs_reader_parts(loader->reader, column, &out->count);
    out->values = ehs_loader_alloc(loader, out->count, sizeof *out->values, &status);
    return out->values == NULL ? status : ehs_column_load(loader, column, out->values, out->count);
}

/* The columns of table stack and frame while stacks are made of them. */
typedef struct stack_input {
    loaded_column id, shared, own, frame;
    u64 *addresses;
    u64 address_count;
} stack_input;

static etl_status load_input(ehs_loader *loader, stack_input *in)
{
    static const ehs_column all[] = { EHS_STACK_ID, EHS_STACK_SHARED, EHS_STACK_OWN,
                                      EHS_STACK_FRAME, EHS_FRAME_ADDRESS };
    etl_status status =
        ehs_reader_whole(loader->reader, all, sizeof *all, ETL_COUNT_OF(all), loader->err);
    if (status == ETL_OK)
        status = load_u32(loader, EHS_STACK_ID, &in->id);
    if (status == ETL_OK)
        status = load_u32(loader, EHS_STACK_SHARED, &in->shared);
    if (status == ETL_OK)
        status = load_u32(loader, EHS_STACK_OWN, &in->own);
    if (status == ETL_OK)
        status = load_u32(loader, EHS_STACK_FRAME, &in->frame);
    if (status != ETL_OK)
        return status;
    (void)ehs_reader_parts(loader->reader, EHS_FRAME_ADDRESS, &in->address_count);
    in->addresses = ehs_loader_alloc(loader, in->address_count, sizeof *in->addresses, &status);
    return in->addresses == NULL
               ? status
               : ehs_column_load(loader, EHS_FRAME_ADDRESS, in->addresses, in->address_count);
}

static etl_status damaged(ehs_loader *loader, u64 row)
{
    return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                         "row %zu of the table of stacks is damaged", (size_t)row);
}

/* Do all frames exist? Bits are added up instead of leaving the loop early, so that it is
 * vectorized. */
static bool frames_exist(const stack_input *in)
{
    const u32 *const values = in->frame.values;
    const u32 count = (u32)in->address_count;
    u32 wrong = 0;
    for (u64 i = 0; i < in->frame.count; i++)
        wrong |= values[i] >= count;
    return wrong == 0;
}

/* Checks what building relies on: ids from 1 to count, once each; no more shared frames than the
 * stack before has; at least one frame; frames that exist. Adds up all frames. */
static etl_status check_input(ehs_loader *loader, const stack_input *in, stack_table *out,
                              u64 *frames)
{
    const u64 count = in->id.count;
    if (in->shared.count != count || in->own.count != count)
        return damaged(loader, 0);
    u64 own = 0;
    u32 before = 0;
    *frames = 0;
    for (u64 i = 0; i < count; i++) {
        const u32 id = in->id.values[i], shared = in->shared.values[i], more = in->own.values[i];
        const bool is_sound = id >= 1 && id <= count && shared <= before &&
                              more <= EHS_STACK_FRAMES_MAX - shared && shared + more > 0 &&
                              out->list.at[id - 1].frames == NULL;
        if (!is_sound)
            return damaged(loader, i);
        before = shared + more;
        own += more;
        *frames += before;
        out->list.at[id - 1] = (stack_entry){ in->addresses, 0, before };
    }
    if (own != in->frame.count)
        return damaged(loader, count);
    if (in->address_count > ADDRESS_NUMBERS_MAX)
        return etl_fail_with(loader->err, ETL_ERR_LIMIT, 0, "the store has too many addresses");
    return frames_exist(in) ? ETL_OK : damaged(loader, count);
}

/* Builds one array with the frames of all stacks, each innermost first, in the order of ids, in
 * which stacks are mostly asked for. */
static void build(const stack_input *in, stack_table *out, u32 *numbers)
{
    const u32 *own = in->frame.values;
    const u32 *before = numbers; /* behind the numbers of the stack before */
    size_t count = 0;
    for (u64 i = 0; i < in->id.count; i++) {
        out->list.at[i].first_number = count;
        count += out->list.at[i].count;
    }
    for (u64 i = 0; i < in->id.count; i++) {
        const u32 id = in->id.values[i];
        const u32 shared = in->shared.values[i], more = in->own.values[i];
        u32 *const to = numbers + out->list.at[id - 1].first_number;
        for (u32 k = 0; k < more; k++)
            to[k] = own[more - 1 - k];
        if (shared > 0)
            memcpy(to + more, before - shared, shared * sizeof *to);
        own += more;
        before = to + more + shared;
    }
    out->numbers = numbers;
    out->numbered_count = count;
    out->number_count = (u32)in->address_count;
}

/* Builds another array with their addresses. */
static etl_status spell(ehs_loader *loader, const stack_input *in, stack_table *out)
{
    const size_t bytes = out->numbered_count * sizeof(u64);
    const etl_status status = ehs_loader_charge(loader, out->numbered_count, sizeof(u64));
    if (status != ETL_OK)
        return status;
    u64 *const frames = etlheap_arena_alloc(&out->arena, bytes + 1);
    if (frames == NULL)
        return etl_no_memory(loader->err);
    machine_expect_use(frames, bytes);
    for (size_t i = 0; i < out->numbered_count; i++)
        frames[i] = in->addresses[out->numbers[i]];
    for (u64 i = 0; i < in->id.count; i++)
        out->list.at[i].frames = frames + out->list.at[i].first_number;
    return ETL_OK;
}

static etl_status leave_unspelled(ehs_loader *loader, stack_table *out)
{
    for (u64 i = 0; i < out->list.capacity; i++)
        out->list.at[i].frames = NULL; /* it marked ids that were there */
    out->spelling = calloc(1, sizeof *out->spelling);
    return out->spelling != NULL ? ETL_OK : etl_no_memory(loader->err);
}

static etl_status rebuild(ehs_loader *loader, ehs_frames kind, stack_table *out)
{
    stack_input in = { 0 };
    u64 frames = 0;
    u32 *numbers = NULL;
    etl_status status = load_input(loader, &in);
    if (status == ETL_OK)
        status = check_input(loader, &in, out, &frames);
    if (status == ETL_OK)
        numbers = ehs_loader_alloc(loader, frames, sizeof *numbers, &status);
    if (status == ETL_OK) {
        machine_expect_use(numbers, (size_t)frames * sizeof *numbers);
        build(&in, out, numbers);
        status =
            kind == EHS_FRAMES_ADDRESSES ? spell(loader, &in, out) : leave_unspelled(loader, out);
    }
    free(in.id.values);
    free(in.shared.values);
    free(in.own.values);
    free(in.frame.values);
    out->addresses = in.addresses;
    return status;
}
