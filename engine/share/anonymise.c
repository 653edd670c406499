/*
 * anonymise.c - writes an anonymised copy of a store.
 *
 * In: an opened store, symbols, a key. Out: an .ehs file with the same rows and no name.
 *
 *     original   block | block | texts | ...
 *                  │       │       ✗              decoded, changed by the rule of the column
 *                  ▼       ▼
 *     copy       block | block | words | places    encoded again
 *
 * Blocks are not copied as bytes but decoded and encoded, so nothing is in the copy but values of
 * columns with a rule. Invariant: the only texts of the copy are those that anonymise_add wrote,
 * which are words, and words that etlheap itself has.
 */
#include <stdio.h>
#include <stdlib.h>

#include "anonymise_inside.h"
#include "engine/core/cancel.h"
#include "engine/result/archive.h"
#include "object_types.h"
#include "parser/sized.h"

#define SERVICES_SIZE_MAX ((size_t)1 << 16)

/* A table that is rewritten as a whole, when its first column is met. */
typedef struct whole_table {
    anonymise_rule rule;
    u32 first; /* column */
    etl_status (*rewrite)(anonymiser *a);
} whole_table;

static const whole_table whole_tables[] = {
    { ANONYMISE_MODULE, EHS_MODULE_NAME, anonymise_modules },
    { ANONYMISE_METHOD, EHS_METHOD_FILE, anonymise_methods },
    { ANONYMISE_PROVIDER, EHS_PROVIDER_GUID_LOW, anonymise_providers },
    { ANONYMISE_EVENT, EHS_EVENT_GUID_LOW, anonymise_events },
};

/* Columns with one word for each text. */
typedef struct text_rule {
    anonymise_rule rule;
    word_sort sort;
} text_rule;

static const text_rule text_rules[] = {
    { ANONYMISE_PROCESS, WORD_PROCESS }, { ANONYMISE_PATH, WORD_PATH },
    { ANONYMISE_THREAD, WORD_THREAD },   { ANONYMISE_MARK, WORD_MARK },
    { ANONYMISE_SESSION, WORD_SESSION }, { ANONYMISE_COMPUTER, WORD_COMPUTER },
    { ANONYMISE_PACKAGE, WORD_PACKAGE }, { ANONYMISE_FILE, WORD_FILE },
    { ANONYMISE_LOGGED, WORD_LOGGED },
};

/* --- the check --------------------------------------------------------------------- */

static etl_status check_store(const etlheap_result *store, etl_error *err)
{
    if (store->archive == NULL || store->archive->is_log ||
        store->archive->reader.content != EHS_CONTENT_STORE || store->mode != RESULT_STORE)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "only a full store can be anonymised");
    if (store->told.anonymised.scheme != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "is anonymised already");
    const ehs_reader *const reader = &store->archive->reader;
    if (reader->minor < EHS_MINOR_FOREIGN_TICKS && store->foreign.count > 0)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "was written by an older version: make the store again from its "
                             "trace");
    for (size_t i = 0; i < reader->row_count; i++) {
        const u32 column = reader->rows[i].column;
        const anonymise_rule rule = anonymise_rule_of(column);
        if (rule == ANONYMISE_UNKNOWN || rule == ANONYMISE_NAMES || rule == ANONYMISE_SUMMARY)
            return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                                 "has column 0x%x, which this version cannot anonymise: use the "
                                 "version that wrote the store",
                                 column);
    }
    return ETL_OK;
}

/* --- blocks ------------------------------------------------------------------------ */

/* Replaces each service of a list "Dhcp, EventLog". */
static bool services_word(const anonymiser *a, const char *list, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    while (*list != '\0') {
        const size_t gap = strspn(list, ", "), size = strcspn(list + gap, ",");
        char word[KEYED_WORD_SIZE], name[1024];
        snprintf(name, sizeof name, "%.*s", (int)size, list + gap);
        if (!keyed_word(&a->words, WORD_SERVICE, name, word))
            return false;
        list += gap + size;
        if (used + gap + KEYED_WORD_SIZE < SERVICES_SIZE_MAX)
            used += (size_t)snprintf(out + used, SERVICES_SIZE_MAX - used, "%s%s",
                                     used == 0 ? "" : ", ", word);
    }
    return true;
}

/* A word that etlheap writes itself, of which there are a few. */
static bool is_public(const char *text)
{
    static const char *const clocks[] = { "qpc", "system", "cpu" };
    for (size_t i = 0; i < ETL_COUNT_OF(clocks); i++) {
        if (strcmp(text, clocks[i]) == 0)
            return true;
    }
    for (int diag = 0; diag < ETL_DIAG_COUNT; diag++) {
        if (strcmp(text, etl_diag_describe((etl_diag)diag)->name) == 0)
            return true;
    }
    return false;
}

/* Makes the word of a text by the rule of its column. */
static bool word_of(anonymiser *a, anonymise_rule rule, const char *text, char *out)
{
    const bool is_unnamed = rule == ANONYMISE_PROCESS && strcmp(text, RESULT_UNNAMED_PROCESS) == 0;
    out[0] = '\0';
    const bool is_type = rule == ANONYMISE_LOGGED && object_type_is_public(text);
    if (is_unnamed || is_type || (rule == ANONYMISE_PUBLIC && is_public(text))) {
        snprintf(out, SERVICES_SIZE_MAX, "%s", text);
        return true;
    }
    if (rule == ANONYMISE_SERVICES)
        return services_word(a, text, out);
    for (size_t i = 0; i < ETL_COUNT_OF(text_rules); i++) {
        if (text_rules[i].rule == rule)
            return keyed_word(&a->words, text_rules[i].sort, text, out);
    }
    return true; /* removed */
}

static etl_status replace_texts(anonymiser *a, anonymise_rule rule, u32 *values, u32 count)
{
    etl_status status = ETL_OK;
    char *const word = malloc(SERVICES_SIZE_MAX);
    if (word == NULL)
        return etl_no_memory(a->err);
    for (u32 i = 0; i < count && status == ETL_OK; i++) {
        u64 number = 0;
        const char *const text = anonymise_text(a, values[i], &status);
        if (text == NULL)
            break;
        if (!word_of(a, rule, text, word) || !anonymise_add(a, word, &number))
            status = etl_no_memory(a->err);
        values[i] = (u32)number;
    }
    free(word);
    return status;
}

static etl_status replace_heaps(anonymiser *a, u64 *values, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (!keyed_heap(&a->words, values[i], &values[i]))
            return etl_no_memory(a->err);
    }
    return ETL_OK;
}

/* Ids of files are hashes of their content. Both halves are replaced apart, and stay apart. */
static void replace_ids(const anonymiser *a, u64 *values, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        u8 id[16] = { 0 }, word[16];
        memcpy(id, &values[i], sizeof values[i]);
        keyed_guid(&a->words, id, 1, word);
        if (values[i] != 0)
            memcpy(&values[i], word, sizeof values[i]);
    }
}

/* Of kinds that this version does not know, a heap might be a name. */
static etl_status check_kinds(const anonymiser *a, const u8 *values, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (ehs_kind_of_number(values[i] & 0x7f) == ETLHEAP_KIND_COUNT)
            return etl_fail_with(a->err, ETL_ERR_UNSUPPORTED, 0,
                                 "has memory of a kind that this version cannot anonymise: use the "
                                 "version that wrote the store");
    }
    return ETL_OK;
}

static etl_status change(anonymiser *a, anonymise_rule rule, const ehs_row *row, void *values)
{
    const u32 width = ehs_column_find(row->column)->format.value_bytes;
    if (row->column == EHS_LIFE_KIND)
        return check_kinds(a, values, row->values);
    if (rule == ANONYMISE_REMOVED)
        memset(values, 0, (size_t)row->values * width);
    else if (rule == ANONYMISE_HEAP)
        return replace_heaps(a, values, row->values);
    else if (rule == ANONYMISE_ID)
        replace_ids(a, values, row->values);
    else if (rule != ANONYMISE_NUMBER)
        return replace_texts(a, rule, values, row->values);
    return ETL_OK;
}

static etl_status rewrite_block(anonymiser *a, anonymise_rule rule, const ehs_row *row)
{
    const u32 width = ehs_column_find(row->column)->format.value_bytes;
    void *const values = a->loader.scratch;
    etl_status status = ehs_reader_get(a->reader, &a->loader.codec, row, values,
                                       EHS_COLUMN_BYTES_MAX / width, a->err);
    if (status == ETL_OK)
        status = change(a, rule, row, values);
    if (status == ETL_OK &&
        !ehs_blocks_add(&a->saver.blocks, &a->saver.codec, (ehs_column)row->column, row->part,
                        values, row->values))
        status = etl_no_memory(a->err);
    return status == ETL_OK ? anonymise_put(a) : status;
}

static etl_status rewrite_row(anonymiser *a, const ehs_row *row)
{
    const anonymise_rule rule = anonymise_rule_of(row->column);
    for (size_t i = 0; i < ETL_COUNT_OF(whole_tables); i++) {
        if (whole_tables[i].rule == rule)
            return whole_tables[i].first == row->column && row->part == 0
                       ? whole_tables[i].rewrite(a)
                       : ETL_OK;
    }
    const bool is_left_out = rule == ANONYMISE_STRINGS || rule == ANONYMISE_DROPPED;
    return is_left_out ? ETL_OK : rewrite_block(a, rule, row);
}

/* --- the run ----------------------------------------------------------------------- */

static etl_status rewrite(anonymiser *a, const u32 *cancel)
{
    etl_status status = ETL_OK;
    for (size_t i = 0; i < a->reader->row_count && status == ETL_OK; i++) {
        status = cancel_check(cancel, a->err);
        if (status == ETL_OK)
            status = rewrite_row(a, &a->reader->rows[i]);
    }
    if (status == ETL_OK)
        status = anonymise_names(a);
    if (status == ETL_OK && !ehs_strings_save(&a->saver))
        status = etl_no_memory(a->err);
    if (status == ETL_OK)
        status = anonymise_put(a);
    return status;
}

static void close_anonymiser(anonymiser *a)
{
    keyed_words_close(&a->words);
    ehs_loader_free(&a->loader);
    ehs_saver_free(&a->saver);
    etlheap_arena_free(&a->arena);
}

etl_status etlheap_anonymise(const etlheap_result *store, const etlheap_anonymise_options *options,
                             etl_error *err)
{
    etlheap_anonymise_options own = { .size = sizeof own };
    etl_status status = etl_read_sized(options, "etlheap_anonymise_options", &own, sizeof own, err);
    if (status == ETL_OK)
        status = check_store(store, err);
    if (status == ETL_OK && own.key_bytes < ETLHEAP_KEY_BYTES_MIN)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "the key has %zu bytes, and %u are needed: fewer can be guessed",
                               own.key_bytes, ETLHEAP_KEY_BYTES_MIN);
    if (status != ETL_OK)
        return status;
    anonymiser a = { .result = store, .reader = &store->archive->reader, .symbols = own.symbols };
    a.err = err;
    const u64 memory = store->archive->memory_bytes_max;
    a.loader = (ehs_loader){ .reader = a.reader,
                             .bytes_left = memory == 0 ? UINT64_MAX : memory,
                             .err = err };
    a.loader.arena = &a.arena;
    if (!keyed_words_open(&a.words, own.key, own.key_bytes))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = ehs_loader_open(&a.loader);
    if (status == ETL_OK)
        status = ehs_writer_open_for(&a.writer, own.write, own.user, EHS_CONTENT_STORE,
                                     EHS_MINOR_PART); /* older readers would look for symbols */
    if (status == ETL_OK)
        status = rewrite(&a, own.cancel);
    if (status != ETL_OK)
        a.writer.status = status;
    const etl_status closed = ehs_writer_close(&a.writer);
    close_anonymiser(&a);
    if (status == ETL_OK)
        status = closed;
    if (status == ETL_ERR_IO)
        return etl_fail_with(err, status, 0, "the anonymised store could not be written");
    return status;
}
