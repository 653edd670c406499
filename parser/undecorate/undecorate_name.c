/*
 * undecorate_name.c - reads qualified names.
 *
 *     <name>   ::= <identifier> <scope>* @        app::list::push is push@list@app@@
 *     <scope>  ::= <digit>                        a name that was spelled before
 *                | ?$ <template>                  list<int>
 *                | ?A <key> @                     an anonymous namespace
 *                | ? <number> ? <symbol>          block <number> of a function
 *                | <text> @
 *
 * In: the cursor of a parse. Out: nodes: an identifier and a list of scopes, outermost first.
 *
 * The innermost name comes first, so each scope goes before the head of the list. Invariant: the
 * first ten different names of a symbol are memorized, each once, and a digit refers to them from
 * then on. A name memorized twice, or too early, shifts all later digits.
 */
#include "undecorate_internal.h"
#include "undecorate_print.h"

static void begin_name(und_parse *p, und_id name, und_id identifier);
static void prepend_scope(und_parse *p, und_id name, und_id identifier);
static und_id read_reference(und_parse *p);
static void read_anonymous(und_parse *p, und_id name);
static bool is_local_scope_next(const und_parse *p);
static void read_local_scope(und_parse *p, und_step step);
static bool is_same_text(und_parse *p, und_id a, und_id b);
static bool may_be_same_text(const und_parse *p, const und_node *a, const und_node *b);

/* The name of a symbol, unlike that of a type, may be an operator, and a template that
 * is a symbol is not memorized. */
void und_read_symbol_name(und_parse *p, und_step step)
{
    und_later_rule(p, UND_RULE_SCOPES, step.node);
    if (und_is_digit_next(p)) {
        begin_name(p, step.node, read_reference(p));
        return;
    }
    const und_id identifier = und_new(p, UND_NOTHING);
    begin_name(p, step.node, identifier);
    if (UND_IS_NEXT(p, "?$"))
        und_later_rule(p, UND_RULE_TEMPLATE, identifier);
    else if (und_take(p, '?'))
        und_read_operator(p, identifier);
    else if (und_read_simple_name(p, identifier))
        und_memorize(p, identifier);
}

/* The name of a type or of a base. */
void und_read_type_name(und_parse *p, und_step step)
{
    und_later_rule(p, UND_RULE_SCOPES, step.node);
    begin_name(p, step.node, und_read_type_identifier(p));
}

und_id und_read_type_identifier(und_parse *p)
{
    if (und_is_digit_next(p))
        return read_reference(p);
    const und_id identifier = und_new(p, UND_NOTHING);
    if (UND_IS_NEXT(p, "?$"))
        und_later(p, (und_step){ .rule = UND_RULE_TEMPLATE, .mode = 1, .node = identifier });
    else if (und_read_simple_name(p, identifier))
        und_memorize(p, identifier);
    return identifier;
}

/* Reads scopes. Those that need no other rule are read in a loop; a template or a function leaves
 * this step for the scopes behind it. */
void und_read_scopes(und_parse *p, und_step step)
{
    while (!p->is_failed && !und_take(p, '@')) {
        if (UND_IS_NEXT(p, "?A")) {
            read_anonymous(p, step.node);
        } else if (!UND_IS_NEXT(p, "?$") && is_local_scope_next(p)) {
            read_local_scope(p, step);
            return;
        } else {
            /* A template is read between this scope and the next. */
            const bool is_template = UND_IS_NEXT(p, "?$");
            if (is_template)
                und_later(p, step);
            prepend_scope(p, step.node, und_read_type_identifier(p));
            if (is_template)
                return;
        }
    }
}

/* Any characters but '@' make a name: compilers put '<', '$' and '-' into theirs. */
bool und_read_simple_name(und_parse *p, und_id identifier)
{
    const u8 *const end = p->in.left > 0 ? memchr(p->in.at, '@', p->in.left) : NULL;
    if (end == NULL || end == p->in.at) {
        und_fail(p);
        return false;
    }
    und_node *const node = &p->nodes[identifier];
    node->kind = UND_NAME;
    node->at = und_offset(p);
    node->size = (u16)(end - p->in.at);
    etl_skip(&p->in, (size_t)node->size + 1);
    return true;
}

/* A name that is there already gets no second place, or digits would shift. */
void und_memorize(und_parse *p, und_id identifier)
{
    und_memory *const names = &p->names;
    if (names->count - names->begin >= UND_REFERENCES_MAX)
        return;
    for (u16 i = names->begin; i < names->count; i++) {
        if (is_same_text(p, names->entries[i], identifier))
            return;
    }
    und_remember(p, names, identifier);
}

void und_remember(und_parse *p, und_memory *memory, und_id id)
{
    if (memory->count - memory->begin >= UND_REFERENCES_MAX)
        return;
    if (memory->count >= UND_MEMORY_MAX) {
        und_fail(p);
        return;
    }
    memory->entries[memory->count++] = id;
}

und_id und_recall(und_parse *p, const und_memory *memory)
{
    const unsigned index = (unsigned)(und_char(p) - '0');
    if (index >= (unsigned)(memory->count - memory->begin)) {
        und_fail(p);
        return 0;
    }
    return memory->entries[memory->begin + index];
}

/* The last identifier is the first one that is read. */
static void begin_name(und_parse *p, und_id name, und_id identifier)
{
    und_node *const node = &p->nodes[name];
    node->extra = identifier;
    und_append(p, &node->child, 0, identifier);
}

/* Scopes are read from the inside out. The second of all is that of the last
 * identifier. */
static void prepend_scope(und_parse *p, und_id name, und_id identifier)
{
    und_node *const node = &p->nodes[name];
    if (node->enclosing == 0)
        node->enclosing = identifier;
    const und_id cell = und_new(p, UND_CELL);
    p->nodes[cell].child = identifier;
    p->nodes[cell].extra = node->child;
    node->child = cell;
}

/* Reads a digit. A name that is not plain would change its meaning in the new place, where a
 * constructor is only the name of its class. */
static und_id read_reference(und_parse *p)
{
    const und_id memorized = und_recall(p, &p->names);
    if (p->nodes[memorized].kind == UND_NAME)
        return memorized;
    const und_id identifier = und_new(p, UND_REPEATED);
    p->nodes[identifier].child = memorized;
    return identifier;
}

/* Reads an anonymous namespace. Its key, which tells files apart, is memorized but not shown. */
static void read_anonymous(und_parse *p, und_id name)
{
    etl_skip(&p->in, 2);
    const u8 *const end = p->in.left > 0 ? memchr(p->in.at, '@', p->in.left) : NULL;
    if (end == NULL) {
        und_fail(p);
        return;
    }
    const und_id key = und_new(p, UND_NAME);
    p->nodes[key].at = und_offset(p);
    p->nodes[key].size = (u16)(end - p->in.at);
    etl_skip(&p->in, (size_t)p->nodes[key].size + 1);
    und_memorize(p, key);
    const und_id identifier = und_new(p, UND_WORD);
    p->nodes[identifier].detail = UND_WORD_ANONYMOUS;
    prepend_scope(p, name, identifier);
}

/*
 * Does a block of a function follow? Its number stands between two '?': a digit, '@' for 0, or
 * digits A to P of which the first is not A, because ?A is an anonymous namespace.
 */
static bool is_local_scope_next(const und_parse *p)
{
    etl_cursor c = p->in;
    if (etl_u8(&c) != '?')
        return false;
    u8 next = etl_u8(&c);
    if (next == '@' || (next >= '0' && next <= '9'))
        return etl_u8(&c) == '?';
    if (next < 'B' || next > 'P')
        return false;
    while (next >= 'A' && next <= 'P')
        next = etl_u8(&c);
    return next == '@' && etl_u8(&c) == '?';
}

/* The function around a name is a whole symbol, which shares the memory. */
static void read_local_scope(und_parse *p, und_step step)
{
    etl_skip(&p->in, 1);
    const und_id number = und_number_node(p, und_number(p));
    etl_skip(&p->in, 1);
    const und_id symbol = und_new(p, UND_NOTHING);
    const und_id scope = und_new(p, UND_LOCAL_SCOPE);
    p->nodes[scope].child = symbol;
    p->nodes[scope].extra = number;
    prepend_scope(p, step.node, scope);
    und_later(p, step);
    und_later_rule(p, UND_RULE_SYMBOL, symbol);
}

/*
 * Are both the same name? Names are memorized by their text: list<int> is the same whether its
 * argument was spelled or referred to. Templates must be printed to compare them, which is avoided
 * if the names of the templates differ.
 */
static bool is_same_text(und_parse *p, und_id a, und_id b)
{
    if (!may_be_same_text(p, &p->nodes[a], &p->nodes[b]))
        return false;
    char text_a[UND_COMPARE_SIZE];
    char text_b[UND_COMPARE_SIZE];
    size_t size_a = 0;
    size_t size_b = 0;
    if (!und_print_identifier(p, a, text_a, sizeof text_a, &size_a) ||
        !und_print_identifier(p, b, text_b, sizeof text_b, &size_b)) {
        und_fail(p);
        return false;
    }
    return size_a == size_b && memcmp(text_a, text_b, size_a) == 0;
}

/* May both have the same text? If one name ends before the other, its arguments begin there, if it
 * has any. */
static bool may_be_same_text(const und_parse *p, const und_node *a, const und_node *b)
{
    if (a->kind != UND_NAME || b->kind != UND_NAME)
        return true;
    const und_node *const shorter = a->size <= b->size ? a : b;
    const und_node *const longer = a->size <= b->size ? b : a;
    if (memcmp(p->text + a->at, p->text + b->at, shorter->size) != 0)
        return false;
    if (shorter->size == longer->size)
        return (a->flags & UND_HAS_ARGUMENTS) == (b->flags & UND_HAS_ARGUMENTS);
    return (shorter->flags & UND_HAS_ARGUMENTS) != 0 && p->text[longer->at + shorter->size] == '<';
}
