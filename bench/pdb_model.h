/*
 * pdb_model.h - what the large PDB of the benchmark says, as formulas.
 *
 * The writer makes records of them and the benchmark checks answers with them;
 * the file is thus known to be read right without a second copy of it.
 *
 * Functions follow each other without gaps; each object file has as many. Two of
 * three functions have a call inlined at PDB_MODEL_INLINE_AT, and in it one more.
 */
#ifndef PDB_MODEL_H
#define PDB_MODEL_H

#include "parser/base.h"

#define PDB_MODEL_CODE_RVA           0x1000u
#define PDB_MODEL_FUNCTION_BYTES     256u
#define PDB_MODEL_MODULE_FUNCTIONS   200u
#define PDB_MODEL_LINES              20u /* per function, every 12 bytes */
#define PDB_MODEL_LINE_BYTES         12u
#define PDB_MODEL_INLINE_AT          40u
#define PDB_MODEL_INLINE_BYTES       80u
#define PDB_MODEL_INNER_AT           60u
#define PDB_MODEL_INNER_BYTES        20u
#define PDB_MODEL_LINE_DELTA         3u /* of the second half of inlined code */
#define PDB_MODEL_INLINEE_LINE       100u
#define PDB_MODEL_INLINEES           5000u
#define PDB_MODEL_FUNCTION_COUNT_MAX 4000000u

static inline u32 pdb_model_function_rva(u32 function)
{
    return PDB_MODEL_CODE_RVA + function * PDB_MODEL_FUNCTION_BYTES;
}

static inline bool pdb_model_has_inlined(u32 function)
{
    return function % 3 != 0;
}

static inline u32 pdb_model_first_line(u32 function)
{
    return 10 + function % PDB_MODEL_MODULE_FUNCTIONS * 40;
}

static inline u32 pdb_model_inlinee(u32 function, u32 depth)
{
    return (function * 7 + depth * 13) % PDB_MODEL_INLINEES;
}

#endif
