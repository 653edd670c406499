/*
 * ehs_facts_inside.h - shared by the files that store facts.
 *
 *     ehs_facts.c      facts that every recording has
 *     ehs_optional.c   those of some recordings only: custom allocators, methods, names of
 *                      threads, use of memory
 */
#ifndef ETLHEAP_EHS_FACTS_INSIDE_H
#define ETLHEAP_EHS_FACTS_INSIDE_H

#include "ehs_facts.h"

/* A column and the member of the rows stored in it; a table of such columns. */
#define EHS_FIELD(column, type, member_name, kind)                                                 \
    {                                                                                              \
        EHS_##column, offsetof(type, member_name), EHS_MEMBER_##kind                               \
    }
#define EHS_TABLE(fields, type)                                                                    \
    {                                                                                              \
        fields, ETL_COUNT_OF(fields), sizeof(type)                                                 \
    }

/* Like ehs_facts_save and ehs_facts_load. ehs_methods_load loads methods before names are spelled;
 * the others are loaded after that. */
bool ehs_optional_save(ehs_saver *saver, const etlheap_result *result);
etl_status ehs_optional_load(ehs_loader *loader, etlheap_result *result);
etl_status ehs_methods_load(ehs_loader *loader, etlheap_result *result);

#endif
