/*
 * pdb_record.c - records of symbol and type streams, and the count of damage.
 */
#include "pdb_internal.h"

bool pdb_note_damage(etl_pdb_resolver *r, const msf_stream *stream, u32 offset, const char *what)
{
    if (r->damage.count == 0)
        (void)etl_fail_with(&r->damage.first, ETL_ERR_CORRUPT, offset, "stream %u, offset 0x%x: %s",
                            stream->index, (unsigned)offset, what);
    r->damage.count = etl_sat_add_u64(r->damage.count, 1);
    return false;
}

bool pdb_spend_work(etl_pdb_resolver *r, const msf_stream *stream, u32 steps)
{
    if (r->work_left >= steps) {
        r->work_left -= steps;
        return true;
    }
    r->work_left = 0;
    if (r->gave_up)
        return false;
    r->gave_up = true;
    return pdb_note_damage(r, stream, 0, "tables overlap too much to be read");
}

bool pdb_record_at(etl_pdb_resolver *r, msf_stream *stream, u32 at, u32 end, pdb_record *out)
{
    u8 scratch[PDB_RECORD_HEADER_BYTES];
    const etl_bytes header = end - at < PDB_RECORD_HEADER_BYTES
                                 ? (etl_bytes){ NULL, 0 }
                                 : msf_view(stream, at, PDB_RECORD_HEADER_BYTES, scratch);
    if (!header.at)
        return pdb_note_damage(r, stream, at, "a record cannot be read");
    const u32 length = etl_load_u16(header.at);
    if (length < 2 || length > end - at - 2)
        return pdb_note_damage(r, stream, at, "a record's length is impossible");
    *out = (pdb_record){
        .at = at, .next = at + 2 + length, .kind = etl_load_u16(header.at + 2), .size = length - 2
    };
    return true;
}

etl_cursor pdb_payload(etl_pdb_resolver *r, msf_stream *stream, const pdb_record *record, u32 size)
{
    if (size > record->size) {
        (void)pdb_note_damage(r, stream, record->at, "a record is shorter than its kind");
        return (etl_cursor){ NULL, 0 };
    }
    const etl_bytes bytes = msf_view(stream, record->at + PDB_RECORD_HEADER_BYTES, size, r->record);
    if (!bytes.at) {
        (void)pdb_note_damage(r, stream, record->at, "a record lies in a block that is not there");
        return (etl_cursor){ NULL, 0 };
    }
    return (etl_cursor){ bytes.at, bytes.size };
}

etl_cursor pdb_payload_all(etl_pdb_resolver *r, msf_stream *stream, const pdb_record *record)
{
    return pdb_payload(r, stream, record, record->size);
}
