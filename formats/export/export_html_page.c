/*
 * export_html_page.c - the page of all HTML files: of reports, comparisons and trends.
 *
 * It is that of a live view, formats/html/view.html. Three of its lines stand for what is put in
 * their place: the style, the data, the script. Its policy forbids it to load anything, and its
 * data is JSON in which no tag can begin:
 *
 *     schema, version
 *     inputs, selection   words of a command line, which the script quotes in the commands it shows
 *     login_advice        said once if these lack a login; or ""
 *     symbols             whether functions were to be named
 *     cells               only reports: what each stack did in each window
 *     documents           what commands print, each with the command and options that print it
 */
#include "export_html.h"

#include "formats/parts/layout_read.h"

static void write_lines(const char *const *lines, etlheap_sink *sink)
{
    for (; *lines != NULL; lines++)
        etlheap_sink_text(sink, *lines);
}

etl_status html_write_page(html_data_fn *data, const void *user, etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    for (const char *const *line = view_page_html; status == ETL_OK && *line != NULL; line++) {
        if (strcmp(*line, "@style@\n") == 0)
            write_lines(view_page_css, sink);
        else if (strcmp(*line, "@script@\n") == 0)
            write_lines(view_page_js, sink);
        else if (strcmp(*line, "@data@\n") == 0)
            status = data(user, sink);
        else
            etlheap_sink_text(sink, *line);
    }
    return status;
}

static void write_words(etlheap_json *json, const char *key, etlheap_typed words)
{
    etlheap_json_array(json, key);
    for (u32 i = 0; i < words.count; i++)
        etlheap_json_string(json, NULL, words.at[i]);
    etlheap_json_array_close(json);
}

void html_data_open(etlheap_json *json, const html_typed *typed, bool has_symbols)
{
    const etl_hint login = typed->lacks_login ? ETL_HINT_LOGIN : ETL_HINT_NONE;
    json->in_markup = true;
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "schema", "etlheap-page-1");
    etlheap_json_string(json, "version", ETLHEAP_VERSION);
    write_words(json, "inputs", typed->inputs);
    write_words(json, "selection", typed->selection);
    etlheap_json_string(json, "login_advice", etlheap_hint_words(json->hint, login));
    etlheap_json_string(json, "symbols", has_symbols ? "ready" : "none");
}

void html_data_close(etlheap_json *json)
{
    etlheap_json_object_close(json);
    etlheap_json_end(json);
}
