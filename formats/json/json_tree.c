/*
 * json_tree.c - the trees of `etlheap-tree-1` and `etlheap-focus-1`: the call tree of a report, or
 * those of the callers and callees of a function.
 *
 * In: trees, and the table they are made of. Out: JSON. Nodes are a flat list in the order of the
 * text, so that deep stacks nest no deeper than others; each names its parent by its place in the
 * list. Invariant: frames are those of the nodes, and each is there once.
 */
#include <stdlib.h>

#include "formats/parts/call_tree.h"
#include "formats/parts/field_units.h"
#include "formats/writers.h"
#include "json_report.h"
#include "json_rows.h"

/* The places of a tree's nodes and of all frames in the document; UINT32_MAX: not in it. */
typedef struct tree_places {
    u32 *of_node;
    const u32 *of_frame;
    i64 *own_value, *own_count; /* of rows whose path ends at a node */
} tree_places;

static bool open_places(tree_places *places, const call_tree *tree, const u32 *of_frame)
{
    places->of_frame = of_frame;
    places->of_node = malloc((tree->node_count + (size_t)1) * sizeof *places->of_node);
    places->own_value = calloc(tree->node_count + (size_t)1, sizeof *places->own_value);
    places->own_count = calloc(tree->node_count + (size_t)1, sizeof *places->own_count);
    if (!places->of_node || !places->own_value || !places->own_count)
        return false;
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
    free(places->own_value);
    free(places->own_count);
}

/* Frames are numbered in the order of the nodes. NULL without memory. */
static u32 *write_frames(etlheap_json *json, const etlheap_table *table, const json_tree *trees,
                         u32 count)
{
    u32 *const places = malloc((table->frame_count + (size_t)1) * sizeof *places);
    u32 used = 0;
    if (!places)
        return NULL;
    for (u32 i = 0; i < table->frame_count; i++)
        places[i] = UINT32_MAX;
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < count; i++) {
        const call_tree *const tree = trees[i].tree;
        for (u32 at = tree->first_root; at != CALL_TREE_NONE; at = call_tree_next(tree, at)) {
            const u32 frame = tree->nodes[at].frame;
            if (frame == ETLHEAP_NO_INDEX || places[frame] != UINT32_MAX)
                continue;
            places[frame] = used++;
            etlheap_json_frame(json, &table->frames[frame]);
        }
    }
    etlheap_json_array_close(json);
    return places;
}

static void write_sums(etlheap_json *json, const call_tree *tree, u32 kind, i64 value, i64 count)
{
    etlheap_json_known(json, etlheap_measure_word(tree->value),
                       etlheap_shown_measure(kind, tree->value, value));
    etlheap_json_known(json, etlheap_measure_word(tree->count),
                       etlheap_shown_measure(kind, tree->count, count));
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
    write_sums(json, tree, call_tree_kind(tree, node), node->value, node->count);
    etlheap_json_object(json, "exclusive");
    write_sums(json, tree, call_tree_kind(tree, node), places->own_value[at],
               places->own_count[at]);
    etlheap_json_object_close(json);
    if (node->has_places)
        etlheap_json_bool(json, "has_places", true);
    etlheap_json_object_close(json);
}

static bool write_nodes(etlheap_json *json, const json_tree *one, const u32 *of_frame)
{
    const call_tree *const tree = one->tree;
    tree_places places = { .of_node = NULL };
    const bool ok = open_places(&places, tree, of_frame);
    u32 nodes = 0;
    if (ok) {
        etlheap_json_array(json, one->nodes);
        for (u32 at = tree->first_root; at != CALL_TREE_NONE && etlheap_sink_ok(json->sink);
             at = call_tree_next(tree, at)) {
            places.of_node[at] = nodes++;
            write_node(json, tree, at, &places);
        }
        etlheap_json_array_close(json);
        etlheap_json_u64(json, one->left_out, tree->hidden);
    }
    close_places(&places);
    return ok;
}

void etlheap_json_trees(etlheap_json *json, const etlheap_table *table, const json_tree *trees,
                        u32 count, bool *no_memory)
{
    u32 *const of_frame = write_frames(json, table, trees, count);
    bool ok = of_frame != NULL;
    for (u32 i = 0; ok && i < count; i++)
        ok = write_nodes(json, &trees[i], of_frame);
    *no_memory = !ok;
    free(of_frame);
}

void etlheap_json_tree_root(etlheap_json *json, const char *key, const etlheap_layout *layout,
                            const call_tree *tree)
{
    etlheap_text text = { 0 };
    call_tree_add_root(layout, &text);
    etlheap_json_string(json, key, etlheap_text_of(&text));
    etlheap_text_free(&text);
    etlheap_json_array(json, "sums");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const tree_sums *const sums = &tree->sums[kind];
        if (sums->value == 0 && sums->count == 0)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        write_sums(json, tree, (u32)kind, sums->value, sums->count);
        etlheap_json_object(json, "exclusive");
        write_sums(json, tree, (u32)kind, sums->own_value, sums->own_count);
        etlheap_json_object_close(json);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
