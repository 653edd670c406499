/*
 * decode_description.c - the records in which a merge describes events and maps.
 *
 * What is decoded here is what `dump` shows of such a record, and what `info` calls the
 * events; description.c reads the bytes.
 */
#include "decode_internal.h"

bool etl_decode_event_description(const etl_record *record, etl_event *out, etl_diag_counts *diag)
{
    etl_event_id id;
    etl_description found;
    (void)diag;
    if (!etl_description_of_info(record->payload, &id, &found))
        return false;
    out->as.event_description = (etl_event_description){
        .provider = id.provider,
        .id = id.id,
        .version = id.version,
        .opcode = id.opcode,
        .property_count = found.property_count,
        .provider_name = found.provider.bytes,
        .event_name = found.event.bytes,
        .opcode_name = found.opcode.bytes,
    };
    return true;
}

bool etl_decode_event_map(const etl_record *record, etl_event *out, etl_diag_counts *diag)
{
    etl_value_map map;
    (void)diag;
    if (!etl_value_map_of_info(record->payload, &map))
        return false;
    out->as.event_map = (etl_event_map){ .entry_count = map.count, .name = map.name.bytes };
    memcpy(out->as.event_map.provider.bytes, map.provider, sizeof out->as.event_map.provider.bytes);
    return true;
}
