/*
 * ehs_facts_inside.h - what the files with the facts of a store share.
 *
 *     ehs_facts.c      facts that every recording has
 *     ehs_optional.c   those of some recordings only: custom allocators, methods, names of
 *                      threads, use of memory
 */
#ifndef ETLHEAP_EHS_FACTS_INSIDE_H
#define ETLHEAP_EHS_FACTS_INSIDE_H

#include "ehs_facts.h"

/* A column and the member of the rows that it holds; a table of such columns. */
#define EHS_FIELD(column, type, member_name, kind)                                                 \
    {                                                                                              \
        EHS_##column, offsetof(type, member_name), EHS_MEMBER_##kind                               \
    }
#define EHS_TABLE(fields, type)                                                                    \
    {                                                                                              \
        fields, ETL_COUNT_OF(fields), sizeof(type)                                                 \
    }

/* As ehs_facts_save and ehs_facts_load. Methods are loaded before names are spelled, by
 * ehs_methods_load, the others afterwards. */
bool ehs_optional_save(ehs_saver *saver, const etlheap_result *result);
etl_status ehs_optional_load(ehs_loader *loader, etlheap_result *result);
etl_status ehs_methods_load(ehs_loader *loader, etlheap_result *result);

#endif
