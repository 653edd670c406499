/*
 * undecorate.c - entry points of name undecoration, and the engine that runs its rules.
 * undecorate_internal.h has the plan.
 *
 * In: a decorated name, hostile and nested to any depth. Out: text, or "not decorated".
 *
 *     steps (a stack of fixed size)   [ rest | scopes | template ]  ◀── take the top, run its rule,
 *                                                                       which may push more steps
 *
 * The grammar is in undecorate_symbol.c and its neighbours. Rules do not call each other, so a deep
 * name costs no C stack. Invariant: no rule comes round to itself without having taken input, so
 * the loop ends with the input or with a full stack.
 */
#include "undecorate_internal.h"
#include "undecorate_print.h"

static void run_rules(und_parse *p);
static void run_step(und_parse *p, und_step step);
static void run_symbol_step(und_parse *p, und_step step);
static size_t find_argument_size(etl_bytes name);

/* Reads one symbol with all steps that it leaves; 0: it is no decorated name. The parse is not
 * initialized as a whole: it is large, and most of it stays untouched. */
static und_id read_whole(und_parse *parse, etl_bytes decorated)
{
    if (decorated.size < 2 || decorated.size > ETL_DECORATED_SIZE_MAX || decorated.at[0] != '?')
        return 0;
    parse->in = etl_cursor_of(decorated);
    parse->text = decorated.at;
    parse->is_failed = false;
    parse->node_count = 1;
    parse->nodes[0] = (und_node){ .kind = UND_NOTHING };
    parse->step_count = 0;
    parse->work_left = UND_WORK_MAX;
    parse->names.begin = parse->names.count = 0;
    parse->types.begin = parse->types.count = 0;
    const und_id symbol = und_new(parse, UND_NOTHING);
    und_later_rule(parse, UND_RULE_SYMBOL, symbol);
    run_rules(parse);
    return parse->is_failed ? 0 : symbol;
}

bool etl_undecorate(etl_bytes decorated, char *out, size_t capacity, size_t *length)
{
    und_parse parse;
    const und_id symbol = read_whole(&parse, decorated);
    return symbol != 0 && und_print_symbol(&parse, symbol, out, capacity, length);
}

etl_bytes etl_undecorate_arm64ec(etl_bytes decorated)
{
    static const char *const marks[] = { "EXP+#", "#" };
    for (size_t i = 0; i < ETL_COUNT_OF(marks); i++) {
        const size_t size = strlen(marks[i]);
        if (decorated.size > size && memcmp(decorated.at, marks[i], size) == 0)
            return (etl_bytes){ decorated.at + size, decorated.size - size };
    }
    return decorated;
}

bool etl_is_data_name(etl_bytes decorated)
{
    static const char *const numbers[] = { "__real@", "__xmm@", "__ymm@", "__zmm@" };
    for (size_t i = 0; i < ETL_COUNT_OF(numbers); i++) {
        const size_t size = strlen(numbers[i]);
        if (decorated.size > size && memcmp(decorated.at, numbers[i], size) == 0)
            return true;
    }
    und_parse parse;
    const und_id symbol = read_whole(&parse, decorated);
    if (symbol == 0)
        return false;
    const und_kind kind = (und_kind)parse.nodes[symbol].kind;
    return kind == UND_VARIABLE || kind == UND_TABLE || kind == UND_STRING;
}

/*
 * Removes C decoration. A number behind the last '@' is the bytes of arguments. It is part of the
 * decoration only together with a sign of its convention: a second '@' before it, or the character
 * that x86 puts in front of every name.
 */
etl_bytes etl_undecorate_c(etl_bytes decorated, bool is_x86)
{
    if (decorated.size < 2 || decorated.at[0] == '?')
        return decorated;
    etl_bytes name = decorated;
    const size_t argument_size = find_argument_size(name);
    name.size -= argument_size;
    if (argument_size > 0 && name.size > 1 && name.at[name.size - 1] == '@') {
        name.size--;
        return name;
    }
    const bool has_sign = name.at[0] == '_' || (name.at[0] == '@' && argument_size > 0);
    if (!is_x86 || !has_sign || name.size < 2)
        return decorated;
    return (etl_bytes){ name.at + 1, name.size - 1 };
}

/* Size of "@8" at the end of a name, or 0. */
static size_t find_argument_size(etl_bytes name)
{
    size_t digits = 0;
    while (digits < name.size && name.at[name.size - 1 - digits] >= '0' &&
           name.at[name.size - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits >= name.size || name.at[name.size - 1 - digits] != '@')
        return 0;
    return digits + 1;
}

/* No rule comes round to itself without having taken input, so this ends with it. */
static void run_rules(und_parse *p)
{
    while (p->step_count > 0 && !p->is_failed) {
        p->step_count--;
        run_step(p, p->steps[p->step_count]);
    }
}

/* Names and types: nearly all steps of a usual name. */
static void run_step(und_parse *p, und_step step)
{
    switch ((und_rule)step.rule) {
    case UND_RULE_SYMBOL_NAME:
        und_read_symbol_name(p, step);
        return;
    case UND_RULE_TYPE_NAME:
        und_read_type_name(p, step);
        return;
    case UND_RULE_SCOPES:
        und_read_scopes(p, step);
        return;
    case UND_RULE_TEMPLATE:
        und_read_template(p, step);
        return;
    case UND_RULE_TEMPLATE_END:
        und_read_template_end(p, step);
        return;
    case UND_RULE_ARGUMENTS:
        und_read_arguments(p, step);
        return;
    case UND_RULE_REFERENCE_END:
        und_read_reference_end(p, step);
        return;
    case UND_RULE_TYPE:
        und_read_type(p, step);
        return;
    case UND_RULE_FUNCTION:
        und_read_function(p, step);
        return;
    case UND_RULE_PARAMETERS:
        und_read_parameters(p, step);
        return;
    case UND_RULE_CUSTOM_END:
        und_read_custom_end(p, step);
        return;
    default:
        run_symbol_step(p, step);
        return;
    }
}

/* Symbols: once for a usual name, and once for each symbol inside of it. */
static void run_symbol_step(und_parse *p, und_step step)
{
    switch ((und_rule)step.rule) {
    case UND_RULE_SYMBOL:
        und_read_symbol(p, step);
        return;
    case UND_RULE_DECLARATOR:
        und_read_declarator(p, step);
        return;
    case UND_RULE_ENCODING:
        und_read_encoding(p, step);
        return;
    case UND_RULE_ENCODED:
        und_check_encoded(p, step);
        return;
    case UND_RULE_VARIABLE_END:
        und_read_variable_end(p, step);
        return;
    case UND_RULE_TABLE_END:
        und_read_table_end(p, step);
        return;
    case UND_RULE_GUARD_END:
        und_read_guard_end(p, step);
        return;
    case UND_RULE_VCALL_END:
        und_read_vcall_end(p, step);
        return;
    case UND_RULE_DESCRIPTOR_END:
        und_read_descriptor_end(p, step);
        return;
    case UND_RULE_UNTYPED_END:
        und_read_untyped_end(p, step);
        return;
    case UND_RULE_INITIALIZER_END:
        und_read_initializer_end(p, step);
        return;
    default:
        assert(false);
        und_fail(p);
        return;
    }
}

/* Fails the parse. Rules still run to their end after this, but no step follows. */
void und_fail(und_parse *p)
{
    p->is_failed = true;
}

und_id und_new(und_parse *p, und_kind kind)
{
    und_id id = 0;
    if (p->node_count < UND_NODES_MAX)
        id = p->node_count++;
    else
        und_fail(p);
    p->nodes[id] = (und_node){ .kind = (u8)kind };
    return id;
}

void und_later(und_parse *p, und_step step)
{
    if (p->step_count >= UND_STEPS_MAX) {
        und_fail(p);
        return;
    }
    p->steps[p->step_count++] = step;
}

und_id und_append(und_parse *p, und_id *head, und_id tail, und_id item)
{
    const und_id cell = und_new(p, UND_CELL);
    p->nodes[cell].child = item;
    if (tail != 0)
        p->nodes[tail].extra = cell;
    else
        *head = cell;
    return cell;
}

/*
 * A digit d is d + 1. Everything else is hexadecimal with digits A to P and a
 * final '@'; '?' before either makes it negative. Larger numbers lose their top.
 */
und_value und_number(und_parse *p)
{
    und_value value = { 0, und_take(p, '?') };
    if (und_is_digit_next(p)) {
        value.magnitude = (u64)(und_char(p) - '0') + 1;
        return value;
    }
    for (char c = und_char(p); c != '@'; c = und_char(p)) {
        if (c < 'A' || c > 'P') {
            und_fail(p);
            return (und_value){ 0, false };
        }
        value.magnitude = value.magnitude << 4 | (u64)(c - 'A');
    }
    return value;
}

und_value und_unsigned(und_parse *p)
{
    const und_value value = und_number(p);
    if (value.is_negative)
        und_fail(p);
    return value;
}

/* Reads a signed number as an integer, so there is no negative zero. */
und_value und_signed(und_parse *p)
{
    const und_value value = und_number(p);
    if (value.magnitude > INT64_MAX)
        und_fail(p);
    return (und_value){ value.magnitude, value.is_negative && value.magnitude > 0 };
}

und_id und_number_node(und_parse *p, und_value value)
{
    const und_id id = und_new(p, UND_NUMBER);
    p->nodes[id].number = value.magnitude;
    p->nodes[id].flags = value.is_negative ? UND_NEGATIVE : 0;
    return id;
}
