/* globs.h - what the engine wants to know about an etlheap_globs. */
#ifndef ETLHEAP_GLOBS_H
#define ETLHEAP_GLOBS_H

#include "engine/engine.h"
#include "parser/base.h"

/* The steps of all searches so far; tests bound them. */
u64 globs_steps(const etlheap_globs *globs);

#endif
