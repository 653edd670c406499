/*
 * export_perfview.c - writes stacks for PerfView: a .perfView.xml.zip, which PerfView opens
 * directly.
 *
 * In: rows of sums, or lifetimes. Out: a zip with one XML document:
 *
 *     StackWindow/StackSource
 *       Frames/Frame    ID, the text "module!symbol"
 *       Stacks/Stack    ID, CallerID (-1: nobody), FrameID
 *       Samples/Sample  ID, Time in ms, StackID, Metric
 *     StackWindow/StackWindowGuiState
 *                       see perfview_state.c
 *
 * Source: microsoft/perfview, XmlStackSourceWriter and XmlStackSource.
 *
 * The outermost frame is the kind, because kinds must not be added up; the next is the process. A
 * sample is the sum of a stack at the end of the window or, for lifetimes, one of them at the time
 * of its allocation. The document states counts before items, so everything is gone through twice.
 *
 * Invariant: metrics are bytes. PerfView reads them as 32-bit floating point numbers, and writes
 * them as 32-bit integers when it saves a view; most sums would be rounded by the one and large
 * ones broken by the other. So a sum is cut into samples that both can hold: what is below 2^24 is
 * exact; the rest is a multiple of 2^24, in parts of at most 127 times that.
 *
 *     5,000,000,003  =  127 * 2^24  +  127 * 2^24  +  44 * 2^24  +  434,179
 *
 * A damaged size would take millions of such samples. If parts add more than FINE_PARTS_MAX samples
 * to a document, sizes are cut as PerfView's floating point numbers need it, into at most three
 * samples each. All sums are still exact; only a view that PerfView saves itself has some of them
 * broken.
 */
#include "formats/io/xml.h"
#include "formats/io/zip_output.h"
#include "formats/parts/allocation_rows.h"
#include "formats/parts/export_numbers.h"
#include "export_samples.h"
#include "export_tree.h"
#include "export_writers.h"
#include "perfview_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MEMBER_NAME    "etlheap.perfView.xml" /* PerfView wants one member of any name */
#define EXACT_BITS     24u
#define EXACT_BYTES    ((u64)1 << EXACT_BITS)
#define PART_BYTES     (127 * EXACT_BYTES) /* the largest multiple below 2^31 */
#define ID_COUNT_MAX   ((u64)INT32_MAX)
#define FINE_PARTS_MAX ((u64)1 << 16) /* 127 TiB in samples that fit 32 bits */
#define ROWS_PER_LOOK  1024u          /* at whether the writing is to go on */
#define NO_NUMBER      UINT32_MAX
#define NS_PER_US      1000
#define US_PER_MS      1000

/* The document states counts before items, so there are two passes. */
typedef enum perfview_pass { PASS_COUNTING, PASS_WRITING } perfview_pass;

typedef struct perfview_writer {
    const etlheap_export_request *request;
    etlheap_sink *sink;
    perfview_pass pass;
    etlheap_xml xml;
    export_numbers frames; /* their texts */
    export_tree tree;
    u32 *numbers; /* of the frames of the table at hand; NO_NUMBER: not in use yet */
    u32 number_count, number_capacity;
    etlheap_text text;
    u64 sample_count; /* counted; of the cut that is chosen */
    u64 coarse_count; /* counted, if sizes are cut coarsely */
    bool is_coarse;
    u32 rows_unasked;   /* since the sink's watcher was asked */
    u64 sample_id;      /* of the next one to be written */
    i64 from_ns, to_ns; /* of the window */
    bool failed;        /* out of memory */
} perfview_writer;

/* The source of samples: rows of sums, or lifetimes. */
typedef struct perfview_source {
    export_samples samples;
    etlheap_query query;
    i64 moments[ETLHEAP_KIND_CAPACITY];
} perfview_source;

static etl_status open_source(const etlheap_export_request *request, perfview_source *source,
                              etl_error *err);
static etl_status go_through(perfview_writer *w, perfview_pass pass, const perfview_source *source,
                             etl_error *err);
static void go_through_sums(perfview_writer *w, const export_samples *samples);
static etl_status go_through_lifetimes(perfview_writer *w, const etlheap_query *query,
                                       etl_error *err);
static etl_status write_document(perfview_writer *w, const perfview_source *source,
                                 etlheap_sink *sink, etl_error *err);
static void write_elements(perfview_writer *w);
static void take(perfview_writer *w, const etlheap_table *table, const etlheap_row *row,
                 i64 time_ns, u64 size_bytes);
static u32 node_of(perfview_writer *w, const etlheap_table *table, const etlheap_row *row);
static const u32 *numbers_of(perfview_writer *w, const etlheap_table *table,
                             etlheap_indices frames);
static u32 number_of_text(perfview_writer *w);
static void add_frame(etlheap_text *text, const etlheap_frame *frame);
static void write_sample(perfview_writer *w, u32 node, i64 time_ns, u64 size_bytes);

/* A fine cut, unless damaged sizes would fill the document. */
static void choose_cut(perfview_writer *w)
{
    w->is_coarse = w->sample_count > etl_sat_add_u64(w->coarse_count, FINE_PARTS_MAX);
    if (w->is_coarse)
        w->sample_count = w->coarse_count;
}

/* Rows need not write anything: the first pass only counts. */
static bool may_go_on(perfview_writer *w)
{
    return w->rows_unasked++ % ROWS_PER_LOOK != 0 ? etlheap_sink_ok(w->sink)
                                                  : etlheap_sink_goes_on(w->sink);
}

etl_status etlheap_export_perfview(const etlheap_export_request *request, etlheap_sink *sink,
                                   etl_error *err)
{
    perfview_writer w = { .request = request, .sink = sink };
    perfview_source source = { .samples.table = NULL };
    etl_status status = open_source(request, &source, err);
    if (status == ETL_OK)
        status = go_through(&w, PASS_COUNTING, &source, err);
    choose_cut(&w);
    if (status == ETL_OK && (w.sample_count > ID_COUNT_MAX || w.frames.count > ID_COUNT_MAX ||
                             export_tree_count(&w.tree) > ID_COUNT_MAX))
        status = etl_fail_hint(err, ETL_ERR_LIMIT, ETL_HINT_SUMS,
                               "PerfView reads at most 2,147,483,647 samples; select less");
    if (status == ETL_OK)
        status = write_document(&w, &source, sink, err);
    export_samples_close(&source.samples);
    export_tree_free(&w.tree);
    export_numbers_free(&w.frames);
    etlheap_text_free(&w.text);
    free(w.numbers);
    return status;
}

static etl_status open_source(const etlheap_export_request *request, perfview_source *source,
                              etl_error *err)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK };
    return request->rows
               ? export_samples_select(request, &source->query, source->moments, err)
               : export_samples_open(request, keys, ETL_COUNT_OF(keys), &source->samples, err);
}

static etl_status go_through(perfview_writer *w, perfview_pass pass, const perfview_source *source,
                             etl_error *err)
{
    etl_status status = ETL_OK;
    w->pass = pass;
    export_tree_next_table(&w->tree);
    w->number_count = 0;
    if (w->request->rows)
        status = go_through_lifetimes(w, &source->query, err);
    else
        go_through_sums(w, &source->samples);
    w->failed |= w->frames.failed || w->tree.failed || w->text.failed;
    if (status == ETL_OK && w->failed)
        return etl_no_memory(err);
    return status;
}

static void go_through_sums(perfview_writer *w, const export_samples *samples)
{
    const etlheap_table *const table = samples->table;
    w->from_ns = table->from_ns;
    w->to_ns = table->to_ns;
    for (u32 i = 0; i < table->row_count && may_go_on(w); i++) {
        const etlheap_row *const row = &table->rows[i];
        const i64 size = export_size(samples, row);
        if (export_count(samples, row) > 0)
            take(w, table, row, table->totals[row->kind].to_ns, size > 0 ? (u64)size : 0);
    }
}

static etl_status go_through_lifetimes(perfview_writer *w, const etlheap_query *query,
                                       etl_error *err)
{
    const etlheap_lifetimes_options options = {
        .size = sizeof options,
        .sort = ETLHEAP_LIFETIME_ALLOC_TIME,
        .memory_bytes_max = w->request->memory_bytes_max,
        .progress = w->request->progress,
        .progress_user = w->request->progress_user,
    };
    etlheap_lifetimes *walk;
    etlheap_lifetime lifetime;
    etl_status status = etlheap_lifetimes_open(w->request->result, query, &options, &walk, err);
    if (status != ETL_OK)
        return status;
    w->from_ns = etlheap_lifetimes_table(walk)->from_ns;
    w->to_ns = etlheap_lifetimes_table(walk)->to_ns;
    while (!w->failed && may_go_on(w) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_table *const table = etlheap_lifetimes_table(walk);
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        const bool is_before = lifetime.alloc_ns == INT64_MIN;
        take(w, table, &row, is_before ? table->from_ns : lifetime.alloc_ns, lifetime.size_bytes);
    }
    status = etlheap_lifetimes_status(walk, err);
    etlheap_lifetimes_close(walk);
    return status;
}

/* --- the document -------------------------------------------------------------------- */

static etl_status write_document(perfview_writer *w, const perfview_source *source,
                                 etlheap_sink *sink, etl_error *err)
{
    etlheap_zip_output zip;
    etl_status status = etlheap_zip_begin(sink, MEMBER_NAME, &zip);
    if (status != ETL_OK)
        return etl_fail_with(err, status, 0, "out of memory");
    w->xml = etlheap_xml_begin_to(etlheap_zip_put, &zip);
    etlheap_xml_element(&w->xml, "StackWindow");
    etlheap_xml_element(&w->xml, "StackSource");
    write_elements(w);
    etlheap_xml_element(&w->xml, "Samples");
    etlheap_xml_attribute_u64(&w->xml, "Count", w->sample_count);
    status = go_through(w, PASS_WRITING, source, err);
    assert(status != ETL_OK || w->sample_id == w->sample_count || !etlheap_sink_ok(sink));
    etlheap_xml_close(&w->xml);
    etlheap_xml_close(&w->xml);
    const perfview_notes notes = {
        .trace = etlheap_result_trace(w->request->result),
        .metric = w->request->metric,
        .rows = w->request->rows,
        .from_ns = w->from_ns,
        .to_ns = w->to_ns,
        .sample_count = w->sample_count,
    };
    perfview_write_state(&w->xml, &notes);
    etlheap_xml_close(&w->xml);
    const etl_status written = etlheap_xml_end(&w->xml);
    const etl_status packed = etlheap_zip_end(&zip);
    if (status == ETL_OK && written != ETL_OK)
        status = etl_fail_with(err, written, 0, "out of memory");
    if (status == ETL_OK && packed != ETL_OK)
        status = etl_fail_hint(err, packed, ETL_HINT_SUMS,
                               "the file for PerfView would be larger than 4 GiB; select less");
    return status;
}

/* Writes frames and stacks; all are known after the counting pass. */
static void write_elements(perfview_writer *w)
{
    etlheap_xml_element(&w->xml, "Frames");
    etlheap_xml_attribute_u64(&w->xml, "Count", w->frames.count);
    for (u32 i = 0; i < w->frames.count && etlheap_sink_ok(w->sink); i++) {
        etlheap_xml_element(&w->xml, "Frame");
        etlheap_xml_attribute_u64(&w->xml, "ID", i);
        /* The terminator is part of the key. */
        etlheap_xml_text(&w->xml, (const char *)export_number_key(&w->frames, i).at);
        etlheap_xml_close(&w->xml);
    }
    etlheap_xml_close(&w->xml);
    etlheap_xml_element(&w->xml, "Stacks");
    etlheap_xml_attribute_u64(&w->xml, "Count", export_tree_count(&w->tree));
    for (u32 i = 0; i < export_tree_count(&w->tree) && etlheap_sink_ok(w->sink); i++) {
        const u32 caller = export_tree_parent(&w->tree, i);
        etlheap_xml_element(&w->xml, "Stack");
        etlheap_xml_attribute_u64(&w->xml, "ID", i);
        etlheap_xml_attribute_i64(&w->xml, "CallerID", caller == EXPORT_NO_NODE ? -1 : (i64)caller);
        etlheap_xml_attribute_u64(&w->xml, "FrameID", export_tree_frame(&w->tree, i));
        etlheap_xml_close(&w->xml);
    }
    etlheap_xml_close(&w->xml);
}

/* Of a multiple of EXACT_BYTES: what a floating point number holds beside the rest of it. */
static u64 low_part(u64 rest)
{
    return rest % (EXACT_BYTES << EXACT_BITS);
}

/* The next part of a multiple of EXACT_BYTES: what one sample can hold. */
static u64 part_of(const perfview_writer *w, u64 rest)
{
    if (!w->is_coarse)
        return etl_min_u64(rest, PART_BYTES);
    return rest > low_part(rest) ? rest - low_part(rest) : rest;
}

/* Takes one row or lifetime, also one of size 0. */
static void take(perfview_writer *w, const etlheap_table *table, const etlheap_row *row,
                 i64 time_ns, u64 size_bytes)
{
    const u32 node = node_of(w, table, row);
    const u64 exact = size_bytes % EXACT_BYTES;
    u64 rest = size_bytes - exact;
    if (w->pass == PASS_COUNTING) {
        w->sample_count += rest / PART_BYTES + (rest % PART_BYTES > 0) + (exact > 0 || rest == 0);
        w->coarse_count += (u64)(low_part(rest) > 0) + (rest > low_part(rest));
        w->coarse_count += exact > 0 || rest == 0;
        return;
    }
    while (rest > 0) {
        const u64 part = part_of(w, rest);
        write_sample(w, node, time_ns, part);
        rest -= part;
    }
    if (exact > 0 || size_bytes == 0)
        write_sample(w, node, time_ns, exact);
}

static u32 node_of(perfview_writer *w, const etlheap_table *table, const etlheap_row *row)
{
    etlheap_text_clear(&w->text);
    etlheap_text_add_string(&w->text, etlheap_kind_name((etlheap_kind)row->kind));
    u32 node = export_tree_child(&w->tree, EXPORT_NO_NODE, number_of_text(w));
    etlheap_text_clear(&w->text);
    etlheap_text_add_string(&w->text, "Process ");
    etlheap_text_add_key(&w->text, table, row, ETLHEAP_KEY_PROCESS);
    node = export_tree_child(&w->tree, node, number_of_text(w));
    const etlheap_indices frames = etlheap_row_frames(table, row);
    if (frames.count == 0) {
        etlheap_text_clear(&w->text);
        etlheap_text_add_string(&w->text, EXPORT_NO_STACK);
        return export_tree_child(&w->tree, node, number_of_text(w));
    }
    const u32 *const numbers = numbers_of(w, table, frames);
    return numbers ? export_tree_stack(&w->tree, node, table, row->stack, numbers) : node;
}

/* Numbers the table's frames, at least those given; NULL without memory. Frames that no sample uses
 * are not numbered, so they are not listed. */
static const u32 *numbers_of(perfview_writer *w, const etlheap_table *table, etlheap_indices frames)
{
    if (table->frame_count > w->number_capacity) {
        const size_t capacity = (size_t)table->frame_count + table->frame_count / 2;
        u32 *const numbers =
            capacity > UINT32_MAX ? NULL : realloc(w->numbers, capacity * sizeof *numbers);
        w->failed |= numbers == NULL;
        if (!numbers)
            return NULL;
        w->numbers = numbers;
        w->number_capacity = (u32)capacity;
    }
    for (; w->number_count < table->frame_count; w->number_count++)
        w->numbers[w->number_count] = NO_NUMBER;
    for (u32 i = 0; i < frames.count; i++) {
        const u32 frame = frames.at[i];
        if (w->numbers[frame] != NO_NUMBER)
            continue;
        etlheap_text_clear(&w->text);
        add_frame(&w->text, &table->frames[frame]);
        w->numbers[frame] = number_of_text(w);
    }
    return w->numbers;
}

static u32 number_of_text(perfview_writer *w)
{
    u32 number;
    const etl_bytes key = { (const u8 *)etlheap_text_of(&w->text), w->text.size + 1 };
    (void)export_number_of(&w->frames, key, &number);
    w->failed |= w->frames.failed || w->text.failed;
    return number;
}

/* Adds a frame. PerfView groups by the text before "!", so every frame has one. */
static void add_frame(etlheap_text *text, const etlheap_frame *frame)
{
    if (frame->module && frame->symbol) {
        etlheap_text_add_frame(text, frame);
        return;
    }
    etlheap_text_add_string(text, frame->module ? frame->module : "?");
    etlheap_text_add_string(text, "!");
    if (frame->module && frame->offset == ETLHEAP_NO_ADDRESS)
        etlheap_text_add_string(text, "?");
    else if (frame->module)
        etlheap_text_add_format(text, "+0x%" PRIx64, frame->offset);
    else if (frame->address != ETLHEAP_NO_ADDRESS)
        etlheap_text_add_format(text, "0x%" PRIx64, frame->address);
    else
        etlheap_text_add_string(text, "?");
}

/* Writes a sample. Times have three digits of a millisecond, as PerfView writes them; the rest is
 * cut off. */
static void write_sample(perfview_writer *w, u32 node, i64 time_ns, u64 size_bytes)
{
    char time[32];
    const u64 us = (time_ns < 0 ? 0 - (u64)time_ns : (u64)time_ns) / NS_PER_US;
    snprintf(time, sizeof time, "%s%" PRIu64 ".%03" PRIu64, time_ns < 0 && us > 0 ? "-" : "",
             us / US_PER_MS, us % US_PER_MS);
    etlheap_xml_element(&w->xml, "Sample");
    etlheap_xml_attribute_u64(&w->xml, "ID", w->sample_id++);
    etlheap_xml_attribute(&w->xml, "Time", time);
    etlheap_xml_attribute_u64(&w->xml, "StackID", node);
    etlheap_xml_attribute_u64(&w->xml, "Metric", size_bytes);
    etlheap_xml_close(&w->xml);
}
