/*
 * decode_system.c - reads events of processes, threads, modules and the machine that no list of
 * values can describe.
 *
 * In: the payload of a record, through a cursor. Out: members of an etl_event, or "does not fit".
 * event_rows.h names these functions (CODED), layout_events.h has the layouts with their sources.
 *
 * Invariant: if an event ends in strings, missing ones come out empty, because writers leave them
 * off and the values before them are worth having. Nothing else may be missing.
 */
#include "decode_internal.h"

static inline bool skip_user_sid(etl_cursor *c, unsigned width);
static inline size_t image_fixed_bytes(u16 version, unsigned width);
static inline bool is_sid(etl_cursor c, u32 *authority_count);
static inline size_t config_cpu_bytes(const etl_payload *p);
static inline etl_bytes take_fixed_string16(etl_cursor *c, size_t size);

ETL_DECODER_BY_FIT(process)
ETL_DECODER_BY_FIT(process_defunct)
ETL_DECODER_BY_FIT(image)
ETL_DECODER(thread)
ETL_DECODER(config_cpu)
ETL_DECODER(device_family)
ETL_DECODER(lost_event)

static inline etl_fit read_process(etl_payload p, etl_event *out)
{
    etl_process_event event = { 0 };
    event.unique_process_key = p.version >= 1 ? etl_pointer(&p.c, p.width) : 0;
    event.process_id = p.version >= 1 ? etl_u32(&p.c) : (u32)etl_pointer(&p.c, p.width);
    event.parent_id = p.version >= 1 ? etl_u32(&p.c) : (u32)etl_pointer(&p.c, p.width);
    if (p.version >= 1) {
        event.session_id = etl_u32(&p.c);
        event.exit_status = (i32)etl_u32(&p.c);
    }
    if (p.version >= 3)
        etl_skip(&p.c, p.width); /* DirectoryTableBase */
    if (p.version >= 4)
        event.flags = etl_u32(&p.c);
    if (!etl_ok(&p.c) || !skip_user_sid(&p.c, p.width))
        return ETL_FIT_NONE;
    event.image_file_name = etl_string8(&p.c);
    if (p.version >= 2)
        event.command_line = etl_string16(&p.c);
    if (p.version >= 4) {
        event.package_full_name = etl_string16(&p.c);
        event.application_id = etl_string16(&p.c);
    }
    if (p.version >= 5 && p.c.left >= 8)
        event.exit_time_filetime = etl_u64(&p.c);
    out->as.process = event;
    return p.c.left == 0 ? ETL_FIT_EXACT : ETL_FIT_LOOSE;
}

/* Reads the only process event that may have an exit time; it is shown with one more field. */
static inline etl_fit read_process_defunct(etl_payload p, etl_event *out)
{
    return read_process(p, out);
}

/* Reads a thread event. When a thread ends, version 1 has only the ids. */
static inline bool read_thread(etl_payload p, etl_event *out)
{
    const bool is_start =
        p.type == (ETL_HOOK_THREAD_START & 0xff) || p.type == (ETL_HOOK_THREAD_DCSTART & 0xff);
    const bool has_addresses = p.version >= 2 || (p.version == 1 && is_start);
    etl_thread_event event = { 0 };
    const u32 first_id = etl_u32(&p.c);
    const u32 second_id = etl_u32(&p.c);
    event.process_id = p.version == 0 ? second_id : first_id;
    event.thread_id = p.version == 0 ? first_id : second_id;
    if (has_addresses) {
        etl_skip(&p.c, 2 * p.width); /* kernel stack */
        event.user_stack_base = etl_pointer(&p.c, p.width);
        event.user_stack_limit = etl_pointer(&p.c, p.width);
        etl_skip(&p.c, p.width); /* StartAddr or Affinity */
        event.win32_start_address = etl_pointer(&p.c, p.width);
    }
    if (p.version == 1 && is_start)
        etl_skip(&p.c, 1); /* WaitMode */
    if (p.version >= 2) {
        event.teb_base = etl_pointer(&p.c, p.width);
        event.sub_process_tag = etl_u32(&p.c);
    }
    if (p.version >= 3)
        etl_skip(&p.c, 4); /* priorities and flags */
    if (!etl_ok(&p.c))
        return false;
    if (p.version >= 3)
        event.name = etl_string16(&p.c);
    out->as.thread = event;
    return true;
}

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

static inline bool read_config_cpu(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, config_cpu_bytes(&p)))
        return false;
    etl_config_cpu event = { 0 };
    event.mhz = etl_u32(&p.c);
    event.cpu_count = etl_u32(&p.c);
    event.memory_mib = etl_u32(&p.c);
    event.page_size_bytes = etl_u32(&p.c);
    event.allocation_granularity_bytes = etl_u32(&p.c);
    event.computer_name = take_fixed_string16(&p.c, ETL_CONFIG_COMPUTER_NAME_BYTES);
    event.domain_name = take_fixed_string16(&p.c, p.version < 2 ? ETL_CONFIG_DOMAIN_NAME_V0
                                                                : ETL_CONFIG_DOMAIN_NAME_BYTES);
    if (p.version >= 3) {
        etl_skip(&p.c, 2 * p.width); /* hyper-threading flag, highest user address */
        event.processor_architecture = etl_u16(&p.c);
        etl_skip(&p.c, 6); /* level, revision, Pae and Nx */
        event.memory_speed_mhz = etl_u32(&p.c);
    }
    out->as.config_cpu = event;
    return true;
}

static inline bool read_device_family(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 16))
        return false;
    const u64 version = etl_u64(&p.c);
    etl_config_device_family event = { 0 };
    event.os_major = (u16)(version >> 48);
    event.os_minor = (u16)(version >> 32);
    event.os_build = (u16)(version >> 16);
    event.os_revision = (u16)version;
    event.device_family = etl_u32(&p.c);
    event.device_form = etl_u32(&p.c);
    out->as.config_device_family = event;
    return true;
}

/* An unknown volume has no second string. */
static inline bool read_lost_event(etl_payload p, etl_event *out)
{
    out->as.lost_event.type = p.type;
    return true;
}

/*
 * Skips a TOKEN_USER and a SID, or a u32 of zero. The zero alone does not decide: it is also the
 * first half of a TOKEN_USER whose pointer is zero. A SID behind it does, because its revision
 * cannot be the fourth (or twelfth) letter of the name that would follow otherwise.
 */
static inline bool skip_user_sid(etl_cursor *c, unsigned width)
{
    const size_t token_user_size = 2 * width;
    etl_cursor sid = *c;
    etl_skip(&sid, token_user_size);
    u32 authority_count = 0;
    if (is_sid(sid, &authority_count)) {
        etl_skip(c, token_user_size + 8 + (size_t)authority_count * 4);
        return etl_ok(c);
    }
    const u32 first = etl_u32(c);
    return etl_ok(c) && first == 0;
}

/* Is it a SID? Revision 1, at most 15 sub-authorities and an authority below 65,536 (values in use
 * are small) are enough not to mistake a name for one. */
static inline bool is_sid(etl_cursor c, u32 *authority_count)
{
    if (!etl_need(&c, 8))
        return false;
    const u8 revision = etl_u8(&c);
    *authority_count = etl_u8(&c);
    const u32 authority_high = etl_u32(&c); /* big endian, so only zero is small */
    return revision == ETL_SID_REVISION && *authority_count <= ETL_SID_AUTHORITIES_MAX &&
           authority_high == 0;
}

static inline size_t image_fixed_bytes(u16 version, unsigned width)
{
    if (version == 0)
        return width + 4;
    return version == 1 ? 2 * width + 4 : 3 * width + 32;
}

static inline size_t config_cpu_bytes(const etl_payload *p)
{
    const size_t numbers_and_name = 20 + ETL_CONFIG_COMPUTER_NAME_BYTES;
    if (p->version < 2)
        return numbers_and_name + ETL_CONFIG_DOMAIN_NAME_V0 + p->width;
    const size_t appended = p->version < 3 ? 0 : p->width + 12;
    return numbers_and_name + ETL_CONFIG_DOMAIN_NAME_BYTES + p->width + appended;
}

static inline etl_bytes take_fixed_string16(etl_cursor *c, size_t size)
{
    etl_cursor field = etl_cursor_of(etl_view(c, size));
    return etl_string16(&field);
}
