/*
 * filter_choices.c - see filter_choices.h.
 *
 * The rows of the trace by the key, largest first, are the choices. What several rows have in
 * common, as kinds have types, is written once.
 */
#include "filter_choices.h"

#include "parser/base.h"

#include <inttypes.h>
#include <stdio.h>

#define NAMED_MAX 5
#define NAME_SIZE 128

/* A list that grows; what has no room is left out. */
typedef struct choices {
    char *text;
    size_t used;
    char named[NAMED_MAX][NAME_SIZE];
    u32 count;
} choices;

typedef struct choice_row {
    etlheap_key key;
    const char *lead;
    bool by_heap; /* only kinds that have heaps of their own */
} choice_row;

static const choice_row choice_rows[] = {
    { ETLHEAP_KEY_KIND, "; there is ", false },
    { ETLHEAP_KEY_HEAP, "; the largest heaps are ", true },
    { ETLHEAP_KEY_THREAD, "; the threads with most memory are ", false },
    { ETLHEAP_KEY_TYPE, "; there is ", false },
};

static void list(const etlheap_table *table, const choice_row *how, char *out);
static void name_of(const etlheap_row *row, etlheap_key key, char out[NAME_SIZE]);

/* The kinds with heaps of their own: extents are of the heaps of blocks. */
static u32 kinds_of_blocks(void)
{
    u32 kinds = etlheap_kinds_with(ETLHEAP_KIND_HAS_HEAP);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kinds &=
            etlheap_kind_at((etlheap_kind)kind)->recorded_with == kind ? UINT32_MAX : ~(1u << kind);
    return kinds;
}

void cli_filter_choices(const etlheap_result *result, const etlheap_query *open, etlheap_key key,
                        char out[CLI_FILTER_CHOICES_SIZE])
{
    const choice_row *how = NULL;
    etlheap_query query = *open;
    etlheap_table *table = NULL;
    out[0] = '\0';
    for (size_t i = 0; i < ETL_COUNT_OF(choice_rows); i++) {
        if (choice_rows[i].key == key)
            how = &choice_rows[i];
    }
    if (how == NULL)
        return;
    if (how->by_heap)
        query.kinds = kinds_of_blocks() & (ETLHEAP_KINDS_DEFAULT | open->kinds);
    query.group_by[0] = ETLHEAP_KEY_PROCESS;
    query.group_by[1] = key;
    query.group_by_count = 2;
    if (etlheap_aggregate(result, &query, &table, NULL) != ETL_OK)
        return;
    list(table, how, out);
    etlheap_table_free(table);
}

static void list(const etlheap_table *table, const choice_row *how, char *out)
{
    choices list = { .text = out };
    for (u32 i = 0; i < table->row_count && list.count < NAMED_MAX; i++) {
        char *const name = list.named[list.count];
        bool is_known = false;
        name_of(&table->rows[i], how->key, name);
        for (u32 other = 0; other < list.count; other++)
            is_known |= strcmp(list.named[other], name) == 0;
        if (is_known || name[0] == '\0')
            continue;
        const char *const before = list.count > 0 ? ", " : how->lead;
        if (list.used + strlen(before) + strlen(name) >= CLI_FILTER_CHOICES_SIZE)
            return;
        list.used += (size_t)snprintf(out + list.used, CLI_FILTER_CHOICES_SIZE - list.used, "%s%s",
                                      before, name);
        list.count++;
    }
}

static void name_of(const etlheap_row *row, etlheap_key key, char out[NAME_SIZE])
{
    char heap[ETLHEAP_HEAP_NAME_SIZE];
    out[0] = '\0';
    if (key == ETLHEAP_KEY_KIND) {
        snprintf(out, NAME_SIZE, "%s", etlheap_kind_name((etlheap_kind)row->kind));
    } else if (key == ETLHEAP_KEY_TYPE) {
        snprintf(out, NAME_SIZE, "%s", etlheap_type_name((etlheap_type)row->type));
    } else if (key == ETLHEAP_KEY_HEAP && row->has_heap) {
        etlheap_heap_name(row->heap_handle, heap);
        snprintf(out, NAME_SIZE, "%s of %s", row->heap_name ? row->heap_name : heap, row->process);
    } else if (key == ETLHEAP_KEY_THREAD && row->thread != ETL_NO_ID) {
        if (row->thread_name != NULL)
            snprintf(out, NAME_SIZE, "%s (%" PRIu32 ")", row->thread_name, row->thread);
        else
            snprintf(out, NAME_SIZE, "%" PRIu32, row->thread);
    }
}
