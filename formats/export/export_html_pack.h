/*
 * export_html_pack.h - text for an HTML page: deflated, then base64, which is safe in markup.
 */
#ifndef ETLHEAP_EXPORT_HTML_PACK_H
#define ETLHEAP_EXPORT_HTML_PACK_H

#include "formats/io/text_buffer.h"

/* Adds the packed bytes to a text. Running out of memory sets `out->failed`. */
void html_pack(const void *bytes, size_t size, etlheap_text *out);

#endif
