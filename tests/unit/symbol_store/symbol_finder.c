/*
 * symbol_finder.c - a symbol path over a tree of files, for the tests of finding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "symbol_finder.h"

#define TEXT_SIZE 2048

static const etl_guid wanted_guid = { { 0xcb, 0xfa, 0xb9, 0x1e, 0xc7, 0x04, 0x3c, 0x5d, 0xea, 0x71,
                                        0x60, 0x76, 0x4c, 0xd3, 0x33, 0xd0 } };

void symbol_finder_open(symbol_finder *f)
{
    *f = (symbol_finder){ .path = NULL };
    symbol_tree_open(&f->tree);
    snprintf(f->temporary_folder, sizeof f->temporary_folder, "%s/temporary", f->tree.root);
    snprintf(f->default_store, sizeof f->default_store, "%s/default", f->tree.root);
    if (mkdir(f->temporary_folder, 0777) != 0)
        abort();
    f->options = (symbol_path_options){ .temporary_folder = f->temporary_folder,
                                        .check = symbol_tree_check,
                                        .check_user = &f->tree };
}

void symbol_finder_close(symbol_finder *f)
{
    symbol_path_free(f->path);
    const u32 left = symbol_tree_count(&f->tree, "temporary", "");
    const u32 half_written = symbol_tree_count(&f->tree, "", ".new");
    symbol_tree_close(&f->tree);
    assert_int_equal(left, 0);
    assert_int_equal(half_written, 0);
}

int symbol_finder_set_up(void **state)
{
    symbol_finder *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    symbol_finder_open(f);
    *state = f;
    return 0;
}

int symbol_finder_tear_down(void **state)
{
    symbol_finder_close(*state);
    free(*state);
    return 0;
}

void symbol_finder_path(symbol_finder *f, const char *text)
{
    char expanded[TEXT_SIZE] = "";
    for (; *text; text++) {
        const size_t size = strlen(expanded);
        snprintf(expanded + size, sizeof expanded - size, *text == '%' ? "%s" : "%.1s",
                 *text == '%' ? f->tree.root : text);
    }
    symbol_path_free(f->path);
    f->path = NULL;
    assert_int_equal(symbol_path_open(expanded, &f->options, &f->path, NULL), ETL_OK);
}

symbol_key symbol_finder_key(const char *name)
{
    return (symbol_key){ .kind = SYMBOL_KIND_PDB, .name = name, .guid = wanted_guid, .age = 10 };
}

symbol_outcome symbol_finder_find(symbol_finder *f, symbol_key key)
{
    f->request = (symbol_request){ .key = key };
    f->diag = (etl_diag_counts){ { 0 } };
    assert_int_equal(symbol_path_find(f->path, &f->request, 1, &f->diag, NULL), ETL_OK);
    return f->request.outcome;
}

symbol_outcome symbol_finder_find_in(symbol_finder *f, const char *text)
{
    symbol_finder_path(f, text);
    return symbol_finder_find(f, symbol_finder_key("app.pdb"));
}

void symbol_finder_expect(const symbol_finder *f, const char *name)
{
    assert_int_equal(f->request.outcome, SYMBOL_FOUND);
    assert_string_equal(f->request.file, symbol_tree_path(&f->tree, name));
    assert_true(symbol_tree_is_symbol(f->request.file, FINDER_KEY));
}
