/*
 * text_tree.c - writes the call tree of a report, from either end of the stacks.
 *
 * In: a table with stacks, of which call_tree.c builds the tree. Out: a line for each node that is
 * shown, with inclusive sums; for a function, a tree of its callers and one of its callees.
 *
 * The line of a frame's source is shown if there is only one. A chain of only children with the
 * same sums is one line, a → b → c, of which a terminal shows what fits. Other only children are
 * not indented. Invariant: indentation means that paths part, so deep stacks stay on the screen.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/display.h"
#include "formats/parts/call_tree.h"
#include "formats/parts/tabular.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"

#include <inttypes.h>
#include <stdlib.h>

#define LEVEL_INDENT  2
#define MARK_COLUMNS  2   /* of "- " */
#define OTHER_COLUMNS 35u /* of the numbers before a name */
#define COUNT_COLUMNS 15u /* of an arrow, and the number of frames */

/* A line: the frames from node `first` to `last`, or the keys of one node. */
typedef struct tree_line {
    u32 first, last;
    bool is_marked;
    const etlheap_layout *layout;
    etlheap_text *scratch;
} tree_line;

static etl_status write_tree(const etlheap_table *table, const etlheap_layout *layout,
                             const char *title, call_tree *tree, etlheap_sink *sink);
static void add_title(const tree_levels *levels, const char *last, etlheap_text *title);
static u32 indent_below(const tree_node *parent, bool is_marked);
static u32 end_of_chain(const call_tree *tree, u32 node);
static void add_line(const etlheap_table *table, const call_tree *tree, const tree_line *line,
                     etlheap_text *text, etlheap_grid *grid);
static void add_chain(const etlheap_table *table, const call_tree *tree, const tree_line *line,
                      etlheap_text *scratch, etlheap_text *text);
static void add_function(const etlheap_frame *frame, bool has_places, bool has_source,
                         etlheap_text *text);

/* Of a function, who reaches it comes first. */
static const struct {
    tree_part part;
    const char *title;
} parts[] = {
    { TREE_PART_CALLERS, "Callers" },
    { TREE_PART_CALLEES, "Callees" },
};

/* Says which stacks the tree has: how much there is of each kind, in how much of all. */
static etl_status write_root(const etlheap_table *table, const etlheap_layout *layout,
                             const call_tree *tree, etlheap_sink *sink)
{
    etlheap_text text = { 0 };
    call_tree_add_root_words(table, layout, tree, &text);
    etlheap_text_heading(sink, layout, etlheap_text_of(&text));
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

etl_status etlheap_write_tree_text(const etlheap_table *table, const etlheap_layout *layout,
                                   etlheap_sink *sink)
{
    const bool has_both = layout->tree == ETLHEAP_TREE_BOTH;
    call_tree tree;
    etl_status status = ETL_OK;
    for (u32 i = has_both ? 0 : 1; i < ETL_COUNT_OF(parts) && status == ETL_OK; i++) {
        const char *const title = has_both                               ? parts[i].title
                                  : layout->tree == ETLHEAP_TREE_CALLERS ? "Callers"
                                                                         : "Call tree";
        status = call_tree_build(table, layout, parts[i].part, &tree);
        if (status == ETL_OK && layout->tree_root && (!has_both || i == 0))
            status = write_root(table, layout, &tree, sink);
        if (status == ETL_OK && (!layout->tree_root || tree.row_count > 0))
            status = write_tree(table, layout, title, &tree, sink);
        call_tree_free(&tree);
    }
    return status;
}

static etl_status write_tree(const etlheap_table *table, const etlheap_layout *layout,
                             const char *last_title, call_tree *tree, etlheap_sink *sink)
{
    etlheap_text text = { 0 }, title = { 0 }, scratch = { 0 };
    add_title(&tree->levels, last_title, &title);
    const etlheap_column columns[] = {
        { .title = etlheap_measure_title(tree->value), .right = true },
        { .title = etlheap_measure_title(tree->count), .right = true },
        { .title = "Share", .right = true },
        { .title = etlheap_text_of(&title), .flexible = true },
    };
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 at = tree->first_root, last; at != CALL_TREE_NONE; at = call_tree_next(tree, last)) {
        tree_node *const node = &tree->nodes[at];
        last = end_of_chain(tree, at);
        const tree_node *const parent =
            node->parent == CALL_TREE_NONE ? NULL : &tree->nodes[node->parent];
        const bool branches =
            parent && tree->nodes[parent->first_child].next_sibling != CALL_TREE_NONE;
        const bool is_marked = branches && node->level == CALL_TREE_FRAME;
        node->indent = indent_below(parent, is_marked);
        tree->nodes[last].indent = node->indent;
        const tree_line line = { at, last, is_marked, layout, &scratch };
        add_line(table, tree, &line, &text, &grid);
    }
    if (tree->first_root == CALL_TREE_NONE)
        etlheap_text_heading(sink, layout, "No tree: every sum is zero.");
    etlheap_sink_text(sink, "\n");
    etl_status status = etlheap_grid_write(&grid, layout, sink);
    if (tree->hidden > 0) {
        char hidden[ETLHEAP_UNITS_SIZE];
        etlheap_units_count(tree->hidden, hidden);
        etlheap_sink_format(sink, "\n%s %s not shown: below %g %% of the %s.\n", hidden,
                            tree->hidden == 1 ? "frame is" : "frames are", tree->min_ppm / 1e4,
                            tree->levels.starts[1] > 1 ? "process" : "kind");
    }
    etlheap_text_more_rows(sink, layout, &tree->more, &text);
    if (text.failed || title.failed || scratch.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&scratch);
    etlheap_text_free(&title);
    etlheap_text_free(&text);
    return status;
}

/* Adds "Kind, Process / Handle / Call tree"; only the last part if there are no levels below the
 * first. */
static void add_title(const tree_levels *levels, const char *last, etlheap_text *title)
{
    for (u32 level = 0; levels->count > 1 && level < levels->count; level++) {
        for (u32 i = levels->starts[level]; i < levels->starts[level + 1]; i++) {
            etlheap_text_add_string(title, i > levels->starts[level] ? ", " : "");
            etlheap_text_add_string(title, etlheap_key_title(levels->keys[i]));
        }
        etlheap_text_add_string(title, " / ");
    }
    etlheap_text_add_string(title, last);
}

/* The indentation below a node. Levels are indented. A frame that is an only child stands right
 * below its caller; siblings stand behind a mark. */
static u32 indent_below(const tree_node *parent, bool is_marked)
{
    if (!parent)
        return 0;
    const u32 base = parent->indent + (parent->level == CALL_TREE_FRAME ? 0 : LEVEL_INDENT);
    return base + (is_marked ? MARK_COLUMNS : 0);
}

/* The only child of a frame, if it is a frame with the same sums; CALL_TREE_NONE: it has none. */
static u32 next_in_chain(const call_tree *tree, u32 node)
{
    const tree_node *const at = &tree->nodes[node];
    if (at->level != CALL_TREE_FRAME || at->first_child == CALL_TREE_NONE)
        return CALL_TREE_NONE;
    const tree_node *const child = &tree->nodes[at->first_child];
    const bool is_same = child->next_sibling == CALL_TREE_NONE && child->level == CALL_TREE_FRAME &&
                         child->value == at->value && child->count == at->count;
    return is_same ? at->first_child : CALL_TREE_NONE;
}

static u32 end_of_chain(const call_tree *tree, u32 node)
{
    for (u32 next; (next = next_in_chain(tree, node)) != CALL_TREE_NONE;)
        node = next;
    return node;
}

static void add_sum(const call_tree *tree, const tree_node *node, etlheap_measure measure,
                    i64 value, etlheap_grid *grid)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_amount_words(measure, 1u << call_tree_kind(tree, node), value, words);
    etlheap_grid_cell(grid, words);
}

static void add_line(const etlheap_table *table, const call_tree *tree, const tree_line *line,
                     etlheap_text *text, etlheap_grid *grid)
{
    char share[ETLHEAP_UNITS_SIZE];
    const tree_node *const node = &tree->nodes[line->first];
    etlheap_units_share(node->value, tree->nodes[node->root].value, share);
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%*s", (int)(node->indent - (line->is_marked ? MARK_COLUMNS : 0)),
                            "");
    etlheap_text_add_string(text, line->is_marked ? "- " : "");
    const u32 *const starts = tree->levels.starts;
    if (node->level != CALL_TREE_FRAME)
        etlheap_text_add_keys(text, table, node->row, tree->levels.keys + starts[node->level],
                              starts[node->level + 1] - starts[node->level]);
    else
        add_chain(table, tree, line, line->scratch, text);
    etlheap_grid_row(grid, node->parent == CALL_TREE_NONE ? ETLHEAP_EMPHASIS_STRONG
                                                          : ETLHEAP_EMPHASIS_NONE);
    add_sum(tree, node, tree->value, node->value, grid);
    add_sum(tree, node, tree->count, node->count, grid);
    etlheap_grid_cell(grid, share);
    etlheap_grid_name(grid, etlheap_text_of(text));
}

/* Adds a frame of a chain. Where it is in the source is said of the last one only. */
static void add_link(const etlheap_table *table, const call_tree *tree, const tree_node *node,
                     bool is_last, etlheap_text *text)
{
    const etlheap_key free_stack = ETLHEAP_KEY_FREE_STACK;
    if (node->frame == ETLHEAP_NO_INDEX && tree->of_frees)
        etlheap_text_add_keys(text, table, node->row, &free_stack, 1);
    else if (node->frame == ETLHEAP_NO_INDEX)
        etlheap_text_add_string(text, "[no stack recorded]");
    else
        add_function(&table->frames[node->frame], node->has_places, is_last, text);
}

/* The columns of a frame of a chain. */
static u32 link_columns(const etlheap_table *table, const call_tree *tree, u32 node, bool is_last,
                        etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    add_link(table, tree, &tree->nodes[node], is_last, scratch);
    return etlheap_display_width(etlheap_text_of(scratch), scratch->size);
}

/* How many frames of a chain, after the first, give way so that the others fit into the line. The
 * nearest to the end of the chain are what people look for, so they stay longest. */
static u32 links_left_out(const etlheap_table *table, const call_tree *tree, const tree_line *line,
                          etlheap_text *scratch)
{
    const etlheap_layout *const layout = line->layout;
    const u32 used = OTHER_COLUMNS + tree->nodes[line->first].indent;
    if (layout->whole || layout->width == 0)
        return 0;
    const u32 room = layout->width > used ? layout->width - used : 0;
    const u32 arrow = layout->ascii ? 4 : 3;
    u32 columns = link_columns(table, tree, line->first, false, scratch), left_out = 0;
    for (u32 at = line->first; at != line->last;) {
        at = next_in_chain(tree, at);
        columns += arrow + link_columns(table, tree, at, at == line->last, scratch);
    }
    for (u32 at = line->first; columns > room && at != line->last; left_out++) {
        at = next_in_chain(tree, at);
        columns -= arrow + link_columns(table, tree, at, at == line->last, scratch);
        columns += left_out == 0 ? COUNT_COLUMNS + (layout->ascii ? 4 : 1) : 0;
    }
    return left_out;
}

static void add_chain(const etlheap_table *table, const call_tree *tree, const tree_line *line,
                      etlheap_text *scratch, etlheap_text *text)
{
    const char *const arrow = line->layout->ascii ? " -> " : " \u2192 ";
    const u32 left_out = links_left_out(table, tree, line, scratch);
    u32 at = line->first, count = 1;
    add_link(table, tree, &tree->nodes[at], at == line->last, text);
    if (left_out > 0)
        etlheap_text_add_format(text, "%s%s", arrow, line->layout->ascii ? "..." : "\u2026");
    while (at != line->last) {
        at = next_in_chain(tree, at);
        if (count++ <= left_out)
            continue;
        etlheap_text_add_string(text, arrow);
        add_link(table, tree, &tree->nodes[at], at == line->last, text);
    }
    if (left_out > 0)
        etlheap_text_add_format(text, " (%" PRIu32 " frames)", count);
}

/* Adds a function. For a node of several places, only what they share is shown; a guessed symbol is
 * always marked. */
static void add_function(const etlheap_frame *frame, bool has_places, bool has_source,
                         etlheap_text *text)
{
    if (has_places && frame->is_nearest)
        etlheap_text_add_format(text, "%s+... (%s)", frame->symbol, frame->module);
    else
        etlheap_text_add_function(text, frame);
    if (has_source && !has_places)
        etlheap_text_add_source(text, frame);
}
