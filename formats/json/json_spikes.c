/*
 * json_spikes.c - the `etlheap-spikes-1` document: spikes, each with the call stacks of what came
 * and went.
 */
#include "formats/parts/spike_parts.h"
#include "formats/writers.h"
#include "json_rows.h"

static void write_part(etlheap_json *json, const etlheap_table *stacks,
                       const etlheap_spike_part *part)
{
    etlheap_value values[SPIKE_PART_COLUMN_COUNT];
    spike_part_values(part, values);
    etlheap_json_object(json, NULL);
    etlheap_json_key(json, etlheap_table_row(stacks, part->row), ETLHEAP_KEY_STACK);
    etlheap_json_values(json, &spike_part_columns, values);
    etlheap_json_object_close(json);
}

static void write_spike(etlheap_json *json, const etlheap_spikes *spikes,
                        const etlheap_spike *spike)
{
    const etlheap_table *const groups = spikes->groups;
    etlheap_value values[SPIKE_COLUMN_COUNT];
    spike_values(spike, values);
    etlheap_json_object(json, NULL);
    for (u32 k = 0; k < groups->group_by_count; k++)
        etlheap_json_key(json, etlheap_table_row(groups, spike->row), groups->group_by[k]);
    etlheap_json_values(json, &spike_columns, values);
    etlheap_json_array(json, "parts");
    for (u32 i = 0; i < spike->part_count && etlheap_sink_ok(json->sink); i++)
        write_part(json, spikes->stacks, &spikes->parts[spike->first_part + i]);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}

etl_status etlheap_write_spikes_json(const etlheap_result *result, const etlheap_spikes *spikes,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_json json;
    const etl_status status = etlheap_json_document(&json, "etlheap-spikes-1", 2, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, result);
    etlheap_json_window(&json, result, spikes->groups);
    etlheap_json_i64(&json, "level_span_ns", spikes->span_ns);
    etlheap_json_group_by(&json, spikes->groups);
    etlheap_json_frames(&json, spikes->stacks);
    etlheap_json_stacks(&json, spikes->stacks);
    etlheap_json_array(&json, "rows");
    for (u32 i = 0; i < spikes->count && etlheap_sink_ok(sink); i++)
        write_spike(&json, spikes, &spikes->spikes[i]);
    etlheap_json_array_close(&json);
    etlheap_json_u64(&json, "left_out_count", spikes->left_out_count);
    etlheap_json_diagnostics(&json, &spikes->groups->diagnostics);
    etlheap_json_document_end(&json);
    return ETL_OK;
}
