/* anonymise_columns.c - the rows of anonymise_columns.h as a table. */
#include "anonymise_columns.h"

/* A column of ehs_columns.h without a rule is an undeclared name below. */
enum {
#define RULE_OF(name, rule) RULE_OF_##name = ANONYMISE_##rule,
    ANONYMISE_COLUMNS(RULE_OF)
#undef RULE_OF
};

typedef struct rule_row {
    u32 column;
    anonymise_rule rule;
} rule_row;

static const rule_row rules[] = {
#define RULE_ROW(name, id, text, layout, transform, bytes) { id, (anonymise_rule)RULE_OF_##name },
    EHS_COLUMNS(RULE_ROW)
#undef RULE_ROW
};

anonymise_rule anonymise_rule_of(u32 column)
{
    size_t low;
    ETL_BISECT(low, 0, ETL_COUNT_OF(rules), rules[low].column < column);
    const bool is_found = low < ETL_COUNT_OF(rules) && rules[low].column == column;
    return is_found ? rules[low].rule : ANONYMISE_UNKNOWN;
}
