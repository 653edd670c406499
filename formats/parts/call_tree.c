/*
 * call_tree.c - builds the call tree of a table.
 *
 * In: the rows of a table with stacks. Out: lines with inclusive sums. The path of a row is its
 * keys, then the frames of its stack in the order of the tree:
 *
 *     level 0    kind and process
 *     level 1    heap               each other key that rows are grouped by
 *     frame 0    app.exe!main
 *     frame 1    app.exe!load
 *
 * Rows are sorted by their paths, so rows with a common beginning are neighbours. A scan keeps the
 * path of the last row open, opens nodes from where the paths part, and adds the row to every node
 * of its path. Small nodes are left out, siblings are sorted, and a walk over links writes the
 * lines.
 *
 * A layout may name a root: then a path has the frames of a stack from the outermost one that
 * matches, inwards or outwards, and stacks without a match have no path. So a stack counts once,
 * however often the function calls itself.
 *
 * Stacks are those of allocations. If rows are grouped by stacks of frees and no others, the tree
 * is of those.
 *
 * Frames of one function are one node, as far as names are known: a caller is the same whichever
 * line it called from. Invariant: kind and process are the first level, so no sum crosses kinds.
 */
#include "call_tree.h"

#include <stdlib.h>

#define MILLION        1000000u
#define NODES_AT_FIRST 1024

/* A frame, for sorting. */
typedef struct tree_frame {
    const etlheap_frame *frame;
    u32 index;
} tree_frame;

typedef struct tree_row {
    const etlheap_row *row;
    etlheap_indices frames;
    const u32 *functions; /* by frame: the first of the same function */
    const tree_levels *levels;
    u32 head;       /* its levels: rows with equal ones have the same number, in order */
    bool inverted;  /* innermost of `frames` first */
    bool is_listed; /* its path is shown */
} tree_row;

/* The levels of a run of rows. */
typedef struct tree_head {
    const tree_row *row;
    u32 run;
} tree_head;

/* Which frames of a stack are on its path. */
typedef struct tree_cut {
    const bool *is_root; /* by frame; NULL: stacks are not cut */
    bool outwards;       /* from the root on; else inwards */
    bool inverted;
} tree_cut;

/* Siblings in the order they are written. */
typedef struct tree_sibling {
    u32 node, parent;
    i64 value;
} tree_sibling;

static void choose_measures(const etlheap_layout *layout, call_tree *tree);
static u32 *find_functions(const etlheap_table *table);
static int compare_functions(const void *left, const void *right);
static tree_levels levels_of(const etlheap_table *table, bool of_frees);
static tree_row *sorted_rows(const etlheap_table *table, const etlheap_layout *layout,
                             const tree_cut *cut, const u32 *functions, call_tree *tree);
static int compare_paths(const void *left, const void *right);
static int compare_level(const tree_row *a, const tree_row *b, u32 level);
static u32 frame_at(const tree_row *row, u32 depth);
static u32 function_at(const tree_row *row, u32 depth);
static u32 depth_of(const tree_row *row);
static u32 common_depth(const tree_row *a, const tree_row *b);
static u32 common_path(const tree_row *a, const tree_row *b);
static etl_status grow_tree(const etlheap_table *table, const tree_row *rows, call_tree *tree);
static void add_to_node(const etlheap_table *table, const tree_row *row, u32 depth,
                        call_tree *tree);
static bool open_node(const tree_row *row, u32 depth, call_tree *tree);
static etl_status link_shown(call_tree *tree);
static bool is_shown(const call_tree *tree, u32 node);
static int compare_siblings(const void *left, const void *right);

static bool is_of_frees(const etlheap_table *table)
{
    bool by_free_stack = false, by_stack = false;
    for (u32 i = 0; i < table->group_by_count; i++) {
        by_free_stack |= table->group_by[i] == ETLHEAP_KEY_FREE_STACK;
        by_stack |= etlheap_key_is_stack(table->group_by[i]);
    }
    return by_free_stack && !by_stack;
}

/* The stack of a row that the tree has, innermost frame first. */
static etlheap_indices stack_of(const etlheap_table *table, const etlheap_row *row,
                                const call_tree *tree)
{
    return etlheap_stack_members(table, tree->of_frees ? row->free_stack : row->stack);
}

/* Marks the frames that match the root; none without a root. NULL without memory. */
static bool *find_root(const etlheap_table *table, const etlheap_pattern *root)
{
    bool *const is_root = calloc((size_t)table->frame_count + 1, sizeof *is_root);
    for (u32 i = 0; root && is_root && i < table->frame_count; i++)
        is_root[i] =
            etlheap_pattern_matches(root, table->frames[i].module, table->frames[i].symbol);
    return is_root;
}

etl_status call_tree_build(const etlheap_table *table, const etlheap_layout *layout, tree_part part,
                           call_tree *out)
{
    etl_status status = ETL_ERR_MEMORY;
    *out = (call_tree){ .first_root = CALL_TREE_NONE, .min_ppm = layout->tree_min_ppm };
    u32 *const functions = find_functions(table);
    bool *const is_root = find_root(table, layout->tree_root);
    const tree_cut cut = { .is_root = layout->tree_root ? is_root : NULL,
                           .outwards = part == TREE_PART_CALLERS,
                           .inverted =
                               part == TREE_PART_CALLERS || layout->tree == ETLHEAP_TREE_CALLERS };
    out->of_frees = is_of_frees(table);
    out->levels = levels_of(table, out->of_frees);
    choose_measures(layout, out);
    tree_row *const rows =
        functions && is_root ? sorted_rows(table, layout, &cut, functions, out) : NULL;
    u32 depth_max = 1;
    for (u32 i = 0; rows && i < out->row_count; i++)
        depth_max = (u32)etl_max_u64(depth_max, depth_of(&rows[i]));
    out->open = calloc((size_t)depth_max + out->levels.count, sizeof *out->open);
    if (rows && out->open)
        status = grow_tree(table, rows, out);
    if (status == ETL_OK)
        status = link_shown(out);
    free(rows);
    free(is_root);
    free(functions);
    return status;
}

void call_tree_free(call_tree *tree)
{
    free(tree->open);
    free(tree->nodes);
}

/* Shares are of the measure the report is sorted by, if that adds up. */
static void choose_measures(const etlheap_layout *layout, call_tree *tree)
{
    static const struct {
        etlheap_measure value, count;
    } pairs[] = {
        { ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_OUTSTANDING_COUNT },
        { ETLHEAP_MEASURE_OUTSTANDING_COUNT, ETLHEAP_MEASURE_OUTSTANDING_SIZE },
        { ETLHEAP_MEASURE_IMPACTING_SIZE, ETLHEAP_MEASURE_COUNT },
        { ETLHEAP_MEASURE_SIZE, ETLHEAP_MEASURE_COUNT },
        { ETLHEAP_MEASURE_COUNT, ETLHEAP_MEASURE_SIZE },
        { ETLHEAP_MEASURE_REALLOC_COUNT, ETLHEAP_MEASURE_COUNT },
    };
    tree->value = pairs[0].value;
    tree->count = pairs[0].count;
    for (size_t i = 1; i < ETL_COUNT_OF(pairs); i++) {
        if (pairs[i].value != layout->sort)
            continue;
        tree->value = pairs[i].value;
        tree->count = pairs[i].count;
    }
}

/* Finds for each frame the first one of the same function. NULL without memory. */
static u32 *find_functions(const etlheap_table *table)
{
    u32 *const functions = malloc(((size_t)table->frame_count + 1) * sizeof *functions);
    tree_frame *const sorted = malloc(((size_t)table->frame_count + 1) * sizeof *sorted);
    if (!functions || !sorted) {
        free(functions);
        free(sorted);
        return NULL;
    }
    u32 count = 0;
    for (u32 i = 0; i < table->frame_count; i++) {
        functions[i] = i;
        if (table->frames[i].module && table->frames[i].symbol)
            sorted[count++] = (tree_frame){ &table->frames[i], i };
    }
    qsort(sorted, count, sizeof *sorted, compare_functions);
    for (u32 i = 1, first = 0; i < count; i++) {
        const etlheap_frame *const a = sorted[first].frame, *const b = sorted[i].frame;
        if (strcmp(a->symbol, b->symbol) == 0 && strcmp(a->module, b->module) == 0)
            functions[sorted[i].index] = sorted[first].index;
        else
            first = i;
    }
    free(sorted);
    return functions;
}

static int compare_functions(const void *left, const void *right)
{
    const tree_frame *const a = left;
    const tree_frame *const b = right;
    int order = strcmp(a->frame->symbol, b->frame->symbol);
    if (order == 0)
        order = strcmp(a->frame->module, b->frame->module);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* The levels. Kind and process share the first one, in this order, so that sums never cross kinds.
 * Each other key but a stack has its own. */
static tree_levels levels_of(const etlheap_table *table, bool of_frees)
{
    tree_levels out = { .keys = { ETLHEAP_KEY_KIND } };
    u32 count = 1, given = 0;
    while (given < table->group_by_count && (table->group_by[given] == ETLHEAP_KEY_KIND ||
                                             table->group_by[given] == ETLHEAP_KEY_PROCESS)) {
        if (table->group_by[given++] == ETLHEAP_KEY_PROCESS)
            out.keys[count++] = ETLHEAP_KEY_PROCESS;
    }
    out.starts[++out.count] = count;
    for (; given < table->group_by_count; given++) {
        if (etlheap_key_is_stack(table->group_by[given]) ||
            (of_frees && table->group_by[given] == ETLHEAP_KEY_FREE_STACK) ||
            table->group_by[given] == ETLHEAP_KEY_KIND)
            continue;
        out.keys[count++] = table->group_by[given];
        out.starts[++out.count] = count;
    }
    return out;
}

/* Leaves the frames of a path. False if the stack has no path. */
static bool cut_at_root(const tree_cut *cut, etlheap_indices *frames)
{
    u32 from = frames->count;
    if (!cut->is_root)
        return true;
    while (from > 0 && !cut->is_root[frames->at[from - 1]])
        from--;
    if (from == 0)
        return false;
    if (cut->outwards) {
        frames->at += from - 1;
        frames->count -= from - 1;
    } else {
        frames->count = from;
    }
    return true;
}

static void add_sums(const etlheap_row *row, bool is_own, call_tree *tree)
{
    tree_sums *const sums = &tree->sums[row->kind];
    const i64 value = row->measures[tree->value], count = row->measures[tree->count];
    sums->value = etl_sat_add_i64(sums->value, value);
    sums->count = etl_sat_add_i64(sums->count, count);
    sums->own_value = etl_sat_add_i64(sums->own_value, is_own ? value : 0);
    sums->own_count = etl_sat_add_i64(sums->own_count, is_own ? count : 0);
}

/* Marks the rows whose paths are shown: all, or the first ones if a number of rows is asked for.
 * The others count in every sum. Rows without a path are marked, because no path is missing. */
static void choose_rows(const etlheap_table *table, const etlheap_layout *layout,
                        const tree_cut *cut, bool *listed, call_tree *tree)
{
    etlheap_layout own = *layout;
    if (own.rows_of_each_kind)
        own.rows_max = 0;
    own.rows_of_each_kind = false;
    for (u32 i = 0, paths = 0; i < table->row_count; i++) {
        etlheap_indices frames = stack_of(table, &table->rows[i], tree);
        const bool has_path = cut_at_root(cut, &frames);
        listed[i] = !has_path || own.rows_max == 0 || paths < own.rows_max;
        paths += has_path;
    }
    tree->more = etlheap_more_rows_of(table, &own, listed);
}

static int compare_levels(const tree_row *a, const tree_row *b)
{
    int order = 0;
    for (u32 level = 0; order == 0 && level < a->levels->count; level++)
        order = compare_level(a, b, level);
    return order;
}

static int compare_heads(const void *left, const void *right)
{
    const tree_head *const a = left, *const b = right;
    return compare_levels(a->row, b->row);
}

/* Numbers the levels of rows, so that sorting compares numbers. Rows of one process often follow
 * each other, so there are fewer runs of equal levels than rows. */
static bool number_heads(tree_row *rows, u32 count)
{
    tree_head *const heads = malloc(((size_t)count + 1) * sizeof *heads);
    u32 *const ranks = malloc(((size_t)count + 1) * sizeof *ranks);
    const bool ok = heads && ranks;
    u32 runs = 0;
    for (u32 i = 0; ok && i < count; i++) {
        if (i == 0 || compare_levels(&rows[i - 1], &rows[i]) != 0) {
            heads[runs] = (tree_head){ &rows[i], runs };
            runs++;
        }
        rows[i].head = runs - 1;
    }
    if (ok)
        qsort(heads, runs, sizeof *heads, compare_heads);
    for (u32 i = 0, rank = 0; ok && i < runs; i++) {
        rank += i > 0 && compare_heads(&heads[i - 1], &heads[i]) != 0;
        ranks[heads[i].run] = rank;
    }
    for (u32 i = 0; ok && i < count; i++)
        rows[i].head = ranks[rows[i].head];
    free(heads);
    free(ranks);
    return ok;
}

/* NULL when out of memory. */
static tree_row *sorted_rows(const etlheap_table *table, const etlheap_layout *layout,
                             const tree_cut *cut, const u32 *functions, call_tree *tree)
{
    tree_row *const rows = malloc(((size_t)table->row_count + 1) * sizeof *rows);
    bool *const listed = calloc((size_t)table->row_count + 1, sizeof *listed);
    if (!rows || !listed) {
        free(rows);
        free(listed);
        return NULL;
    }
    choose_rows(table, layout, cut, listed, tree);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        etlheap_indices frames = stack_of(table, row, tree);
        const bool is_own = cut->is_root && frames.count > 0 && cut->is_root[frames.at[0]];
        if (!cut_at_root(cut, &frames))
            continue;
        add_sums(row, is_own, tree);
        rows[tree->row_count++] =
            (tree_row){ row, frames, functions, &tree->levels, 0, cut->inverted, listed[i] };
    }
    free(listed);
    if (!number_heads(rows, tree->row_count)) {
        free(rows);
        return NULL;
    }
    qsort(rows, tree->row_count, sizeof *rows, compare_paths);
    return rows;
}

/* Compares paths level by level, then frame by frame in the order of the tree. A path comes before
 * its continuations. */
static int compare_paths(const void *left, const void *right)
{
    const tree_row *const a = left;
    const tree_row *const b = right;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    const u32 depth = common_depth(a, b);
    if (depth < depth_of(a) && depth < depth_of(b))
        return function_at(a, depth) < function_at(b, depth) ? -1 : 1;
    if (depth_of(a) != depth_of(b))
        return depth_of(a) < depth_of(b) ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int compare_level(const tree_row *a, const tree_row *b, u32 level)
{
    const tree_levels *const levels = a->levels;
    int order = 0;
    for (u32 i = levels->starts[level]; order == 0 && i < levels->starts[level + 1]; i++)
        order = etlheap_row_compare_key(a->row, b->row, levels->keys[i]);
    return order;
}

/* A row without a stack has a path of one node, "no stack recorded". */
static u32 depth_of(const tree_row *row)
{
    return row->frames.count > 0 ? row->frames.count : 1;
}

static u32 frame_at(const tree_row *row, u32 depth)
{
    if (row->frames.count == 0)
        return ETLHEAP_NO_INDEX;
    return row->frames.at[row->inverted ? depth : row->frames.count - 1 - depth];
}

/* The function of a path's node; frames of one function are one node. */
static u32 function_at(const tree_row *row, u32 depth)
{
    const u32 frame = frame_at(row, depth);
    return frame == ETLHEAP_NO_INDEX ? frame : row->functions[frame];
}

/* Functions that two paths share from the root on. */
static u32 common_depth(const tree_row *a, const tree_row *b)
{
    const u32 depth_max = (u32)etl_min_u64(depth_of(a), depth_of(b));
    u32 depth = 0;
    while (depth < depth_max && function_at(a, depth) == function_at(b, depth))
        depth++;
    return depth;
}

/* Nodes that two paths share from the root on. */
static u32 common_path(const tree_row *a, const tree_row *b)
{
    u32 level = 0;
    if (a->head == b->head)
        return a->levels->count + common_depth(a, b);
    while (compare_level(a, b, level) == 0)
        level++;
    return level;
}

/* Grows the tree in one scan over neighbours; see the top of the file. */
static etl_status grow_tree(const etlheap_table *table, const tree_row *rows, call_tree *tree)
{
    for (u32 i = 0; i < tree->row_count; i++) {
        tree->open_count = tree->levels.count + depth_of(&rows[i]);
        for (u32 kept = i == 0 ? 0 : common_path(&rows[i - 1], &rows[i]); kept < tree->open_count;
             kept++) {
            if (!open_node(&rows[i], kept, tree))
                return ETL_ERR_MEMORY;
        }
        for (u32 d = 0; d < tree->open_count; d++)
            add_to_node(table, &rows[i], d, tree);
    }
    return ETL_OK;
}

static void add_to_node(const etlheap_table *table, const tree_row *row, u32 depth, call_tree *tree)
{
    tree_node *const node = &tree->nodes[tree->open[depth]];
    node->value = etl_sat_add_i64(node->value, row->row->measures[tree->value]);
    node->count = etl_sat_add_i64(node->count, row->row->measures[tree->count]);
    node->is_listed |= row->is_listed;
    const u32 frame = node->level == CALL_TREE_FRAME ? frame_at(row, depth - tree->levels.count)
                                                     : ETLHEAP_NO_INDEX;
    if (frame == node->frame)
        return;
    const etlheap_frame *const a = &table->frames[frame], *const b = &table->frames[node->frame];
    node->has_places |= a->line != b->line || a->is_inlined != b->is_inlined ||
                        a->is_nearest != b->is_nearest || a->displacement != b->displacement;
}

/* Opens the node of a row's path at `depth`, which begins with its levels. */
static bool open_node(const tree_row *row, u32 depth, call_tree *tree)
{
    if (tree->node_count == tree->node_capacity) {
        const u32 capacity = tree->node_capacity ? tree->node_capacity * 2 : NODES_AT_FIRST;
        tree_node *const nodes = capacity > tree->node_capacity
                                     ? realloc(tree->nodes, (size_t)capacity * sizeof *nodes)
                                     : NULL;
        if (!nodes)
            return false;
        tree->nodes = nodes;
        tree->node_capacity = capacity;
    }
    const u32 id = tree->node_count, levels = tree->levels.count;
    tree->open[depth] = id;
    tree->nodes[id] = (tree_node){
        .parent = depth > 0 ? tree->open[depth - 1] : CALL_TREE_NONE,
        .root = tree->open[0],
        .level = depth < levels ? depth : CALL_TREE_FRAME,
        .frame = depth < levels ? ETLHEAP_NO_INDEX : frame_at(row, depth - levels),
        .row = row->row,
        .first_child = CALL_TREE_NONE,
        .next_sibling = CALL_TREE_NONE,
    };
    tree->node_count++;
    return true;
}

/* Sorts the nodes that are shown and links siblings, largest first. */
static etl_status link_shown(call_tree *tree)
{
    tree_sibling *const siblings = malloc(((size_t)tree->node_count + 1) * sizeof *siblings);
    u32 count = 0;
    if (!siblings)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < tree->node_count; i++) {
        if (is_shown(tree, i))
            siblings[count++] = (tree_sibling){ i, tree->nodes[i].parent, tree->nodes[i].value };
        else if (tree->nodes[i].is_listed && tree->nodes[i].value != 0)
            tree->hidden++;
    }
    qsort(siblings, count, sizeof *siblings, compare_siblings);
    /* From the last to the first, each becomes the head of its parent's list. */
    for (u32 i = count; i-- > 0;) {
        tree_node *const node = &tree->nodes[siblings[i].node];
        u32 *const head = node->parent == CALL_TREE_NONE ? &tree->first_root
                                                         : &tree->nodes[node->parent].first_child;
        node->next_sibling = *head;
        *head = siblings[i].node;
    }
    free(siblings);
    return ETL_OK;
}

/* Is the node listed, and large enough? Compared by magnitude, because impacting sizes may be
 * negative. */
static bool is_shown(const call_tree *tree, u32 node)
{
    const i64 value = tree->nodes[node].value;
    const i64 whole = tree->nodes[tree->nodes[node].root].value;
    const u64 magnitude = value < 0 ? 0 - (u64)value : (u64)value;
    const u64 limit = whole < 0 ? 0 - (u64)whole : (u64)whole;
    const u64 least = limit / MILLION * tree->min_ppm + limit % MILLION * tree->min_ppm / MILLION;
    return tree->nodes[node].is_listed && value != 0 && magnitude >= least;
}

/* By parent, largest first; ties in the order of the paths. */
static int compare_siblings(const void *left, const void *right)
{
    const tree_sibling *const a = left;
    const tree_sibling *const b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

u32 call_tree_next(const call_tree *tree, u32 node)
{
    if (tree->nodes[node].first_child != CALL_TREE_NONE)
        return tree->nodes[node].first_child;
    while (node != CALL_TREE_NONE && tree->nodes[node].next_sibling == CALL_TREE_NONE)
        node = tree->nodes[node].parent;
    return node == CALL_TREE_NONE ? CALL_TREE_NONE : tree->nodes[node].next_sibling;
}
