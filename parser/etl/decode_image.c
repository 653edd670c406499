/*
 * decode_image.c - modules: loads, unloads and rundowns, and what a merge found
 * in the image files (ImageID).
 *
 * Layouts with their sources are in layout_events.h. Names at the end of an
 * event that are missing come out empty.
 */
#include "decode_internal.h"

static inline size_t image_fixed_bytes(u16 version, unsigned width);
static inline etl_guid take_guid(etl_cursor *c);

ETL_DECODER_BY_FIT(image)
ETL_DECODER(image_kernel_base)
ETL_DECODER(image_id)
ETL_DECODER(image_debug)
ETL_DECODER(image_dbg_file)
ETL_DECODER(image_rsds)
ETL_DECODER(image_portable_pdb)
ETL_DECODER(image_embedded_pdb)
ETL_DECODER(image_error)
ETL_DECODER(image_file_version)

static inline etl_fit read_image(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, image_fixed_bytes(p.version, p.width)))
        return ETL_FIT_NONE;
    etl_image_event event = { 0 };
    event.image_base = etl_pointer(&p.c, p.width);
    event.image_size_bytes = p.version >= 1 ? etl_pointer(&p.c, p.width) : etl_u32(&p.c);
    event.process_id = p.version >= 1 ? etl_u32(&p.c) : p.header_pid;
    if (p.version >= 2) {
        event.image_checksum = etl_u32(&p.c);
        event.time_date_stamp = etl_u32(&p.c);
        etl_skip(&p.c, 4 + p.width + 16); /* signature, default base, reserved */
    }
    event.file_name = etl_string16(&p.c);
    out->as.image = event;
    /* An image is neither empty nor larger than its 32-bit size field allows. */
    const bool is_plausible = event.image_size_bytes != 0 && event.image_size_bytes <= UINT32_MAX;
    return p.c.left == 0 && is_plausible ? ETL_FIT_EXACT : ETL_FIT_LOOSE;
}

static inline bool read_image_kernel_base(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width))
        return false;
    out->as.image_kernel_base.image_base = etl_pointer(&p.c, p.width);
    return true;
}

static inline bool read_image_id(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 2 * p.width + 8))
        return false;
    etl_image_id event = { 0 };
    event.image_base = etl_pointer(&p.c, p.width);
    event.image_size_bytes = etl_pointer(&p.c, p.width);
    event.process_id = etl_u32(&p.c);
    event.time_date_stamp = etl_u32(&p.c);
    event.original_file_name = etl_string16(&p.c);
    out->as.image_id = event;
    return true;
}

static inline bool read_image_debug(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width + 4))
        return false;
    out->as.image_debug.image_base = etl_pointer(&p.c, p.width);
    out->as.image_debug.process_id = etl_u32(&p.c);
    return true;
}

static inline bool read_image_dbg_file(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width + 16))
        return false;
    etl_image_dbg_file event = { 0 };
    event.image_base = etl_pointer(&p.c, p.width);
    event.process_id = etl_u32(&p.c);
    event.image_checksum = etl_u32(&p.c);
    event.time_date_stamp = etl_u32(&p.c);
    event.image_size_bytes = etl_u32(&p.c);
    event.file_name = etl_string16(&p.c);
    out->as.image_dbg_file = event;
    return true;
}

static inline bool read_image_rsds(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width + 4 + sizeof(etl_guid) + 4))
        return false;
    etl_image_rsds event = { 0 };
    event.image_base = etl_pointer(&p.c, p.width);
    event.process_id = etl_u32(&p.c);
    event.guid = take_guid(&p.c);
    event.age = etl_u32(&p.c);
    event.pdb_file_name = etl_string8(&p.c);
    out->as.image_rsds = event;
    return true;
}

static inline bool read_image_portable_pdb(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width + 12))
        return false;
    etl_image_portable_pdb event = { 0 };
    event.image_base = etl_pointer(&p.c, p.width);
    event.process_id = etl_u32(&p.c);
    event.time_date_stamp = etl_u32(&p.c);
    event.major_version = etl_u16(&p.c);
    event.minor_version = etl_u16(&p.c);
    out->as.image_portable_pdb = event;
    return true;
}

static inline bool read_image_embedded_pdb(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width + 8 + sizeof(etl_guid) + 4))
        return false;
    etl_image_embedded_pdb event = { 0 };
    event.image_base = etl_pointer(&p.c, p.width);
    event.process_id = etl_u32(&p.c);
    event.major_version = etl_u16(&p.c);
    event.minor_version = etl_u16(&p.c);
    event.guid = take_guid(&p.c);
    event.age = etl_u32(&p.c);
    out->as.image_embedded_pdb = event;
    return true;
}

static inline bool read_image_error(etl_payload p, etl_event *out)
{
    out->as.image_id_error.text = etl_string16(&p.c);
    return true;
}

static inline bool read_image_file_version(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 8))
        return false;
    etl_image_file_version event = { 0 };
    event.image_size_bytes = etl_u32(&p.c);
    event.time_date_stamp = etl_u32(&p.c);
    event.original_file_name = etl_string16(&p.c);
    event.file_description = etl_string16(&p.c);
    event.file_version = etl_string16(&p.c);
    event.binary_file_version = etl_string16(&p.c);
    event.version_language = etl_string16(&p.c);
    event.product_name = etl_string16(&p.c);
    event.company_name = etl_string16(&p.c);
    event.product_version = etl_string16(&p.c);
    event.file_id = etl_string16(&p.c);
    event.program_id = etl_string16(&p.c);
    out->as.image_file_version = event;
    return true;
}

static inline size_t image_fixed_bytes(u16 version, unsigned width)
{
    if (version == 0)
        return width + 4;
    return version == 1 ? 2 * width + 4 : 3 * width + 32;
}

static inline etl_guid take_guid(etl_cursor *c)
{
    etl_guid guid = { { 0 } };
    const u8 *const bytes = etl_take(c, sizeof guid.bytes);
    if (bytes != NULL)
        memcpy(guid.bytes, bytes, sizeof guid.bytes);
    return guid;
}
