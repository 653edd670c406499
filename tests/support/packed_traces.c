/* packed_traces.c - see packed_traces.h. */
#include "packed_traces.h"

#include <stdlib.h>
#include <unistd.h>
#include <zip.h>

static const char about[] = "<Package xmlns=\"urn:diagnosticshub-package-metadata-2-1\"/>";
static const char pdb[] = "Microsoft C/C++ MSF 7.00\r\n\032DS";

static void require(bool made, const char *why)
{
    if (made)
        return;
    fprintf(stderr, "# the test's own package failed: %s\n", why);
    abort();
}

static void add_member(zip_t *zip, const char *name, const void *bytes, size_t size)
{
    zip_source_t *const source = zip_source_buffer(zip, bytes, size, 0);
    require(source != NULL && zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8) >= 0, name);
}

/* The name of a trace in its package. */
static void name_trace(char *out, size_t size, bool is_diagsession, u32 index)
{
    if (is_diagsession)
        snprintf(out, size, "3f0a%04x-0000-4000-8000-000000000000/sc.user_aux.etl", index);
    else
        snprintf(out, size, "data/%u.etl", index);
}

static void pack(const char *path, const check_traces *traces, bool is_diagsession)
{
    int code = 0;
    zip_t *const zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    require(zip != NULL, path);
    if (is_diagsession)
        add_member(zip, "metadata.xml", about, sizeof about - 1);
    else
        add_member(zip, "symbols/app.pdb/1/app.pdb", pdb, sizeof pdb - 1);
    for (u32 i = 0; i < traces->count; i++) {
        char name[80];
        size_t size = 0;
        const u8 *const bytes = etl_build_data(traces->builders[i], &size);
        name_trace(name, sizeof name, is_diagsession, i);
        add_member(zip, name, bytes, size);
    }
    require(zip_close(zip) == 0, path);
}

static etl_trace *open_member(const packed_traces *packed, const char *name)
{
    etl_trace *trace = NULL;
    etl_error err = { .message = "it is not in the package" };
    for (u32 i = 0; i < etlheap_unpacked_count(packed->unpacked); i++) {
        const etlheap_unpacked_member member = etlheap_unpacked_member_of(packed->unpacked, i);
        if (strcmp(member.name, name) == 0)
            (void)etl_open(member.path, NULL, &trace, &err);
    }
    require(trace != NULL, err.message);
    return trace;
}

void packed_open(packed_traces *out, const check_traces *traces, bool is_diagsession)
{
    const etlheap_unpack_options options = { .size = sizeof options };
    etl_error err = { .status = ETL_OK };
    const int descriptor = temporary_file(out->path, "package");
    require(descriptor >= 0 && close(descriptor) == 0, "no temporary file");
    pack(out->path, traces, is_diagsession);
    require(etlheap_unpack(out->path, &options, &out->unpacked, &err) == ETL_OK, err.message);
    require(etlheap_unpacked_count(out->unpacked) == traces->count, "other members");
    for (; out->count < traces->count; out->count++) {
        char name[80];
        name_trace(name, sizeof name, is_diagsession, out->count);
        out->at[out->count] = open_member(out, name);
    }
}

void packed_close(packed_traces *packed)
{
    for (u32 i = 0; i < packed->count; i++)
        etl_close(packed->at[i]);
    etlheap_unpacked_close(packed->unpacked);
    remove(packed->path);
}
