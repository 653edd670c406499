/*
 * json_symbols.c - the `etlheap-symbols-1` document.
 *
 * Sizes are outstanding bytes by kind, of kinds that have any: `size` of those
 * whose site is in the module, `named_size` of those whose site has a name.
 */
#include "formats/writers.h"
#include "json.h"

static void write_sizes(etlheap_json *json, const char *key, const etlheap_symbol_list *list,
                        const i64 *size, const i64 *named_size);
static void write_text(etlheap_json *json, const char *key, const char *text);

etl_status etlheap_write_symbols_json(const etlheap_result *result, const etlheap_symbol_list *list,
                                      const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_json json;
    const etl_status status = etlheap_json_document(&json, "etlheap-symbols-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, result);
    etlheap_json_window_open(&json, result, list->from_ns, list->to_ns);
    etlheap_json_object_close(&json);
    write_sizes(&json, "totals", list, list->size, list->named_size);
    etlheap_json_array(&json, "modules");
    for (u32 i = 0; i < list->module_count && etlheap_sink_ok(sink); i++) {
        const etlheap_symbol_module *const row = &list->modules[i];
        etlheap_json_object(&json, NULL);
        etlheap_json_string(&json, etlheap_field_key(ETLHEAP_FIELD_MODULE), row->module->name);
        etlheap_json_string(&json, etlheap_field_key(ETLHEAP_FIELD_PATH), row->module->path);
        etlheap_json_string(&json, etlheap_field_key(ETLHEAP_FIELD_STATUS),
                            etlheap_symbol_state_word(row->state));
        write_text(&json, etlheap_field_key(ETLHEAP_FIELD_EXPECTED), row->expected);
        etlheap_json_string(&json, etlheap_field_key(ETLHEAP_FIELD_FILE), row->file);
        write_text(&json, etlheap_field_key(ETLHEAP_FIELD_NOTE), row->note);
        write_sizes(&json, "sites", list, row->size, row->named_size);
        etlheap_json_object_close(&json);
    }
    etlheap_json_array_close(&json);
    etlheap_json_diagnostics(&json, &list->diagnostics);
    etlheap_json_document_end(&json);
    return ETL_OK;
}

static void write_sizes(etlheap_json *json, const char *key, const etlheap_symbol_list *list,
                        const i64 *size, const i64 *named_size)
{
    etlheap_json_array(json, key);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (list->size[kind] == 0)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_KIND),
                            etlheap_kind_name((etlheap_kind)kind));
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_SIZE), size[kind]);
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_NAMED_SIZE), named_size[kind]);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* What is not known is null. */
static void write_text(etlheap_json *json, const char *key, const char *text)
{
    etlheap_json_string(json, key, text[0] == '\0' ? NULL : text);
}
