/*
 * call_tree_root.c - says at which function a tree begins, and how much its stacks have.
 */
#include "call_tree.h"

#include "text_parts.h"

void call_tree_add_root(const etlheap_layout *layout, etlheap_text *text)
{
    const etlheap_pattern *const root = layout->tree_root;
    if (root->module)
        etlheap_text_add_format(text, "%s!", root->module);
    etlheap_text_add_string(text, root->symbol ? root->symbol : "");
}

/* Adds "352 KiB of 476 KiB of heap (74.0 %, 12 KiB of it exclusive)". */
static void add_sum(const etlheap_table *table, etlheap_kind kind, const call_tree *tree,
                    etlheap_text *text)
{
    const tree_sums *const sums = &tree->sums[kind];
    const i64 all = table->totals[kind].measures[tree->value];
    char part[ETLHEAP_UNITS_SIZE], whole[ETLHEAP_UNITS_SIZE];
    char share[ETLHEAP_UNITS_SIZE], own[ETLHEAP_UNITS_SIZE];
    etlheap_amount_words(tree->value, 1u << kind, sums->value, part);
    etlheap_amount_words(tree->value, 1u << kind, all, whole);
    etlheap_units_share(sums->value, all, share);
    etlheap_amount_words(tree->value, 1u << kind, sums->own_value, own);
    etlheap_text_add_format(text, "%s of %s of %s (%s%s%s of it exclusive)", part, whole,
                            etlheap_kind_name(kind), share, share[0] != '\0' ? ", " : "", own);
}

void call_tree_add_root_words(const etlheap_table *table, const etlheap_layout *layout,
                              const call_tree *tree, etlheap_text *text)
{
    bool is_first = true;
    if (tree->row_count == 0) {
        etlheap_text_add_string(text, "No call stack has a frame that matches '");
        call_tree_add_root(layout, text);
        etlheap_text_add_string(text, "'; frames that are culled or folded do not count.");
        return;
    }
    etlheap_text_add_string(text, "Call stacks with '");
    call_tree_add_root(layout, text);
    etlheap_text_add_format(text, "': %s ", etlheap_measure_title(tree->value));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (tree->sums[kind].value == 0 && tree->sums[kind].count == 0)
            continue;
        etlheap_text_add_string(text, is_first ? "" : ", ");
        add_sum(table, (etlheap_kind)kind, tree, text);
        is_first = false;
    }
    etlheap_text_add_string(text, is_first ? "0. " : ". ");
    etlheap_text_add_string(text, "Shares are of these stacks.");
}
