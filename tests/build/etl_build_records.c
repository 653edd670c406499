/*
 * etl_build_records.c - composes record headers: who, when, what, how long.
 *
 * In: calls with an etl_build_at, a type and a payload. Out: a record in the builder.
 *
 * Byte 3 of a record is 0xC0 (0x90 for WPP messages), and byte 2 its header type, which also says
 * how wide pointers in the payload are. Offsets:
 *
 *              size  version  hook/guid     tid  pid  ticks  payload
 *   SYSTEM      +4    +0       +6 hook      +8   +12  +16    +32
 *   COMPACT     +4    +0       +6 hook      +8   +12  +16    +24
 *   PERFINFO    +4    +0       +6 hook                +8     +16
 *   FULL        +0    +6       +24 guid     +8   +12  +16    +48
 *   INSTANCE    +0    +6       +24 guid     +8   +12  +16    +72
 *   EVENT       +0    +42      +24 guid     +8   +12  +16    +80 and items
 *
 * Invariant: the size is known last, so its field is filled when the payload is complete.
 * Sources: SDK evntrace.h and evntcons.h; phnt ntwmi.h for the first three.
 */
#include "etl_build_inside.h"

#include <stdlib.h>

#define MARKER_EVENT   0xC0
#define MARKER_MESSAGE 0x90

/* Header types, 32-bit and 64-bit payload. */
typedef struct header_type {
    u8 narrow;
    u8 wide;
} header_type;

static const header_type header_types[] = {
    [ETL_BUILD_HEADER_SYSTEM] = { 0x01, 0x02 },   [ETL_BUILD_HEADER_COMPACT] = { 0x03, 0x04 },
    [ETL_BUILD_HEADER_PERFINFO] = { 0x10, 0x11 }, [ETL_BUILD_HEADER_FULL] = { 0x0A, 0x14 },
    [ETL_BUILD_HEADER_INSTANCE] = { 0x0B, 0x15 },
};
static const header_type header_event = { 0x12, 0x13 };

/* Class GUIDs of the hook groups we write. Source: SDK and kernel MOF. */
typedef struct group_class {
    u8 group;
    const char *guid;
} group_class;

static const group_class group_classes[] = {
    { 0x00, "68fdd900-4a3e-11d1-84f4-0000f80464e3" },
    { 0x02, "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c" },
    { 0x03, "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c" },
    { 0x05, "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c" },
    { 0x0B, "01853a65-418f-4f36-aefc-dc0f1d2fd235" },
    { 0x0F, "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc" },
    { 0x10, "222962ab-6180-4b88-a825-346b75f2a24a" },
    { 0x14, "2cb15d1d-5fc1-11d2-abe1-00a0c911f518" },
    { 0x18, "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3" },
};

#define HOOK_IMAGE_LOAD 0x030Au
#define GROUP_IMAGE     0x14u

/* WPP option flags. */
#define WPP_SEQUENCE  0x0001u
#define WPP_GUID      0x0002u
#define WPP_COMPONENT 0x0004u
#define WPP_TIME      0x0008u
#define WPP_SYSTEM    0x0020u

static void begin_hook(etl_build *b, const etl_build_at *at, u16 hook, u8 header, u16 version_word);
static void class_of_hook(etl_build *b, u16 hook, u8 guid[16]);
static u8 type_of(const header_type *type, u8 pointer_bytes);
static u8 width_of(const etl_build *b, const etl_build_at *at);
static void put_items(etl_build *b, const etl_build_manifest *event);
static int hex_digit(char c);

/* --- putting bytes --- */

static u8 *room(etl_build *b, size_t size)
{
    if (size > BUILD_RECORD_BYTES_MAX - b->put.at) {
        b->put.overflow = true;
        return NULL;
    }
    u8 *const at = b->record + b->put.at;
    b->put.at += (u32)size;
    return at;
}

void build_put_bytes(etl_build *b, const void *bytes, size_t size)
{
    u8 *const at = room(b, size);
    if (at != NULL && size > 0)
        memcpy(at, bytes, size);
}

void build_put_zeros(etl_build *b, size_t size)
{
    u8 *const at = room(b, size);
    if (at != NULL)
        memset(at, 0, size);
}

void build_put_u8(etl_build *b, u8 value)
{
    build_put_bytes(b, &value, sizeof value);
}

void build_put_u16(etl_build *b, u16 value)
{
    build_put_bytes(b, &value, sizeof value);
}

void build_put_u32(etl_build *b, u32 value)
{
    build_put_bytes(b, &value, sizeof value);
}

void build_put_u64(etl_build *b, u64 value)
{
    build_put_bytes(b, &value, sizeof value);
}

void build_put_pointer(etl_build *b, u64 value)
{
    build_put_bytes(b, &value, b->put.pointer_bytes);
}

void build_put_text8(etl_build *b, const char *text)
{
    const char *const known = text ? text : "";
    build_put_bytes(b, known, strlen(known) + 1);
}

void build_put_text16(etl_build *b, const char *text)
{
    const char *const known = text ? text : "";
    build_put_name16(b, known, (u32)strlen(known) + 1);
}

void build_put_name16(etl_build *b, const char *text, u32 units)
{
    const char *const known = text ? text : "";
    const size_t length = strlen(known);
    for (u32 i = 0; i < units; i++)
        build_put_u16(b, i < length && i + 1 < units ? (u8)known[i] : 0);
}

/* --- records with a hook --- */

void etl_build_hook(etl_build *b, etl_build_at at, u16 hook, const void *payload, size_t size)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, hook, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_bytes(b, payload, size);
    build_end(b, &at);
}

void etl_build_hook_counters(etl_build *b, etl_build_at at, u16 hook,
                             const etl_build_counters *counters)
{
    if (!build_ok(b))
        return;
    const u16 version = build_version(&at, 2);
    const u16 flags = (u16)((counters->pebs ? 0x8000u : 0) | (u32)(counters->count & 7u) << 8);
    const u32 values = (counters->pebs ? 1u : 0u) + (counters->count & 7u);
    const u8 header = at.header ? at.header : (u8)ETL_BUILD_HEADER_PERFINFO;
    begin_hook(b, &at, hook, header, version | flags);
    for (u32 i = 0; i < values; i++)
        build_put_u64(b, counters->values[i]);
    build_put_bytes(b, counters->payload, counters->payload_size);
    build_end(b, &at);
}

u8 build_version(const etl_build_at *at, u8 newest)
{
    return at->version != 0 ? (u8)at->version : newest;
}

void build_begin(etl_build *b, const etl_build_at *at, u16 hook, etl_build_header header,
                 u8 version)
{
    const u8 chosen = at->header ? at->header : (u8)header;
    if (chosen > ETL_BUILD_HEADER_INSTANCE) {
        build_fail(b, "header kind %u", chosen);
        return;
    }
    begin_hook(b, at, hook, chosen, build_version(at, version));
}

static void begin_hook(etl_build *b, const etl_build_at *at, u16 hook, u8 header, u16 version_word)
{
    if (header == ETL_BUILD_HEADER_FULL || header == ETL_BUILD_HEADER_INSTANCE) {
        etl_build_classic event = { .opcode = (u8)hook, .version = version_word };
        class_of_hook(b, hook, event.guid);
        etl_build_at classic_at = *at;
        classic_at.header = header;
        build_begin_classic(b, &classic_at, &event);
        return;
    }
    b->put = (build_put){ .pointer_bytes = width_of(b, at) };
    build_put_u16(b, version_word);
    build_put_u8(b, type_of(&header_types[header], b->put.pointer_bytes));
    build_put_u8(b, MARKER_EVENT);
    build_put_u16(b, 0); /* size, when known */
    build_put_u16(b, hook);
    if (header != ETL_BUILD_HEADER_PERFINFO) {
        build_put_u32(b, at->tid);
        build_put_u32(b, at->pid);
    }
    build_put_u64(b, (u64)at->ticks);
    if (header == ETL_BUILD_HEADER_SYSTEM) {
        build_put_u32(b, 3); /* kernel and user time, in timer ticks */
        build_put_u32(b, 11);
    }
}

/* Consumers know a load, hook 0x030A, as opcode 10 of the image class. */
static void class_of_hook(etl_build *b, u16 hook, u8 guid[16])
{
    const u32 group = hook == HOOK_IMAGE_LOAD ? GROUP_IMAGE : hook >> 8;
    for (size_t i = 0; i < ETL_COUNT_OF(group_classes); i++) {
        if (group_classes[i].group == group) {
            etl_build_guid(group_classes[i].guid, guid);
            return;
        }
    }
    build_fail(b, "hook 0x%04x has no class GUID here", hook);
}

static u8 type_of(const header_type *type, u8 pointer_bytes)
{
    return pointer_bytes == 4 ? type->narrow : type->wide;
}

static u8 width_of(const etl_build *b, const etl_build_at *at)
{
    return at->pointer_bytes ? at->pointer_bytes : (u8)b->session.options.pointer_bytes;
}

void build_end(etl_build *b, const etl_build_at *at)
{
    if (b->put.overflow)
        build_fail(b, "a record is longer than %u bytes", BUILD_RECORD_BYTES_MAX);
    if (!build_ok(b))
        return;
    const u16 size = (u16)b->put.at;
    const u8 type = b->record[2];
    const bool size_at_4 = (type >= 0x01 && type <= 0x04) || type == 0x10 || type == 0x11;
    memcpy(b->record + (size_at_4 ? 4 : 0), &size, sizeof size);
    build_order_record(b, at->ticks, at->cpu, size);
}

/* --- classic, manifest, message, raw --- */

void etl_build_classic_event(etl_build *b, etl_build_at at, const etl_build_classic *event)
{
    if (!build_ok(b))
        return;
    build_begin_classic(b, &at, event);
    build_put_bytes(b, event->payload, event->payload_size);
    build_end(b, &at);
}

void build_begin_classic(etl_build *b, const etl_build_at *at, const etl_build_classic *event)
{
    const bool is_instance = at->header == ETL_BUILD_HEADER_INSTANCE;
    const header_type *const type =
        &header_types[is_instance ? ETL_BUILD_HEADER_INSTANCE : ETL_BUILD_HEADER_FULL];
    b->put = (build_put){ .pointer_bytes = width_of(b, at) };
    build_put_u16(b, 0); /* size, when known */
    build_put_u8(b, type_of(type, b->put.pointer_bytes));
    build_put_u8(b, MARKER_EVENT);
    build_put_u8(b, event->opcode);
    build_put_u8(b, event->level);
    build_put_u16(b, event->version);
    build_put_u32(b, at->tid);
    build_put_u32(b, at->pid);
    build_put_u64(b, (u64)at->ticks);
    build_put_bytes(b, event->guid, sizeof event->guid);
    build_put_u32(b, 3);
    build_put_u32(b, 11);
    if (is_instance) {
        build_put_u32(b, 1); /* instance, parent, parent's GUID */
        build_put_u32(b, 0);
        build_put_zeros(b, 16);
    }
}

void etl_build_event(etl_build *b, etl_build_at at, const etl_build_manifest *event)
{
    if (!build_ok(b))
        return;
    b->put = (build_put){ .pointer_bytes = width_of(b, &at) };
    build_put_u16(b, 0); /* size, when known */
    build_put_u8(b, type_of(&header_event, b->put.pointer_bytes));
    build_put_u8(b, MARKER_EVENT);
    build_put_u16(b, event->item_count > 0 ? 1 : 0);
    build_put_u16(b, 0);
    build_put_u32(b, at.tid);
    build_put_u32(b, at.pid);
    build_put_u64(b, (u64)at.ticks);
    build_put_bytes(b, event->provider, sizeof event->provider);
    build_put_u16(b, event->id);
    build_put_u8(b, event->version);
    build_put_u8(b, event->channel);
    build_put_u8(b, event->level);
    build_put_u8(b, event->opcode);
    build_put_u16(b, event->task);
    build_put_u64(b, event->keyword);
    build_put_u32(b, 3);
    build_put_u32(b, 11);
    build_put_zeros(b, 16); /* activity */
    put_items(b, event);
    build_put_bytes(b, event->payload, event->payload_size);
    build_end(b, &at);
}

/* On disk an item is {u16 size in steps of 8, u16 type, u16 more, u16 data size}. */
static void put_items(etl_build *b, const etl_build_manifest *event)
{
    for (u32 i = 0; i < event->item_count; i++) {
        const etl_build_item *const item = &event->items[i];
        const size_t padded = (item->size + 7) & ~(size_t)7;
        if (padded + 8 > UINT16_MAX) {
            b->put.overflow = true;
            return;
        }
        build_put_u16(b, (u16)(padded + 8));
        build_put_u16(b, item->type);
        build_put_u16(b, i + 1 < event->item_count ? 1 : 0);
        build_put_u16(b, (u16)item->size);
        build_put_bytes(b, item->data, item->size);
        build_put_zeros(b, padded - item->size);
    }
}

void etl_build_message(etl_build *b, etl_build_at at, const etl_build_wpp *message)
{
    if (!build_ok(b))
        return;
    b->put = (build_put){ .pointer_bytes = width_of(b, &at) };
    build_put_u16(b, 0); /* size, when known */
    build_put_u8(b, 0);
    build_put_u8(b, MARKER_MESSAGE);
    build_put_u16(b, message->number);
    build_put_u16(b, message->parts);
    if (message->parts & WPP_SEQUENCE)
        build_put_u32(b, message->sequence);
    if (message->parts & WPP_COMPONENT)
        build_put_bytes(b, message->guid, 4);
    else if (message->parts & WPP_GUID)
        build_put_bytes(b, message->guid, sizeof message->guid);
    if (message->parts & WPP_TIME)
        build_put_u64(b, (u64)at.ticks);
    if (message->parts & WPP_SYSTEM) {
        build_put_u32(b, at.tid);
        build_put_u32(b, at.pid);
    }
    build_put_bytes(b, message->payload, message->payload_size);
    build_end(b, &at);
}

void etl_build_raw(etl_build *b, etl_build_at at, const void *record, size_t size)
{
    if (!build_ok(b))
        return;
    b->put = (build_put){ 0 };
    build_put_bytes(b, record, size);
    if (b->put.overflow || size < 4) {
        build_fail(b, "a raw record of %zu bytes", size);
        return;
    }
    build_order_record(b, at.ticks, at.cpu, b->put.at);
}

/* The first three groups are integers and lie little endian, the rest in order. */
void etl_build_guid(const char *text, u8 out[16])
{
    static const u8 place[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    memset(out, 0, 16);
    u32 digits = 0;
    for (const char *c = text; *c != '\0' && digits < 32; c++) {
        const int value = hex_digit(*c);
        if (value < 0)
            continue;
        u8 *const byte = &out[place[digits / 2]];
        *byte = (u8)(*byte << 4 | value);
        digits++;
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
