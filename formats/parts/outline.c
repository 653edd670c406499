/*
 * outline.c - turns the rows of a table into an indented outline with subtotals. outline.h shows
 * one.
 *
 * In: a table, and which of its rows are listed. Out: entries in the order of lines, with levels
 * and sums.
 *
 *     rows, sorted by keys   heap app.exe 0x1f0000 | heap app.exe 0x2a0000 | heap svc.exe ...
 *     open nodes             heap > app.exe > ...    each row is added to all open nodes; where a
 *                                                    key changes, nodes close and new ones open
 *
 * Sorted rows make every group one run, so one scan is enough. A node that closes without a listed
 * row is dropped with all below it, so the nodes are as many as the lines, not as the rows. Then
 * siblings are sorted by the report's measure, and a walk from the top gives the entries.
 * Invariant: subtotals cover all rows of the table, also those that are not listed.
 */
#include "outline.h"

#include "text_parts.h"
#include "layout_read.h"

#include <stdlib.h>

#define NO_PARENT UINT32_MAX

/* A row with everything that its comparison needs, because qsort passes nothing else. */
typedef struct keyed_row {
    const etlheap_table *table;
    u32 row;
} keyed_row;

typedef struct outline_node {
    u32 id; /* in order of creation */
    u32 parent;
    u32 level;
    u32 row;     /* the first of the table in the group */
    u32 kinds;   /* of its rows, as bits */
    bool listed; /* it has a row that is */
    i64 order;   /* siblings: smallest first, ties by row */
    i64 measures[ETLHEAP_MEASURES_COUNT];
} outline_node;

typedef struct outline_nodes {
    outline_node *at;
    u32 count, capacity;
    u32 open[ETLHEAP_GROUP_BY_MAX]; /* node of each level that takes the next row */
    const bool *listed;             /* of each row of the table */
} outline_nodes;

static void find_levels(const etlheap_table *table, etlheap_outline *outline);
static etl_status sort_rows(const etlheap_table *table, keyed_row **out);
static int compare_rows(const void *left, const void *right);
static int compare_u64(u64 a, u64 b);
static etl_status make_nodes(const etlheap_table *table, const etlheap_outline *outline,
                             outline_nodes *nodes);
static u32 first_change(const etlheap_table *table, const etlheap_outline *outline,
                        const etlheap_row *row, const etlheap_row *before);
static void close_nodes(u32 level, const etlheap_outline *outline, outline_nodes *nodes);
static void open_nodes(u32 level, const etlheap_outline *outline, u32 row, outline_nodes *nodes);
static void add_row(outline_node *node, const etlheap_row *row);
static void set_orders(const etlheap_layout *layout, outline_nodes *nodes);
static int compare_siblings(const void *left, const void *right);
static etl_status walk(const outline_nodes *nodes, etlheap_outline *outline);
static u32 first_child(const outline_nodes *nodes, u32 level, u32 parent);

etl_status etlheap_outline_build(const etlheap_table *table, const etlheap_layout *layout,
                                 etlheap_outline *out)
{
    outline_nodes nodes = { .at = NULL };
    bool *const listed = calloc((size_t)table->row_count + 1, sizeof *listed);
    *out = (etlheap_outline){ 0 };
    if (!listed)
        return ETL_ERR_MEMORY;
    find_levels(table, out);
    etlheap_layout_choose(layout, table, listed);
    out->more = etlheap_more_rows_of(table, layout, listed);
    nodes.listed = listed;
    etl_status status = make_nodes(table, out, &nodes);
    if (status == ETL_OK && nodes.count > 0) {
        set_orders(layout, &nodes);
        qsort(nodes.at, nodes.count, sizeof *nodes.at, compare_siblings);
        status = walk(&nodes, out);
    }
    free(nodes.at);
    free(listed);
    return status;
}

void etlheap_outline_free(etlheap_outline *outline)
{
    free(outline->entries);
    *outline = (etlheap_outline){ 0 };
}

/* Heaps and types are short: neighbours among them share a line. */
static bool is_short(etlheap_key key)
{
    const etlheap_key_form form = etlheap_key_form_of(key);
    return form == ETLHEAP_FORM_HEAP || form == ETLHEAP_FORM_TYPE;
}

/* Gives each key a level, except for neighbours that share a line. */
static void find_levels(const etlheap_table *table, etlheap_outline *outline)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (k > 0 && is_short(table->group_by[k]) && is_short(table->group_by[k - 1])) {
            outline->levels[outline->level_count - 1].key_count++;
            continue;
        }
        outline->levels[outline->level_count] = (etlheap_outline_level){ k, 1 };
        outline->level_count++;
    }
}

/* How many rows are listed of a kind that has nothing in the sort measure. */
#define EMPTY_ROWS_MAX 5u

/* Has the row nothing in the sort measure, and no heap with committed memory? */
static bool is_idle(const etlheap_table *table, const etlheap_row *row, etlheap_measure sort)
{
    const bool has_sizes = (table->measures >> ETLHEAP_MEASURE_COMMITTED_SIZE & 1) != 0;
    return row->measures[sort] == 0 &&
           (!has_sizes || row->measures[ETLHEAP_MEASURE_COMMITTED_SIZE] <= 0);
}

void etlheap_layout_choose(const etlheap_layout *given, const etlheap_table *table, bool *listed)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const bool is_refused = etlheap_layout_read(given, &own) != ETL_OK;
    u32 listed_of[ETLHEAP_KIND_COUNT] = { 0 };
    bool has_some[ETLHEAP_KIND_COUNT] = { false };
    u32 skipped = 0;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        listed[i] = false;
        if (is_refused || row->merged_rows > 0)
            continue;
        if (skipped < layout->rows_skip) {
            skipped++;
            continue;
        }
        u32 *const count = &listed_of[layout->rows_of_each_kind ? row->kind : 0];
        const bool is_empty = layout->rows_of_each_kind && is_idle(table, row, layout->sort);
        has_some[row->kind] |= !is_empty;
        listed[i] = layout->rows_max == 0 || *count < layout->rows_max;
        listed[i] &= !is_empty || (!has_some[row->kind] && *count < EMPTY_ROWS_MAX);
        if (listed[i])
            (*count)++;
    }
}

u32 etlheap_layout_whole_rows(const etlheap_layout *layout)
{
    etlheap_layout own;
    if (etlheap_layout_read(layout, &own) != ETL_OK || own.rows_max == 0)
        return 0;
    const u64 rows = (u64)own.rows_skip + own.rows_max;
    return (u32)etl_min_u64(etl_max_u64(rows, EMPTY_ROWS_MAX), UINT32_MAX);
}

/* Sorts pairs of table and index, because qsort passes nothing else. */
static etl_status sort_rows(const etlheap_table *table, keyed_row **out)
{
    keyed_row *const rows = malloc((size_t)table->row_count * sizeof *rows);
    *out = rows;
    if (!rows)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < table->row_count; i++)
        rows[i] = (keyed_row){ table, i };
    qsort(rows, table->row_count, sizeof *rows, compare_rows);
    return ETL_OK;
}

/* Compares keys; equal ones must become neighbours, nothing more. */
static int compare_rows(const void *left, const void *right)
{
    const keyed_row *const a = left;
    const keyed_row *const b = right;
    const etlheap_table *const table = a->table;
    for (u32 k = 0; k < table->group_by_count; k++) {
        const int order =
            etlheap_row_compare_key(&table->rows[a->row], &table->rows[b->row], table->group_by[k]);
        if (order != 0)
            return order;
    }
    return compare_u64(a->row, b->row);
}

static int compare_u64(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

/* The number of nodes that may exist at one time: those above a listed row, and one open node of
 * each level. */
static size_t nodes_most(const etlheap_table *table, const etlheap_outline *outline,
                         const bool *listed)
{
    size_t count = 1;
    for (u32 i = 0; i < table->row_count; i++)
        count += listed[i];
    return count * outline->level_count;
}

/* Makes a node for each group with a listed row at each level. */
static etl_status make_nodes(const etlheap_table *table, const etlheap_outline *outline,
                             outline_nodes *nodes)
{
    const size_t capacity = nodes_most(table, outline, nodes->listed);
    keyed_row *rows = NULL;
    if (table->row_count == 0 || outline->level_count == 0)
        return ETL_OK;
    if (capacity > UINT32_MAX - 1 || sort_rows(table, &rows) != ETL_OK)
        return ETL_ERR_MEMORY;
    nodes->capacity = (u32)capacity;
    nodes->at = malloc(capacity * sizeof *nodes->at);
    if (!nodes->at) {
        free(rows);
        return ETL_ERR_MEMORY;
    }
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[rows[i].row];
        const etlheap_row *const before = i > 0 ? &table->rows[rows[i - 1].row] : NULL;
        const u32 changed = first_change(table, outline, row, before);
        if (before != NULL)
            close_nodes(changed, outline, nodes);
        open_nodes(changed, outline, rows[i].row, nodes);
        for (u32 level = 0; level < outline->level_count; level++) {
            outline_node *const node = &nodes->at[nodes->open[level]];
            add_row(node, row);
            node->row = (u32)etl_min_u64(node->row, rows[i].row);
            node->listed |= nodes->listed[rows[i].row];
        }
    }
    close_nodes(0, outline, nodes);
    free(rows);
    return ETL_OK;
}

/* The first level at which a row is in another group than the row before. The last level is always
 * new: it is the row itself. */
static u32 first_change(const etlheap_table *table, const etlheap_outline *outline,
                        const etlheap_row *row, const etlheap_row *before)
{
    for (u32 level = 0; before && level + 1 < outline->level_count; level++) {
        const etlheap_outline_level *const keys = &outline->levels[level];
        for (u32 k = keys->key_first; k < keys->key_first + keys->key_count; k++) {
            if (etlheap_row_compare_key(row, before, table->group_by[k]) != 0)
                return level;
        }
    }
    return before ? outline->level_count - 1 : 0;
}

/* Closes the open nodes from a level down. All nodes after one without a listed row are below it,
 * and are dropped with it. */
static void close_nodes(u32 level, const etlheap_outline *outline, outline_nodes *nodes)
{
    for (; level < outline->level_count; level++) {
        if (!nodes->at[nodes->open[level]].listed) {
            nodes->count = nodes->open[level];
            return;
        }
    }
}

/* Opens nodes for a row from a level down. */
static void open_nodes(u32 level, const etlheap_outline *outline, u32 row, outline_nodes *nodes)
{
    assert(nodes->count + outline->level_count - level <= nodes->capacity);
    for (; level < outline->level_count; level++) {
        nodes->at[nodes->count] = (outline_node){
            .id = nodes->count,
            .parent = level > 0 ? nodes->open[level - 1] : NO_PARENT,
            .level = level,
            .row = row,
        };
        nodes->open[level] = nodes->count;
        nodes->count++;
    }
}

/* Sizes of kinds without any are left out beside those of others. */
static void add_row(outline_node *node, const etlheap_row *row)
{
    const bool is_counted = etlheap_kinds_are_counted(1u << row->kind);
    const bool was_counted = etlheap_kinds_are_counted(node->kinds);
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        const bool is_size = etlheap_measure_style_of((etlheap_measure)m).is_size;
        if (is_size && was_counted && !is_counted)
            node->measures[m] = 0;
        if (!is_size || !is_counted || was_counted || node->kinds == 0)
            node->measures[m] = etl_sat_add_i64(node->measures[m], row->measures[m]);
    }
    node->kinds |= 1u << row->kind;
}

/* Sets the order of nodes. Groups of a measure that does not add up follow their first row. */
static void set_orders(const etlheap_layout *layout, outline_nodes *nodes)
{
    const bool adds_up = etlheap_measure_style_of(layout->sort).adds_up;
    for (u32 i = 0; i < nodes->count; i++) {
        const i64 value = nodes->at[i].measures[layout->sort];
        /* The complement reverses the order without overflow. */
        nodes->at[i].order = !adds_up ? 0 : (layout->sort_ascending ? value : ~value);
    }
}

/* Level by level, so that the children of a node are one run. */
static int compare_siblings(const void *left, const void *right)
{
    const outline_node *const a = left;
    const outline_node *const b = right;
    if (a->level != b->level)
        return compare_u64(a->level, b->level);
    if (a->parent != b->parent)
        return compare_u64(a->parent, b->parent);
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return compare_u64(a->row, b->row);
}

/* Writes nodes depth first. The children of a node are one run of the sorted nodes, and each level
 * remembers its place in its run. */
static etl_status walk(const outline_nodes *nodes, etlheap_outline *outline)
{
    u32 parents[ETLHEAP_GROUP_BY_MAX] = { NO_PARENT };
    u32 next[ETLHEAP_GROUP_BY_MAX] = { 0 };
    u32 level = 0;
    outline->entries = malloc((size_t)nodes->count * sizeof *outline->entries);
    if (!outline->entries)
        return ETL_ERR_MEMORY;
    for (;;) {
        const outline_node *const node =
            next[level] < nodes->count ? &nodes->at[next[level]] : NULL;
        if (!node || node->level != level || node->parent != parents[level]) {
            if (level == 0)
                return ETL_OK;
            level--;
            continue;
        }
        etlheap_outline_entry *const entry = &outline->entries[outline->entry_count];
        *entry = (etlheap_outline_entry){ .level = level, .row = node->row, .kinds = node->kinds };
        memcpy(entry->measures, node->measures, sizeof entry->measures);
        outline->entry_count++;
        next[level]++;
        if (level + 1 < outline->level_count) {
            level++;
            parents[level] = node->id;
            next[level] = first_child(nodes, level, node->id);
        }
    }
}

/* Index of the first node of a level with this parent, by bisection. */
static u32 first_child(const outline_nodes *nodes, u32 level, u32 parent)
{
    u32 low = 0;
    u32 high = nodes->count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        const outline_node *const node = &nodes->at[middle];
        if (node->level < level || (node->level == level && node->parent < parent))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
