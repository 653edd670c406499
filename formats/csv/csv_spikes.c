/*
 * csv_spikes.c - spikes as comma-separated values: a line for each call stack of each spike.
 */
#include "csv_rows.h"
#include "formats/parts/spike_parts.h"
#include "formats/writers.h"

static void write_part(etlheap_csv *csv, const etlheap_spikes *spikes, const etlheap_spike *spike,
                       const etlheap_spike_part *part)
{
    etlheap_value values[SPIKE_COLUMN_COUNT], part_values[SPIKE_PART_COLUMN_COUNT];
    spike_values(spike, values);
    spike_part_values(part, part_values);
    etlheap_csv_keys(csv, spikes->stacks, etlheap_table_row(spikes->stacks, part->row));
    etlheap_csv_values(csv, &spike_columns, values);
    etlheap_csv_values(csv, &spike_part_columns, part_values);
    etlheap_csv_line(csv);
}

etl_status etlheap_write_spikes_csv(const etlheap_result *result, const etlheap_spikes *spikes,
                                    const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    etlheap_csv_key_names(&csv, spikes->stacks);
    etlheap_csv_fields(&csv, &spike_columns);
    etlheap_csv_fields(&csv, &spike_part_columns);
    etlheap_csv_line(&csv);
    for (u32 i = 0; i < spikes->count; i++) {
        const etlheap_spike *const spike = &spikes->spikes[i];
        for (u32 k = 0; k < spike->part_count && etlheap_sink_ok(sink); k++)
            write_part(&csv, spikes, spike, &spikes->parts[spike->first_part + k]);
    }
    return etlheap_csv_end(&csv);
}
