/*
 * many_list.h - the inputs of a batch, and the store of each.
 *
 * An input given by name becomes FOLDER/name.ehs. A file found in a given folder keeps its place
 * below it. Two inputs with the same store are a usage error, which is reported before any work.
 */
#ifndef CLI_MANY_LIST_H
#define CLI_MANY_LIST_H

#include "cli/options/options.h"
#include "cli/system/stamp.h"

typedef enum many_state {
    MANY_NOT_BEGUN, /* or stopped halfway */
    MANY_SKIPPED,   /* unchanged since an earlier run */
    MANY_DONE       /* stored or failed: see the run */
} many_state;

/* What an earlier run left of an item. */
typedef struct many_before {
    bool given;
    bool other_name; /* the store belongs to an input with another name */
    etlheap_verdict verdict;
    u64 input_bytes, output_bytes;
    etlheap_run_marks marks;
} many_before;

typedef struct many_item {
    char *file;                        /* as given, or found in a folder */
    char *output;                      /* relative to the folder of the stores */
    char *quoted_file, *quoted_output; /* as in the index */
    u64 bytes;                         /* 0: not known */
    many_before before;
    many_state state;
    etlheap_verdict verdict;
    etlheap_run_marks stamps; /* of a skipped item: the current ones */
    struct many_work *work;   /* during the work */
} many_item;

/* A quoted text and its item. */
typedef struct many_name {
    const char *text;
    u32 item;
} many_name;

typedef struct many_list {
    const char *folder; /* folder of the stores; borrowed */
    many_item *items;   /* in the order of the inputs; in folders by name */
    u32 count, capacity;
    many_name *by_file, *by_output; /* in order */
} many_list;

/* Makes the list. Returns an exit status, after writing a message. Free the list in any case. */
int cli_many_list_open(const cli_options *options, many_list *out);
void cli_many_list_free(many_list *list);

/* The item with this quoted name; NULL: none. */
many_item *cli_many_by_file(const many_list *list, etl_bytes quoted);
many_item *cli_many_by_output(const many_list *list, etl_bytes quoted);

/* Removes unfinished outputs of killed runs. */
void cli_many_remove_leftovers(const many_list *list);

/* Makes FOLDER/OUTPUT, owned by the caller; NULL if memory runs out. */
char *cli_many_path(const char *folder, const char *name);

/* --- of which it is made --------------------------------------------------------- */

/* Adds the traces in a folder and below it. Returns an exit status, after writing a message. */
int cli_many_add_folder(many_list *list, const char *path);

/* Adds a file that becomes FOLDER/name.ehs, replacing the suffix of the name. False if memory runs
 * out. */
bool cli_many_add(many_list *list, const char *file, const char *name);

/* Makes the text as in the index, owned by the caller; NULL if memory runs out. */
char *cli_many_quote(const char *text);

/* True if the name has this suffix, ignoring case. */
bool cli_has_ending(const char *name, const char *ending);

/* True if a file with this name is used when its folder is given: a trace, packed or not. */
bool cli_is_trace_name(const char *name);

#endif
