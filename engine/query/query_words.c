/*
 * query_words.c - queries whose fields are set by name and text.
 *
 * In: the name of a field, and a text such as "process,site". Out: the field of an etlheap_query.
 * For programs that load the library without its headers: a copy of a structure that they kept
 * would be wrong in the next release. A field is a row of a table. Invariant: what a field points
 * to is owned by the query, and is freed with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/core/arena.h"
#include "query.h"

#define WORD_SIZE 64

/* A query with the lists that it points to. */
typedef struct owned_query {
    etlheap_query query;
    char *text; /* of the processes, cut into words */
    const char **processes;
} owned_query;

typedef struct query_field query_field;
typedef etl_status set_fn(const query_field *field, owned_query *owned, const char *value,
                          etl_error *err);

struct query_field {
    const char *name;
    set_fn *set;
    size_t offset;
    size_t size; /* of the number */
};

/* The words of a list; "" for a number out of range. */
typedef const char *word_fn(u32 number);

static const char *kind_word(u32 number)
{
    return etlheap_kind_name((etlheap_kind)number);
}

static const char *type_word(u32 number)
{
    return etlheap_type_name((etlheap_type)number);
}

static const char *key_word(u32 number)
{
    return etlheap_key_word((etlheap_key)number);
}

static const char *measure_word(u32 number)
{
    return etlheap_measure_word((etlheap_measure)number);
}

static etl_status unknown_word(const query_field *field, const char *word, word_fn *words,
                               etl_error *err)
{
    char known[400] = "";
    size_t used = 0;
    for (u32 i = 0; words(i)[0] != '\0' && used + WORD_SIZE < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 words(i));
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: unknown word '%.40s'; known: %s",
                         field->name, word, known);
}

/* Reads the next word of a list and finds its number. False after the last word. */
static bool next_word(const char **list, char word[WORD_SIZE])
{
    const size_t size = strcspn(*list, ",");
    const size_t kept = size < WORD_SIZE ? size : WORD_SIZE - 1;
    if (**list == '\0')
        return false;
    memcpy(word, *list, kept);
    word[kept] = '\0';
    *list += size + ((*list)[size] == ',');
    return true;
}

static bool find_word(word_fn *words, const char *word, u32 *number)
{
    for (*number = 0; words(*number)[0] != '\0'; (*number)++) {
        if (strcmp(words(*number), word) == 0)
            return true;
    }
    return false;
}

/* Sets bits by words: kinds and types. */
static etl_status set_bits(const query_field *field, u32 *bits, word_fn *words, const char *value,
                           etl_error *err)
{
    char word[WORD_SIZE];
    u32 set = 0, number;
    while (next_word(&value, word)) {
        if (!find_word(words, word, &number))
            return unknown_word(field, word, words, err);
        set |= 1u << number;
    }
    *bits = set;
    return ETL_OK;
}

static etl_status set_kinds(const query_field *field, owned_query *owned, const char *value,
                            etl_error *err)
{
    return set_bits(field, &owned->query.kinds, kind_word, value, err);
}

static etl_status set_types(const query_field *field, owned_query *owned, const char *value,
                            etl_error *err)
{
    return set_bits(field, &owned->query.types, type_word, value, err);
}

static etl_status set_group_by(const query_field *field, owned_query *owned, const char *value,
                               etl_error *err)
{
    etlheap_key keys[ETLHEAP_GROUP_BY_MAX];
    char word[WORD_SIZE];
    u32 count = 0, number;
    while (next_word(&value, word)) {
        if (!find_word(key_word, word, &number))
            return unknown_word(field, word, key_word, err);
        if (count == ETLHEAP_GROUP_BY_MAX)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "too many keys to group by");
        keys[count++] = (etlheap_key)number;
    }
    memcpy(owned->query.group_by, keys, count * sizeof keys[0]);
    owned->query.group_by_count = count;
    return ETL_OK;
}

static etl_status set_sort(const query_field *field, owned_query *owned, const char *value,
                           etl_error *err)
{
    const bool ascending = value[0] == '-';
    u32 number;
    if (!find_word(measure_word, value + ascending, &number))
        return unknown_word(field, value + ascending, measure_word, err);
    owned->query.sort = (etlheap_measure)number;
    owned->query.sort_ascending = ascending;
    return ETL_OK;
}

static etl_status set_cull_frames(const query_field *field, owned_query *owned, const char *value,
                                  etl_error *err)
{
    owned->query.cull_frames = NULL;
    owned->query.cull_frame_count = 0;
    if (strcmp(value, "allocators") == 0)
        owned->query.cull_frames = etlheap_allocator_frames(&owned->query.cull_frame_count);
    else if (value[0] != '\0')
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: unknown word '%.40s'; known: allocators", field->name, value);
    return ETL_OK;
}

/* Cuts a copy of the text into words. */
static etl_status set_processes(const query_field *field, owned_query *owned, const char *value,
                                etl_error *err)
{
    const size_t size = strlen(value) + 1;
    u32 count = 0;
    (void)field;
    free(owned->text);
    free(owned->processes);
    owned->query.process_count = 0;
    owned->text = malloc(size);
    owned->processes = calloc(size, sizeof *owned->processes);
    owned->query.processes = owned->processes;
    if (owned->text == NULL || owned->processes == NULL)
        return etl_no_memory(err);
    memcpy(owned->text, value, size);
    for (char *at = owned->text; *at != '\0';) {
        char *const end = at + strcspn(at, ",");
        owned->processes[count++] = at;
        at = end + (*end == ',');
        *end = '\0';
    }
    owned->query.process_count = count;
    return ETL_OK;
}

/* Sets a number of 1, 4 or 8 bytes. */
static etl_status set_number(const query_field *field, owned_query *owned, const char *value,
                             etl_error *err)
{
    char *end;
    errno = 0;
    const long long number = strtoll(value, &end, 10);
    const long long most = field->size == sizeof(bool) ? 1
                           : field->size == 4          ? UINT32_MAX
                                                       : INT64_MAX;
    const bool may_be_negative = field->size == 8;
    if (end == value || *end != '\0' || errno != 0 || number > most ||
        (number < 0 && !may_be_negative))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: invalid number '%.40s'", field->name,
                             value);
    u8 *const at = (u8 *)&owned->query + field->offset;
    if (field->size == sizeof(bool))
        memcpy(at, &(bool){ number != 0 }, sizeof(bool));
    else if (field->size == 4)
        memcpy(at, &(u32){ (u32)number }, 4);
    else
        memcpy(at, &(i64){ number }, 8);
    return ETL_OK;
}

#define NUMBER(name)                                                                               \
    {                                                                                              \
#name, set_number, offsetof(etlheap_query, name), sizeof(((etlheap_query *)0)->name)       \
    }

static const query_field fields[] = {
    { "kinds", set_kinds, 0, 0 },
    { "types", set_types, 0, 0 },
    { "group_by", set_group_by, 0, 0 },
    { "sort", set_sort, 0, 0 },
    { "processes", set_processes, 0, 0 },
    { "cull_frames", set_cull_frames, 0, 0 },
    NUMBER(from_ns),
    NUMBER(to_ns),
    NUMBER(at_exit_freed),
    NUMBER(lifetime_min_ns),
    NUMBER(lifetime_max_ns),
    NUMBER(size_min_bytes),
    NUMBER(size_max_bytes),
    NUMBER(sums_only),
    NUMBER(at_end),
    NUMBER(growth),
    NUMBER(rates),
    NUMBER(churn),
    NUMBER(jobs),
};

static const char *field_name(u32 number)
{
    return number < ETL_COUNT_OF(fields) ? fields[number].name : "";
}

etlheap_query *etlheap_query_new(void)
{
    static_assert(offsetof(owned_query, query) == 0, "a query is where its owner is");
    owned_query *const owned = calloc(1, sizeof *owned);
    if (owned == NULL)
        return NULL;
    owned->query = etlheap_query_default();
    return &owned->query;
}

void etlheap_query_free(etlheap_query *query)
{
    owned_query *const owned = (owned_query *)(void *)query;
    if (owned == NULL)
        return;
    free(owned->text);
    free(owned->processes);
    free(owned);
}

etl_status etlheap_query_set(etlheap_query *query, const char *field, const char *value,
                             etl_error *err)
{
    static const query_field of_query = { "query", NULL, 0, 0 };
    u32 number;
    if (!find_word(field_name, field, &number))
        return unknown_word(&of_query, field, field_name, err);
    return fields[number].set(&fields[number], (owned_query *)(void *)query, value, err);
}

void etlheap_query_set_symbols(etlheap_query *query, etlheap_symbols *symbols)
{
    query->symbols = symbols;
}
