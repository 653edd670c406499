/*
 * record.c - steps through the records of a buffer.
 *
 * In: the bytes of a buffer. Out: one etl_record at a time: kind, time, thread, process, payload.
 *
 *     first 8 bytes ──▶ kinds[type]: least size, shape ──▶ next_hook, next_full, next_event ...
 *
 * All kinds of record agree on their first 8 bytes well enough to find kind and size; a table row
 * then gives the least size and which of a few shapes the rest has. Invariant: a record that does
 * not fit ends its buffer, because nothing tells where the next one begins; the next buffer starts
 * afresh.
 *
 * This is the innermost loop of every scan and costs what its instructions cost. So it only finds
 * the kind, and each shape has its own function, which checks the size once, reads the header in
 * one go and writes each field once. The size is chosen by the branch on the shape, which the
 * processor predicts: computed, it would delay the step to the next record.
 */
#include "parser/cursor.h"
#include "layout.h"

/* Keeps a function out of the innermost loop, whose registers it would use. */
#define APART __attribute__((noinline))

/* The same for rare cases. */
#define COLD __attribute__((noinline, cold))

typedef enum record_shape {
    SHAPE_RARE, /* everything else: see next_rare() */
    SHAPE_HOOK, /* hook id and time, with or without thread and process */
    SHAPE_FULL, /* classic event with a class GUID, INSTANCE included */
    SHAPE_EVENT /* modern event with a descriptor and extended items */
} record_shape;

typedef struct record_kind {
    u32 bytes; /* of the header: the least a record of the kind has */
    u8 header; /* etl_header_kind */
    u8 shape;
    u8 pointer_bytes;
    u8 ids_bytes; /* SHAPE_HOOK: of thread and process before the time, 0 or 8 */
} record_kind;

#define KIND(type, shape, pointer_bytes, ids_bytes, bytes)                                         \
    [ETL_TYPE_##type] = { bytes, ETL_HEADER_##type, SHAPE_##shape, pointer_bytes, ids_bytes }

/* By header type; the rows left out are kinds we do not know. */
static const record_kind kinds[ETL_TYPE_LIMIT] = {
    KIND(SYSTEM32, HOOK, 4, 8, ETL_SYSTEM_BYTES),
    KIND(SYSTEM64, HOOK, 8, 8, ETL_SYSTEM_BYTES),
    KIND(COMPACT32, HOOK, 4, 8, ETL_COMPACT_BYTES),
    KIND(COMPACT64, HOOK, 8, 8, ETL_COMPACT_BYTES),
    KIND(PERFINFO32, HOOK, 4, 0, ETL_PERFINFO_BYTES),
    KIND(PERFINFO64, HOOK, 8, 0, ETL_PERFINFO_BYTES),
    KIND(FULL32, FULL, 4, 0, ETL_FULL_BYTES),
    KIND(FULL64, FULL, 8, 0, ETL_FULL_BYTES),
    KIND(INSTANCE32, FULL, 4, 0, ETL_INSTANCE_OLD_BYTES),
    KIND(INSTANCE64, FULL, 8, 0, ETL_INSTANCE_OLD_BYTES),
    KIND(EVENT32, EVENT, 4, 0, ETL_EVENT_BYTES),
    KIND(EVENT64, EVENT, 8, 0, ETL_EVENT_BYTES),
    KIND(ERROR, EVENT, 8, 0, ETL_EVENT_BYTES),
};

static const record_kind message_kind = { ETL_RECORD_PREFIX_BYTES, ETL_HEADER_MESSAGE, SHAPE_RARE,
                                          8, 0 };

static const record_kind other_kind = { ETL_RECORD_PREFIX_BYTES, ETL_HEADER_OTHER, SHAPE_RARE, 8,
                                        0 };

/*
 * The first 8 bytes of a record as one number: it stays in a register, and what
 * each part means depends on the kind.
 */
typedef u64 record_prefix;

static inline u16 word0_of(record_prefix prefix)
{
    return (u16)prefix;
}

static inline u8 marker_of(record_prefix prefix)
{
    return (u8)(prefix >> 24);
}

static inline u16 word4_of(record_prefix prefix)
{
    return (u16)(prefix >> 32);
}

static inline u16 word6_of(record_prefix prefix)
{
    return (u16)(prefix >> 48);
}

static inline const record_kind *kind_of(record_prefix prefix);
static bool next_hook(etl_buffer *buffer, const record_kind *kind, record_prefix prefix,
                      etl_record *out);
static inline bool take_record(etl_buffer *buffer, const record_kind *kind, u32 size,
                               etl_cursor *out);
static etl_cursor skip_extra_words(etl_cursor c, u16 version_word);
static inline void set_time(etl_buffer *buffer, etl_record *record);
static void count_backwards(etl_buffer *buffer);
static bool next_event(etl_buffer *buffer, const record_kind *kind, record_prefix prefix,
                       etl_record *out);
static void parse_items(etl_cursor c, etl_record *out, etl_diag_counts *diag);
static bool read_item(etl_cursor *c, etl_item *out, bool *has_more);
static bool next_full(etl_buffer *buffer, const record_kind *kind, record_prefix prefix,
                      etl_record *out);
static bool next_rare(etl_buffer *buffer, record_prefix prefix, etl_record *out);
static void parse_message(etl_cursor c, record_prefix prefix, etl_record *out,
                          etl_diag_counts *diag);
static bool end_records(etl_buffer *buffer, record_prefix prefix);
static bool is_padding(record_prefix prefix);

const char *etl_header_kind_name(etl_header_kind kind)
{
    static const char *const names[] = {
#define ETL_HEADER_NAME(name, text) text,
        ETL_HEADER_KINDS(ETL_HEADER_NAME)
#undef ETL_HEADER_NAME
    };
    static_assert(ETL_COUNT_OF(names) == ETL_HEADER_KIND_COUNT, "one name per kind");
    return (unsigned)kind < ETL_HEADER_KIND_COUNT ? names[kind] : names[ETL_HEADER_OTHER];
}

bool etl_record_next(etl_buffer *buffer, etl_record *out)
{
    etl_cursor c = { buffer->base + buffer->at, buffer->end - buffer->at };
    const record_prefix prefix = etl_u64(&c);
    const record_kind *const kind = kind_of(prefix);
    if (kind->shape == SHAPE_HOOK)
        return next_hook(buffer, kind, prefix, out);
    if (kind->shape == SHAPE_EVENT)
        return next_event(buffer, kind, prefix, out);
    if (kind->shape == SHAPE_FULL)
        return next_full(buffer, kind, prefix, out);
    return next_rare(buffer, prefix, out);
}

/*
 * The row of the type, or an empty one for next_rare(). Type and marker are tested together;
 * without both bits of the marker, the difference is huge.
 */
static inline const record_kind *kind_of(record_prefix prefix)
{
    const u32 event_bits = ETL_MARKER_EVENT << 8;
    const u32 type = ((u32)(prefix >> 16) & (event_bits | UINT8_MAX)) - event_bits;
    return &kinds[type < ETL_TYPE_LIMIT ? type : 0];
}

/*
 * One path for all hook kinds: PERFINFO and SYSTEM records alternate in traces with stacks, and
 * branches between them would be mispredicted. If there are no ids, the time is in their place; it
 * is read and then covered with ones.
 */
APART static bool next_hook(etl_buffer *buffer, const record_kind *kind, record_prefix prefix,
                            etl_record *out)
{
    const u32 offset = buffer->at;
    const u32 size = word4_of(prefix);
    etl_cursor c;
    if (!take_record(buffer, kind, size, &c))
        return end_records(buffer, prefix);
    const u16 version_word = word0_of(prefix);
    const u16 hook = word6_of(prefix);
    const u8 *const fixed = etl_take(&c, kind->bytes - ETL_RECORD_PREFIX_BYTES);
    if ((version_word & ETL_VERSION_EXTRA) != 0)
        c = skip_extra_words(c, version_word);
    const u32 no_ids = kind->ids_bytes == 0 ? ETL_NO_ID : 0;
    *out = (etl_record){
        .ticks = (i64)etl_load_u64(fixed + kind->ids_bytes),
        .tid = etl_load_u32(fixed) | no_ids,
        .pid = etl_load_u32(fixed + 4) | no_ids,
        .hook = hook,
        .version = version_word & ETL_VERSION_MASK,
        .opcode = (u8)hook,
        .header = kind->header,
        .pointer_bytes = kind->pointer_bytes,
        .has_hook = true,
        .has_time = true,
        .cpu = buffer->cpu,
        .offset = offset,
        .size = size,
        .payload = { c.at, c.left },
    };
    set_time(buffer, out);
    return true;
}

/*
 * Moves behind a record and returns a cursor on the bytes after its first 8. False, without moving,
 * if a record of this kind cannot have this size.
 */
static inline bool take_record(etl_buffer *buffer, const record_kind *kind, u32 size,
                               etl_cursor *out)
{
    const u32 left = buffer->end - buffer->at;
    if (size < kind->bytes || size > left)
        return false;
    *out = (etl_cursor){ buffer->base + buffer->at, size };
    etl_skip(out, ETL_RECORD_PREFIX_BYTES);
    const u32 step = (size + ETL_RECORD_ALIGNMENT - 1) & ~(ETL_RECORD_ALIGNMENT - 1);
    buffer->at = step <= left ? buffer->at + step : buffer->end;
    return true;
}

/* If the extra words overrun the record, the cursor fails and the payload is empty. */
COLD static etl_cursor skip_extra_words(etl_cursor c, u16 version_word)
{
    const unsigned pebs = (version_word & ETL_VERSION_PEBS) != 0;
    const unsigned pmcs = (version_word & ETL_VERSION_PMC_COUNT) >> ETL_VERSION_PMC_SHIFT;
    etl_skip(&c, (size_t)ETL_EXTRA_WORD_BYTES * (pebs + pmcs));
    return c;
}

static inline void set_time(etl_buffer *buffer, etl_record *record)
{
    if (!record->has_time)
        record->ticks = buffer->ticks_previous;
    else if (record->ticks < buffer->ticks_previous)
        count_backwards(buffer);
    buffer->ticks_previous = record->ticks;
}

COLD static void count_backwards(etl_buffer *buffer)
{
    etl_diag_add(buffer->diag, ETL_DIAG_time_backwards, 1);
}

APART static bool next_event(etl_buffer *buffer, const record_kind *kind, record_prefix prefix,
                             etl_record *out)
{
    const u32 offset = buffer->at;
    const u32 size = word0_of(prefix);
    etl_cursor c;
    if (!take_record(buffer, kind, size, &c))
        return end_records(buffer, prefix);
    etl_need(&c, ETL_EVENT_BYTES - ETL_RECORD_PREFIX_BYTES);
    const u32 tid = etl_u32(&c);
    const u32 pid = etl_u32(&c);
    const u64 ticks = etl_u64(&c);
    const u8 *const provider = etl_take(&c, ETL_GUID_BYTES);
    const u16 id = etl_u16(&c);
    const u8 version = etl_u8(&c);
    etl_skip(&c, 1); /* channel */
    const u8 level = etl_u8(&c);
    const u8 opcode = etl_u8(&c);
    etl_skip(&c, 2 + 8 + 8);      /* task, keyword, processor times */
    etl_skip(&c, ETL_GUID_BYTES); /* activity */
    *out = (etl_record){
        .ticks = (i64)ticks,
        .tid = tid,
        .pid = pid,
        .version = version,
        .id = id,
        .opcode = opcode,
        .level = level,
        .header = kind->header,
        .pointer_bytes = kind->pointer_bytes,
        .has_time = true,
        .cpu = buffer->cpu,
        .offset = offset,
        .size = size,
        .provider = provider,
        .payload = { c.at, c.left },
    };
    if ((word4_of(prefix) & ETL_EVENT_EXTENDED) != 0)
        parse_items(c, out, buffer->diag);
    set_time(buffer, out);
    return true;
}

/* Parses extended items; the payload begins behind the last sound one. */
APART static void parse_items(etl_cursor c, etl_record *out, etl_diag_counts *diag)
{
    const etl_cursor start = c;
    bool has_more = true;
    while (has_more) {
        etl_item item;
        if (!read_item(&c, &item, &has_more)) {
            etl_diag_add(diag, ETL_DIAG_items_invalid, 1);
            break;
        }
    }
    out->items = (etl_bytes){ start.at, start.left - c.left };
    out->payload = (etl_bytes){ c.at, c.left };
}

bool etl_item_next(etl_bytes *items, etl_item *out)
{
    etl_cursor c = etl_cursor_of(*items);
    bool has_more;
    const bool found = c.left > 0 && read_item(&c, out, &has_more);
    *items = found ? (etl_bytes){ c.at, c.left } : (etl_bytes){ NULL, 0 };
    return found;
}

bool etl_item_stack_of(const etl_item *item, etl_item_stack *out)
{
    const bool is_narrow = item->type == ETL_ITEM_STACK32 || item->type == ETL_ITEM_STACK_KEY32;
    const bool is_key = item->type == ETL_ITEM_STACK_KEY32 || item->type == ETL_ITEM_STACK_KEY64;
    if (!is_narrow && !is_key && item->type != ETL_ITEM_STACK64)
        return false;
    const u32 width = is_narrow ? 4 : 8;
    etl_cursor c = etl_cursor_of(item->data);
    *out = (etl_item_stack){ .match_id = etl_u64(&c), .frame_bytes = width, .is_key = is_key };
    if (is_key)
        out->key = etl_pointer(&c, width);
    if (!etl_ok(&c) || is_key)
        return etl_ok(&c);
    const etl_bytes frames = etl_rest(&c);
    out->frames = frames.at;
    out->frame_count = (u32)(frames.size / width);
    while (out->frame_count > 0 && etl_frame_at(frames.at, width, out->frame_count - 1) == 0)
        out->frame_count--;
    return true;
}

/* Reads an item; false, with the cursor unmoved, if there is no sound item. */
static bool read_item(etl_cursor *c, etl_item *out, bool *has_more)
{
    etl_cursor item = *c;
    etl_need(&item, ETL_ITEM_HEADER_BYTES);
    const u16 size = etl_u16(&item);
    out->type = etl_u16(&item);
    const u16 linkage = etl_u16(&item);
    const u16 data_size = etl_u16(&item);
    if (!etl_ok(&item) || size < ETL_ITEM_HEADER_BYTES || size % ETL_RECORD_ALIGNMENT != 0 ||
        size > c->left || data_size > size - ETL_ITEM_HEADER_BYTES)
        return false;
    out->data = etl_view(&item, data_size);
    *has_more = (linkage & ETL_ITEM_MORE) != 0;
    etl_skip(c, size);
    return true;
}

APART static bool next_full(etl_buffer *buffer, const record_kind *kind, record_prefix prefix,
                            etl_record *out)
{
    const u32 offset = buffer->at;
    const u32 size = word0_of(prefix);
    etl_cursor c;
    if (!take_record(buffer, kind, size, &c))
        return end_records(buffer, prefix);
    etl_need(&c, ETL_FULL_BYTES - ETL_RECORD_PREFIX_BYTES);
    const u32 tid = etl_u32(&c);
    const u32 pid = etl_u32(&c);
    const u64 ticks = etl_u64(&c);
    const u8 *class_guid = etl_take(&c, ETL_GUID_BYTES);
    etl_skip(&c, 8); /* processor times */
    if (kind->bytes > ETL_FULL_BYTES) {
        const bool is_old = size < ETL_INSTANCE_BYTES;
        etl_skip(&c, (is_old ? ETL_INSTANCE_OLD_BYTES : ETL_INSTANCE_BYTES) - ETL_FULL_BYTES);
        if (is_old)
            class_guid = NULL; /* a handle and instance ids are in its place */
    }
    *out = (etl_record){
        .ticks = (i64)ticks,
        .tid = tid,
        .pid = pid,
        .version = word6_of(prefix),
        .opcode = (u8)word4_of(prefix),
        .level = (u8)(word4_of(prefix) >> 8),
        .header = kind->header,
        .pointer_bytes = kind->pointer_bytes,
        .has_time = true,
        .cpu = buffer->cpu,
        .offset = offset,
        .size = size,
        .provider = class_guid,
        .payload = { c.at, c.left },
    };
    set_time(buffer, out);
    return true;
}

/* Handles WPP messages, kinds of which only the size is known, and bytes that are not a record. */
COLD static bool next_rare(etl_buffer *buffer, record_prefix prefix, etl_record *out)
{
    const u32 offset = buffer->at;
    const u32 size = word0_of(prefix);
    const bool is_message = marker_of(prefix) == ETL_MARKER_MESSAGE;
    const record_kind *const kind = is_message ? &message_kind : &other_kind;
    etl_cursor c;
    if ((marker_of(prefix) & ETL_MARKER_TRACE) == 0 || is_padding(prefix) ||
        !take_record(buffer, kind, size, &c))
        return end_records(buffer, prefix);
    *out = (etl_record){
        .tid = ETL_NO_ID,
        .pid = ETL_NO_ID,
        .header = kind->header,
        .pointer_bytes = kind->pointer_bytes,
        .cpu = buffer->cpu,
        .offset = offset,
        .size = size,
        .payload = { c.at, c.left },
    };
    if (is_message)
        parse_message(c, prefix, out, buffer->diag);
    else
        etl_diag_add(buffer->diag, ETL_DIAG_record_kind_unknown, 1);
    set_time(buffer, out);
    return true;
}

/* Parses a message. Parts that do not fit are absent, and then there is no payload. */
static void parse_message(etl_cursor c, record_prefix prefix, etl_record *out,
                          etl_diag_counts *diag)
{
    const u16 flags = word6_of(prefix);
    out->id = word4_of(prefix);
    if ((flags & ETL_MESSAGE_POINTER32) != 0)
        out->pointer_bytes = 4;
    if ((flags & ETL_MESSAGE_SEQUENCE) != 0)
        etl_skip(&c, 4);
    if ((flags & ETL_MESSAGE_COMPONENT) != 0)
        etl_skip(&c, 4);
    else if ((flags & ETL_MESSAGE_GUID) != 0)
        out->provider = etl_take(&c, ETL_GUID_BYTES);
    if ((flags & ETL_MESSAGE_TIME) != 0 && etl_need(&c, 8)) {
        out->ticks = (i64)etl_u64(&c);
        out->has_time = true;
    }
    if ((flags & ETL_MESSAGE_IDS) != 0 && etl_need(&c, 8)) {
        out->tid = etl_u32(&c);
        out->pid = etl_u32(&c);
    }
    etl_diag_add(diag, ETL_DIAG_event_truncated, !etl_ok(&c));
    out->payload = (etl_bytes){ c.at, c.left };
}

/* There is no record at buffer->at: its end, padding, or damage to be counted. */
COLD static bool end_records(etl_buffer *buffer, record_prefix prefix)
{
    const u32 left = buffer->end - buffer->at;
    if (left > 0 && (left < ETL_RECORD_PREFIX_BYTES || !is_padding(prefix))) {
        etl_diag_add(buffer->diag, ETL_DIAG_record_invalid, 1);
        etl_diag_add(buffer->diag, ETL_DIAG_record_bytes_skipped, left);
    }
    buffer->at = buffer->end;
    return false;
}

/* The dword at +0 is all ones or zero where a buffer has no more records. */
static bool is_padding(record_prefix prefix)
{
    return (u32)prefix == ETL_RECORD_PADDING || (u32)prefix == 0;
}
