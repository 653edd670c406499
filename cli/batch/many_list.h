/*
 * many_list.h - the inputs of a batch, and the store that each becomes.
 *
 * An input named by itself becomes FOLDER/name.ehs; what is found in a folder that
 * was named keeps its place below it. Two inputs that would become one store are a
 * usage error, before anything is done.
 */
#ifndef CLI_MANY_LIST_H
#define CLI_MANY_LIST_H

#include "cli/options/options.h"
#include "cli/system/stamp.h"

typedef enum many_state {
    MANY_NOT_BEGUN, /* or given up halfway */
    MANY_SKIPPED,   /* as it was after an earlier run */
    MANY_DONE       /* stored or failed: the run says which */
} many_state;

/* What an earlier run left. */
typedef struct many_before {
    bool given;
    bool other_name; /* the store is of an input of another name */
    etlheap_verdict verdict;
    u64 input_bytes, output_bytes;
    etlheap_run_marks marks;
} many_before;

typedef struct many_item {
    char *file;                        /* as given, or found in a folder */
    char *output;                      /* relative to the folder of the stores */
    char *quoted_file, *quoted_output; /* as they stand in the index */
    u64 bytes;                         /* 0: not known */
    many_before before;
    many_state state;
    etlheap_verdict verdict;
    etlheap_run_marks stamps; /* of a skipped one, as they are now */
    struct many_work *work;   /* while it is worked on */
} many_item;

/* A quoted text, and the item that has it. */
typedef struct many_name {
    const char *text;
    u32 item;
} many_name;

typedef struct many_list {
    const char *folder; /* of the stores; borrowed */
    many_item *items;   /* in the order of the inputs, folders by name */
    u32 count, capacity;
    many_name *by_file, *by_output; /* in order */
} many_list;

/* Returns an exit status, having complained. The list is to be freed in any case. */
int cli_many_list_open(const cli_options *options, many_list *out);
void cli_many_list_free(many_list *list);

/* The item of that text; NULL: none. */
many_item *cli_many_by_file(const many_list *list, etl_bytes quoted);
many_item *cli_many_by_output(const many_list *list, etl_bytes quoted);

/* Removes what killed runs left of the outputs on the list. */
void cli_many_remove_leftovers(const many_list *list);

/* FOLDER/OUTPUT, owned by the caller; NULL without memory. */
char *cli_many_path(const char *folder, const char *name);

/* --- of which it is made --------------------------------------------------------- */

/* Adds the traces in a folder and those below it. Returns an exit status, having
 * complained. */
int cli_many_add_folder(many_list *list, const char *path);

/* Adds a file that becomes FOLDER/name.ehs, whatever ending the name has now. False
 * without memory. */
bool cli_many_add(many_list *list, const char *file, const char *name);

/* The text as the index has it, owned by the caller; NULL without memory. */
char *cli_many_quote(const char *text);

/* Letters of an ending match in either case. */
bool cli_has_ending(const char *name, const char *ending);

/* Whether a file of this name is taken when a folder is given: a trace, packed or not. */
bool cli_is_trace_name(const char *name);

#endif
