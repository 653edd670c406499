/* json_report.h - shared by the documents of reports. */
#ifndef ETLHEAP_JSON_REPORT_H
#define ETLHEAP_JSON_REPORT_H

#include "formats/parts/call_tree.h"
#include "json.h"

/* A tree with the keys of its nodes, and of how many are left out. */
typedef struct json_tree {
    const call_tree *tree;
    const char *nodes, *left_out;
} json_tree;

/* Writes the `frames` of call trees, then the nodes of each. */
void etlheap_json_trees(etlheap_json *json, const etlheap_table *table, const json_tree *trees,
                        u32 count, bool *no_memory);

/* Writes the pattern of the function at which a tree begins, and the sums of its stacks. */
void etlheap_json_tree_root(etlheap_json *json, const char *key, const etlheap_layout *layout,
                            const call_tree *tree);

#endif
