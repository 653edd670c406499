/*
 * many_list.c - finds the inputs of a batch and names the store of each.
 *
 * In: files and folders of the command line. Out: a list of inputs with the names of their
 * stores, in the order of the command line, files of a folder by name.
 *
 * Invariant: no two inputs have the same store, and no store would overwrite an input. Both are
 * checked before any work begins.
 */
#include "many_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "cli/messages.h"
#include "cli/overwrites.h"
#include "parser/system/files.h"

static int add_input(many_list *list, const char *path);
static bool index_items(many_list *list);
static int check_items(const cli_options *options, const many_list *list);

int cli_many_list_open(const cli_options *options, many_list *out)
{
    int status = CLI_EXIT_DONE;
    *out = (many_list){ .folder = options->out_dir };
    for (u32 i = 0; status == CLI_EXIT_DONE && i < options->inputs.count; i++)
        status = add_input(out, options->inputs.at[i]);
    if (status == CLI_EXIT_DONE && !index_items(out)) {
        cli_complain(NULL, "out of memory");
        status = CLI_EXIT_INPUT;
    }
    return status == CLI_EXIT_DONE ? check_items(options, out) : status;
}

void cli_many_list_free(many_list *list)
{
    for (u32 i = 0; i < list->count; i++) {
        free(list->items[i].file);
        free(list->items[i].output);
        free(list->items[i].quoted_file);
        free(list->items[i].quoted_output);
    }
    free(list->items);
    free(list->by_file);
    free(list->by_output);
    *list = (many_list){ 0 };
}

char *cli_many_path(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    const bool parted = folder[0] != '\0' && etl_path_is_separator(folder[strlen(folder) - 1]);
    char *const path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, parted ? "" : "/", name);
    return path;
}

static int add_input(many_list *list, const char *path)
{
    const char *name = path;
    if (cli_is_stdin(path)) {
        cli_complain(NULL, "--out-dir names each store after its file, so traces cannot come from "
                           "standard input; name files or folders");
        return CLI_EXIT_USAGE;
    }
    if (etl_path_kind_of(path) == ETL_PATH_FOLDER)
        return cli_many_add_folder(list, path);
    for (const char *c = path; *c != '\0'; c++) {
        if (etl_path_is_separator(*c))
            name = c + 1;
    }
    if (cli_many_add(list, path, name))
        return CLI_EXIT_DONE;
    cli_complain(NULL, "out of memory");
    return CLI_EXIT_INPUT;
}

/* --- items ------------------------------------------------------------------------ */

bool cli_has_ending(const char *name, const char *ending)
{
    const size_t size = strlen(name), end = strlen(ending);
    return size > end && strcasecmp(name + size - end, ending) == 0;
}

/* The endings of files to take from a folder. An ending comes before shorter ones that it ends
 * in. */
static const char *const trace_endings[] = { ".etl.zip", ".etl.gz", ".etl.zst", ".diagsession",
                                             ".etl" };
/* Further endings that are cut off a name. */
static const char *const other_endings[] = { ".ehs.gz", ".ehs.zst", ".ehs", ".zip", ".gz", ".zst" };

/* The length of the first listed ending that the name has; 0 if it has none. */
static size_t ending_of(const char *name, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cli_has_ending(name, endings[i]))
            return strlen(endings[i]);
    }
    return 0;
}

bool cli_is_trace_name(const char *name)
{
    return ending_of(name, trace_endings, ETL_COUNT_OF(trace_endings)) > 0;
}

/* app.etl, app.etl.zip, app.ehs and app.ehs.gz become app.ehs. */
static char *output_of(const char *name)
{
    size_t cut = ending_of(name, trace_endings, ETL_COUNT_OF(trace_endings));
    if (cut == 0)
        cut = ending_of(name, other_endings, ETL_COUNT_OF(other_endings));
    const size_t size = strlen(name) - cut;
    char *const output = malloc(size + sizeof ".ehs");
    if (output)
        snprintf(output, size + sizeof ".ehs", "%.*s.ehs", (int)size, name);
    return output;
}

char *cli_many_quote(const char *text)
{
    etlheap_text quoted = { 0 };
    etlheap_run_quote(text, &quoted);
    if (quoted.failed)
        etlheap_text_free(&quoted);
    return quoted.bytes;
}

bool cli_many_add(many_list *list, const char *file, const char *name)
{
    cli_stamp stamp;
    if (list->count == list->capacity) {
        const u32 capacity = list->capacity < 64 ? 64 : list->capacity * 2;
        many_item *const items = realloc(list->items, capacity * sizeof *items);
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    many_item *const item = &list->items[list->count++];
    *item = (many_item){ .file = strdup(file), .output = output_of(name) };
    if (!item->file || !item->output)
        return false;
    if (cli_stamp_take(file, &stamp, NULL) == ETL_OK)
        item->bytes = stamp.size_bytes;
    item->quoted_file = cli_many_quote(item->file);
    item->quoted_output = cli_many_quote(item->output);
    return item->quoted_file && item->quoted_output;
}

/* --- finding ---------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    const many_name *const x = a, *const y = b;
    const int order = strcmp(x->text, y->text);
    return order != 0 ? order : (x->item > y->item) - (x->item < y->item);
}

static bool index_items(many_list *list)
{
    list->by_file = calloc((size_t)list->count + 1, sizeof *list->by_file);
    list->by_output = calloc((size_t)list->count + 1, sizeof *list->by_output);
    if (!list->by_file || !list->by_output)
        return false;
    for (u32 i = 0; i < list->count; i++) {
        list->by_file[i] = (many_name){ list->items[i].quoted_file, i };
        list->by_output[i] = (many_name){ list->items[i].quoted_output, i };
    }
    qsort(list->by_file, list->count, sizeof *list->by_file, by_text);
    qsort(list->by_output, list->count, sizeof *list->by_output, by_text);
    return true;
}

static many_item *find(const many_list *list, const many_name *names, etl_bytes text)
{
    u32 low = 0, high = list->count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        const char *const name = names[middle].text;
        const size_t size = strlen(name);
        const int order = memcmp(name, text.at, etl_min_u64(size, text.size));
        if (order == 0 && size == text.size)
            return &list->items[names[middle].item];
        if (order < 0 || (order == 0 && size < text.size))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

many_item *cli_many_by_file(const many_list *list, etl_bytes quoted)
{
    return find(list, list->by_file, quoted);
}

many_item *cli_many_by_output(const many_list *list, etl_bytes quoted)
{
    return find(list, list->by_output, quoted);
}

static int complain_of_clash(const many_list *list, const many_item *a, const many_item *b)
{
    char message[400];
    if (etl_path_is_same(a->file, b->file))
        snprintf(message, sizeof message, "given twice; name it once");
    else
        snprintf(message, sizeof message,
                 "its store would be %.100s in %.80s, like that of %.100s; name the folder that "
                 "both are in, or use another --out-dir for one of them",
                 b->output, list->folder, a->file);
    cli_complain(b->file, message);
    return CLI_EXIT_USAGE;
}

/* Refuses two items with one output; the message names the second item. */
static int check_names(const many_list *list)
{
    for (u32 i = 1; i < list->count; i++) {
        const many_item *const item = &list->items[list->by_output[i].item];
        const many_item *const last = &list->items[list->by_output[i - 1].item];
        if (strcmp(item->quoted_output, last->quoted_output) == 0)
            return complain_of_clash(list, last, item);
    }
    return CLI_EXIT_DONE;
}

/* --- what would be overwritten ------------------------------------------------------ */

/* A file that the batch reads or writes. */
typedef struct many_file {
    cli_file_id id;
    const char *input; /* name of the input; of a store, the input it is made of */
    bool is_store;
} many_file;

static int by_id(const void *a, const void *b)
{
    const many_file *const x = a, *const y = b;
    const int order = cli_file_id_compare(&x->id, &y->id);
    return order != 0 ? order : (int)y->is_store - (int)x->is_store;
}

/* Lists the stores that exist; without any, nothing can be overwritten. */
static u32 list_stores(const many_list *list, many_file *files)
{
    u32 count = 0;
    for (u32 i = 0; i < list->count; i++) {
        const many_item *const item = &list->items[i];
        char *const path = cli_many_path(list->folder, item->output);
        const cli_file_id id = path ? cli_file_id_of(path) : (cli_file_id){ .exists = false };
        if (id.exists)
            files[count++] = (many_file){ id, item->file, true };
        free(path);
    }
    return count;
}

static void add_file(const char *name, many_file *files, u32 *count)
{
    const cli_file_id id = cli_file_id_of(name);
    if (id.exists)
        files[(*count)++] = (many_file){ id, name, false };
}

/* The index is written, too. */
static int complain_of_overwriting(const many_file *store, const many_file *other)
{
    char message[320];
    if (!store->input)
        snprintf(message, sizeof message, "the index of --out-dir would overwrite it");
    else if (strcmp(store->input, other->input) == 0)
        snprintf(message, sizeof message, "its summary would overwrite it; use another --out-dir");
    else
        snprintf(message, sizeof message,
                 "the store of %.160s would overwrite %s; use another "
                 "--out-dir",
                 store->input, other->is_store ? "its store" : "it");
    cli_complain(other->input ? other->input : store->input, message);
    return CLI_EXIT_USAGE;
}

/* Refuses a store that is an input, or another store, under another name or through a link. */
static int check_files(const cli_options *options, const many_list *list)
{
    const size_t most = 2 * (size_t)list->count + options->given.count + 1;
    many_file *const files = calloc(most, sizeof *files);
    char *const index = cli_many_path(list->folder, ETLHEAP_RUNS_NAME);
    int exit_status = files && index ? CLI_EXIT_DONE : CLI_EXIT_INPUT;
    u32 count = exit_status == CLI_EXIT_DONE ? list_stores(list, files) : 0;
    const cli_file_id index_id = index ? cli_file_id_of(index) : (cli_file_id){ .exists = false };
    if (index_id.exists)
        files[count++] = (many_file){ index_id, NULL, true };
    for (u32 i = 0; i < list->count && count > 0; i++)
        add_file(list->items[i].file, files, &count);
    for (u32 i = 0; i < options->given.count && count > 0; i++) {
        const char *const file = cli_input_file_of(&options->given.at[i]);
        if (file)
            add_file(file, files, &count);
    }
    if (count > 0)
        qsort(files, count, sizeof *files, by_id);
    for (u32 i = 1; i < count && exit_status == CLI_EXIT_DONE; i++) {
        if (files[i - 1].is_store && cli_file_id_compare(&files[i - 1].id, &files[i].id) == 0)
            exit_status = complain_of_overwriting(&files[i - 1], &files[i]);
    }
    if (!files || !index)
        cli_complain(NULL, "out of memory");
    free(index);
    free(files);
    return exit_status;
}

static int check_items(const cli_options *options, const many_list *list)
{
    const int exit_status = check_names(list);
    return exit_status == CLI_EXIT_DONE ? check_files(options, list) : exit_status;
}
