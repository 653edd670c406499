/*
 * symbol_finder.h - a symbol path over a tree of files, for the tests of finding.
 */
#ifndef TESTS_SYMBOL_FINDER_H
#define TESTS_SYMBOL_FINDER_H

#include "symbol_tree.h"

/* The build that is wanted, and others. */
#define FINDER_KEY       "1EB9FACB04C75D3CEA7160764CD333D0a"
#define FINDER_OTHER_AGE "1EB9FACB04C75D3CEA7160764CD333D0b"
#define FINDER_OTHER     "00000000000000000000000000000000f"

typedef struct symbol_finder {
    symbol_tree tree;
    symbol_path *path;
    symbol_path_options options;
    symbol_request request; /* of the last find */
    etl_diag_counts diag;   /* of the last find */
    char default_store[TREE_PATH_SIZE];
    char temporary_folder[TREE_PATH_SIZE];
} symbol_finder;

void symbol_finder_open(symbol_finder *finder);

/* Fails the test when temporary or half-written files were left behind. */
void symbol_finder_close(symbol_finder *finder);

/* Setup and teardown of cmocka: *state is a symbol_finder. */
int symbol_finder_set_up(void **state);
int symbol_finder_tear_down(void **state);

/* Opens a path in which each % stands for the root of the tree. */
void symbol_finder_path(symbol_finder *finder, const char *text);

/* The PDB of the wanted build. */
symbol_key symbol_finder_key(const char *name);

symbol_outcome symbol_finder_find(symbol_finder *finder, symbol_key key);

/* Both: app.pdb in this path. */
symbol_outcome symbol_finder_find_in(symbol_finder *finder, const char *text);

/* The file found last is that of the tree, and whole and of the right build. */
void symbol_finder_expect(const symbol_finder *finder, const char *name);

#endif
