/* page_files.h - the page: formats/html/view*, which the build puts into the program. */
#ifndef CLI_VIEW_PAGE_FILES_H
#define CLI_VIEW_PAGE_FILES_H

#include "formats/formats.h"

#include "parser/base.h"

/* Lines, with their ends, and a NULL behind the last: made by formats/html/embed.awk. */
extern const char *const view_page_html[];
extern const char *const view_page_css[];
extern const char *const view_page_js[];

/* One file of the page. */
typedef struct view_file {
    const char *path; /* below the token: "view.css"; "" for the page itself */
    const char *content_type;
    etlheap_text body;
} view_file;

#define VIEW_FILE_COUNT 3u

typedef struct view_files {
    view_file at[VIEW_FILE_COUNT];
} view_files;

/* Makes the files. Free them in any case. ETL_ERR_MEMORY. */
etl_status view_files_make(view_files *out, etl_error *err);
void view_files_free(view_files *files);

/* The file with this path; NULL: none. */
const view_file *view_files_find(const view_files *files, const char *path);

#endif
