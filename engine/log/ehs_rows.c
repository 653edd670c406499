/*
 * ehs_rows.c - saves and loads lifetimes as rows (ranges, extents, custom blocks), and the origins
 * of heap blocks.
 *
 * In (save): rows with the run's numbers of processes and stacks, while the trace is still read.
 * Out: parts of columns. At the end, two small tables translate those numbers. In (load): parts
 * and tables. Out: rows with final numbers.
 *
 * Invariant: a row leaves this file only with numbers that are within their tables and with an
 * end that is not before its start. Everything later relies on that.
 */
#include "ehs_rows.h"

#include "ehs_segment.h"

#include <stdlib.h>

/* The columns of a part of rows while it is read. */
typedef struct row_columns {
    i64 *alloc_ticks, *free_ticks;
    u64 *address, *size, *heap;
    u32 *process, *stack, *thread, *free_stack, *free_thread;
    u8 *kind, *free_type, *is_realloc;
    void *memory;
    lifetime *rows;
} row_columns;

static etl_status load_remap(ehs_loader *loader, ehs_remap *out);
static etl_status load_part(ehs_loader *loader, u32 part, u32 kinds, const row_columns *columns,
                            u32 *count);
static etl_status finish_part(const ehs_loader *loader, u32 part, const ehs_remap *remap,
                              const ehs_bounds *bounds, lifetime *rows, u32 count);

/* A column of the rows: where values to write are, and where values read go. */
typedef struct life_column {
    ehs_column column;
    size_t written, read; /* offsets of pointers in etlheap_segment and in row_columns */
} life_column;

#define LIFE(column, member, read)                                                                 \
    {                                                                                              \
        EHS_LIFE_##column, offsetof(etlheap_segment, member), offsetof(row_columns, read)          \
    }

static const life_column life_columns[] = {
    LIFE(ALLOC_TICKS, alloc_ticks, alloc_ticks),
    LIFE(FREE_TICKS, free_ticks, free_ticks),
    LIFE(ADDRESS, address, address),
    LIFE(SIZE, size_bytes, size),
    LIFE(HEAP, heap_handle, heap),
    LIFE(PROCESS, process, process),
    LIFE(STACK, stack, stack),
    LIFE(THREAD, thread, thread),
    LIFE(KIND, kind, kind),
    LIFE(FREE_TYPE, free_type, free_type),
    LIFE(IS_REALLOC, is_realloc, is_realloc),
};

/* Columns that files lack if nobody asked who freed. */
static const life_column free_columns[] = {
    LIFE(FREE_STACK, free_stack, free_stack),
    LIFE(FREE_THREAD, free_thread, free_thread),
};

u8 ehs_number_of_kind(u32 kind)
{
    return kind < ETLHEAP_KIND_COUNT ? etlheap_kind_at((etlheap_kind)kind)->lane : UINT8_MAX;
}

u32 ehs_kind_of_number(u32 number)
{
    u32 kind = 0;
    while (kind < ETLHEAP_KIND_COUNT && etlheap_kind_at((etlheap_kind)kind)->lane != number)
        kind++;
    return kind;
}

static bool add_column(ehs_blocks *out, ehs_codec *codec, u32 part, const etlheap_segment *rows,
                       const life_column *column)
{
    const void *values;
    memcpy(&values, (const u8 *)rows + column->written, sizeof values);
    return ehs_blocks_add(out, codec, column->column, part, values, rows->rows);
}

/* Adds the columns of rows; `numbers` replace the kinds. */
static bool add_columns(ehs_blocks *out, ehs_codec *codec, u32 part, const etlheap_segment *rows,
                        const u8 *numbers)
{
    etlheap_segment own = *rows;
    bool ok = true;
    own.kind = numbers;
    for (size_t i = 0; ok && i < ETL_COUNT_OF(life_columns); i++)
        ok = add_column(out, codec, part, &own, &life_columns[i]);
    for (size_t i = 0; ok && rows->free_stack != NULL && i < ETL_COUNT_OF(free_columns); i++)
        ok = add_column(out, codec, part, &own, &free_columns[i]);
    return ok;
}

static u8 number_of_row(u8 kind)
{
    const u8 unmatched = kind & EHS_LIFE_UNMATCHED;
    return (u8)(ehs_number_of_kind(kind ^ unmatched) | unmatched);
}

bool ehs_rows_encode(ehs_blocks *out, ehs_codec *codec, u32 part, const etlheap_segment *rows)
{
    assert(rows->rows <= EHS_PART_ROWS);
    u8 *const numbers = malloc(rows->rows + (size_t)1);
    for (u32 i = 0; numbers != NULL && i < rows->rows; i++)
        numbers[i] = number_of_row(rows->kind[i]);
    const bool is_added = numbers != NULL && add_columns(out, codec, part, rows, numbers);
    free(numbers);
    return is_added;
}

static const ehs_field ref_fields[] = {
    { EHS_REF_NUMBER, offsetof(ehs_ref, number), EHS_MEMBER_U32 },
    { EHS_REF_STACK, offsetof(ehs_ref, stack), EHS_MEMBER_U32 },
    { EHS_REF_THREAD, offsetof(ehs_ref, thread), EHS_MEMBER_U32 },
};
static const ehs_field instance_fields[] = { { EHS_INSTANCE_PROCESS, 0, EHS_MEMBER_U32 } };
static const ehs_table ref_table = { ref_fields, ETL_COUNT_OF(ref_fields), sizeof(ehs_ref) };
static const ehs_table instance_table = { instance_fields, ETL_COUNT_OF(instance_fields),
                                          sizeof(u32) };

bool ehs_remap_save(ehs_saver *saver, const ehs_remap *remap)
{
    return ehs_table_save(saver, &ref_table, remap->refs.at, remap->refs.count) &&
           ehs_table_save(saver, &instance_table, remap->processes.at, remap->processes.count);
}

void ehs_remap_free(ehs_remap *remap)
{
    ETLHEAP_VECTOR_FREE(&remap->refs);
    ETLHEAP_VECTOR_FREE(&remap->processes);
}

static etl_status load_remap(ehs_loader *loader, ehs_remap *out)
{
    etl_status status = ehs_table_load(loader, &ref_table, &out->refs.at, &out->refs.count);
    if (status == ETL_OK)
        status = ehs_table_load(loader, &instance_table, &out->processes.at, &out->processes.count);
    for (size_t i = 1; status == ETL_OK && i < out->refs.count; i++) {
        if (out->refs.at[i].number <= out->refs.at[i - 1].number)
            status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                   "row %zu of the table of stack references is out of order", i);
    }
    return status;
}

static bool open_columns(row_columns *columns)
{
    const size_t rows = EHS_PART_ROWS;
    *columns = (row_columns){ .memory = malloc(rows * (5 * sizeof(u64) + 5 * sizeof(u32) + 3)),
                              .rows = malloc(rows * sizeof(lifetime)) };
    if (columns->memory == NULL || columns->rows == NULL)
        return false;
    u64 *const wide = columns->memory;
    columns->alloc_ticks = (i64 *)wide;
    columns->free_ticks = (i64 *)wide + rows;
    columns->address = wide + 2 * rows;
    columns->size = wide + 3 * rows;
    columns->heap = wide + 4 * rows;
    columns->process = (u32 *)(wide + 5 * rows);
    columns->stack = columns->process + rows;
    columns->thread = columns->process + 2 * rows;
    columns->free_stack = columns->process + 3 * rows;
    columns->free_thread = columns->process + 4 * rows;
    columns->kind = (u8 *)(columns->process + 5 * rows);
    columns->free_type = columns->kind + rows;
    columns->is_realloc = columns->kind + 2 * rows;
    return true;
}

/* Finds out whether the file says who freed; if not, these columns read as "not recorded". */
static etl_status look_for_frees(const ehs_loader *loader, const row_columns *columns, u32 *lacks)
{
    const size_t rows = EHS_PART_ROWS;
    const bool has_frees = ehs_reader_has(loader->reader, EHS_LIFE_FREE_STACK);
    if (!has_frees && ehs_reader_has(loader->reader, EHS_LIFE_ALLOC_TICKS)) {
        *lacks |= EHS_WANT_FREER;
        memset(columns->free_stack, 0, rows * sizeof *columns->free_stack);
        memset(columns->free_thread, 0xFF, rows * sizeof *columns->free_thread);
    }
    return has_frees ? ehs_reader_whole(loader->reader, &free_columns->column, sizeof *free_columns,
                                        ETL_COUNT_OF(free_columns), loader->err)
                     : ETL_OK;
}

/* Appends the rows of a part: lifetimes, and frees without a recorded allocation. */
static bool append_rows(const ehs_rows_out *out, lifetime *rows, u32 count)
{
    bool ok = true;
    u32 kept = 0;
    for (u32 i = 0; ok && i < count; i++) {
        const bool is_unmatched = (rows[i].kind & EHS_LIFE_UNMATCHED) != 0;
        rows[i].kind &= (u8)~EHS_LIFE_UNMATCHED;
        if (is_unmatched)
            ok = store_append(out->unmatched, &rows[i], 1);
        else
            rows[kept++] = rows[i];
    }
    return ok && store_append(out->store, rows, kept);
}

etl_status ehs_rows_load(ehs_loader *loader, const ehs_bounds *bounds, const ehs_rows_out *out)
{
    ehs_remap remap = { 0 };
    row_columns columns;
    u64 total;
    const u32 parts = ehs_reader_parts(loader->reader, EHS_LIFE_ALLOC_TICKS, &total);
    etl_status status = load_remap(loader, &remap);
    if (status == ETL_OK)
        status = ehs_reader_whole(loader->reader, &life_columns->column, sizeof *life_columns,
                                  ETL_COUNT_OF(life_columns), loader->err);
    if (status == ETL_OK)
        status = ehs_loader_charge(loader, total, sizeof(lifetime));
    if (!open_columns(&columns) && status == ETL_OK)
        status = etl_no_memory(loader->err);
    if (status == ETL_OK)
        status = look_for_frees(loader, &columns, out->lacks);
    for (u32 part = 0; status == ETL_OK && part < parts; part++) {
        u32 count = 0;
        status = load_part(loader, part, out->kinds, &columns, &count);
        if (status == ETL_OK)
            status = finish_part(loader, part, &remap, bounds, columns.rows, count);
        if (status == ETL_OK && !append_rows(out, columns.rows, count))
            status = etl_no_memory(loader->err);
    }
    free(columns.memory);
    free(columns.rows);
    ehs_remap_free(&remap);
    return status;
}

static etl_status load_column(ehs_loader *loader, ehs_column column, u32 part, u32 count,
                              void *values)
{
    const ehs_row *const row = ehs_reader_find(loader->reader, column, part);
    if (row == NULL)
        return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0, "block %u of %s is missing", part,
                             ehs_column_find(column)->name);
    if (row->values != count)
        return ehs_reader_blame(row, loader->err,
                                "has a different number of values than its table");
    return ehs_reader_get(loader->reader, &loader->codec, row, values, EHS_PART_ROWS, loader->err);
}

/* Loads a part. Rows of unwanted kinds, or of kinds that this version does not know, are
 * skipped. */
static etl_status load_part(ehs_loader *loader, u32 part, u32 kinds, const row_columns *columns,
                            u32 *count)
{
    const u32 rows = ehs_reader_find(loader->reader, EHS_LIFE_ALLOC_TICKS, part)->values;
    for (size_t i = 0; i < ETL_COUNT_OF(life_columns); i++) {
        void *values;
        memcpy(&values, (const u8 *)columns + life_columns[i].read, sizeof values);
        const etl_status status = load_column(loader, life_columns[i].column, part, rows, values);
        if (status != ETL_OK)
            return status;
    }
    const bool has_frees = ehs_reader_has(loader->reader, EHS_LIFE_FREE_STACK);
    for (size_t i = 0; has_frees && i < ETL_COUNT_OF(free_columns); i++) {
        void *values;
        memcpy(&values, (const u8 *)columns + free_columns[i].read, sizeof values);
        const etl_status status = load_column(loader, free_columns[i].column, part, rows, values);
        if (status != ETL_OK)
            return status;
    }
    *count = 0;
    for (u32 i = 0; i < rows; i++) {
        const u8 unmatched = columns->kind[i] & EHS_LIFE_UNMATCHED;
        const u32 kind = ehs_kind_of_number(columns->kind[i] ^ unmatched);
        if (kind >= ETLHEAP_KIND_COUNT || (kinds >> kind & 1) == 0)
            continue;
        columns->rows[(*count)++] = (lifetime){ .alloc_ticks = columns->alloc_ticks[i],
                                                .free_ticks = columns->free_ticks[i],
                                                .address = columns->address[i],
                                                .size = columns->size[i],
                                                .heap = columns->heap[i],
                                                .process = columns->process[i],
                                                .stack = columns->stack[i],
                                                .thread = columns->thread[i],
                                                .free_stack = columns->free_stack[i],
                                                .free_thread = columns->free_thread[i],
                                                .kind = (u8)(kind | unmatched),
                                                .free_type = columns->free_type[i],
                                                .is_realloc = columns->is_realloc[i] };
    }
    return ETL_OK;
}

static int by_number(const void *key, const void *element)
{
    const u32 *const number = key;
    const ehs_ref *const ref = element;
    return (*number > ref->number) - (*number < ref->number);
}

/* Puts the final stack in place of a provisional one, and the thread that came with it. */
static void finish_stack(const ehs_remap *remap, u32 *stack, u32 *thread)
{
    const ehs_ref *const ref =
        remap->refs.count == 0
            ? NULL
            : bsearch(stack, remap->refs.at, remap->refs.count, sizeof *remap->refs.at, by_number);
    if (ref == NULL)
        return;
    *stack = ref->stack;
    *thread = *thread == ETL_NO_ID ? ref->thread : *thread;
}

/* Puts final numbers into a row; false if a number is out of its table. */
static bool finish_row(const ehs_remap *remap, const ehs_bounds *bounds, lifetime *row)
{
    finish_stack(remap, &row->stack, &row->thread);
    finish_stack(remap, &row->free_stack, &row->free_thread);
    if (row->process != 0 && row->process <= remap->processes.count)
        row->process = remap->processes.at[row->process - 1];
    if (bounds->foreign != NULL && (row->kind & EHS_LIFE_UNMATCHED) == 0)
        row->process = foreign_asker(bounds->foreign, row->kind, row->stack, row->process);
    return row->process != 0 && row->process <= bounds->process_count &&
           row->stack <= bounds->stack_count && row->free_stack <= bounds->stack_count &&
           row->free_type < ETLHEAP_FREE_TYPE_COUNT;
}

/* Finishes a part. A lifetime must not end before it begins: windows and peaks subtract it at its
 * end, so totals would become negative in between. */
static etl_status finish_part(const ehs_loader *loader, u32 part, const ehs_remap *remap,
                              const ehs_bounds *bounds, lifetime *rows, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (!finish_row(remap, bounds, &rows[i]))
            return ehs_reader_blame(ehs_reader_find(loader->reader, EHS_LIFE_ALLOC_TICKS, part),
                                    loader->err,
                                    "begins lifetimes of a process or stack that does not exist");
        if (rows[i].free_ticks < rows[i].alloc_ticks)
            return ehs_reader_blame(ehs_reader_find(loader->reader, EHS_LIFE_FREE_TICKS, part),
                                    loader->err, "ends a lifetime before it begins");
    }
    return ETL_OK;
}

static const ehs_field origin_fields[] = {
    { EHS_ORIGIN_STACK, offsetof(ehs_origin, stack), EHS_MEMBER_U32 },
    { EHS_ORIGIN_OWNER, offsetof(ehs_origin, owner), EHS_MEMBER_U32 },
    { EHS_ORIGIN_THREAD, offsetof(ehs_origin, thread), EHS_MEMBER_U32 },
};
#define SUM_FIELDS(end, column)                                                                    \
    { EHS_ORIGIN_##column##_COUNT, offsetof(ehs_origin_sums, of[end].count), EHS_MEMBER_U64 },     \
        { EHS_ORIGIN_##column##_SIZE, offsetof(ehs_origin_sums, of[end].size), EHS_MEMBER_U64 },   \
    {                                                                                              \
        EHS_ORIGIN_##column##_REALLOCS, offsetof(ehs_origin_sums, of[end].realloc_count),          \
            EHS_MEMBER_U64                                                                         \
    }

static const ehs_field sum_fields[] = { SUM_FIELDS(TALLY_FREED, FREED),
                                        SUM_FIELDS(TALLY_EXITED, EXITED),
                                        SUM_FIELDS(TALLY_IN_USE, IN_USE) };
static const ehs_field owner_fields[] = {
    { EHS_OWNER_FIRST_TICKS, offsetof(ehs_owner, first_ticks), EHS_MEMBER_U64 },
    { EHS_OWNER_HEAP, offsetof(ehs_owner, heap), EHS_MEMBER_U32 },
    { EHS_OWNER_EPOCH, offsetof(ehs_owner, epoch), EHS_MEMBER_U32 },
};
static const ehs_field heap_fields[] = {
    { EHS_HEAP_HANDLE_VALUE, offsetof(ehs_heap, value), EHS_MEMBER_U64 },
    { EHS_HEAP_HANDLE_PROCESS, offsetof(ehs_heap, process), EHS_MEMBER_U32 },
};
static const ehs_field freer_fields[] = {
    { EHS_FREER_STACK, offsetof(ehs_freer, stack), EHS_MEMBER_U32 },
    { EHS_FREER_OWNER, offsetof(ehs_freer, owner), EHS_MEMBER_U32 },
};
static const ehs_table freer_table = { freer_fields, ETL_COUNT_OF(freer_fields),
                                       sizeof(ehs_freer) };
static const ehs_table origin_table_columns = { origin_fields, ETL_COUNT_OF(origin_fields),
                                                sizeof(ehs_origin) };
static const ehs_table sum_table = { sum_fields, ETL_COUNT_OF(sum_fields),
                                     sizeof(ehs_origin_sums) };
static const ehs_table owner_table = { owner_fields, ETL_COUNT_OF(owner_fields),
                                       sizeof(ehs_owner) };
static const ehs_table heap_table = { heap_fields, ETL_COUNT_OF(heap_fields), sizeof(ehs_heap) };

bool ehs_origins_save(ehs_saver *saver, const ehs_origins *origins)
{
    return ehs_table_save(saver, &origin_table_columns, origins->origins.at,
                          origins->origins.count) &&
           ehs_table_save(saver, &sum_table, origins->sums.at, origins->sums.count) &&
           ehs_table_save(saver, &owner_table, origins->owners.at, origins->owners.count) &&
           ehs_table_save(saver, &heap_table, origins->heaps.at, origins->heaps.count) &&
           ehs_table_save(saver, &freer_table, origins->freers.at, origins->freers.count);
}

void ehs_origins_free(ehs_origins *origins)
{
    ETLHEAP_VECTOR_FREE(&origins->origins);
    ETLHEAP_VECTOR_FREE(&origins->sums);
    ETLHEAP_VECTOR_FREE(&origins->owners);
    ETLHEAP_VECTOR_FREE(&origins->heaps);
    ETLHEAP_VECTOR_FREE(&origins->freers);
}

/* Are all sums of origins non-negative? */
static bool are_sums(const ehs_origins *origins)
{
    bool ok = origins->sums.count == 0 || origins->sums.count == origins->origins.count;
    for (size_t i = 0; i < origins->sums.count; i++) {
        for (u32 end = 0; end <= TALLY_IN_USE; end++) {
            const type_sums *const sums = &origins->sums.at[i].of[end];
            ok &= sums->count >= 0 && sums->size >= 0 && sums->realloc_count >= 0;
        }
    }
    return ok;
}

static bool are_within(const ehs_origins *origins, const ehs_bounds *bounds)
{
    bool ok = true;
    for (size_t i = 0; i < origins->origins.count; i++) {
        const ehs_origin *const origin = &origins->origins.at[i];
        ok &= origin->stack <= bounds->stack_count && origin->owner != 0 &&
              origin->owner <= origins->owners.count;
    }
    for (size_t i = 0; i < origins->freers.count; i++) {
        const ehs_freer *const freer = &origins->freers.at[i];
        ok &= freer->stack <= bounds->stack_count && freer->owner != 0 &&
              freer->owner <= origins->owners.count;
    }
    for (size_t i = 0; i < origins->owners.count; i++) {
        const u32 heap = origins->owners.at[i].heap;
        ok &= heap != 0 && heap <= origins->heaps.count;
    }
    for (size_t i = 0; i < origins->heaps.count; i++) {
        const u32 process = origins->heaps.at[i].process;
        ok &= process != 0 && process <= bounds->process_count;
    }
    return ok;
}

etl_status ehs_origins_load(ehs_loader *loader, const ehs_bounds *bounds, ehs_origins *out)
{
    *out = (ehs_origins){ 0 };
    etl_status status =
        ehs_table_load(loader, &origin_table_columns, &out->origins.at, &out->origins.count);
    if (status == ETL_OK)
        status = ehs_table_load(loader, &sum_table, &out->sums.at, &out->sums.count);
    if (status == ETL_OK && !are_sums(out))
        status =
            etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0, "the sums of the origins are damaged");
    if (status == ETL_OK)
        status = ehs_table_load(loader, &owner_table, &out->owners.at, &out->owners.count);
    if (status == ETL_OK)
        status = ehs_table_load(loader, &heap_table, &out->heaps.at, &out->heaps.count);
    if (status == ETL_OK)
        status = ehs_table_load(loader, &freer_table, &out->freers.at, &out->freers.count);
    if (status == ETL_OK && !are_within(out, bounds))
        status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                               "the table of origins is damaged: it names an owner, heap, process "
                               "or stack that does not exist");
    return status;
}
