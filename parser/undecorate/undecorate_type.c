/*
 * undecorate_type.c - reads types.
 *
 *     <type>     ::= <letter> | _ <letter> | $$T         primitive
 *                  | [TUV] <name> | W4 <name>            union, struct, class, enum
 *                  | <pointer> <E, I, F>* <quals> <type>
 *                  | <pointer> 6 <function>
 *                  | <pointer> 8 <class> <function with this>
 *                  | <pointer> <E, I, F>* [QRST] <class> <type>
 *                  | Y <rank> <size>+ <type>             array
 *                  | $$A6 <function> | $$A8@@ <function with this>
 *                  | ? <identifier> @                    unknown to the compiler
 *     <pointer>  ::= [PQRS] | A | $$Q                    pointer, reference, && reference
 *     <function> ::= <this quals>? <convention> (@ | <type>) <parameters> (Z | _E)
 *     <parameters> ::= X | <type>+ @ | <type>* Z         none, some, some and more
 *
 * In: the cursor of a parse. Out: nodes of types. Invariant: a parameter whose type takes more than
 * one letter is memorized, in order, and a digit in place of a parameter refers to it. Memorizing
 * one too many or too few makes all later digits wrong.
 */
#include "undecorate_internal.h"

static bool read_pointer_or_tag(und_parse *p, und_id type);
static void read_tag(und_parse *p, und_id type);
static void read_pointer(und_parse *p, und_id type);
static void begin_pointer(und_parse *p, und_node *node);
static bool is_member_pointer(und_parse *p);
static void read_member_pointer(und_parse *p, und_id type);
static void read_array(und_parse *p, und_id type);
static void read_custom(und_parse *p, und_id type);
static void read_primitive(und_parse *p, und_id type);
static void read_after_parameters(und_parse *p, und_id function);

/* A pointer to data member tells the qualifiers of its pointee in front of the class,
 * so they come with the step. */
void und_read_type(und_parse *p, und_step step)
{
    und_node *const type = &p->nodes[step.node];
    u8 quals = 0;
    if (step.mode == UND_QUALS_ALWAYS || (step.mode == UND_QUALS_OPTIONAL && und_take(p, '?')))
        quals = und_read_quals(p, NULL);
    if (p->in.left == 0) {
        und_fail(p);
        return;
    }
    if (!read_pointer_or_tag(p, step.node)) {
        if (und_take(p, 'Y'))
            read_array(p, step.node);
        else if (UND_TAKE(p, "$$A8@@"))
            und_read_function(p, (und_step){ .mode = 1, .node = step.node });
        else if (UND_TAKE(p, "$$A6"))
            und_read_function(p, (und_step){ .node = step.node });
        else if (und_take(p, '?'))
            read_custom(p, step.node);
        else
            read_primitive(p, step.node);
    }
    type->quals = step.is_qualified ? step.quals : type->quals | quals;
}

/* Reads convention, return type and parameters. A constructor has '@' in place of a return type.
 * The letter of a convention is not checked: an unknown one prints nothing. */
void und_read_function(und_parse *p, und_step step)
{
    und_node *const function = &p->nodes[step.node];
    function->kind = UND_FUNCTION;
    if (function->class_bits == 0)
        function->class_bits = UND_GLOBAL;
    if (step.mode != 0) {
        function->quals |= und_read_pointer_quals(p);
        function->flags |= und_take(p, 'G') ? UND_LVALUE : und_take(p, 'H') ? UND_RVALUE : 0;
        function->quals |= und_read_quals(p, NULL);
    }
    function->detail = (u8)und_char(p);
    und_later_rule(p, UND_RULE_PARAMETERS, step.node);
    if (und_take(p, '@'))
        return;
    const und_id result = und_new(p, UND_NOTHING);
    function->child = result;
    und_later(p, (und_step){ .rule = UND_RULE_TYPE, .mode = UND_QUALS_OPTIONAL, .node = result });
}

/*
 * One parameter for each time this step is run: the step is left again before the type
 * is read, with where it began. Single letters are not memorized, since a digit
 * would be no shorter.
 */
void und_read_parameters(und_parse *p, und_step step)
{
    und_node *const function = &p->nodes[step.node];
    if (step.tail == 0 && und_take(p, 'X')) {
        read_after_parameters(p, step.node);
        return;
    }
    function->flags |= UND_HAS_PARAMETERS;
    /* Back from a parameter that left steps behind, or at the first one. */
    if (step.start > 0 && und_offset(p) > step.start)
        und_remember(p, &p->types, p->nodes[step.tail].child);
    while (und_is_digit_next(p) && !p->is_failed)
        step.tail = und_append(p, &function->extra, step.tail, und_recall(p, &p->types));
    if (und_take(p, '@')) {
        read_after_parameters(p, step.node);
    } else if (und_take(p, 'Z')) {
        function->flags |= UND_VARIADIC;
        read_after_parameters(p, step.node);
    } else {
        const und_id type = und_new(p, UND_NOTHING);
        step.tail = und_append(p, &function->extra, step.tail, type);
        step.start = (u16)(und_offset(p) + 1);
        und_later(p, step);
        und_read_type(p, (und_step){ .node = type });
    }
}

void und_read_custom_end(und_parse *p, und_step step)
{
    (void)step;
    if (!und_take(p, '@'))
        und_fail(p);
}

/* Four letters for pointees, four for pointees that are members. */
u8 und_read_quals(und_parse *p, bool *is_member)
{
    static const u8 quals[] = { 0, UND_CONST, UND_VOLATILE, UND_CONST | UND_VOLATILE };
    const char c = und_char(p);
    const bool of_member = c >= 'Q' && c <= 'T';
    if (is_member != NULL)
        *is_member = of_member;
    if (of_member)
        return quals[c - 'Q'];
    if (c >= 'A' && c <= 'D')
        return quals[c - 'A'];
    und_fail(p);
    return 0;
}

/* Any of the three, in this order: E is __ptr64, I is __restrict, F is __unaligned. */
u8 und_read_pointer_quals(und_parse *p)
{
    u8 quals = und_take(p, 'E') ? UND_POINTER64 : 0;
    if (und_take(p, 'I'))
        quals |= UND_RESTRICT;
    if (und_take(p, 'F'))
        quals |= UND_UNALIGNED;
    return quals;
}

/* The types that most names have; false, with nothing taken, for all others. */
static bool read_pointer_or_tag(und_parse *p, und_id type)
{
    switch (p->in.at[0]) {
    case 'T':
    case 'U':
    case 'V':
    case 'W':
        read_tag(p, type);
        return true;
    case 'P':
    case 'Q':
    case 'R':
    case 'S':
        if (is_member_pointer(p))
            read_member_pointer(p, type);
        else if (!p->is_failed)
            read_pointer(p, type);
        return true;
    case 'A':
        read_pointer(p, type);
        return true;
    case '$':
        if (!UND_IS_NEXT(p, "$$Q"))
            return false;
        read_pointer(p, type);
        return true;
    default:
        return false;
    }
}

/* The name of a tag may be any qualified name, so templates come in here. */
static void read_tag(und_parse *p, und_id type)
{
    und_node *const node = &p->nodes[type];
    node->kind = UND_TAG;
    node->detail = (u8)und_char(p);
    if (node->detail == 'W' && !und_take(p, '4')) {
        und_fail(p); /* an enum whose values are no ints; no compiler writes it */
        return;
    }
    node->child = und_new(p, UND_QUALIFIED);
    und_read_type_name(p, (und_step){ .node = node->child });
}

/* Takes the letter of a pointer: it tells the pointer's own qualifiers. */
static void begin_pointer(und_parse *p, und_node *node)
{
    static const u8 quals[] = { 0, UND_CONST, UND_VOLATILE, UND_CONST | UND_VOLATILE };
    node->kind = UND_POINTER;
    if (UND_TAKE(p, "$$Q")) {
        node->detail = '$';
        return;
    }
    const char c = und_char(p);
    node->detail = c == 'A' ? 'A' : 'P';
    node->quals = c == 'A' ? 0 : quals[c - 'P'];
}

/* Reads a pointer. Pointers to functions are marked with a 6; all others have the qualifiers of
 * their pointee. */
static void read_pointer(und_parse *p, und_id type)
{
    und_node *const node = &p->nodes[type];
    begin_pointer(p, node);
    const und_id pointee = und_new(p, UND_NOTHING);
    node->child = pointee;
    if (und_take(p, '6')) {
        und_read_function(p, (und_step){ .node = pointee });
        return;
    }
    node->quals |= und_read_pointer_quals(p);
    und_later(p, (und_step){ .rule = UND_RULE_TYPE, .mode = UND_QUALS_ALWAYS, .node = pointee });
}

/* Is it a pointer to member? The mark follows the qualifiers that all pointers have. */
static bool is_member_pointer(und_parse *p)
{
    etl_cursor c = p->in;
    etl_skip(&c, 1);
    u8 next = etl_u8(&c);
    if (next >= '0' && next <= '9') {
        if (next != '6' && next != '8')
            und_fail(p);
        return next == '8';
    }
    static const u8 skipped[] = { 'E', 'I', 'F' };
    for (size_t i = 0; i < ETL_COUNT_OF(skipped); i++) {
        if (next == skipped[i])
            next = etl_u8(&c);
    }
    if ((next < 'A' || next > 'D') && (next < 'Q' || next > 'T'))
        und_fail(p);
    return next >= 'Q' && next <= 'T';
}

/* The class comes before the type, so the step for the type is left first. */
static void read_member_pointer(und_parse *p, und_id type)
{
    und_node *const node = &p->nodes[type];
    begin_pointer(p, node);
    node->quals |= und_read_pointer_quals(p);
    const und_id pointee = und_new(p, UND_NOTHING);
    const und_id parent = und_new(p, UND_QUALIFIED);
    node->child = pointee;
    node->extra = parent;
    if (und_take(p, '8')) {
        und_later(p, (und_step){ .rule = UND_RULE_FUNCTION, .mode = 1, .node = pointee });
    } else {
        const u8 quals = und_read_quals(p, NULL);
        und_later(
            p, (und_step){
                   .rule = UND_RULE_TYPE, .quals = quals, .is_qualified = true, .node = pointee });
    }
    und_read_type_name(p, (und_step){ .node = parent });
}

/* The number of dimensions comes first. It may be a lie of any size, but every
 * dimension takes a character, so reading ends with the input. */
static void read_array(und_parse *p, und_id type)
{
    und_node *const node = &p->nodes[type];
    node->kind = UND_ARRAY;
    const und_value rank = und_unsigned(p);
    if (rank.magnitude == 0)
        und_fail(p);
    und_id tail = 0;
    for (u64 i = 0; i < rank.magnitude && !p->is_failed; i++) {
        const und_value size = und_unsigned(p);
        tail = und_append(p, &node->extra, tail, und_number_node(p, size));
    }
    if (UND_TAKE(p, "$$C")) {
        bool is_member = false;
        node->quals = und_read_quals(p, &is_member);
        if (is_member)
            und_fail(p);
    }
    const und_id element = und_new(p, UND_NOTHING);
    node->child = element;
    und_later_rule(p, UND_RULE_TYPE, element);
}

/* A type that only the writer of the name knew. */
static void read_custom(und_parse *p, und_id type)
{
    p->nodes[type].kind = UND_CUSTOM;
    und_later_rule(p, UND_RULE_CUSTOM_END, 0);
    p->nodes[type].child = und_read_type_identifier(p);
}

/* Letters behind a '_' are the types that came later. */
static void read_primitive(und_parse *p, und_id type)
{
    p->nodes[type].kind = UND_PRIMITIVE;
    if (UND_TAKE(p, "$$T")) {
        p->nodes[type].detail = UND_PRIMITIVE_NULLPTR;
        return;
    }
    const unsigned extended = und_take(p, '_') ? UND_PRIMITIVE_EXTENDED : 0;
    const char letter = und_char(p);
    p->nodes[type].detail = (u8)((u8)letter | extended);
    if (letter == UND_PRIMITIVE_NULLPTR && extended == 0)
        und_fail(p);
    if (und_primitive_text(p->nodes[type].detail) == NULL)
        und_fail(p);
}

/* Z ends a function type; _E, which came with C++17, also says noexcept. */
static void read_after_parameters(und_parse *p, und_id function)
{
    if (UND_TAKE(p, "_E"))
        p->nodes[function].flags |= UND_NOEXCEPT;
    else if (!und_take(p, 'Z'))
        und_fail(p);
}
