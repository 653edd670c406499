/*
 * export_html_sources.c - the lines of code in an HTML page.
 *
 *     rows, the largest first ──▶ frames with a line ──▶ places, each once ──▶ lines ──▶ deflated
 *
 * In: the rows that a page shows, folders of sources. Out: members of the page's data; none without
 * folders. Invariant: the lines of fewer frames are kept if those of all do not fit, so that a page
 * stays below its size.
 */
#include "export_html.h"

#include <stdlib.h>

#include "export_html_pack.h"
#include "formats/parts/source_lines.h"

#define PLACES_MAX    2000u
#define SOURCES_BYTES 160000u /* packed */

/* A place, in the order in which rows have it. */
typedef struct ranked_place {
    etlheap_source_place place;
    u32 rank;
} ranked_place;

typedef struct place_list {
    ranked_place *at;
    u32 count, capacity;
} place_list;

static int compare_places(const void *a, const void *b)
{
    const ranked_place *const x = a, *const y = b;
    const int order = strcmp(x->place.file, y->place.file);
    if (order != 0)
        return order;
    if (x->place.line != y->place.line)
        return x->place.line < y->place.line ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int compare_ranks(const void *a, const void *b)
{
    const ranked_place *const x = a, *const y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* False: out of memory. */
static bool add_place(place_list *list, const etlheap_frame *frame)
{
    if (!frame->file || frame->file[0] == '\0' || frame->line == 0)
        return true;
    if (list->count == list->capacity) {
        const u32 capacity = list->capacity * 2 + 256;
        ranked_place *const at = realloc(list->at, capacity * sizeof *at);
        if (!at)
            return false;
        list->at = at;
        list->capacity = capacity;
    }
    list->at[list->count] = (ranked_place){ { frame->file, frame->line }, list->count };
    list->count++;
    return true;
}

/* The places of the rows, each once, at most PLACES_MAX, in order of their rank. A frame counts the
 * first time that a row has it. False: out of memory. */
static bool find_places(const etlheap_table *rows, const html_choice *choice, place_list *list)
{
    bool *const is_seen = calloc((size_t)rows->frame_count + 1, sizeof *is_seen);
    bool ok = is_seen != NULL;
    for (u32 i = 0; i < choice->row_count && ok; i++) {
        const etlheap_indices frames = etlheap_row_frames(rows, &rows->rows[i]);
        for (u32 k = 0; k < frames.count && ok; k++) {
            if (!is_seen[frames.at[k]])
                ok = add_place(list, &rows->frames[frames.at[k]]);
            is_seen[frames.at[k]] = true;
        }
    }
    free(is_seen);
    if (!ok || list->count == 0)
        return ok;
    qsort(list->at, list->count, sizeof *list->at, compare_places);
    u32 kept = 1;
    for (u32 i = 1; i < list->count; i++) {
        const etlheap_source_place *const before = &list->at[kept - 1].place;
        const etlheap_source_place *const place = &list->at[i].place;
        if (place->line != before->line || strcmp(place->file, before->file) != 0)
            list->at[kept++] = list->at[i];
    }
    list->count = kept;
    qsort(list->at, list->count, sizeof *list->at, compare_ranks);
    list->count = list->count < PLACES_MAX ? list->count : PLACES_MAX;
    return true;
}

/* Reads the lines of the first places. Files are read once: places of one file follow each
 * other. */
static etl_status read_lines(const etlheap_export_request *request, const place_list *list,
                             u32 count, etlheap_source_lines **out, etl_error *err)
{
    ranked_place *const sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    etlheap_source_place *const places = malloc(((size_t)count + 1) * sizeof *places);
    etl_status status = sorted && places ? ETL_OK : etl_no_memory(err);
    if (status == ETL_OK && count > 0) {
        memcpy(sorted, list->at, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_places);
        for (u32 i = 0; i < count; i++)
            places[i] = sorted[i].place;
    }
    if (status == ETL_OK)
        status = etlheap_source_lines_read(request->query->symbols, places, count, request->sources,
                                           out, err);
    free(sorted);
    free(places);
    if (status == ETL_OK)
        etlheap_source_lines_keep_shown(*out);
    return status;
}

/* Packs lines; *fits is false, and nothing is packed, if they are too many. */
static etl_status pack_lines(const etlheap_source_lines *lines, etlheap_text *packed, bool *fits,
                             etl_error *err)
{
    html_packer packer;
    etl_status status = html_packer_open(&packer, SOURCES_BYTES, err);
    if (status != ETL_OK)
        return status;
    (void)etlheap_source_lines_write_json(lines, packer.sink);
    *fits = !html_packer_is_full(&packer);
    if (!*fits) {
        html_packer_discard(&packer);
        return ETL_OK;
    }
    status = html_packer_close(&packer, packed, err);
    *fits = status != ETL_ERR_CANCELLED;
    if (!*fits)
        return ETL_OK;
    return status == ETL_OK && packed->failed ? etl_no_memory(err) : status;
}

/* Packs the lines of as many places as fit. */
static etl_status pack_places(const etlheap_export_request *request, const place_list *list,
                              etlheap_text *packed, etl_error *err)
{
    etl_status status = ETL_OK;
    bool fits = false;
    for (u32 count = list->count; status == ETL_OK && !fits; count /= 2) {
        etlheap_source_lines *lines = NULL;
        status = read_lines(request, list, count, &lines, err);
        if (status == ETL_OK)
            status = pack_lines(lines, packed, &fits, err);
        etlheap_source_lines_free(lines);
    }
    return status;
}

static void write_roots(etlheap_json *json, const etlheap_source_roots *roots)
{
    etlheap_text word = { 0 };
    etlheap_json_array(json, "source_roots");
    for (u32 i = 0; i < roots->count; i++) {
        etlheap_text_clear(&word);
        etlheap_text_add_format(&word, "%s=%s", roots->at[i].from, roots->at[i].to);
        etlheap_json_string(json, NULL, etlheap_text_of(&word));
    }
    etlheap_json_array_close(json);
    etlheap_text_free(&word);
}

etl_status html_write_sources(const html_answers *answers, const html_choice *choice,
                              etlheap_json *json, etl_error *err)
{
    const etlheap_export_request *const request = answers->request;
    place_list list = { .at = NULL };
    etlheap_text packed = { 0 };
    if (!request->sources || !request->query->symbols)
        return ETL_OK;
    etl_status status =
        find_places(answers->rows->table, choice, &list) ? ETL_OK : etl_no_memory(err);
    if (status == ETL_OK)
        status = pack_places(request, &list, &packed, err);
    if (status == ETL_OK) {
        write_roots(json, &request->sources->roots);
        etlheap_json_string(json, "sources", etlheap_text_of(&packed));
    }
    free(list.at);
    etlheap_text_free(&packed);
    return status;
}
