/* runs.c - the lines of an index, written; see runs.h. */
#include "runs_lines.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/json/json.h"

static void write_id(etlheap_json *json, const char *key, const etlheap_run_id *id);

etlheap_verdict etlheap_verdict_of(const etl_diag_counts *counts)
{
    etlheap_verdict verdict = ETLHEAP_VERDICT_STORED;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_severity severity = etl_diag_describe((etl_diag)i)->severity;
        if (counts->of[i] == 0)
            continue;
        if (severity == ETL_SEVERITY_DAMAGE)
            return ETLHEAP_VERDICT_DAMAGED;
        if (severity == ETL_SEVERITY_LOSS)
            verdict = ETLHEAP_VERDICT_LOST_EVENTS;
    }
    return verdict;
}

void etlheap_run_write(const etlheap_run *run, etlheap_sink *sink)
{
    static const etl_diag_counts none;
    const etlheap_run_marks *const marks = &run->marks;
    etlheap_json json = etlheap_json_begin(sink, 0);
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", RUN_SCHEMA);
    etlheap_json_string(&json, "file", run->file);
    etlheap_json_string(&json, "output", run->output);
    etlheap_json_string(&json, "verdict", etlheap_verdict_word(run->verdict));
    if (marks->input.given)
        etlheap_json_u64(&json, "input_bytes", run->input_bytes);
    else
        etlheap_json_null(&json, "input_bytes");
    if (marks->output.given)
        etlheap_json_u64(&json, "output_bytes", run->output_bytes);
    else
        etlheap_json_null(&json, "output_bytes");
    write_id(&json, "input_hash", &marks->input);
    write_id(&json, "output_hash", &marks->output);
    write_id(&json, "settings_hash", &marks->settings);
    if (run->trace)
        etlheap_json_trace(&json, run->trace);
    else
        etlheap_json_null(&json, "trace");
    etlheap_json_diagnostics(&json, run->diagnostics ? run->diagnostics : &none);
    etlheap_json_string(&json, "error", run->error);
    write_id(&json, RUN_INPUT_STAMP, &marks->input_stamp);
    write_id(&json, RUN_OUTPUT_STAMP, &marks->output_stamp);
    etlheap_json_bool(&json, RUN_SKIPPED, false);
    etlheap_json_u64(&json, "duration_ns", run->duration_ns);
    if (run->peak_memory_bytes != 0)
        etlheap_json_u64(&json, "peak_memory_bytes", run->peak_memory_bytes);
    else
        etlheap_json_null(&json, "peak_memory_bytes");
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
}

static void write_id(etlheap_json *json, const char *key, const etlheap_run_id *id)
{
    char text[33];
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, id->id.high, id->id.low);
    etlheap_json_string(json, key, id->given ? text : NULL);
}

void etlheap_run_copy(const etlheap_run_line *line, etlheap_sink *sink)
{
    etlheap_sink_write(sink, line->text.at, line->text.size);
    etlheap_sink_text(sink, "\n");
}

void etlheap_run_skip(const etlheap_run_line *line, const etlheap_run_marks *stamps,
                      etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 0);
    etl_bytes left = line->text;
    run_member m;
    etlheap_json_object(&json, NULL);
    while (run_next_member(&left, &m)) {
        if (run_is_text(m.key, RUN_INPUT_STAMP))
            write_id(&json, RUN_INPUT_STAMP, &stamps->input_stamp);
        else if (run_is_text(m.key, RUN_OUTPUT_STAMP))
            write_id(&json, RUN_OUTPUT_STAMP, &stamps->output_stamp);
        else if (run_is_text(m.key, RUN_SKIPPED))
            etlheap_json_bool(&json, RUN_SKIPPED, true);
        else
            etlheap_json_copy(&json, m.key, m.value);
    }
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
}

void etlheap_run_quote(const char *text, etlheap_text *out)
{
    etlheap_sink *sink = NULL;
    out->size = 0;
    if (etlheap_sink_open_text(out, &sink, NULL) != ETL_OK) {
        out->failed = true;
        return;
    }
    etlheap_json json = etlheap_json_begin(sink, 0);
    etlheap_json_string(&json, NULL, text);
    out->failed |= etlheap_sink_close(sink, NULL) != ETL_OK;
}
