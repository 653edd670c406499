/* libraries.c - what the engine runs with: versions of libraries, and processors. */
#include "engine/core/machine.h"
#include "engine/core/tag_groups.h"
#include "engine/core/workers.h"
#include "engine/engine.h"
#include "symbol_curl.h"

#include <mspack.h>
#include <stdio.h>
#include <xxhash.h>
#include <zstd.h>

/* xxHash and zstd count a version as major * 10000 + minor * 100 + patch. */
#define MAJOR(version) ((version) / 10000)
#define MINOR(version) ((version) / 100 % 100)
#define PATCH(version) ((version) % 100)

static void put_number(etlheap_library *out, const char *name, unsigned version);
static void put_libcurl(etlheap_library *out);

u32 etlheap_abi_version(void)
{
    return ETLHEAP_ABI_VERSION;
}

bool etlheap_engine_library(u32 index, etlheap_library *out)
{
    switch (index) {
    case 0:
        put_number(out, "xxHash", XXH_versionNumber());
        return true;
    case 1:
        put_number(out, "zstd", ZSTD_versionNumber());
        return true;
    case 2:
        put_libcurl(out);
        return true;
    case 3:
        /* It tells the version of its interface alone. */
        out->name = "libmspack";
        snprintf(out->version, sizeof out->version, "interface %d",
                 mspack_version(MSPACK_VER_LIBRARY));
        return true;
    default:
        return false;
    }
}

static void put_number(etlheap_library *out, const char *name, unsigned version)
{
    out->name = name;
    snprintf(out->version, sizeof out->version, "%u.%u.%u", MAJOR(version), MINOR(version),
             PATCH(version));
}

/* The one that would be loaded. */
static void put_libcurl(etlheap_library *out)
{
    symbol_curl curl;
    const bool is_there = symbol_curl_load(&curl);
    out->name = "libcurl";
    snprintf(out->version, sizeof out->version, "%s",
             is_there ? curl.version_info(CURLVERSION_NOW)->version : "not installed");
}

/* The last row is the best that the build has, and the one it uses. */
const char *etlheap_cpu_features(void)
{
    return tag_match_rows[tag_match_row_count - 1].isa;
}

u32 etlheap_default_jobs(void)
{
    return etlheap_workers_default_jobs();
}

u32 etlheap_online_processors(void)
{
    return machine_processors_online();
}

void etlheap_run_tasks(void *user, u32 task_count, void (*fn)(void *context, u32 task),
                       void *context)
{
    const u32 jobs = *(const u32 *)user;
    etlheap_workers_run(etlheap_workers_jobs(jobs), task_count, fn, context);
}
