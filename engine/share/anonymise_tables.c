/*
 * anonymise_tables.c - rewrites the tables of a store whose columns depend on each other.
 *
 * In: columns of a table. Out: the same columns with words instead of names, and rows in the order
 * that readers rely on.
 *
 *     module     the GUID of a build depends on its age, the word of its name on what the result
 *                calls it: "bcrypt\binding.node" and "sharp\binding.node" are two modules
 *     method     whether a function is an allocator depends on its file
 *     provider,  rows are in order of their GUIDs
 *     event
 *
 * Invariant: builds stay apart. A module keeps whether it has a GUID and a time stamp, and which
 * modules have the same ones, but not what they are.
 */
#include "anonymise_inside.h"

#include <stdlib.h>

#define COLUMNS_MAX 10u

/* Columns of a table, each with all values in 64 bits. */
typedef struct share_table {
    const u32 *columns;
    u32 column_count;
    u64 count; /* rows */
    u64 *values[COLUMNS_MAX];
} share_table;

static void close_table(share_table *table)
{
    for (u32 i = 0; i < table->column_count; i++)
        free(table->values[i]);
}

static u64 value_at(const void *values, u32 width, u64 at)
{
    const u8 *const from = (const u8 *)values + at * width;
    return width == 1 ? *from : width == 4 ? etl_load_u32(from) : etl_load_u64(from);
}

static void set_value(void *values, u32 width, u64 at, u64 value)
{
    u8 *const to = (u8 *)values + at * width;
    const u32 half = (u32)value;
    const u8 byte = (u8)value;
    memcpy(to, width == 1 ? (const void *)&byte : width == 4 ? (const void *)&half : &value, width);
}

/* Loads a column as 64-bit numbers. All columns of a table must have as many rows. */
static etl_status load_column(anonymiser *a, ehs_column column, u64 count, u64 **out)
{
    const u32 width = ehs_column_find(column)->format.value_bytes;
    u64 rows;
    etl_status status = ETL_OK;
    const u32 parts = ehs_reader_parts(a->reader, column, &rows);
    if (rows != count)
        return parts == 0 ? ehs_reader_miss(column, a->err)
                          : ehs_reader_blame(ehs_reader_find(a->reader, column, 0), a->err,
                                             "has a different number of rows than its table");
    void *const values = ehs_loader_alloc(&a->loader, count, width, &status);
    *out = values == NULL ? NULL : ehs_loader_alloc(&a->loader, count, sizeof **out, &status);
    if (*out != NULL)
        status = ehs_column_load(&a->loader, column, values, count);
    for (u64 i = 0; *out != NULL && status == ETL_OK && i < count; i++)
        (*out)[i] = value_at(values, width, i);
    free(values);
    return status;
}

static etl_status open_table(anonymiser *a, const u32 *columns, u32 count, share_table *out)
{
    etl_status status = ETL_OK;
    assert(count <= COLUMNS_MAX);
    *out = (share_table){ .columns = columns, .column_count = count };
    (void)ehs_reader_parts(a->reader, columns[0], &out->count);
    for (u32 i = 0; i < count && status == ETL_OK; i++)
        status = load_column(a, columns[i], out->count, &out->values[i]);
    return status;
}

/* Writes all columns, with the rows in an order; NULL: as they are. */
static etl_status save_table(anonymiser *a, const share_table *table, const u32 *order)
{
    bool ok = true;
    for (u32 c = 0; c < table->column_count; c++) {
        const ehs_column column = table->columns[c];
        const u32 width = ehs_column_find(column)->format.value_bytes;
        for (u64 first = 0; ok && first < table->count; first += EHS_PART_ROWS) {
            const u32 rows = (u32)etl_min_u64(table->count - first, EHS_PART_ROWS);
            for (u32 i = 0; i < rows; i++) {
                const u64 row = order == NULL ? first + i : order[first + i];
                set_value(a->loader.scratch, width, i, table->values[c][row]);
            }
            ok = ehs_blocks_add(&a->saver.blocks, &a->saver.codec, column,
                                (u32)(first / EHS_PART_ROWS), a->loader.scratch, rows);
        }
    }
    return ok ? anonymise_put(a) : etl_no_memory(a->err);
}

/* --- modules ---------------------------------------------------------------------- */

enum {
    MODULE_AT_NAME,
    MODULE_AT_STAMP,
    MODULE_AT_RSDS,
    MODULE_AT_LOW,
    MODULE_AT_HIGH,
    MODULE_AT_AGE
};

static const u32 module_columns[] = { EHS_MODULE_NAME,      EHS_MODULE_STAMP,
                                      EHS_MODULE_HAS_RSDS,  EHS_MODULE_GUID_LOW,
                                      EHS_MODULE_GUID_HIGH, EHS_MODULE_AGE };

static void replace_guid(const anonymiser *a, u64 *low, u64 *high, u32 more)
{
    u8 guid[16], word[16];
    memcpy(guid, low, 8);
    memcpy(guid + 8, high, 8);
    keyed_guid(&a->words, guid, more, word);
    memcpy(low, word, 8);
    memcpy(high, word + 8, 8);
}

static void replace_build(const anonymiser *a, const share_table *table, u64 row)
{
    u64 *const low = &table->values[MODULE_AT_LOW][row];
    u64 *const high = &table->values[MODULE_AT_HIGH][row];
    u64 *const stamp = &table->values[MODULE_AT_STAMP][row];
    *stamp = keyed_number(&a->words, (u32)*stamp);
    if (table->values[MODULE_AT_RSDS][row] != 0)
        replace_guid(a, low, high, (u32)table->values[MODULE_AT_AGE][row]);
    else
        *low = *high = 0;
    table->values[MODULE_AT_AGE][row] = 0;
}

/* The modules that are programs in some process: equal names must have equal words. */
typedef struct program_names {
    etlheap_strings names; /* folded */
    ETLHEAP_VECTOR(bool) is_program;
} program_names;

static bool note_program(program_names *programs, const char *name, bool is_program, u32 *id)
{
    if (!etlheap_strings_add_name(&programs->names, name, id))
        return false;
    while (programs->is_program.count <= *id) {
        if (!ETLHEAP_PUSH(&programs->is_program, false))
            return false;
    }
    programs->is_program.at[*id] |= is_program;
    return true;
}

static bool name_modules(anonymiser *a, u64 count, u64 *names)
{
    const module_table *const modules = &a->result->modules;
    program_names programs = { .names = { .index = { 0 } } };
    char word[KEYED_WORD_SIZE];
    bool ok = true;
    u32 id;
    for (u64 i = 0; ok && i < count; i++)
        ok = note_program(&programs, modules->list.at[i].name, modules->is_program.at[i], &id);
    for (u64 i = 0; ok && i < count; i++) {
        const char *const name = modules->list.at[i].name;
        ok = note_program(&programs, name, false, &id) &&
             keyed_module(&a->words, name, programs.is_program.at[id], word) &&
             anonymise_add(a, word, &names[i]);
    }
    etlheap_strings_free(&programs.names);
    ETLHEAP_VECTOR_FREE(&programs.is_program);
    return ok;
}

etl_status anonymise_modules(anonymiser *a)
{
    share_table table;
    etl_status status = open_table(a, module_columns, ETL_COUNT_OF(module_columns), &table);
    assert(status != ETL_OK || table.count == modules_image_count(&a->result->modules));
    for (u64 i = 0; status == ETL_OK && i < table.count; i++)
        replace_build(a, &table, i);
    if (status == ETL_OK && !name_modules(a, table.count, table.values[MODULE_AT_NAME]))
        status = etl_no_memory(a->err);
    if (status == ETL_OK)
        status = save_table(a, &table, NULL);
    close_table(&table);
    return status;
}

/* --- methods of .NET --------------------------------------------------------------- */

static const u32 method_columns[] = { EHS_METHOD_FILE, EHS_METHOD_FUNCTION };

etl_status anonymise_methods(anonymiser *a)
{
    share_table table;
    etl_status status = open_table(a, method_columns, ETL_COUNT_OF(method_columns), &table);
    for (u64 i = 0; status == ETL_OK && i < table.count; i++) {
        char file_word[KEYED_WORD_SIZE], word[KEYED_WORD_SIZE];
        const char *const file = anonymise_text(a, table.values[0][i], &status);
        const char *const function =
            status == ETL_OK ? anonymise_text(a, table.values[1][i], &status) : NULL;
        if (status != ETL_OK)
            break;
        if (!keyed_module(&a->words, file, false, file_word) ||
            !keyed_function(&a->words, file, function, word) ||
            !anonymise_add(a, file_word, &table.values[0][i]) ||
            !anonymise_add(a, word, &table.values[1][i]))
            status = etl_no_memory(a->err);
    }
    if (status == ETL_OK)
        status = save_table(a, &table, NULL);
    close_table(&table);
    return status;
}

/* --- providers --------------------------------------------------------------------- */

/* A row by its place in the order: messages last, then by GUID as printed. */
typedef struct guid_row {
    char text[ETL_GUID_TEXT_SIZE];
    bool is_last;
    u32 row;
} guid_row;

static int by_guid(const void *left, const void *right)
{
    const guid_row *const x = left, *const y = right;
    if (x->is_last != y->is_last)
        return (int)x->is_last - (int)y->is_last;
    const int order = strcmp(x->text, y->text);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* The GUID of a provider is often a hash of its name. Those that etlheap itself names stay. */
static const char *replace_provider(const anonymiser *a, u64 *low, u64 *high)
{
    u8 guid[16];
    memcpy(guid, low, 8);
    memcpy(guid + 8, high, 8);
    const char *const name = etl_provider_name(guid);
    if (name == NULL)
        replace_guid(a, low, high, 0);
    return name;
}

/* Writes a table whose GUIDs, in its first columns, were replaced. */
static etl_status save_in_order(anonymiser *a, const share_table *table, const u64 *is_last)
{
    etl_status status = ETL_OK;
    guid_row *const rows = ehs_loader_alloc(&a->loader, table->count, sizeof *rows, &status);
    u32 *const order =
        rows == NULL ? NULL : ehs_loader_alloc(&a->loader, table->count, sizeof *order, &status);
    for (u32 i = 0; order != NULL && i < table->count; i++) {
        u8 guid[16];
        memcpy(guid, &table->values[0][i], 8);
        memcpy(guid + 8, &table->values[1][i], 8);
        etl_guid_format(guid, rows[i].text);
        rows[i].is_last = is_last != NULL && is_last[i] != 0;
        rows[i].row = i;
    }
    if (order != NULL && table->count > 0)
        qsort(rows, (size_t)table->count, sizeof *rows, by_guid);
    for (u32 i = 0; order != NULL && i < table->count; i++)
        order[i] = rows[i].row;
    if (order != NULL)
        status = save_table(a, table, order);
    free(rows);
    free(order);
    return status;
}

static const u32 provider_columns[] = { EHS_PROVIDER_GUID_LOW, EHS_PROVIDER_GUID_HIGH,
                                        EHS_PROVIDER_IS_MESSAGE, EHS_PROVIDER_COUNT,
                                        EHS_PROVIDER_BYTES };

etl_status anonymise_providers(anonymiser *a)
{
    share_table table;
    etl_status status = open_table(a, provider_columns, ETL_COUNT_OF(provider_columns), &table);
    for (u64 i = 0; status == ETL_OK && i < table.count; i++)
        (void)replace_provider(a, &table.values[0][i], &table.values[1][i]);
    if (status == ETL_OK)
        status = save_in_order(a, &table, table.values[2]);
    close_table(&table);
    return status;
}

enum { EVENT_AT_PROVIDER = 6, EVENT_AT_NAME = 7 };

static const u32 event_columns[] = { EHS_EVENT_GUID_LOW,      EHS_EVENT_GUID_HIGH,
                                     EHS_EVENT_IS_CLASS,      EHS_EVENT_ID,
                                     EHS_EVENT_OPCODE,        EHS_EVENT_VERSION,
                                     EHS_EVENT_PROVIDER_NAME, EHS_EVENT_NAME,
                                     EHS_EVENT_COUNT,         EHS_EVENT_BYTES };

/* Replaces a text; one that equals `kept` stays. */
static etl_status replace_text(anonymiser *a, word_sort sort, const char *kept, u64 *number)
{
    etl_status status = ETL_OK;
    char word[KEYED_WORD_SIZE];
    const char *const text = anonymise_text(a, *number, &status);
    if (status != ETL_OK)
        return status;
    const bool is_kept = kept != NULL && strcmp(text, kept) == 0;
    const bool ok = is_kept || keyed_word(&a->words, sort, text, word);
    return ok && anonymise_add(a, is_kept ? text : word, number) ? ETL_OK : etl_no_memory(a->err);
}

etl_status anonymise_events(anonymiser *a)
{
    share_table table;
    etl_status status = open_table(a, event_columns, ETL_COUNT_OF(event_columns), &table);
    for (u64 i = 0; status == ETL_OK && i < table.count; i++) {
        const char *const name = replace_provider(a, &table.values[0][i], &table.values[1][i]);
        status = replace_text(a, WORD_PROVIDER, name, &table.values[EVENT_AT_PROVIDER][i]);
        if (status == ETL_OK)
            status = replace_text(a, WORD_EVENT, NULL, &table.values[EVENT_AT_NAME][i]);
    }
    if (status == ETL_OK)
        status = save_in_order(a, &table, NULL);
    close_table(&table);
    return status;
}
