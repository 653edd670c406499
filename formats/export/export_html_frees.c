/*
 * export_html_frees.c - who freed, and how often is allocated, in an HTML report's document.
 * In: the answers about frees and churn. Out: members of the document:
 *
 *     frees       null if it is not known who freed, else
 *         has_stacks   whether some free has a call stack
 *         advice       what records these stacks
 *         totals       by kind: kind, freed_count, freed_by_other_count
 *         pairs, sites, modules, stacks    only with stacks; sums of lifetimes
 *         threads      sums of lifetimes
 *         unmatched    null if that is not asked, else frees without an allocation: counts
 *     churn       null if blocks have no times, else
 *         window_ns    what rates of totals are per second of
 *         totals, sites, modules, threads  sums of churn
 *         rates        {kind, process, ns}: the time that a process's rates here are about
 *     side_names  the texts that rows refer to by number, from 1; 0: none
 *
 * A list of sums has `rows`, of each kind the largest, and says how many are `hidden` of each kind
 * that has more. A row is an array:
 *
 *     kind (number of a text), process, keys, sums
 *
 * Keys are numbers of texts, threads (null: not known), or the numbers of a stack's frames,
 * innermost first. Sums of lifetimes are count, size, outstanding size, and how many another thread
 * freed than had allocated; those of churn are as the columns of `report --churn`: allocations,
 * their bytes, frees, their bytes, temporary blocks, their bytes, within 10, and within 1 ms.
 *
 * Invariant: every list is added up from the rows of a table, so one that is cut has exact sums.
 */
#include "export_html.h"

#include <stdlib.h>

#define SIDE_ROWS_MAX   400u
#define SIDE_STACKS_MAX 150u
#define SIDE_FRAMES_MAX 64u
#define SIDE_SUMS       8u

/* What a row is the sum of; without padding, as it is hashed. */
typedef struct side_key {
    u32 kind, process; /* numbers of texts */
    u32 first, second; /* likewise, or threads, or stacks */
} side_key;

typedef struct side_sum {
    i64 of[SIDE_SUMS];
    u32 number; /* of the key */
    u32 kind;
} side_sum;

/* Start from {0}. */
typedef struct side_list {
    export_numbers keys;
    side_sum *sums; /* by number of the key */
    u32 capacity;
    u32 used; /* sums of a row */
    u32 most; /* rows of a kind that are written */
    bool failed;
} side_list;

typedef struct side_writer {
    etlheap_json *json;
    etlheap_text *scratch;
    const html_answers *answers;
    export_numbers names;   /* all texts that sums were made by */
    export_numbers written; /* numbers of those that rows refer to: places in side_names */
    bool failed;
} side_writer;

/* What the keys of a list are. */
typedef enum side_place { SIDE_NOTHING, SIDE_TEXT, SIDE_THREAD, SIDE_STACK } side_place;

/* --- numbers of texts ------------------------------------------------------------------ */

/* From 1. */
static u32 number_of_text(side_writer *w, const char *text, size_t size)
{
    u32 number = 0;
    export_number_of(&w->names, (etl_bytes){ (const u8 *)text, size }, &number);
    return number + 1;
}

static u32 number_of_name(side_writer *w, const char *name)
{
    if (name == NULL)
        return 0;
    etlheap_text_clear(w->scratch);
    html_name_add(w->scratch, name);
    return number_of_text(w, etlheap_text_of(w->scratch), w->scratch->size);
}

static u32 number_of_frame(side_writer *w, const etlheap_table *table, u32 frame)
{
    etlheap_text text = { 0 };
    if (frame == ETLHEAP_NO_INDEX)
        return 0;
    etlheap_text_add_frame(&text, &table->frames[frame]);
    const u32 number = number_of_name(w, etlheap_text_of(&text));
    w->failed |= text.failed;
    etlheap_text_free(&text);
    return number;
}

static u32 number_of_module(side_writer *w, const etlheap_table *table, u32 frame)
{
    return frame == ETLHEAP_NO_INDEX ? 0 : number_of_name(w, table->frames[frame].module);
}

static void add_process(etlheap_text *text, const etlheap_row *row)
{
    etlheap_text_add_string(text, row->process);
    if (row->pid != ETL_NO_ID)
        etlheap_text_add_format(text, " (%u)", (unsigned)row->pid);
}

static side_key key_of(side_writer *w, const etlheap_row *row)
{
    etlheap_text text = { 0 };
    add_process(&text, row);
    const side_key key = { number_of_name(w, etlheap_kind_name((etlheap_kind)row->kind)),
                           number_of_name(w, etlheap_text_of(&text)), 0, 0 };
    w->failed |= text.failed;
    etlheap_text_free(&text);
    return key;
}

/* --- sums ------------------------------------------------------------------------------ */

static side_sum *sum_of(side_list *list, const side_key *key)
{
    u32 number = 0;
    const bool is_new =
        export_number_of(&list->keys, (etl_bytes){ (const u8 *)key, sizeof *key }, &number);
    if (is_new && number >= list->capacity) {
        const u32 capacity = list->capacity < 64 ? 64 : list->capacity * 2;
        side_sum *const sums = realloc(list->sums, capacity * sizeof *sums);
        list->failed |= sums == NULL;
        if (sums == NULL)
            return NULL;
        list->sums = sums;
        list->capacity = capacity;
    }
    list->failed |= list->keys.failed;
    if (list->failed)
        return NULL;
    if (is_new)
        list->sums[number] = (side_sum){ .number = number, .kind = key->kind };
    return &list->sums[number];
}

static void add_sums(const side_list *list, side_sum *sum, const i64 sums[SIDE_SUMS])
{
    for (u32 i = 0; sum != NULL && i < list->used; i++)
        sum->of[i] = etl_sat_add_i64(sum->of[i], sums[i]);
}

static void add_to(side_list *list, const side_key *key, const i64 sums[SIDE_SUMS])
{
    add_sums(list, sum_of(list, key), sums);
}

static void close_list(side_list *list)
{
    export_numbers_free(&list->keys);
    free(list->sums);
}

static int by_first_sum(const void *a, const void *b)
{
    const side_sum *const x = a, *const y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    for (u32 i = 0; i < 2; i++) {
        if (x->of[i] != y->of[i])
            return x->of[i] > y->of[i] ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

/* --- writing --------------------------------------------------------------------------- */

/* The place of a text in side_names, which has only the texts of rows that are written: most lists
 * are cut. */
static u32 place_of_text(side_writer *w, u32 number)
{
    u32 place = 0;
    if (number == 0)
        return 0;
    export_number_of(&w->written, (etl_bytes){ (const u8 *)&number, sizeof number }, &place);
    return place + 1;
}

static void write_stack(side_writer *w, const etlheap_table *table, u32 stack)
{
    const etlheap_row row = { .stack = stack };
    const etlheap_indices frames = etlheap_row_frames(table, &row);
    etlheap_json_array(w->json, NULL);
    for (u32 i = 0; i < frames.count && i < SIDE_FRAMES_MAX; i++)
        etlheap_json_u64(w->json, NULL, place_of_text(w, number_of_frame(w, table, frames.at[i])));
    etlheap_json_array_close(w->json);
}

static void write_key(side_writer *w, side_place place, const etlheap_table *table, u32 value)
{
    const u32 none = place == SIDE_STACK ? ETLHEAP_NO_INDEX : ETL_NO_ID;
    if (place == SIDE_NOTHING)
        return;
    if (place != SIDE_TEXT && value == none)
        etlheap_json_null(w->json, NULL);
    else if (place == SIDE_STACK)
        write_stack(w, table, value);
    else
        etlheap_json_u64(w->json, NULL, place == SIDE_TEXT ? place_of_text(w, value) : value);
}

static void write_row(side_writer *w, const side_list *list, const side_sum *sum,
                      const side_place places[2], const etlheap_table *table)
{
    side_key key;
    memcpy(&key, export_number_key(&list->keys, sum->number).at, sizeof key);
    etlheap_json_array(w->json, NULL);
    etlheap_json_u64(w->json, NULL, place_of_text(w, key.kind));
    etlheap_json_u64(w->json, NULL, place_of_text(w, key.process));
    write_key(w, places[0], table, key.first);
    write_key(w, places[1], table, key.second);
    for (u32 i = 0; i < list->used; i++)
        etlheap_json_i64(w->json, NULL, sum->of[i]);
    etlheap_json_array_close(w->json);
}

/* How many rows of a kind there are, from the first on. */
static u32 count_of_kind(const side_list *list, u32 first)
{
    u32 end = first;
    while (end < list->keys.count && list->sums[end].kind == list->sums[first].kind)
        end++;
    return end - first;
}

static void write_hidden(side_writer *w, const side_list *list)
{
    etlheap_text kind = { 0 };
    etlheap_json_object(w->json, "hidden");
    for (u32 first = 0; first < list->keys.count;) {
        const u32 count = count_of_kind(list, first);
        const etl_bytes name = export_number_key(&w->names, list->sums[first].kind - 1);
        etlheap_text_clear(&kind);
        etlheap_text_add(&kind, (const char *)name.at, name.size);
        if (count > list->most)
            etlheap_json_u64(w->json, etlheap_text_of(&kind), count - list->most);
        first += count;
    }
    etlheap_json_object_close(w->json);
    w->failed |= kind.failed;
    etlheap_text_free(&kind);
}

/* And empties the list. `table` has the stacks. */
static void write_list(side_writer *w, const char *name, side_list *list,
                       const side_place places[2], const etlheap_table *table)
{
    w->failed |= list->failed || w->names.failed; /* then numbers of texts mean nothing */
    if (w->failed)
        list->keys.count = 0;
    if (list->keys.count > 0)
        qsort(list->sums, list->keys.count, sizeof *list->sums, by_first_sum);
    etlheap_json_object(w->json, name);
    write_hidden(w, list);
    etlheap_json_array(w->json, "rows");
    for (u32 first = 0; first < list->keys.count;) {
        const u32 count = count_of_kind(list, first);
        for (u32 i = 0; i < count && i < list->most; i++)
            write_row(w, list, &list->sums[first + i], places, table);
        first += count;
    }
    etlheap_json_array_close(w->json);
    etlheap_json_object_close(w->json);
    close_list(list);
}

/* --- who freed ------------------------------------------------------------------------- */

static void sums_of_row(const etlheap_row *row, i64 out[SIDE_SUMS])
{
    out[0] = row->measures[ETLHEAP_MEASURE_COUNT];
    out[1] = row->measures[ETLHEAP_MEASURE_SIZE];
    out[2] = row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    out[3] = row->measures[ETLHEAP_MEASURE_FREED_BY_OTHER];
}

static void write_pairs(side_writer *w)
{
    static const side_place both[] = { SIDE_TEXT, SIDE_TEXT }, one[] = { SIDE_TEXT, SIDE_NOTHING };
    const etlheap_table *const table = w->answers->pairs;
    side_list pairs = { .used = 4, .most = SIDE_ROWS_MAX }, sites = pairs, modules = pairs;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        side_key key = key_of(w, row);
        i64 sums[SIDE_SUMS];
        sums_of_row(row, sums);
        key.first = number_of_frame(w, table, row->free_frame);
        add_to(&sites, &key, sums);
        key.second = key.first;
        key.first = number_of_frame(w, table, row->frame);
        add_to(&pairs, &key, sums);
        key.first = number_of_module(w, table, row->free_frame);
        key.second = 0;
        add_to(&modules, &key, sums);
    }
    write_list(w, "pairs", &pairs, both, table);
    write_list(w, "sites", &sites, one, table);
    write_list(w, "modules", &modules, one, table);
}

static void write_free_threads(side_writer *w)
{
    static const side_place places[] = { SIDE_THREAD, SIDE_THREAD };
    const etlheap_table *const table = w->answers->free_threads;
    side_list list = { .used = 4, .most = SIDE_ROWS_MAX };
    for (u32 i = 0; i < table->row_count; i++) {
        side_key key = key_of(w, &table->rows[i]);
        i64 sums[SIDE_SUMS];
        sums_of_row(&table->rows[i], sums);
        key.first = table->rows[i].thread;
        key.second = table->rows[i].free_thread;
        add_to(&list, &key, sums);
    }
    write_list(w, "threads", &list, places, table);
}

/* Of frees without an allocation only the count is known. */
static void write_free_stacks(side_writer *w, const char *name, const etlheap_table *table,
                              u32 used)
{
    static const side_place places[] = { SIDE_STACK, SIDE_NOTHING };
    side_list list = { .used = used, .most = SIDE_STACKS_MAX };
    for (u32 i = 0; i < table->row_count; i++) {
        side_key key = key_of(w, &table->rows[i]);
        i64 sums[SIDE_SUMS];
        sums_of_row(&table->rows[i], sums);
        key.first = table->rows[i].free_stack;
        add_to(&list, &key, sums);
    }
    write_list(w, name, &list, places, table);
}

static void write_total(side_writer *w, int kind, const i64 *measures, const etlheap_measure *which,
                        u32 count)
{
    etlheap_json_object(w->json, NULL);
    etlheap_json_string(w->json, "kind", etlheap_kind_name((etlheap_kind)kind));
    for (u32 i = 0; i < count; i++)
        etlheap_json_i64(w->json, etlheap_measure_word(which[i]), measures[which[i]]);
    etlheap_json_object_close(w->json);
}

static void write_totals(side_writer *w, const etlheap_measure *which, u32 count)
{
    const etlheap_table *const table = w->answers->free_threads;
    etlheap_json_array(w->json, "totals");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const i64 *const measures = table->totals[kind].measures;
        if (measures[ETLHEAP_MEASURE_COUNT] > 0)
            write_total(w, kind, measures, which, count);
    }
    etlheap_json_array_close(w->json);
}

static bool knows_who_freed(const etlheap_table *threads)
{
    return threads != NULL && (threads->measures >> ETLHEAP_MEASURE_FREED_BY_OTHER & 1) != 0;
}

static void write_who_freed(side_writer *w)
{
    static const etlheap_measure totals[] = { ETLHEAP_MEASURE_FREED_COUNT,
                                              ETLHEAP_MEASURE_FREED_BY_OTHER };
    const html_answers *const answers = w->answers;
    if (!knows_who_freed(answers->free_threads)) {
        etlheap_json_null(w->json, "frees");
        return;
    }
    etlheap_json_object(w->json, "frees");
    etlheap_json_bool(w->json, "has_stacks", answers->pairs != NULL);
    etlheap_json_string(w->json, "advice",
                        "-stackwalk HeapAlloc+HeapRealloc+HeapFree of xperf, and "
                        "VirtualAlloc+VirtualFree for ranges");
    write_totals(w, totals, ETL_COUNT_OF(totals));
    if (answers->pairs != NULL)
        write_pairs(w);
    if (answers->free_stacks != NULL)
        write_free_stacks(w, "stacks", answers->free_stacks, 4);
    write_free_threads(w);
    if (answers->unmatched != NULL)
        write_free_stacks(w, "unmatched", answers->unmatched, 1);
    else
        etlheap_json_null(w->json, "unmatched");
    etlheap_json_object_close(w->json);
}

/* --- churn ----------------------------------------------------------------------------- */

static const etlheap_measure temporary[] = {
    ETLHEAP_MEASURE_TEMPORARY_COUNT,
    ETLHEAP_MEASURE_TEMPORARY_SIZE,
    ETLHEAP_MEASURE_TEMPORARY_10_COUNT,
    ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT,
};

static void add_temporary(const etlheap_row *row, i64 out[SIDE_SUMS])
{
    for (size_t i = 0; i < ETL_COUNT_OF(temporary); i++)
        out[4 + i] = row->measures[temporary[i]];
}

/* What was allocated and freed inside the whole window follows from the types. */
static void churn_of_row(const etlheap_windows *windows, u32 index, u32 whole, i64 out[SIDE_SUMS])
{
    etlheap_cell cell;
    etlheap_windows_cell(windows, index, whole, &cell);
    out[0] = cell.count[ETLHEAP_TYPE_AIFI] + cell.count[ETLHEAP_TYPE_AIFO];
    out[1] = etl_sat_add_i64(cell.size[ETLHEAP_TYPE_AIFI], cell.size[ETLHEAP_TYPE_AIFO]);
    out[2] = cell.count[ETLHEAP_TYPE_AIFI] + cell.count[ETLHEAP_TYPE_AOFI];
    out[3] = etl_sat_add_i64(cell.size[ETLHEAP_TYPE_AIFI], cell.size[ETLHEAP_TYPE_AOFI]);
    add_temporary(&windows->table->rows[index], out);
}

static u32 innermost_of(const etlheap_table *table, const etlheap_row *row)
{
    if (row->stack == ETLHEAP_NO_INDEX)
        return ETLHEAP_NO_INDEX;
    const etlheap_indices frames = etlheap_row_frames(table, row);
    return frames.count == 0 ? ETLHEAP_NO_INDEX : frames.at[0];
}

/* Many rows have one site: its texts are made once, and the places of its sums are kept as long as
 * rows are of one process. */
typedef struct known_site {
    u32 site, module;  /* texts */
    u32 kind, process; /* of the key that the sums were found for */
    u32 site_sum, module_sum;
} known_site;

/* The site of a frame, with its texts. Without a frame it has none, and is not remembered. */
static known_site *site_of(side_writer *w, const etlheap_table *table, u32 frame, known_site *known)
{
    known_site *const own = &known[frame == ETLHEAP_NO_INDEX ? table->frame_count : frame];
    if (own->site == 0 && frame != ETLHEAP_NO_INDEX)
        *own = (known_site){
            number_of_frame(w, table, frame), number_of_module(w, table, frame), 0, 0, 0, 0
        };
    return own;
}

/* The lists of the sites and modules that allocate. */
typedef struct churn_lists {
    side_list sites, modules;
} churn_lists;

static void add_churn(churn_lists *lists, const side_key *key, known_site *own,
                      const i64 sums[SIDE_SUMS])
{
    if (own->kind != key->kind || own->process != key->process) {
        const side_key site = { key->kind, key->process, own->site, 0 };
        const side_key module = { key->kind, key->process, own->module, 0 };
        const side_sum *const site_sum = sum_of(&lists->sites, &site);
        const side_sum *const module_sum = sum_of(&lists->modules, &module);
        if (site_sum == NULL || module_sum == NULL)
            return;
        own->kind = key->kind;
        own->process = key->process;
        own->site_sum = site_sum->number;
        own->module_sum = module_sum->number;
    }
    add_sums(&lists->sites, &lists->sites.sums[own->site_sum], sums);
    add_sums(&lists->modules, &lists->modules.sums[own->module_sum], sums);
}

static void write_churn_of_code(side_writer *w)
{
    static const side_place places[] = { SIDE_TEXT, SIDE_NOTHING };
    const etlheap_windows *const windows = w->answers->rows;
    const etlheap_table *const table = windows->table;
    known_site *const known = calloc((size_t)table->frame_count + 1, sizeof *known);
    const side_list empty = { .used = SIDE_SUMS, .most = SIDE_ROWS_MAX };
    churn_lists lists = { empty, empty };
    side_key key = { 0, 0, 0, 0 };
    w->failed |= known == NULL;
    for (u32 i = 0; known != NULL && i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i], *const before = &table->rows[i - (i > 0)];
        known_site *const own = site_of(w, table, innermost_of(table, row), known);
        i64 sums[SIDE_SUMS];
        if (i == 0 || row->kind != before->kind || row->process != before->process ||
            row->pid != before->pid)
            key = key_of(w, row);
        churn_of_row(windows, i, w->answers->window_count, sums);
        if (sums[0] != 0 || sums[2] != 0)
            add_churn(&lists, &key, own, sums);
    }
    free(known);
    write_list(w, "sites", &lists.sites, places, table);
    write_list(w, "modules", &lists.modules, places, table);
}

static void write_churn_of_threads(side_writer *w)
{
    static const side_place places[] = { SIDE_THREAD, SIDE_NOTHING };
    const etlheap_table *const table = w->answers->free_threads;
    side_list list = { .used = SIDE_SUMS, .most = SIDE_ROWS_MAX };
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const i64 *const from = row->measures;
        i64 sums[SIDE_SUMS] = { from[ETLHEAP_MEASURE_ALLOC_COUNT], from[ETLHEAP_MEASURE_ALLOC_SIZE],
                                from[ETLHEAP_MEASURE_FREED_COUNT],
                                from[ETLHEAP_MEASURE_FREED_SIZE] };
        side_key key = key_of(w, row);
        add_temporary(row, sums);
        key.first = row->thread;
        if (sums[0] > 0 || sums[2] > 0)
            add_to(&list, &key, sums);
    }
    write_list(w, "threads", &list, places, table);
}

static void write_rate(side_writer *w, const etlheap_row *row, u32 number)
{
    const etl_bytes process = export_number_key(&w->names, number - 1);
    etlheap_json_object(w->json, NULL);
    etlheap_json_string(w->json, "kind", etlheap_kind_name((etlheap_kind)row->kind));
    etlheap_json_string_bytes(w->json, "process", (const char *)process.at, process.size);
    etlheap_json_i64(w->json, "ns", row->rates_ns);
    etlheap_json_object_close(w->json);
}

/* What the rates of a process's rows are per second of; rows of threads have all processes. Written
 * after the lists, for processes that they show: a trace may have a hundred thousand others. Each
 * process has the name that its rows have, so that the page finds it. */
static void write_rates(side_writer *w)
{
    const etlheap_table *const table = w->answers->free_threads;
    u32 *const kinds =
        calloc((size_t)w->names.count + 1, sizeof *kinds); /* by text: wanted still */
    w->failed |= kinds == NULL;
    for (u32 i = 0; kinds != NULL && i < w->written.count; i++) {
        u32 number;
        memcpy(&number, export_number_key(&w->written, i).at, sizeof number);
        kinds[number] = UINT32_MAX;
    }
    const u32 known = w->names.count;
    etlheap_json_array(w->json, "rates");
    for (u32 i = 0; kinds != NULL && i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const u32 number = key_of(w, row).process;
        if (number > known || (kinds[number] >> row->kind & 1) == 0)
            continue;
        kinds[number] &= ~(1u << row->kind);
        write_rate(w, row, number);
    }
    etlheap_json_array_close(w->json);
    free(kinds);
}

static void write_churn(side_writer *w)
{
    static const etlheap_measure totals[] = {
        ETLHEAP_MEASURE_ALLOC_COUNT,        ETLHEAP_MEASURE_ALLOC_SIZE,
        ETLHEAP_MEASURE_FREED_COUNT,        ETLHEAP_MEASURE_FREED_SIZE,
        ETLHEAP_MEASURE_TEMPORARY_COUNT,    ETLHEAP_MEASURE_TEMPORARY_SIZE,
        ETLHEAP_MEASURE_TEMPORARY_10_COUNT, ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT,
    };
    if (w->answers->free_threads == NULL) {
        etlheap_json_null(w->json, "churn");
        return;
    }
    etlheap_json_object(w->json, "churn");
    etlheap_json_i64(w->json, "window_ns", w->answers->free_threads->rates_ns);
    write_totals(w, totals, ETL_COUNT_OF(totals));
    write_churn_of_code(w);
    write_churn_of_threads(w);
    write_rates(w);
    etlheap_json_object_close(w->json);
}

void html_write_frees(etlheap_json *json, const html_answers *answers, etlheap_text *scratch)
{
    side_writer w = { .json = json, .scratch = scratch, .answers = answers };
    write_who_freed(&w);
    write_churn(&w);
    etlheap_json_array(json, "side_names");
    for (u32 i = 0; !w.names.failed && i < w.written.count; i++) {
        u32 number;
        memcpy(&number, export_number_key(&w.written, i).at, sizeof number);
        const etl_bytes name = export_number_key(&w.names, number - 1);
        etlheap_json_string_bytes(json, NULL, (const char *)name.at, name.size);
    }
    etlheap_json_array_close(json);
    scratch->failed |= w.failed || w.names.failed || w.written.failed;
    export_numbers_free(&w.written);
    export_numbers_free(&w.names);
}
