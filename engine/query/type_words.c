/* type_words.c - the names of types of lifetimes, and of what ended them. */
#include "engine/engine.h"

#include "parser/base.h"

static const char *const free_type_names[ETLHEAP_FREE_TYPE_COUNT] = { "none", "free",
                                                                      "heap-destroy",
                                                                      "process-exit" };
static const char *const type_names[ETLHEAP_TYPE_COUNT] = { "AIFO", "AIFI", "AOFI", "AOFO" };
static const char *const impacting_names[ETLHEAP_TYPE_COUNT] = { "Impacting", "Transient",
                                                                 "Impacting", "Persistent" };

const char *etlheap_free_type_name(etlheap_free_type type)
{
    return (u32)type < ETLHEAP_FREE_TYPE_COUNT ? free_type_names[type] : "";
}

const char *etlheap_type_name(etlheap_type type)
{
    return (u32)type < ETLHEAP_TYPE_COUNT ? type_names[type] : "";
}

const char *etlheap_impacting_type_name(etlheap_type type)
{
    return (u32)type < ETLHEAP_TYPE_COUNT ? impacting_names[type] : "";
}
