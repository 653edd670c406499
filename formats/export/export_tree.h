/*
 * export_tree.h - stacks as one tree, for formats that refer to a stack by the node of its
 * innermost frame, and to its callers by parent links.
 *
 *     a < b < main        node 0: main   1: b, called by 0   2: a, called by 1
 *     c < b < main        node 3: c, called by 1
 *
 * Nodes are numbered in the order in which stacks first occur, callers before callees. The caller
 * decides what a frame is: here it is a number.
 */
#ifndef ETLHEAP_EXPORT_TREE_H
#define ETLHEAP_EXPORT_TREE_H

#include "formats/parts/export_numbers.h"

#define EXPORT_NO_NODE UINT32_MAX

/* Start from {0}. Running out of memory is sticky (`failed`). */
typedef struct export_tree {
    export_numbers nodes; /* (parent + 1, frame) */
    export_numbers paths; /* (root + 1, stack of the table) */
    u32 *path_nodes;      /* by number of the path */
    u32 path_capacity;
    bool failed;
} export_tree;

/* Finds or adds the node of a frame called by `parent`; EXPORT_NO_NODE: the outermost frame. */
u32 export_tree_child(export_tree *tree, u32 parent, u32 frame);

/*
 * Finds or adds the node of a stack of the table below `root` (EXPORT_NO_NODE: none). Without a
 * stack (ETLHEAP_NO_INDEX), returns the root. frame_numbers has the number in the tree for each
 * frame of the table.
 */
u32 export_tree_stack(export_tree *tree, u32 root, const etlheap_table *table, u32 stack,
                      const u32 *frame_numbers);

/* Call it before using stacks of another table. */
void export_tree_next_table(export_tree *tree);

static inline u32 export_tree_count(const export_tree *tree)
{
    return tree->nodes.count;
}

/* node < count */
u32 export_tree_parent(const export_tree *tree, u32 node); /* EXPORT_NO_NODE: none */
u32 export_tree_frame(const export_tree *tree, u32 node);

void export_tree_free(export_tree *tree);

#endif
