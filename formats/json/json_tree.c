/*
 * json_tree.c - the `etlheap-tree-1` document: the call tree of a report.
 *
 * Nodes are a flat list in the order of the text, so that deep stacks nest no deeper than others;
 * each names its parent by its place in the list. Frames are those of the nodes.
 */
#include <stdlib.h>

#include "formats/parts/call_tree.h"
#include "formats/writers.h"
#include "json_report.h"
#include "json_rows.h"

/* The places of nodes and of frames in the document; UINT32_MAX: not in it. */
typedef struct tree_places {
    u32 *of_node, *of_frame;
    i64 *own_value, *own_count; /* of rows whose path ends at a node */
} tree_places;

static bool open_places(tree_places *places, const etlheap_table *table, const call_tree *tree)
{
    places->of_node = malloc((tree->node_count + (size_t)1) * sizeof *places->of_node);
    places->of_frame = malloc((table->frame_count + (size_t)1) * sizeof *places->of_frame);
    places->own_value = calloc(tree->node_count + (size_t)1, sizeof *places->own_value);
    places->own_count = calloc(tree->node_count + (size_t)1, sizeof *places->own_count);
    if (!places->of_node || !places->of_frame || !places->own_value || !places->own_count)
        return false;
    for (u32 i = 0; i < table->frame_count; i++)
        places->of_frame[i] = UINT32_MAX;
    for (u32 i = 0; i < tree->node_count; i++) {
        const tree_node *const node = &tree->nodes[i];
        places->own_value[i] += node->value;
        places->own_count[i] += node->count;
        if (node->parent != CALL_TREE_NONE) {
            places->own_value[node->parent] -= node->value;
            places->own_count[node->parent] -= node->count;
        }
    }
    return true;
}

static void close_places(tree_places *places)
{
    free(places->of_node);
    free(places->of_frame);
    free(places->own_value);
    free(places->own_count);
}

static void write_frames(etlheap_json *json, const etlheap_table *table, const call_tree *tree,
                         tree_places *places)
{
    u32 nodes = 0, frames = 0;
    etlheap_json_array(json, "frames");
    for (u32 at = tree->first_root; at != CALL_TREE_NONE; at = call_tree_next(tree, at)) {
        const u32 frame = tree->nodes[at].frame;
        places->of_node[at] = nodes++;
        if (frame == ETLHEAP_NO_INDEX || places->of_frame[frame] != UINT32_MAX)
            continue;
        places->of_frame[frame] = frames++;
        etlheap_json_frame(json, &table->frames[frame]);
    }
    etlheap_json_array_close(json);
}

static void write_sums(etlheap_json *json, const call_tree *tree, i64 value, i64 count)
{
    etlheap_json_i64(json, etlheap_measure_word(tree->value), value);
    etlheap_json_i64(json, etlheap_measure_word(tree->count), count);
}

static void write_node(etlheap_json *json, const call_tree *tree, u32 at, const tree_places *places)
{
    const tree_node *const node = &tree->nodes[at];
    const tree_levels *const levels = &tree->levels;
    etlheap_json_object(json, NULL);
    if (node->parent == CALL_TREE_NONE)
        etlheap_json_null(json, "parent");
    else
        etlheap_json_u64(json, "parent", places->of_node[node->parent]);
    if (node->level != CALL_TREE_FRAME) {
        for (u32 i = levels->starts[node->level]; i < levels->starts[node->level + 1]; i++)
            etlheap_json_key(json, node->row, levels->keys[i]);
    } else if (node->frame == ETLHEAP_NO_INDEX) {
        etlheap_json_null(json, "frame");
    } else {
        etlheap_json_u64(json, "frame", places->of_frame[node->frame]);
    }
    write_sums(json, tree, node->value, node->count);
    etlheap_json_object(json, "exclusive");
    write_sums(json, tree, places->own_value[at], places->own_count[at]);
    etlheap_json_object_close(json);
    if (node->has_places)
        etlheap_json_bool(json, "has_places", true);
    etlheap_json_object_close(json);
}

void etlheap_json_tree(etlheap_json *json, const etlheap_table *table, const call_tree *tree,
                       bool *no_memory)
{
    tree_places places = { .of_node = NULL };
    *no_memory = !open_places(&places, table, tree);
    if (!*no_memory) {
        write_frames(json, table, tree, &places);
        etlheap_json_array(json, "nodes");
        for (u32 at = tree->first_root; at != CALL_TREE_NONE && etlheap_sink_ok(json->sink);
             at = call_tree_next(tree, at))
            write_node(json, tree, at, &places);
        etlheap_json_array_close(json);
        etlheap_json_u64(json, "left_out_count", tree->hidden);
    }
    close_places(&places);
}
