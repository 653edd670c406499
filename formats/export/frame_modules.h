/* frame_modules.h - the modules that frames lie in, and their builds. */
#ifndef ETLHEAP_FRAME_MODULES_H
#define ETLHEAP_FRAME_MODULES_H

#include "formats/formats.h"

#include "parser/base.h"

#define MODULE_BUILD_ID_SIZE 64

/* The first module of the frame's build, at its lowest address. Modules of one name may be of
 * several builds, as those of 32-bit programs are, and a build may be loaded at several places.
 * ETLHEAP_NO_INDEX: the trace does not say where the module was. */
u32 frame_module(const etlheap_result *result, const etlheap_frame *frame);

/* The first module of the same build. */
u32 module_of_build(const etlheap_result *result, const etlheap_module_info *seen);

/* The base of the frame's module where the frame was seen. Frames of summaries were not seen
 * anywhere, so the build is searched for each. */
u64 frame_base(const etlheap_frame *frame);

/* As symbol stores have it: the GUID's digits in upper case, then the age. "" without one. */
void module_build_id(const etlheap_module_info *module, char out[MODULE_BUILD_ID_SIZE]);

#endif
