#include "decode_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/etl/event_class.h"

#define PAINT      0xa5 /* what an event holds before it is decoded */
#define MORE_BYTES 9

/* Text that grows; what does not fit is dropped. */
typedef struct line {
    char *at;
    size_t left;
} line;

static void say(line *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_field(line *out, const etl_event *event, const etl_field *field);
static void print_number(line *out, const void *at, etl_field_type type);
static void print_text(line *out, const void *at, etl_field_type type);
static void print_frames(line *out, const etl_event *event);
static void print_ranges(line *out, etl_bytes ranges, u8 pointer_bytes);
static void print_ws_rows(line *out, const etl_event *event);
static bool decodes_as(const decode_vector *vector, const etl_record *record, u64 newer_count,
                       char why[DECODE_WHY_SIZE]);
static bool fails_cleanly(const etl_record *record);
static const u8 *class_guid(u8 class_number);
static u8 hex_digit(char c);
static u8 *copy_exactly(etl_bytes bytes, size_t size);

/* The headers of hook records, then the classic ones. */
static const etl_header_kind hook_headers[2][3] = {
    { ETL_HEADER_SYSTEM32, ETL_HEADER_COMPACT32, ETL_HEADER_PERFINFO32 },
    { ETL_HEADER_SYSTEM64, ETL_HEADER_COMPACT64, ETL_HEADER_PERFINFO64 },
};
static const etl_header_kind classic_headers[2][2] = {
    { ETL_HEADER_FULL32, ETL_HEADER_INSTANCE32 },
    { ETL_HEADER_FULL64, ETL_HEADER_INSTANCE64 },
};

/* All that a provider with a manifest has. */
static const etl_header_kind event_headers[2] = { ETL_HEADER_EVENT32, ETL_HEADER_EVENT64 };

static bool is_provider(const decode_vector *vector)
{
    return vector->key >> 8 >= ETL_CLASS_PROVIDERS;
}

static bool is_hook(const decode_vector *vector)
{
    return vector->key >> 8 < ETL_CLASS_HOOK_COUNT;
}

static etl_header_kind plain_header(const decode_vector *vector)
{
    const int wide = vector->pointer_bytes == 8;
    if (is_provider(vector))
        return event_headers[wide];
    return is_hook(vector) ? hook_headers[wide][0] : classic_headers[wide][0];
}

bool decode_in_all_headers(const decode_vector *vector, char why[DECODE_WHY_SIZE])
{
    const int wide = vector->pointer_bytes == 8;
    size_t size = 0;
    u8 *const bytes = decode_vector_payload(vector, &size);
    const etl_bytes payload = { bytes, size };
    bool good = true;
    for (size_t i = 0; good && is_hook(vector) && i < 3; i++) {
        const etl_record record = decode_vector_record(vector, payload, hook_headers[wide][i]);
        good = decodes_as(vector, &record, 0, why);
    }
    if (is_provider(vector)) {
        const etl_record record = decode_vector_record(vector, payload, event_headers[wide]);
        good = decodes_as(vector, &record, 0, why);
    }
    for (size_t i = 0; good && !is_provider(vector) && i < 2; i++) {
        const etl_record record = decode_vector_record(vector, payload, classic_headers[wide][i]);
        good = decodes_as(vector, &record, 0, why);
    }
    free(bytes);
    return good;
}

bool decode_cuts_cleanly(const decode_vector *vector, char why[DECODE_WHY_SIZE])
{
    size_t size = 0;
    u8 *const bytes = decode_vector_payload(vector, &size);
    const etl_bytes payload = { bytes, size };
    const size_t least = vector->least == WHOLE ? payload.size : vector->least;
    bool good = true;
    for (size_t cut_size = 0; good && cut_size < payload.size; cut_size++) {
        /* In memory of exactly this size, so that a sanitizer sees any overrun. */
        u8 *const cut = copy_exactly(payload, cut_size);
        const etl_record record =
            decode_vector_record(vector, (etl_bytes){ cut, cut_size }, plain_header(vector));
        etl_event event;
        etl_diag_counts diag = { { 0 } };
        const bool expected =
            cut_size >= least || (vector->least_short && cut_size == vector->least_short);
        if (expected)
            good = etl_decode(&record, &event, &diag) && diag.of[ETL_DIAG_event_truncated] == 0;
        else
            good = fails_cleanly(&record);
        if (!good)
            (void)snprintf(why, DECODE_WHY_SIZE, "%s: cut to %zu bytes it should %s", vector->name,
                           cut_size, expected ? "decode" : "fail and leave the event alone");
        free(cut);
    }
    free(bytes);
    return good;
}

bool decode_ignores_more_bytes(const decode_vector *vector, char why[DECODE_WHY_SIZE])
{
    if (vector->open_ended)
        return true;
    size_t size = 0;
    u8 *const bytes = decode_vector_payload(vector, &size);
    const etl_bytes payload = { bytes, size };
    u8 *const longer = copy_exactly(payload, payload.size + MORE_BYTES);
    const etl_record record = decode_vector_record(
        vector, (etl_bytes){ longer, payload.size + MORE_BYTES }, plain_header(vector));
    const bool good = decodes_as(vector, &record, 0, why);
    free(longer);
    free(bytes);
    return good;
}

bool decode_takes_newer_version(const decode_vector *vector, char why[DECODE_WHY_SIZE])
{
    if (!vector->newest)
        return true;
    size_t size = 0;
    u8 *const bytes = decode_vector_payload(vector, &size);
    const etl_bytes payload = { bytes, size };
    etl_record record = decode_vector_record(vector, payload, plain_header(vector));
    record.version = 200;
    const bool good = decodes_as(vector, &record, 1, why);
    free(bytes);
    return good;
}

u8 *decode_vector_payload(const decode_vector *vector, size_t *size)
{
    u8 *const bytes = calloc(1, strlen(vector->hex) / 2 + 1);
    if (bytes == NULL)
        abort();
    size_t digits = 0;
    for (const char *c = vector->hex; *c != '\0'; c++) {
        if (*c == ' ')
            continue;
        const unsigned shift = digits % 2 == 0 ? 4 : 0;
        bytes[digits / 2] = (u8)(bytes[digits / 2] | hex_digit(*c) << shift);
        digits++;
    }
    assert(digits % 2 == 0);
    *size = digits / 2;
    u8 *const exact = copy_exactly((etl_bytes){ bytes, *size }, *size);
    free(bytes);
    return exact;
}

etl_record decode_vector_record(const decode_vector *vector, etl_bytes payload,
                                etl_header_kind header)
{
    const bool classic = header >= ETL_HEADER_FULL32 && header <= ETL_HEADER_INSTANCE64;
    const bool is_event = header == ETL_HEADER_EVENT32 || header == ETL_HEADER_EVENT64;
    const bool has_guid = classic || is_event;
    const bool by_load_class = vector->key == ETL_HOOK_IMAGE_LOAD;
    const u8 class_number = by_load_class ? ETL_CLASS_IMAGE : (u8)(vector->key >> 8);
    return (etl_record){
        .tid = 78,
        .pid = 77,
        .hook = has_guid ? 0 : vector->key,
        .id = is_event ? vector->key & 0xff : 0,
        .version = vector->version,
        .opcode = is_event ? 0 : (u8)vector->key,
        .header = (u8)header,
        .pointer_bytes = vector->pointer_bytes,
        .has_hook = !has_guid,
        .has_time = true,
        .provider = has_guid ? class_guid(class_number) : NULL,
        .payload = payload,
    };
}

void decode_print_event(const etl_record *record, const etl_event *event, char *out,
                        size_t capacity)
{
    line text = { out, capacity };
    const etl_event_info *const info = etl_event_describe(event->kind);
    say(&text, "%s", etl_record_name(record));
    for (size_t i = 0; i < info->field_count; i++)
        print_field(&text, event, &info->fields[i]);
}

static bool decodes_as(const decode_vector *vector, const etl_record *record, u64 newer_count,
                       char why[DECODE_WHY_SIZE])
{
    etl_event event;
    memset(&event, PAINT, sizeof event);
    etl_diag_counts diag = { { 0 } };
    char text[DECODE_WHY_SIZE / 2] = "";
    if (etl_decode(record, &event, &diag))
        decode_print_event(record, &event, text, sizeof text);
    const bool same_text = strcmp(text, vector->event) == 0;
    const bool same_counts = diag.of[ETL_DIAG_event_truncated] == 0 &&
                             diag.of[ETL_DIAG_event_version_newer] == newer_count;
    if (same_text && same_counts)
        return true;
    (void)snprintf(why, DECODE_WHY_SIZE, "%s, %s, version %u:\n got %s\nwant %s%s", vector->name,
                   etl_header_kind_name((etl_header_kind)record->header), record->version, text,
                   vector->event, same_counts ? "" : "\nand other diagnostics");
    return false;
}

static bool fails_cleanly(const etl_record *record)
{
    etl_event event;
    etl_event untouched;
    memset(&event, PAINT, sizeof event);
    memset(&untouched, PAINT, sizeof untouched);
    etl_diag_counts diag = { { 0 } };
    if (etl_decode(record, &event, &diag) || event.kind != ETL_EVENT_NONE)
        return false;
    u64 sum = 0;
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        sum += diag.of[i];
    return sum == 1 && diag.of[ETL_DIAG_event_truncated] == 1 &&
           memcmp(&event.as, &untouched.as, sizeof event.as) == 0;
}

static void print_field(line *out, const etl_event *event, const etl_field *field)
{
    const void *const at = (const u8 *)event + field->offset;
    etl_bytes bytes;
    say(out, " %s=", field->name);
    switch ((etl_field_type)field->type) {
    case ETL_FIELD_TEXT8:
    case ETL_FIELD_TEXT16:
        print_text(out, at, (etl_field_type)field->type);
        break;
    case ETL_FIELD_FRAMES:
        print_frames(out, event);
        break;
    case ETL_FIELD_RANGES:
        memcpy(&bytes, at, sizeof bytes);
        print_ranges(out, bytes, event->pointer_bytes);
        break;
    case ETL_FIELD_WS_ROWS:
        print_ws_rows(out, event);
        break;
    default:
        print_number(out, at, (etl_field_type)field->type);
        break;
    }
}

static void print_number(line *out, const void *at, etl_field_type type)
{
    char guid[ETL_GUID_TEXT_SIZE];
    switch (type) {
    case ETL_FIELD_U16:
        say(out, "%u", etl_load_u16(at));
        break;
    case ETL_FIELD_U32:
        say(out, "%" PRIu32, etl_load_u32(at));
        break;
    case ETL_FIELD_I32:
        say(out, "%" PRId32, (i32)etl_load_u32(at));
        break;
    case ETL_FIELD_U64:
        say(out, "%" PRIu64, etl_load_u64(at));
        break;
    case ETL_FIELD_I64:
        say(out, "%" PRId64, (i64)etl_load_u64(at));
        break;
    case ETL_FIELD_HEX32:
        say(out, "0x%" PRIx32, etl_load_u32(at));
        break;
    case ETL_FIELD_HEX64:
        say(out, "0x%" PRIx64, etl_load_u64(at));
        break;
    case ETL_FIELD_GUID:
        etl_guid_format(at, guid);
        say(out, "%s", guid);
        break;
    default:
        say(out, "?");
        break;
    }
}

static void print_text(line *out, const void *at, etl_field_type type)
{
    etl_bytes bytes;
    memcpy(&bytes, at, sizeof bytes);
    char text[256];
    if (type == ETL_FIELD_TEXT8)
        (void)etl_text_to_utf8(bytes, text, sizeof text);
    else
        (void)etl_utf16_to_utf8(bytes, text, sizeof text);
    say(out, "'%s'", text);
}

static void print_frames(line *out, const etl_event *event)
{
    const bool is_stack = event->kind == ETL_EVENT_STACK;
    const u32 count =
        is_stack ? event->as.stack.frame_count : event->as.stack_definition.frame_count;
    const u32 width =
        is_stack ? event->as.stack.frame_bytes : event->as.stack_definition.frame_bytes;
    const u8 *const frames = is_stack ? event->as.stack.frames : event->as.stack_definition.frames;
    for (u32 i = 0; i < count; i++)
        say(out, "%s0x%" PRIx64, i > 0 ? "," : "", etl_frame_at(frames, width, i));
}

static void print_ranges(line *out, etl_bytes ranges, u8 pointer_bytes)
{
    for (u32 i = 0; i < ranges.size / pointer_bytes; i++)
        say(out, "%s0x%" PRIx64, i > 0 ? "," : "", etl_frame_at(ranges.at, pointer_bytes, i));
}

static void print_ws_rows(line *out, const etl_event *event)
{
    etl_meminfo_ws_row row;
    for (u32 i = 0; etl_meminfo_ws_entry(&event->as.meminfo_ws, event->pointer_bytes, i, &row); i++)
        say(out, "%s%" PRIu32 ":%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64, i > 0 ? "," : "",
            row.process_id, row.working_set_pages, row.commit_pages, row.virtual_size_pages,
            row.private_working_set_pages);
}

static void say(line *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(out->at, out->left, format, arguments);
    va_end(arguments);
    assert(size >= 0);
    const size_t written = (size_t)size < out->left ? (size_t)size : out->left;
    out->at += written;
    out->left -= written;
}

static const u8 *class_guid(u8 class_number)
{
    for (size_t i = 0; i < etl_class_row_count(); i++) {
        if (etl_class_row_at(i)->class_number == class_number)
            return etl_class_row_at(i)->guid.bytes;
    }
    abort();
}

static u8 hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *const at = memchr(digits, c, 16);
    assert(at != NULL);
    return (u8)(at - digits);
}

/* `size` bytes: those given, and 0xee where there are no more. */
static u8 *copy_exactly(etl_bytes bytes, size_t size)
{
    u8 *const copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        abort();
    memset(copy, 0xee, size);
    memcpy(copy, bytes.at, size < bytes.size ? size : bytes.size);
    return copy;
}
