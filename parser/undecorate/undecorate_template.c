/*
 * undecorate_template.c - reads names with template arguments.
 *
 *     <template> ::= ?$ <identifier> <argument>* @
 *     <argument> ::= <type>                        type
 *                  | $0 <number>                   integer
 *                  | $1 <symbol>                   address of a function or variable
 *                  | $E <symbol>                   reference to one
 *                  | $H, $I, $J <symbol> <number>+ pointer to member function
 *                  | $F, $G <number>+              pointer to data member
 *                  | $M <type> <argument without $>  argument of an `auto` parameter
 *                  | $$Y <name>                    template alias
 *                  | $$B <type>  | $$C <qualified type>
 *                  | $S | $$V | $$$V | $$Z         nothing: ends of parameter packs
 *
 * In: the cursor of a parse. Out: an identifier node with a list of arguments. Invariant: a
 * template has its own memory of names and types: digits inside refer to what was spelled inside.
 * The outer memory must be restored at the end, or digits behind the template are wrong.
 */
#include "undecorate_internal.h"

enum {
    ARGUMENT_IS_AUTO = 1 /* its type is read, its value is still to come */
};

static bool take_separator(und_parse *p);
static bool read_argument(und_parse *p, und_step step);
static bool read_value(und_parse *p, und_step step, bool is_auto);
static void read_reference(und_parse *p, und_step step, char sort);
static void add_argument(und_parse *p, und_step *step, und_id argument);
static void read_type(und_parse *p, und_step step, u8 quals_mode);
static void read_offsets(und_parse *p, und_id reference, unsigned count);

/* The name and its arguments see a memory that is empty, so where the outer one began
 * is kept in the step that follows them. */
void und_read_template(und_parse *p, und_step step)
{
    etl_skip(&p->in, 2);
    und_later(p, (und_step){ .rule = UND_RULE_TEMPLATE_END,
                             .mode = step.mode,
                             .node = step.node,
                             .names = p->names.begin,
                             .types = p->types.begin });
    p->names.begin = p->names.count;
    p->types.begin = p->types.count;
    und_later_rule(p, UND_RULE_ARGUMENTS, step.node);
    if (UND_IS_NEXT(p, "?$")) {
        und_later_rule(p, UND_RULE_TEMPLATE, step.node);
    } else if (und_take(p, '?')) {
        und_read_operator(p, step.node);
    } else if (und_is_digit_next(p)) {
        und_fail(p); /* the memory is empty */
    } else if (und_read_simple_name(p, step.node)) {
        /* The name is memorized without the arguments, which follow. */
        const und_id name = und_new(p, UND_NAME);
        p->nodes[name] = p->nodes[step.node];
        und_memorize(p, name);
    }
}

/* Scopes and types are memorized, symbols are not. Only symbols can be
 * constructors and conversions. */
void und_read_template_end(und_parse *p, und_step step)
{
    p->names.count = p->names.begin;
    p->types.count = p->types.begin;
    p->names.begin = step.names;
    p->types.begin = step.types;
    if (step.mode == 0)
        return;
    const u8 kind = p->nodes[step.node].kind;
    if (kind == UND_CONVERSION || kind == UND_STRUCTOR)
        und_fail(p);
    else
        und_memorize(p, step.node);
}

/* One argument for each time this step is run. */
void und_read_arguments(und_parse *p, und_step step)
{
    if (step.mode == ARGUMENT_IS_AUTO) {
        if (!read_value(p, step, true))
            read_type(p, step, UND_QUALS_NONE);
        return;
    }
    if (step.tail == 0) {
        p->nodes[step.node].flags |= UND_HAS_ARGUMENTS;
        p->nodes[step.node].arguments = 0;
    }
    while (take_separator(p))
        continue;
    if (!und_take(p, '@') && !read_argument(p, step))
        und_fail(p);
}

/* Takes the mark of an empty or ended pack, which MSVC and clang write differently. */
static bool take_separator(und_parse *p)
{
    return und_is_next(p, '$') &&
           (UND_TAKE(p, "$S") || UND_TAKE(p, "$$V") || UND_TAKE(p, "$$$V") || UND_TAKE(p, "$$Z"));
}

/* Reads one argument, or leaves steps to do so, and a step for the next. */
static bool read_argument(und_parse *p, und_step step)
{
    if (p->in.left == 0)
        return false;
    if (!und_is_next(p, '$')) {
        read_type(p, step, UND_QUALS_NONE);
    } else if (UND_TAKE(p, "$M")) {
        step.mode = ARGUMENT_IS_AUTO;
        und_later(p, step);
        und_later_rule(p, UND_RULE_TYPE, und_new(p, UND_NOTHING));
    } else if (UND_TAKE(p, "$$Y")) {
        const und_id name = und_new(p, UND_QUALIFIED);
        add_argument(p, &step, name);
        und_later(p, step);
        und_later_rule(p, UND_RULE_TYPE_NAME, name);
    } else if (UND_TAKE(p, "$$B")) {
        read_type(p, step, UND_QUALS_NONE);
    } else if (UND_TAKE(p, "$$C")) {
        read_type(p, step, UND_QUALS_ALWAYS);
    } else if (!read_value(p, step, false)) {
        read_type(p, step, UND_QUALS_NONE);
    }
    return true;
}

/* Reads a value; false, with nothing taken, if a type is next. */
static bool read_value(und_parse *p, und_step step, bool is_auto)
{
    step.mode = 0;
    if (UND_IS_NEXT(p, "$E?")) {
        etl_skip(&p->in, 2);
        const und_id symbol = und_new(p, UND_NOTHING);
        const und_id reference = und_new(p, UND_REFERENCE);
        p->nodes[reference].child = symbol;
        add_argument(p, &step, reference);
        und_later(p, step);
        und_later_rule(p, UND_RULE_SYMBOL, symbol);
        return true;
    }
    etl_cursor ahead = p->in;
    if (!is_auto && etl_u8(&ahead) != '$')
        return false;
    const char sort = (char)etl_u8(&ahead);
    if (sort == '\0' || strchr("01FGHIJ", sort) == NULL)
        return false;
    p->in = ahead;
    if (sort == '0') {
        add_argument(p, &step, und_number_node(p, und_number(p)));
        und_later(p, step);
    } else {
        read_reference(p, step, sort);
    }
    return true;
}

/* Reads a reference. A pointer to member of a class with several bases has, besides the function, a
 * number for each adjustment it may need. */
static void read_reference(und_parse *p, und_step step, char sort)
{
    const und_id reference = und_new(p, UND_REFERENCE);
    p->nodes[reference].detail = sort != 'F' && sort != 'G';
    add_argument(p, &step, reference);
    und_later(p, step);
    const und_step end = { .rule = UND_RULE_REFERENCE_END, .mode = (u8)sort, .node = reference };
    und_later(p, end);
    if (sort == 'F' || sort == 'G' || !und_is_next(p, '?'))
        return;
    const und_id symbol = und_new(p, UND_NOTHING);
    p->nodes[reference].child = symbol;
    und_later_rule(p, UND_RULE_SYMBOL, symbol);
}

void und_read_reference_end(und_parse *p, und_step step)
{
    const und_id symbol = p->nodes[step.node].child;
    if (symbol != 0) {
        if (p->nodes[symbol].kind == UND_STRING) {
            und_fail(p); /* a literal has no name that a function could have */
            return;
        }
        und_memorize(p, p->nodes[p->nodes[symbol].child].extra);
    }
    switch (step.mode) {
    case 'H':
        read_offsets(p, step.node, 1);
        return;
    case 'I':
    case 'F':
        read_offsets(p, step.node, 2);
        return;
    case 'J':
    case 'G':
        read_offsets(p, step.node, 3);
        return;
    default:
        return;
    }
}

/* The list grows at its end, so the step carries the last cell along. */
static void add_argument(und_parse *p, und_step *step, und_id argument)
{
    step->tail = und_append(p, &p->nodes[step->node].arguments, step->tail, argument);
}

/* The step for the next argument goes below whatever the type leaves. */
static void read_type(und_parse *p, und_step step, u8 quals_mode)
{
    const und_id type = und_new(p, UND_NOTHING);
    add_argument(p, &step, type);
    step.mode = 0;
    und_later(p, step);
    und_read_type(p, (und_step){ .mode = quals_mode, .node = type });
}

static void read_offsets(und_parse *p, und_id reference, unsigned count)
{
    und_id tail = 0;
    for (unsigned i = 0; i < count && !p->is_failed; i++) {
        const und_id number = und_number_node(p, und_signed(p));
        tail = und_append(p, &p->nodes[reference].extra, tail, number);
    }
}
