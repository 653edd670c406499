/*
 * export_html_documents.c - the documents in an HTML page: answers of commands, as JSON.
 *
 * In: a result with all events. Out: the page's array `documents`. The page is that of a live view,
 * which asks commands for documents; here are those that it asks for as it opens, and for what its
 * lists can be switched to. What the page works out of its cells (export_html_data.c) is not here:
 * the table, the flame graph, the curve.
 *
 *     row of `rows` ──▶ question ──▶ engine, all of a kind at once ──▶ JSON writer ──▶ deflated
 *                  └──▶ options, as the command line has them
 *
 * A document is what the command prints with these options; tests/oracles/oracle_html.py runs them
 * all. So a row states keys, columns and order once, and both the query and the options are made of
 * it. Invariant: a document that does not fit its budget has fewer rows, and says so by its `top`.
 */
#include "export_html_documents.h"

#include "export_html_pack.h"
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

#include <stdio.h>
#include <stdlib.h>

#define TOGETHER_MAX    5u      /* questions; each keeps rows of all stacks until it is written */
#define DOCUMENT_BYTES  160000u /* of one, packed */
#define DOCUMENTS_BYTES 480000u /* of all */
#define KEYS_MAX        5u
#define COLUMNS_MAX     9u

#define MEASURE(name) ETLHEAP_MEASURE_BIT(name)

typedef etl_status write_fn(html_inquiry *inquiry, etl_error *err);

typedef struct document_row {
    const char *command;
    const char *view;  /* a flag of the command; NULL: none */
    const char *value; /* of the view */
    write_fn *write;
    etlheap_question_kind asks; /* ETLHEAP_ASK_EVENTS: nothing, the writer asks */
    etlheap_histogram_by by;
    size_t figures; /* of the query: the flag that the view sets; 0: none */
    u8 keys[KEYS_MAX];
    u8 key_count;
    bool names_keys;         /* otherwise they are those of the view */
    u8 columns[COLUMNS_MAX]; /* none: all that rows have */
    u8 column_count;
    bool has_sort, names_sort; /* otherwise by outstanding size */
    etlheap_measure sort;
    u32 top;
    u32 types;         /* bits of etlheap_type; 0: all */
    etlheap_tree tree; /* a tree of the stacks of frees */
    bool every;        /* by windows of the page's length */
    bool all_kinds;    /* one document, not one for each kind */
} document_row;

/* --- the list ---------------------------------------------------------------------------- */

#define SIZE_OF(...)      sizeof((const u8[]){ __VA_ARGS__ })
#define KEYS(...)         KEYS_OF_VIEW(__VA_ARGS__), .names_keys = true
#define KEYS_OF_VIEW(...) .keys = { __VA_ARGS__ }, .key_count = SIZE_OF(__VA_ARGS__)
#define COLUMNS(...)      .columns = { __VA_ARGS__ }, .column_count = SIZE_OF(__VA_ARGS__)
#define SORT(measure)     .has_sort = true, .names_sort = true, .sort = ETLHEAP_MEASURE_##measure
#define VIEW(name, flag)  .view = (name), .figures = offsetof(etlheap_query, flag)

#define CHURN(rows, ...)                                                                           \
    {                                                                                              \
        .command = "report", VIEW("churn", churn), .write = html_answer_report,                    \
        .asks = ETLHEAP_ASK_TABLE, KEYS(__VA_ARGS__),                                              \
        COLUMNS(ETLHEAP_MEASURE_ALLOC_COUNT, ETLHEAP_MEASURE_ALLOC_RATE,                           \
                ETLHEAP_MEASURE_ALLOC_SIZE, ETLHEAP_MEASURE_ALLOC_BYTES_RATE,                      \
                ETLHEAP_MEASURE_TEMPORARY_COUNT, ETLHEAP_MEASURE_TEMPORARY_10_COUNT,               \
                ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT),                                              \
        SORT(ALLOC_COUNT), .top = (rows)                                                           \
    }

#define FREE_COLUMNS                                                                               \
    COLUMNS(ETLHEAP_MEASURE_COUNT, ETLHEAP_MEASURE_SIZE, ETLHEAP_MEASURE_OUTSTANDING_SIZE,         \
            ETLHEAP_MEASURE_OUTSTANDING_COUNT, ETLHEAP_MEASURE_FREED_BY_OTHER)
#define FREED_TYPES ((1u << ETLHEAP_TYPE_AIFI) | (1u << ETLHEAP_TYPE_AOFI))

/* Of what was freed, by the stack that freed. The page asks for the same share of small nodes. */
#define TREE_MIN_PPM       2000u
#define TREE_PROCESSES_MAX 1000u
#define FREES_TREE(way)                                                                            \
    {                                                                                              \
        .command = "report", .write = html_answer_report, .asks = ETLHEAP_ASK_TABLE,               \
        KEYS(ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FREE_STACK), SORT(SIZE), .types = FREED_TYPES,       \
        .tree = (way)                                                                              \
    }
#define FREES(rows, ...)                                                                           \
    {                                                                                              \
        .command = "report", .write = html_answer_report, .asks = ETLHEAP_ASK_TABLE,               \
        KEYS(__VA_ARGS__), FREE_COLUMNS, SORT(COUNT), .top = (rows)                                \
    }

#define HISTOGRAM(word, number)                                                                    \
    {                                                                                              \
        .command = "report", .view = "histogram", .value = (word), .write = html_answer_histogram, \
        .asks = ETLHEAP_ASK_HISTOGRAM, .by = (number), KEYS(ETLHEAP_KEY_KIND),                     \
        COLUMNS(ETLHEAP_MEASURE_COUNT), .top = 1                                                   \
    }

#define LIST_ROWS     100u
#define STACK_ROWS    50u
#define PROCESSES_MAX 200u /* that a filter proposes */

static const document_row rows[] = {
    { .command = "info",
      .write = html_answer_info,
      .asks = ETLHEAP_ASK_EVENTS,
      .top = PROCESSES_MAX,
      .all_kinds = true },
    { .command = "report",
      .write = html_answer_report,
      .asks = ETLHEAP_ASK_TABLE,
      KEYS(ETLHEAP_KEY_KIND),
      COLUMNS(ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_OUTSTANDING_COUNT,
              ETLHEAP_MEASURE_IMPACTING_SIZE, ETLHEAP_MEASURE_PEAK_SIZE, ETLHEAP_MEASURE_PEAK_COUNT,
              ETLHEAP_MEASURE_ALLOC_SIZE, ETLHEAP_MEASURE_ALLOC_COUNT, ETLHEAP_MEASURE_FREED_SIZE,
              ETLHEAP_MEASURE_FREED_COUNT),
      .all_kinds = true },
    { .command = "report",
      .view = "map",
      .write = html_answer_map,
      .asks = ETLHEAP_ASK_MAP,
      .all_kinds = true },
    { .command = "windows",
      .view = "find-growth",
      .write = html_write_growth,
      .asks = ETLHEAP_ASK_EVENTS,
      .has_sort = true,
      .sort = ETLHEAP_MEASURE_PEAK_SIZE,
      KEYS_OF_VIEW(ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS),
      .every = true,
      .top = 25 },
    { .command = "report",
      VIEW("growth", growth),
      .write = html_answer_report,
      .asks = ETLHEAP_ASK_TABLE,
      KEYS(ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK),
      COLUMNS(ETLHEAP_MEASURE_GROWTH_RATE, ETLHEAP_MEASURE_STEADINESS,
              ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_OUTSTANDING_COUNT),
      SORT(GROWTH_RATE),
      .top = STACK_ROWS },
    { .command = "report",
      .view = "suspects",
      .write = html_answer_suspects,
      .asks = ETLHEAP_ASK_SUSPECTS,
      KEYS_OF_VIEW(ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE, ETLHEAP_KEY_STACK),
      .top = LIST_ROWS },
    { .command = "report",
      .view = "spikes",
      .write = html_answer_spikes,
      .asks = ETLHEAP_ASK_EVENTS,
      KEYS_OF_VIEW(ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK),
      .top = STACK_ROWS },
    CHURN(LIST_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE),
    CHURN(STACK_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK),
    CHURN(LIST_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_MODULE),
    CHURN(LIST_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_THREAD),
    CHURN(LIST_ROWS, ETLHEAP_KEY_PROCESS),
    CHURN(LIST_ROWS, ETLHEAP_KEY_SIZE_CLASS),
    { .command = "report",
      VIEW("pairs", freed_by_other),
      .write = html_answer_report,
      .asks = ETLHEAP_ASK_TABLE,
      KEYS_OF_VIEW(ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE, ETLHEAP_KEY_FREE_SITE),
      FREE_COLUMNS,
      SORT(COUNT),
      .top = LIST_ROWS },
    FREES(LIST_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FREE_SITE),
    FREES(STACK_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FREE_STACK),
    FREES(LIST_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FREE_MODULE),
    FREES(LIST_ROWS, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_THREAD, ETLHEAP_KEY_FREE_THREAD),
    { .command = "report",
      VIEW("unmatched", unmatched),
      .write = html_answer_report,
      .asks = ETLHEAP_ASK_TABLE,
      KEYS_OF_VIEW(ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP, ETLHEAP_KEY_FREE_STACK),
      .has_sort = true,
      .sort = ETLHEAP_MEASURE_COUNT,
      .top = STACK_ROWS },
    HISTOGRAM("size", ETLHEAP_HISTOGRAM_SIZE),
    HISTOGRAM("lifetime", ETLHEAP_HISTOGRAM_LIFETIME),
    { .command = "report",
      .write = html_answer_report,
      .asks = ETLHEAP_ASK_TABLE,
      KEYS(ETLHEAP_KEY_KIND),
      COLUMNS(ETLHEAP_MEASURE_COUNT),
      .top = 1 },
    { .command = "symbols", .write = html_answer_symbols, .asks = ETLHEAP_ASK_EVENTS },
    FREES_TREE(ETLHEAP_TREE_CALLEES),
    FREES_TREE(ETLHEAP_TREE_CALLERS),
};

#define ROW_COUNT ETL_COUNT_OF(rows)

/* --- questions --------------------------------------------------------------------------- */

static const etlheap_measure_set rates =
    MEASURE(ALLOC_COUNT) | MEASURE(ALLOC_SIZE) | MEASURE(ALLOC_RATE) | MEASURE(ALLOC_BYTES_RATE) |
    MEASURE(FREED_COUNT) | MEASURE(FREED_SIZE) | MEASURE(TEMPORARY_COUNT) |
    MEASURE(TEMPORARY_10_COUNT) | MEASURE(TEMPORARY_1MS_COUNT);
static const etlheap_measure_set peaks = MEASURE(PEAK_COUNT) | MEASURE(PEAK_SIZE);

static etlheap_measure_set columns_of(const document_row *row)
{
    etlheap_measure_set columns = 0;
    for (u32 i = 0; i < row->column_count; i++)
        columns |= (etlheap_measure_set)1 << row->columns[i];
    return columns;
}

/* Keys, and the figures that the view has of its own. */
static void set_view(const document_row *row, etlheap_query *query)
{
    query->group_by_count = row->key_count;
    for (u32 i = 0; i < row->key_count; i++)
        query->group_by[i] = (etlheap_key)row->keys[i];
    if (row->figures != 0)
        *(bool *)(void *)((char *)query + row->figures) = true;
    query->rates = query->churn;
}

static etlheap_measure sort_of(const document_row *row)
{
    return row->has_sort ? row->sort : ETLHEAP_MEASURE_OUTSTANDING_SIZE;
}

/* The selection of the request, without keys and figures. */
static etlheap_query selection_of(const html_answers *answers)
{
    const etlheap_query plain = etlheap_query_default();
    etlheap_query query = *answers->request->query;
    memcpy(query.group_by, plain.group_by, sizeof query.group_by);
    query.group_by_count = plain.group_by_count;
    query.types = 0;
    query.sort = plain.sort;
    query.sort_ascending = false;
    query.lifetime_ranks = query.growth = query.sums_only = query.alloc_times = false;
    query.rates = query.churn = query.freed_by_other = query.unmatched = query.heap_pages = false;
    return query;
}

static etlheap_layout layout_of(const document_row *row, const html_answers *answers)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.hint = answers->request->hint;
    layout.sort = sort_of(row);
    layout.tree = row->tree;
    layout.tree_min_ppm = row->tree != ETLHEAP_TREE_NONE ? TREE_MIN_PPM : layout.tree_min_ppm;
    memcpy(layout.columns, row->columns, row->column_count);
    layout.column_count = row->column_count;
    if (row->top > 0) {
        layout.rows_max = row->top;
        layout.rows_of_each_kind = false;
    }
    return layout;
}

/* A map is of the end of the window. */
static void set_moment(etlheap_query *query)
{
    query->sums_only = true;
    query->from_ns = INT64_MIN;
    query->at_end = query->to_ns != INT64_MAX;
}

/* `kinds`: a bit for each. */
static html_inquiry inquiry_of(const document_row *row, const html_answers *answers, u32 kinds)
{
    const etlheap_measure_set columns = columns_of(row);
    html_inquiry out = { .answers = answers, .query = selection_of(answers), .top = row->top };
    etlheap_query *const query = &out.query;
    etlheap_query plain = etlheap_query_default();
    out.layout = layout_of(row, answers);
    if (row->asks == ETLHEAP_ASK_MAP)
        set_moment(query);
    else
        query->kinds = kinds;
    query->types = row->types;
    if (row->key_count == 0)
        return out;
    set_view(row, query);
    set_view(row, &plain);
    query->sort = sort_of(row);
    query->rates |= (columns & rates) != 0;
    query->freed_by_other |= (columns & MEASURE(FREED_BY_OTHER)) != 0;
    out.layout.columns_beside = etlheap_query_measures(query) & ~etlheap_query_measures(&plain);
    query->sums_only = row->tree != ETLHEAP_TREE_NONE || (columns != 0 && (columns & peaks) == 0);
    return out;
}

/* Buckets are by process only if processes were selected. */
static etlheap_query spread_of(const etlheap_query *query)
{
    etlheap_query out = *query;
    out.group_by_count = query->process_count > 0 ? 1 : 0;
    out.group_by[0] = ETLHEAP_KEY_PROCESS;
    return out;
}

/* Of frees whose allocations are unknown only the process and the heap can be selected. */
static bool is_possible(const etlheap_query *query)
{
    const bool has_sizes = query->size_min_bytes > 0 || query->size_max_bytes < UINT64_MAX;
    const bool has_lifetimes = query->lifetime_min_ns > 0 || query->lifetime_max_ns < INT64_MAX;
    const bool has_frames = query->require_frame_count + query->exclude_frame_count > 0;
    return !query->unmatched || !(has_sizes || has_lifetimes || has_frames);
}

/* A tree has a root for each process, and the page shows all of it or none. */
static bool has_room(const document_row *row, const html_answers *answers)
{
    return row->tree == ETLHEAP_TREE_NONE ||
           etlheap_process_count(answers->request->result) <= TREE_PROCESSES_MAX;
}

/* Asks the questions of rows together, so that the events are read once for all of them. */
static etl_status ask(const document_row *const *asked, u32 count, html_inquiry *inquiries,
                      etl_error *err)
{
    static const etlheap_map_options map = { .size = sizeof map };
    etlheap_query queries[ROW_COUNT];
    etlheap_question questions[ROW_COUNT];
    etlheap_answer answers[ROW_COUNT];
    u32 question_of[ROW_COUNT], question_count = 0;
    for (u32 i = 0; i < count; i++) {
        const document_row *const row = asked[i];
        if (row->asks == ETLHEAP_ASK_EVENTS)
            continue;
        queries[i] = row->asks == ETLHEAP_ASK_HISTOGRAM ? spread_of(&inquiries[i].query)
                                                        : inquiries[i].query;
        question_of[question_count] = i;
        questions[question_count++] = (etlheap_question){ .size = sizeof questions[0],
                                                          .kind = row->asks,
                                                          .query = &queries[i],
                                                          .by = row->by,
                                                          .map = &map,
                                                          .optional = true };
    }
    const etl_status status =
        etlheap_ask(inquiries[0].answers->request->result, questions, question_count, answers, err);
    for (u32 i = 0; status == ETL_OK && i < question_count; i++)
        inquiries[question_of[i]].answer = answers[i];
    return status;
}

static bool is_answered(const document_row *row, const etlheap_answer *answer)
{
    return row->asks == ETLHEAP_ASK_EVENTS || answer->table || answer->histogram ||
           answer->suspects || answer->map;
}

/* --- documents --------------------------------------------------------------------------- */

typedef struct document_writer {
    const html_answers *answers;
    etlheap_json *json;
    etlheap_text packed; /* of one document */
    u64 budget;
} document_writer;

static void write_option(etlheap_json *json, const char *name, const char *value)
{
    etlheap_json_array(json, NULL);
    etlheap_json_string(json, NULL, name);
    etlheap_json_string(json, NULL, value);
    etlheap_json_array_close(json);
}

/* Empties the list. */
static void write_list_option(etlheap_json *json, const char *name, etlheap_text *list)
{
    if (list->size > 0)
        write_option(json, name, etlheap_text_of(list));
    etlheap_text_clear(list);
}

static void add_word(etlheap_text *list, const char *word)
{
    if (list->size > 0)
        etlheap_text_add_string(list, ",");
    etlheap_text_add_string(list, word);
}

/* Only of one kind, or of those that the page has. */
static bool has_kinds(const document_row *row)
{
    return row->asks != ETLHEAP_ASK_MAP && row->write != html_answer_info;
}

/* The processes that the answer is about, if they are not those of the request. */
static void write_processes(document_writer *w, const html_inquiry *inquiry, etlheap_text *list)
{
    for (u32 i = 0; i < inquiry->process_count; i++)
        add_word(list, inquiry->processes[i].text);
    write_list_option(w->json, "process", list);
}

static void write_tree_options(etlheap_json *json, const document_row *row)
{
    char share[ETLHEAP_UNITS_SIZE];
    snprintf(share, sizeof share, "%g", TREE_MIN_PPM / 1e4);
    write_option(json, "tree", row->tree == ETLHEAP_TREE_CALLERS ? "callers" : "");
    write_option(json, "tree-min", share);
    write_option(json, "type", "AIFI,AOFI");
}

/* As they are typed. Those of the request's own selection are not here: the page adds them. */
static void write_options(document_writer *w, const document_row *row, const html_inquiry *inquiry)
{
    etlheap_json *const json = w->json;
    etlheap_text list = { 0 };
    etlheap_json_array(json, "options");
    if (row->view)
        write_option(json, row->view, row->value ? row->value : "");
    for (u32 i = 0; row->names_keys && i < row->key_count; i++)
        add_word(&list, etlheap_key_word((etlheap_key)row->keys[i]));
    write_list_option(json, "group-by", &list);
    for (u32 i = 0; i < row->column_count; i++)
        add_word(&list, etlheap_measure_word((etlheap_measure)row->columns[i]));
    write_list_option(json, "columns", &list);
    if (row->names_sort)
        write_option(json, "sort", etlheap_measure_word(row->sort));
    if (row->tree != ETLHEAP_TREE_NONE)
        write_tree_options(json, row);
    if (inquiry->top > 0)
        etlheap_text_add_format(&list, "%u", (unsigned)inquiry->top);
    write_list_option(json, "top", &list);
    if (row->every)
        etlheap_text_add_format(&list, "%lldns", (long long)w->answers->kinds->every_ns);
    write_list_option(json, "every", &list);
    for (u32 kind = 0; has_kinds(row) && kind < ETLHEAP_KIND_COUNT; kind++) {
        if ((inquiry->query.kinds >> kind & 1) != 0)
            add_word(&list, etlheap_kind_name((etlheap_kind)kind));
    }
    write_list_option(json, "kind", &list);
    if (inquiry->query.at_end)
        etlheap_text_add_format(&list, "%lldns", (long long)inquiry->query.to_ns);
    write_list_option(json, "at", &list);
    write_processes(w, inquiry, &list);
    if (strcmp(row->command, "windows") == 0)
        write_option(json, "at-exit", inquiry->query.at_exit_freed ? "freed" : "leaked");
    etlheap_json_array_close(json);
    w->packed.failed |= list.failed;
    etlheap_text_free(&list);
}

/* Packs a document; false if it takes more than `most` bytes. */
static bool make_text(document_writer *w, const document_row *row, html_inquiry *inquiry, u64 most,
                      etl_status *status, etl_error *err)
{
    html_packer packer;
    etlheap_text_clear(&w->packed);
    *status = html_packer_open(&packer, most, err);
    if (*status != ETL_OK)
        return false;
    inquiry->sink = packer.sink;
    inquiry->layout.rows_max = inquiry->top > 0 ? inquiry->top : inquiry->layout.rows_max;
    *status = row->write(inquiry, err);
    if (*status != ETL_OK) {
        html_packer_discard(&packer);
        if (*status == ETL_ERR_MEMORY) /* writers of formats do not say it */
            (void)etl_no_memory(err);
        return false;
    }
    *status = html_packer_close(&packer, &w->packed, err);
    const bool fits = *status != ETL_ERR_CANCELLED;
    *status = fits ? *status : ETL_OK;
    return fits;
}

/* With fewer and fewer rows, until it fits; without any it is left out. */
static etl_status write_document(document_writer *w, const document_row *row, html_inquiry *inquiry,
                                 etl_error *err)
{
    const u64 most = etl_min_u64(DOCUMENT_BYTES, w->budget);
    etl_status status;
    bool fits = make_text(w, row, inquiry, most, &status, err);
    while (status == ETL_OK && !fits && inquiry->top > 2) {
        inquiry->top -= inquiry->top / 4 + 1;
        fits = make_text(w, row, inquiry, most, &status, err);
    }
    if (status != ETL_OK || !fits)
        return status;
    w->budget -= w->packed.size;
    etlheap_json_object(w->json, NULL);
    etlheap_json_string(w->json, "command", row->command);
    write_options(w, row, inquiry);
    etlheap_json_bool(w->json, "is_cut", inquiry->is_cut);
    etlheap_json_string(w->json, "deflated", etlheap_text_of(&w->packed));
    etlheap_json_object_close(w->json);
    return status;
}

/* What excluded frames leave out; NULL if there are none. */
static etl_status sum_excluded(const html_answers *answers, u32 kinds, etlheap_table **out,
                               etl_error *err)
{
    etlheap_query query = selection_of(answers);
    if (query.exclude_frame_count == 0)
        return ETL_OK;
    query.kinds = kinds;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by_count = 1;
    query.sums_only = query.only_excluded = true;
    query.fold_module_count = 0;
    return etlheap_aggregate(answers->request->result, &query, out, err);
}

/* Writes the documents of some kinds: of all together, or those of one. */
static etl_status write_documents(document_writer *w, u32 kinds, bool all_kinds, etl_error *err)
{
    const document_row *asked[ROW_COUNT];
    html_inquiry inquiries[ROW_COUNT];
    u32 count = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].all_kinds != all_kinds)
            continue;
        inquiries[count] = inquiry_of(&rows[i], w->answers, kinds);
        if (is_possible(&inquiries[count].query) && has_room(&rows[i], w->answers))
            asked[count++] = &rows[i];
    }
    etlheap_table *excluded = NULL;
    const etlheap_table *const *const borrowed = (const etlheap_table *const *)&excluded;
    etl_status status = sum_excluded(w->answers, kinds, &excluded, err);
    for (u32 i = 0; i < count; i++) {
        if (status == ETL_OK && i % TOGETHER_MAX == 0)
            status = ask(asked + i, (u32)etl_min_u64(count - i, TOGETHER_MAX), inquiries + i, err);
        inquiries[i].layout.excluded = borrowed;
        inquiries[i].layout.excluded_count = excluded ? 1 : 0;
        if (status == ETL_OK && is_answered(asked[i], &inquiries[i].answer))
            status = write_document(w, asked[i], &inquiries[i], err);
        etlheap_answers_free(&inquiries[i].answer, 1);
    }
    etlheap_table_free(excluded);
    return status;
}

etl_status html_documents_write(const html_answers *answers, etlheap_json *json, etl_error *err)
{
    const etlheap_table *const kinds = answers->kinds->table;
    document_writer w = { .answers = answers, .json = json, .budget = DOCUMENTS_BYTES };
    u32 all = 0;
    for (u32 i = 0; i < kinds->row_count; i++)
        all |= 1u << kinds->rows[i].kind;
    etlheap_json_array(json, "documents");
    etl_status status = write_documents(&w, all, true, err);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT && status == ETL_OK; kind++) {
        if ((all >> kind & 1) != 0)
            status = write_documents(&w, 1u << kind, false, err);
    }
    etlheap_json_array_close(json);
    if (status == ETL_OK && w.packed.failed)
        status = etl_no_memory(err);
    etlheap_text_free(&w.packed);
    return status;
}
