/*
 * call_tree.h - the call tree of a table with stacks, from either end of them, for the formats that
 * write it.
 */
#ifndef ETLHEAP_CALL_TREE_H
#define ETLHEAP_CALL_TREE_H

#include "formats/formats.h"
#include "more_rows.h"

#define CALL_TREE_NONE  UINT32_MAX
#define CALL_TREE_FRAME UINT32_MAX /* the level of frames */

/* The levels above the frames, with the keys of each. */
typedef struct tree_levels {
    etlheap_key keys[ETLHEAP_GROUP_BY_MAX + 1];
    u32 starts[ETLHEAP_GROUP_BY_MAX + 2]; /* by level, in keys; and the end of the last */
    u32 count;
} tree_levels;

typedef struct tree_node {
    u32 parent; /* CALL_TREE_NONE: a root */
    u32 root;
    u32 level; /* CALL_TREE_FRAME: a frame */
    u32 frame; /* ETLHEAP_NO_INDEX: of a level, or no stack */
    const etlheap_row *row;
    i64 value, count; /* inclusive */
    u32 first_child, next_sibling;
    u32 indent;      /* column of its text */
    bool has_places; /* its frames differ in line or offset from the symbol */
    bool is_listed;  /* it is on the path of a listed row */
} tree_node;

/* Sums over the rows of a kind that are in the tree. */
typedef struct tree_sums {
    i64 value, count;
    i64 own_value, own_count; /* of rows whose innermost frame matches the root of the layout */
} tree_sums;

typedef struct call_tree {
    tree_levels levels;
    bool of_frees;    /* stacks are those of frees */
    tree_node *nodes; /* a parent stands before its children */
    u32 node_count, node_capacity;
    u32 row_count; /* rows with a path; fewer than the table has if the layout names a root */
    u32 *open;     /* while it grows: path of the last row, from its root on */
    u32 open_count;
    etlheap_measure value, count;
    u32 first_root; /* CALL_TREE_NONE: every sum is zero */
    u32 hidden;     /* nodes too small to show */
    u32 min_ppm;    /* of its root, from which on a node is shown */
    tree_sums sums[ETLHEAP_KIND_COUNT];
    etlheap_more_rows more;
} call_tree;

/* Which frames of a stack enter the tree, and in which order. */
typedef enum tree_part {
    TREE_PART_CALLEES, /* all, or from layout->tree_root inwards; inverted for a tree of callers */
    TREE_PART_CALLERS  /* from layout->tree_root outwards */
} tree_part;

/* Builds a tree of the rows that the layout lists; sums are of all rows with a path. The table is
 * borrowed. Call call_tree_free even after a failure. ETL_ERR_MEMORY. */
etl_status call_tree_build(const etlheap_table *table, const etlheap_layout *layout, tree_part part,
                           call_tree *out);
void call_tree_free(call_tree *tree);

/* Appends the pattern of the layout's root as users write it. */
void call_tree_add_root(const etlheap_layout *layout, etlheap_text *text);

/* Appends sentences about the root of the tree: how much its stacks have of each kind. */
void call_tree_add_root_words(const etlheap_table *table, const etlheap_layout *layout,
                              const call_tree *tree, etlheap_text *text);

/* The kind of what is below the node's root. */
static inline u32 call_tree_kind(const call_tree *tree, const tree_node *node)
{
    return tree->nodes[node->root].row->kind;
}

/* The next node that is shown, depth first; CALL_TREE_NONE after the last. */
u32 call_tree_next(const call_tree *tree, u32 node);

#endif
