/*
 * etl_build_managed.c - events of the .NET runtime: methods, and the files they are from.
 *
 * Source: the manifests of Microsoft-Windows-DotNETRuntime and ...Rundown, Microsoft's page on
 * loader events; lengths agree with the events of a real trace.
 */
#include "etl_build.h"

#include <string.h>

#define RUNTIME "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
#define RUNDOWN "a669021c-c450-4609-a035-5af59af4df18"

typedef struct payload {
    u8 bytes[4096];
    size_t size;
} payload;

static void put(payload *p, u64 value, u32 bytes)
{
    for (u32 i = 0; i < bytes && p->size < sizeof p->bytes; i++)
        p->bytes[p->size++] = (u8)(value >> 8 * i);
}

static void put_text(payload *p, const char *text)
{
    for (; *text != '\0'; text++)
        put(p, (u8)*text, 2);
    put(p, 0, 2);
}

static void write_event(etl_build *b, etl_build_at at, u16 id, bool is_rundown, const payload *p)
{
    etl_build_manifest event = {
        .id = id, .version = 2, .level = 5, .payload = p->bytes, .payload_size = p->size
    };
    etl_build_guid(is_rundown ? RUNDOWN : RUNTIME, event.provider);
    etl_build_event(b, at, &event);
}

void etl_build_method(etl_build *b, etl_build_at at, u16 id, bool is_rundown,
                      const etl_build_method_spec *spec)
{
    payload p = { .size = 0 };
    put(&p, spec->start ^ 0x5a5a, 8);
    put(&p, spec->module_id, 8);
    put(&p, spec->start, 8);
    put(&p, spec->size, 4);
    put(&p, 0x06000001, 4);
    put(&p, 1, 4);
    put_text(&p, spec->name_space);
    put_text(&p, spec->name);
    put_text(&p, "instance void  ()");
    put(&p, 9, 2);
    put(&p, spec->rejit_id, 8);
    write_event(b, at, id, is_rundown, &p);
}

void etl_build_assembly(etl_build *b, etl_build_at at, u16 id, bool is_rundown, u64 module_id,
                        const char *il_path)
{
    static const u8 zeros[16] = { 0 };
    payload p = { .size = 0 };
    put(&p, module_id, 8);
    put(&p, 0x784dc0, 8);
    put(&p, 8, 4);
    put(&p, 0, 4);
    put_text(&p, il_path);
    put_text(&p, "");
    put(&p, 9, 2);
    for (u32 pdb = 0; pdb < 2; pdb++) {
        memcpy(p.bytes + p.size, zeros, sizeof zeros);
        p.size += sizeof zeros;
        put(&p, 1, 4);
        put_text(&p, "app.pdb");
    }
    write_event(b, at, id, is_rundown, &p);
}
