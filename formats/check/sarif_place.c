/*
 * sarif_place.c - writes the physical and logical location of a SARIF result. sarif_place.h has the
 * order of choice.
 *
 * In: the stack of a subject, and the folders of sources. Out: a file with a line, or what stands
 * for it. Invariant: every result gets a place, or GitHub refuses the file.
 */
#include "sarif_place.h"

#include "formats/parts/source_roots.h"

#include <string.h>

#define ALL_PROCESSES "all-processes"

/* Of a character in a URI reference; colons are written only after a drive's letter. */
static void add_escaped(etlheap_text *text, u8 c, const char *plain)
{
    const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (letter || (c >= '0' && c <= '9') || (c != '\0' && strchr(plain, c)))
        etlheap_text_add(text, (const char *)&c, 1);
    else
        etlheap_text_add_format(text, "%%%02X", c);
}

/* A path as a URI reference (RFC 3986): "C:\a b.cpp" is file:///C:/a%20b.cpp, what is
 * relative stays so. Bytes that no reference has are written in hexadecimal. */
static void add_path(etlheap_text *text, const char *path)
{
    static const char plain[] = "-._~/!$&'()*+,;=@";
    const bool has_drive = ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':';
    if (has_drive)
        etlheap_text_add_string(text, "file:///");
    else if (path[0] == '/' || path[0] == '\\')
        etlheap_text_add_string(text, path[0] == path[1] ? "file:" : "file://");
    for (size_t i = 0; path[i] != '\0'; i++) {
        const u8 c = path[i] == '\\' ? '/' : (u8)path[i];
        if (c == ':' && i == 1 && has_drive)
            etlheap_text_add_string(text, ":");
        else
            add_escaped(text, c, plain);
    }
}

/* The name of a module or process, as a file of that name beside the sources. */
static void add_name(etlheap_text *text, const char *name)
{
    for (; *name != '\0'; name++)
        add_escaped(text, (u8)*name, "-._~!$&'()*+,;=@");
}

static void write_physical(etlheap_json *json, const char *uri, u32 line)
{
    etlheap_json_object(json, "physicalLocation");
    etlheap_json_object(json, "artifactLocation");
    etlheap_json_string(json, "uri", uri);
    etlheap_json_object_close(json);
    etlheap_json_object(json, "region");
    etlheap_json_u64(json, "startLine", line);
    etlheap_json_object_close(json);
    etlheap_json_object_close(json);
}

static void write_logical(etlheap_json *json, const etlheap_frame *frame, etlheap_text *text)
{
    etlheap_text_clear(text);
    etlheap_text_add_frame(text, frame);
    etlheap_json_array(json, "logicalLocations");
    etlheap_json_object(json, NULL);
    if (frame->symbol)
        etlheap_json_string(json, "name", frame->symbol);
    etlheap_json_string(json, "fullyQualifiedName", etlheap_text_of(text));
    etlheap_json_string(json, "kind", "function");
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

/* Whether hosts can show a line of it. */
static bool has_line(const etlheap_frame *frame)
{
    return frame->file && frame->file[0] != '\0' && frame->line > 0;
}

/* A source file as a URI reference: relative to the repository if a root has it. */
static void add_source(etlheap_text *text, const sarif_place *place, const char *file)
{
    etlheap_text path = { 0 };
    etlheap_source_roots_add(place->roots, file, &path);
    add_path(text, etlheap_text_of(&path));
    text->failed |= path.failed;
    etlheap_text_free(&path);
}

/* Writes the other lines of the frame: the result is one row, whichever of them allocated. */
static void write_related(etlheap_json *json, const sarif_place *place, const etlheap_frame *frame,
                          etlheap_text *text)
{
    etlheap_json_array(json, "relatedLocations");
    for (u32 i = 0; i < frame->line_count; i++) {
        const etlheap_source_line *const line = &frame->lines[i];
        if (line->line == frame->line && strcmp(line->file, frame->file) == 0)
            continue;
        etlheap_text_clear(text);
        add_source(text, place, line->file);
        etlheap_json_object(json, NULL);
        write_physical(json, etlheap_text_of(text), line->line);
        etlheap_json_object(json, "message");
        etlheap_json_string(json, "text", "another line of the function that allocated");
        etlheap_json_object_close(json);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

void sarif_write_locations(etlheap_json *json, const sarif_place *place, etlheap_text *text)
{
    const etlheap_frame *const frame =
        place->frames.count > 0 ? etlheap_source_frame(place->roots, place->table, place->frames)
                                : NULL;
    etlheap_text_clear(text);
    if (frame && frame->file && frame->file[0] != '\0')
        add_source(text, place, frame->file);
    else if (frame && frame->module && frame->module[0] != '\0')
        add_name(text, frame->module);
    else
        add_name(text,
                 place->process && place->process[0] != '\0' ? place->process : ALL_PROCESSES);
    etlheap_json_array(json, "locations");
    etlheap_json_object(json, NULL);
    write_physical(json, etlheap_text_of(text), frame && has_line(frame) ? frame->line : 1);
    if (frame)
        write_logical(json, frame, text);
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
    if (frame && has_line(frame) && frame->lines)
        write_related(json, place, frame, text);
}

/* A location has one line; a message names them all. */
static void write_lines(etlheap_json *json, const etlheap_frame *frame, etlheap_text *text)
{
    etlheap_text_clear(text);
    etlheap_text_add_lines(text, frame);
    etlheap_json_object(json, "message");
    etlheap_json_string(json, "text", etlheap_text_of(text));
    etlheap_json_object_close(json);
}

static void write_stack_frame(etlheap_json *json, const sarif_place *place,
                              const etlheap_frame *frame, etlheap_text *text)
{
    etlheap_json_object(json, NULL);
    etlheap_json_object(json, "location");
    if (has_line(frame)) {
        etlheap_text_clear(text);
        add_source(text, place, frame->file);
        write_physical(json, etlheap_text_of(text), frame->line);
    }
    write_logical(json, frame, text);
    if (has_line(frame) && frame->lines)
        write_lines(json, frame, text);
    etlheap_json_object_close(json);
    if (frame->module)
        etlheap_json_string(json, "module", frame->module);
    etlheap_json_object_close(json);
}

void sarif_write_stack(etlheap_json *json, const sarif_place *place, etlheap_text *text)
{
    if (place->frames.count == 0)
        return;
    etlheap_json_array(json, "stacks");
    etlheap_json_object(json, NULL);
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < place->frames.count; i++)
        write_stack_frame(json, place, &place->table->frames[place->frames.at[i]], text);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}
