/*
 * page_files.c - the page: formats/html/view*, which the build puts into the program.
 *
 * A page in one file has style, data and script between tags of their own, where view.html has
 * lines with @style@, @data@ and @script@. From a server, style and script are files, so that the
 * browser can forbid all that is written into the page, and the data is asked for. Three lines, the
 * place and the tags around it, become one.
 */
#include "page_files.h"

typedef struct page_place {
    const char *line, *served;
} page_place;

static const page_place places[] = {
    { "@style@\n", "<link rel=\"stylesheet\" href=\"view.css\">\n" },
    { "@data@\n", "" },
    { "@script@\n", "<script src=\"view.js\"></script>\n" },
};

static const page_place *place_at(const char *line)
{
    for (size_t i = 0; i < ETL_COUNT_OF(places) && line; i++) {
        if (strcmp(places[i].line, line) == 0)
            return &places[i];
    }
    return NULL;
}

/* The server sends a policy of its own, which forbids more than one in a page can. */
static bool is_policy(const char *line)
{
    static const char head[] = "<meta http-equiv=\"Content-Security-Policy\"";
    return strncmp(line, head, sizeof head - 1) == 0;
}

static void write_page(const char *const *lines, etlheap_sink *sink)
{
    for (size_t i = 0; lines[i]; i++) {
        const page_place *const place = place_at(lines[i + 1]);
        if (place && lines[i + 2]) {
            etlheap_sink_text(sink, place->served);
            i += 2;
        } else if (!is_policy(lines[i])) {
            etlheap_sink_text(sink, lines[i]);
        }
    }
}

static void write_lines(const char *const *lines, etlheap_sink *sink)
{
    for (size_t i = 0; lines[i]; i++)
        etlheap_sink_text(sink, lines[i]);
}

etl_status view_files_make(view_files *out, etl_error *err)
{
    const struct {
        void (*write)(const char *const *lines, etlheap_sink *sink);
        const char *const *lines;
        view_file file;
    } rows[VIEW_FILE_COUNT] = {
        { write_page, view_page_html, { "", "text/html; charset=utf-8", { .bytes = NULL } } },
        { write_lines,
          view_page_css,
          { "view.css", "text/css; charset=utf-8", { .bytes = NULL } } },
        { write_lines,
          view_page_js,
          { "view.js", "text/javascript; charset=utf-8", { .bytes = NULL } } },
    };
    *out = (view_files){ 0 };
    etl_status status = ETL_OK;
    for (u32 i = 0; i < VIEW_FILE_COUNT && status == ETL_OK; i++) {
        etlheap_sink *sink = NULL;
        out->at[i] = rows[i].file;
        status = etlheap_sink_open_text(&out->at[i].body, &sink, err);
        if (status != ETL_OK)
            return status;
        rows[i].write(rows[i].lines, sink);
        status = etlheap_sink_close(sink, err);
    }
    return status;
}

void view_files_free(view_files *files)
{
    for (u32 i = 0; i < VIEW_FILE_COUNT; i++)
        etlheap_text_free(&files->at[i].body);
}

const view_file *view_files_find(const view_files *files, const char *path)
{
    for (u32 i = 0; i < VIEW_FILE_COUNT; i++) {
        if (strcmp(files->at[i].path, path) == 0)
            return &files->at[i];
    }
    return NULL;
}
