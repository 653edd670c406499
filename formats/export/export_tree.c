/*
 * export_tree.c - turns stacks into nodes of one tree; export_tree.h draws it. Invariant: a node is
 * numbered after its caller, in the order in which stacks are first met.
 */
#include "export_tree.h"

#include <stdlib.h>

static bool keep_path(export_tree *tree, u32 path, u32 node);

u32 export_tree_child(export_tree *tree, u32 parent, u32 frame)
{
    u32 node;
    const u64 above = parent == EXPORT_NO_NODE ? 0 : (u64)parent + 1;
    (void)export_number_of_pair(&tree->nodes, above, frame, &node);
    tree->failed |= tree->nodes.failed;
    return node;
}

u32 export_tree_stack(export_tree *tree, u32 root, const etlheap_table *table, u32 stack,
                      const u32 *frame_numbers)
{
    u32 path;
    u32 node = root;
    if (stack == ETLHEAP_NO_INDEX || tree->failed)
        return root;
    const u64 above = root == EXPORT_NO_NODE ? 0 : (u64)root + 1;
    const bool is_new = export_number_of_pair(&tree->paths, above, stack, &path);
    tree->failed |= tree->paths.failed;
    if (!is_new)
        return tree->failed ? root : tree->path_nodes[path];
    for (u32 at = table->stack_starts[stack + 1]; at > table->stack_starts[stack]; at--)
        node = export_tree_child(tree, node, frame_numbers[table->frame_indices[at - 1]]);
    tree->failed |= !keep_path(tree, path, node);
    return node;
}

void export_tree_next_table(export_tree *tree)
{
    export_numbers_free(&tree->paths);
}

u32 export_tree_parent(const export_tree *tree, u32 node)
{
    u64 pair[2];
    memcpy(pair, export_number_key(&tree->nodes, node).at, sizeof pair);
    return pair[0] == 0 ? EXPORT_NO_NODE : (u32)(pair[0] - 1);
}

u32 export_tree_frame(const export_tree *tree, u32 node)
{
    u64 pair[2];
    memcpy(pair, export_number_key(&tree->nodes, node).at, sizeof pair);
    return (u32)pair[1];
}

void export_tree_free(export_tree *tree)
{
    export_numbers_free(&tree->nodes);
    export_numbers_free(&tree->paths);
    free(tree->path_nodes);
    *tree = (export_tree){ 0 };
}

static bool keep_path(export_tree *tree, u32 path, u32 node)
{
    if (path >= tree->path_capacity) {
        const size_t capacity = (size_t)tree->path_capacity * 2 + 256;
        u32 *const nodes = capacity > UINT32_MAX
                               ? NULL
                               : realloc(tree->path_nodes, capacity * sizeof *tree->path_nodes);
        if (!nodes)
            return false;
        tree->path_nodes = nodes;
        tree->path_capacity = (u32)capacity;
    }
    tree->path_nodes[path] = node;
    return true;
}
