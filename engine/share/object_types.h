/* object_types.h - types of objects that Windows itself has: their names tell nothing about a
 * program. Types that drivers register may. */
#ifndef ETLHEAP_OBJECT_TYPES_H
#define ETLHEAP_OBJECT_TYPES_H

#include "parser/base.h"

/* True if Windows has a type of objects with this name. */
bool object_type_is_public(const char *name);

#endif
