/*
 * symbol_tree.h - folders full of symbol files, made and removed by a test.
 *
 * The files look like PDBs as far as their first bytes go; behind those stands
 * the key of the build they belong to, so that a test tells one from another.
 */
#ifndef TESTS_SYMBOL_TREE_H
#define TESTS_SYMBOL_TREE_H

#include "engine/symbol_store/symbol_path.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/temporary.h"

#define TREE_PATH_SIZE 512

typedef struct symbol_tree {
    char root[TEMPORARY_PATH_BYTES];
    u32 checks; /* calls of symbol_tree_check */
} symbol_tree;

/* Each ends the test program when the machine does not let it. */
void symbol_tree_open(symbol_tree *tree);
void symbol_tree_close(symbol_tree *tree); /* removes all of it */
void symbol_tree_empty(const symbol_tree *tree);

/* A path in the tree; valid until the eighth call after. */
const char *symbol_tree_path(const symbol_tree *tree, const char *name);

/* Folders above are made. */
void symbol_tree_write(const symbol_tree *tree, const char *name, etl_bytes content);
void symbol_tree_text(const symbol_tree *tree, const char *name, const char *text);

/* A file that looks like a PDB of the build `key`, `size` bytes long. */
hand_bytes symbol_tree_content(const char *key, size_t size);
void symbol_tree_symbol(const symbol_tree *tree, const char *name, const char *key);

/* How a cabinet keeps its data. */
typedef enum cabinet_kind { CABINET_STORED, CABINET_MSZIP } cabinet_kind;

/* A cabinet with one file. MSZIP blocks hold their data uncompressed. */
hand_bytes symbol_tree_cabinet_bytes(const char *inner, etl_bytes content, cabinet_kind kind);
void symbol_tree_cabinet(const symbol_tree *tree, const char *name, const char *inner,
                         const char *key);

bool symbol_tree_exists(const symbol_tree *tree, const char *name);

/* Whether the file at `path` is the symbol file of this build, whole. */
bool symbol_tree_is_symbol(const char *path, const char *key);

/* Files below a folder whose name ends with `suffix` ("": all). */
u32 symbol_tree_count(const symbol_tree *tree, const char *folder, const char *suffix);

/* A symbol_check_fn; `user` is the symbol_tree. */
symbol_verdict symbol_tree_check(void *user, const char *path, const symbol_key *key);

#endif
