/*
 * undecorate_symbol.c - reads whole symbols.
 *
 *     <symbol>     ::= ? <name> <encoding>
 *                    | ?? <special>                 tables, thunks, RTTI, literals
 *                    | ??@ <hash> @                 a name that was too long
 *     <encoding>   ::= [0-4] <type> <quals>         variable
 *                    | [A-Z] <function type>        function; the letter tells access
 *                    | 9                            extern "C" function
 *     <special>    ::= _7, _8, _S, _R4 <scopes> [67] <quals> <base>? @    tables
 *                    | _9 <scopes> $B <offset> A <convention>             vcall thunk
 *                    | _B, __J <scopes> (4IA | 5) <number>?     guards of local statics
 *                    | _R0 <type> @8 | _R1 <number>4 <scopes> 8 | _R2, _R3 <scopes> 8
 *                    | __E, __F <symbol>            initializer, destructor at exit
 *                    | _C <literal>
 *
 * In: the cursor of a parse. Out: a node of kind function, variable, table, thunk and so on, with
 * its name and type. Invariant: what a rule needs after another rule (name, then encoding, then a
 * check of both) is pushed in reverse order, because steps are taken from the top of a stack.
 */
#include "undecorate_internal.h"

/* Modes of UND_RULE_INITIALIZER_END. */
enum { INITIALIZER_OF_MEMBER = 1, INITIALIZER_AT_EXIT = 2 };

static void read_hashed_name(und_parse *p, und_id symbol);
static bool read_special(und_parse *p, und_id symbol);
static bool read_rtti(und_parse *p, und_id symbol);
static void begin_special(und_parse *p, und_id symbol, und_kind kind, und_id identifier);
static und_id new_word(und_parse *p, und_word word);
static void read_table(und_parse *p, und_id symbol, und_word word);
static void read_guard(und_parse *p, und_id symbol, bool is_thread);
static void read_vcall(und_parse *p, und_id symbol);
static void read_type_descriptor(und_parse *p, und_id symbol);
static void read_base_descriptor(und_parse *p, und_id symbol);
static void read_untyped(und_parse *p, und_id symbol, und_word word);
static void read_initializer(und_parse *p, und_id symbol, bool is_at_exit);
static void read_literal_symbol(und_parse *p, und_id symbol);
static void read_variable(und_parse *p, und_id symbol);
static void read_function_symbol(und_parse *p, und_id symbol);
static u16 read_class(und_parse *p);
static u16 read_virtual_thunk_class(und_parse *p);
static void read_thunk_offsets(und_parse *p, und_node *type);
static und_value as_i32(und_value value);

/* Special names all begin with ?_ behind the first '?', so others pay one comparison
 * for them. */
void und_read_symbol(und_parse *p, und_step step)
{
    if (UND_IS_NEXT(p, "??@")) {
        read_hashed_name(p, step.node);
        return;
    }
    if (!und_take(p, '?')) {
        und_fail(p);
        return;
    }
    if (!UND_IS_NEXT(p, "?_") || !read_special(p, step.node))
        und_read_declarator(p, step);
}

/* Name, encoding, and a check that needs both: they are left in reverse order. */
void und_read_declarator(und_parse *p, und_step step)
{
    const und_id name = und_new(p, UND_QUALIFIED);
    p->nodes[step.node].child = name;
    und_later_rule(p, UND_RULE_ENCODED, step.node);
    und_later_rule(p, UND_RULE_ENCODING, step.node);
    und_read_symbol_name(p, (und_step){ .node = name });
}

/* A constructor's name is that of its class, which is known from here on. */
void und_read_encoding(und_parse *p, und_step step)
{
    const und_node *const name = &p->nodes[p->nodes[step.node].child];
    und_node *const identifier = &p->nodes[name->extra];
    if (identifier->kind == UND_STRUCTOR) {
        if (name->enclosing == 0) {
            und_fail(p);
            return;
        }
        identifier->child = name->enclosing;
    }
    /* ARM64EC code is told from x64 code of the same name. Source: "Decorated names", Microsoft;
     * llvm lib/IR/Mangler.cpp. */
    (void)UND_TAKE(p, "$$h");
    if (p->in.left > 0 && p->in.at[0] >= '0' && p->in.at[0] <= '4')
        read_variable(p, step.node);
    else
        read_function_symbol(p, step.node);
}

/* The type that a conversion operator converts to is its return type. */
void und_check_encoded(und_parse *p, und_step step)
{
    const und_node *const symbol = &p->nodes[step.node];
    und_node *const identifier = &p->nodes[p->nodes[symbol->child].extra];
    if (identifier->kind != UND_CONVERSION)
        return;
    if (symbol->kind == UND_FUNCTION_SYMBOL)
        identifier->child = p->nodes[symbol->extra].child;
    if (identifier->child == 0)
        und_fail(p);
}

/* The hash is shown as it stands, with what marks it. The table with the hashed
 * name of a class has its mark behind it. */
static void read_hashed_name(und_parse *p, und_id symbol)
{
    const u16 begin = und_offset(p);
    etl_skip(&p->in, 3);
    const u8 *const end = p->in.left > 0 ? memchr(p->in.at, '@', p->in.left) : NULL;
    if (end == NULL) {
        und_fail(p);
        return;
    }
    etl_skip(&p->in, (size_t)(end - p->in.at) + 1);
    (void)UND_TAKE(p, "??_R4@");
    const und_id identifier = und_new(p, UND_NAME);
    p->nodes[identifier].at = begin;
    p->nodes[identifier].size = (u16)(und_offset(p) - begin);
    begin_special(p, symbol, UND_PLAIN_SYMBOL, identifier);
}

/* Takes the code of a special symbol; false, with nothing taken, if it is an operator. Many
 * operators have codes with an underscore too. */
static bool read_special(und_parse *p, und_id symbol)
{
    if (UND_TAKE(p, "?_7"))
        read_table(p, symbol, UND_WORD_VFTABLE);
    else if (UND_TAKE(p, "?_8"))
        read_table(p, symbol, UND_WORD_VBTABLE);
    else if (UND_TAKE(p, "?_S"))
        read_table(p, symbol, UND_WORD_LOCAL_VFTABLE);
    else if (UND_TAKE(p, "?_9"))
        read_vcall(p, symbol);
    else if (UND_TAKE(p, "?_B"))
        read_guard(p, symbol, false);
    else if (UND_TAKE(p, "?__J"))
        read_guard(p, symbol, true);
    else if (UND_TAKE(p, "?_C"))
        read_literal_symbol(p, symbol);
    else if (UND_TAKE(p, "?__E"))
        read_initializer(p, symbol, false);
    else if (UND_TAKE(p, "?__F"))
        read_initializer(p, symbol, true);
    else
        return read_rtti(p, symbol);
    return true;
}

/* The five tables that describe a class at run time. */
static bool read_rtti(und_parse *p, und_id symbol)
{
    if (UND_TAKE(p, "?_R0"))
        read_type_descriptor(p, symbol);
    else if (UND_TAKE(p, "?_R1"))
        read_base_descriptor(p, symbol);
    else if (UND_TAKE(p, "?_R2"))
        read_untyped(p, symbol, UND_WORD_BASE_ARRAY);
    else if (UND_TAKE(p, "?_R3"))
        read_untyped(p, symbol, UND_WORD_HIERARCHY);
    else if (UND_TAKE(p, "?_R4"))
        read_table(p, symbol, UND_WORD_OBJECT_LOCATOR);
    else
        return false;
    return true;
}

/* Begins the name of a special symbol: a known identifier, without scopes so far. */
static void begin_special(und_parse *p, und_id symbol, und_kind kind, und_id identifier)
{
    const und_id name = und_new(p, UND_QUALIFIED);
    und_append(p, &p->nodes[name].child, 0, identifier);
    p->nodes[name].extra = identifier;
    p->nodes[symbol].kind = (u8)kind;
    p->nodes[symbol].child = name;
}

static und_id new_word(und_parse *p, und_word word)
{
    const und_id identifier = und_new(p, UND_WORD);
    p->nodes[identifier].detail = (u8)word;
    return identifier;
}

/* Reads a table: scopes follow the code, then facts about the table itself. */
static void read_table(und_parse *p, und_id symbol, und_word word)
{
    begin_special(p, symbol, UND_TABLE, new_word(p, word));
    und_later_rule(p, UND_RULE_TABLE_END, symbol);
    und_later_rule(p, UND_RULE_SCOPES, p->nodes[symbol].child);
}

/* Reads the end of a table. A class with several bases has several tables, one for each base. A
 * path of more than one base ends at the first, as in llvm-undname 16. */
void und_read_table_end(und_parse *p, und_step step)
{
    if (!und_take(p, '6') && !und_take(p, '7')) {
        und_fail(p);
        return;
    }
    p->nodes[step.node].quals = und_read_quals(p, NULL);
    if (und_take(p, '@'))
        return;
    const und_id base = und_new(p, UND_QUALIFIED);
    p->nodes[step.node].extra = base;
    und_later_rule(p, UND_RULE_TYPE_NAME, base);
}

/* A guard remembers whether a local static has been initialized; its only scope is
 * the function that holds both. */
static void read_guard(und_parse *p, und_id symbol, bool is_thread)
{
    const und_id identifier = und_new(p, UND_GUARD);
    p->nodes[identifier].detail = is_thread;
    begin_special(p, symbol, UND_PLAIN_SYMBOL, identifier);
    und_later_rule(p, UND_RULE_GUARD_END, symbol);
    und_later_rule(p, UND_RULE_SCOPES, p->nodes[symbol].child);
}

/* 4IA is a hidden variable, 5 a visible one. A number that may follow tells guards of
 * one function apart; llvm-undname takes 32 bits of it. */
void und_read_guard_end(und_parse *p, und_step step)
{
    if (!UND_TAKE(p, "4IA") && !und_take(p, '5')) {
        und_fail(p);
        return;
    }
    if (p->in.left == 0)
        return;
    und_value scope = und_unsigned(p);
    scope.magnitude &= UINT32_MAX;
    const und_id identifier = p->nodes[p->nodes[step.node].child].extra;
    if (scope.magnitude > 0)
        p->nodes[identifier].extra = und_number_node(p, scope);
}

/* A pointer to a virtual member function points to a thunk, which looks up the
 * function at an offset in the table. It has a name and no type. */
static void read_vcall(und_parse *p, und_id symbol)
{
    const und_id type = und_new(p, UND_FUNCTION);
    p->nodes[type].class_bits = UND_THUNK | UND_NO_PARAMETERS;
    begin_special(p, symbol, UND_FUNCTION_SYMBOL, und_new(p, UND_VCALL));
    p->nodes[symbol].extra = type;
    und_later_rule(p, UND_RULE_VCALL_END, symbol);
    und_later_rule(p, UND_RULE_SCOPES, p->nodes[symbol].child);
}

/* Reads the end of a thunk. The `A` is the memory model of 16-bit systems, of which only one is
 * left. */
void und_read_vcall_end(und_parse *p, und_step step)
{
    const und_node *const symbol = &p->nodes[step.node];
    if (!UND_TAKE(p, "$B")) {
        und_fail(p);
        return;
    }
    const und_id offset = und_number_node(p, und_unsigned(p));
    p->nodes[p->nodes[symbol->child].extra].extra = offset;
    if (!und_take(p, 'A')) {
        und_fail(p);
        return;
    }
    p->nodes[symbol->extra].detail = (u8)und_char(p);
}

/* Reads a type descriptor. It describes a type, so a type replaces the name. */
static void read_type_descriptor(und_parse *p, und_id symbol)
{
    const und_id type = und_new(p, UND_NOTHING);
    begin_special(p, symbol, UND_VARIABLE, new_word(p, UND_WORD_TYPE_DESCRIPTOR));
    p->nodes[symbol].extra = type;
    und_later_rule(p, UND_RULE_DESCRIPTOR_END, symbol);
    und_read_type(p, (und_step){ .mode = UND_QUALS_OPTIONAL, .node = type });
}

/* A descriptor must end the name: its type could swallow part of what follows. */
void und_read_descriptor_end(und_parse *p, und_step step)
{
    (void)step;
    if (!UND_TAKE(p, "@8") || p->in.left > 0)
        und_fail(p);
}

/* Reads the place of a base in a class: offset, offset of the table of virtual bases (-1 for none),
 * offset in it, and attributes. All four are stored in 32 bits. */
static void read_base_descriptor(und_parse *p, und_id symbol)
{
    const und_id identifier = und_new(p, UND_BASE_DESCRIPTOR);
    und_id tail = 0;
    for (int i = 0; i < 4 && !p->is_failed; i++) {
        und_value value = i == 1 ? as_i32(und_signed(p)) : und_unsigned(p);
        value.magnitude &= UINT32_MAX;
        tail = und_append(p, &p->nodes[identifier].extra, tail, und_number_node(p, value));
    }
    begin_special(p, symbol, UND_VARIABLE, identifier);
    und_later(p, (und_step){ .rule = UND_RULE_UNTYPED_END, .mode = 1, .node = symbol });
    und_later_rule(p, UND_RULE_SCOPES, p->nodes[symbol].child);
}

static void read_untyped(und_parse *p, und_id symbol, und_word word)
{
    begin_special(p, symbol, UND_VARIABLE, new_word(p, word));
    und_later_rule(p, UND_RULE_UNTYPED_END, symbol);
    und_later_rule(p, UND_RULE_SCOPES, p->nodes[symbol].child);
}

/* Mode 1: the final 8 may be missing. */
void und_read_untyped_end(und_parse *p, und_step step)
{
    if (!und_take(p, '8') && step.mode == 0)
        und_fail(p);
}

/* Reads an initializer. For a static data member the whole symbol follows, after a '?'; for other
 * variables only the name, as if it were the initializer's. */
static void read_initializer(und_parse *p, und_id symbol, bool is_at_exit)
{
    const und_id subject = und_new(p, UND_NOTHING);
    const unsigned mode =
        (und_take(p, '?') ? INITIALIZER_OF_MEMBER : 0u) | (is_at_exit ? INITIALIZER_AT_EXIT : 0u);
    und_later(p, (und_step){ .rule = UND_RULE_INITIALIZER_END,
                             .mode = (u8)mode,
                             .node = symbol,
                             .tail = subject });
    und_later_rule(p, UND_RULE_DECLARATOR, subject);
}

/* Ends an initializer. The subject was read as a symbol of its own. A function there is really the
 * initializer, encoded behind the name of its variable. */
void und_read_initializer_end(und_parse *p, und_step step)
{
    const bool is_member = (step.mode & INITIALIZER_OF_MEMBER) != 0;
    const und_node *const subject = &p->nodes[step.tail];
    const und_id identifier = und_new(p, UND_INITIALIZER);
    p->nodes[identifier].detail = (step.mode & INITIALIZER_AT_EXIT) != 0;
    begin_special(p, step.node, UND_FUNCTION_SYMBOL, identifier);
    if (subject->kind == UND_VARIABLE) {
        p->nodes[identifier].child = step.tail;
        /* Old versions of clang leave out the '?' and one '@'. */
        if (is_member ? UND_TAKE(p, "@@") : und_take(p, '@'))
            read_function_symbol(p, step.node);
        else
            und_fail(p);
    } else if (is_member) {
        und_fail(p);
    } else {
        p->nodes[identifier].child = subject->child;
        p->nodes[step.node].extra = subject->extra;
    }
}

/* Checked here, shown when printed. */
static void read_literal_symbol(und_parse *p, und_id symbol)
{
    p->nodes[symbol].kind = UND_STRING;
    p->nodes[symbol].at = und_offset(p);
    if (!und_read_literal(&p->in, NULL))
        und_fail(p);
    else
        p->nodes[symbol].size = (u16)(und_offset(p) - p->nodes[symbol].at);
}

/* The digit tells access and storage. */
static void read_variable(und_parse *p, und_id symbol)
{
    const und_id type = und_new(p, UND_NOTHING);
    p->nodes[symbol].kind = UND_VARIABLE;
    p->nodes[symbol].detail = (u8)und_char(p);
    p->nodes[symbol].extra = type;
    und_later_rule(p, UND_RULE_VARIABLE_END, symbol);
    und_read_type(p, (und_step){ .node = type });
}

/* Reads the end of a variable. A pointer's pointee gets the qualifiers; after a pointer to member
 * its class is repeated. */
void und_read_variable_end(und_parse *p, und_step step)
{
    und_node *const type = &p->nodes[p->nodes[step.node].extra];
    if (type->kind != UND_POINTER) {
        type->quals = und_read_quals(p, NULL);
        return;
    }
    type->quals |= und_read_pointer_quals(p);
    p->nodes[type->child].quals |= und_read_quals(p, NULL);
    if (type->extra != 0)
        und_later_rule(p, UND_RULE_TYPE_NAME, und_new(p, UND_QUALIFIED));
}

/* Only members that are not static have qualifiers of `this`. */
static void read_function_symbol(und_parse *p, und_id symbol)
{
    const und_id id = und_new(p, UND_FUNCTION);
    und_node *const type = &p->nodes[id];
    p->nodes[symbol].kind = UND_FUNCTION_SYMBOL;
    p->nodes[symbol].extra = id;
    const u16 extern_c = UND_TAKE(p, "$$J0") ? UND_EXTERN_C : 0;
    type->class_bits = read_class(p) | extern_c;
    read_thunk_offsets(p, type);
    if (!p->is_failed && (type->class_bits & UND_NO_PARAMETERS) == 0) {
        const bool has_this = (type->class_bits & (UND_GLOBAL | UND_STATIC)) == 0;
        und_read_function(p, (und_step){ .mode = has_this, .node = id });
    }
}

/*
 * Three groups of eight letters for private, protected and public members, Y and
 * Z for others. In a group: none, static, virtual, thunk; each twice, for near and
 * far functions of 16-bit systems.
 */
static u16 read_class(und_parse *p)
{
    static const u16 access[] = { UND_PRIVATE, UND_PROTECTED, UND_PUBLIC };
    static const u16 sort[] = { 0, UND_STATIC, UND_VIRTUAL, UND_VIRTUAL | UND_ADJUST | UND_THUNK };
    const char c = und_char(p);
    if (c == 'Y' || c == 'Z')
        return UND_GLOBAL;
    if (c == 'G' || c == 'H')
        return UND_PRIVATE | UND_ADJUST | UND_THUNK;
    if (c >= 'A' && c <= 'X')
        return access[(c - 'A') / 8] | sort[(c - 'A') % 8 / 2];
    if (c == '9')
        return UND_EXTERN_C | UND_NO_PARAMETERS;
    if (c == '$')
        return read_virtual_thunk_class(p);
    und_fail(p);
    return 0;
}

/* Thunks of classes with virtual bases; the digits go through access in pairs. */
static u16 read_virtual_thunk_class(und_parse *p)
{
    static const u16 access[] = { UND_PRIVATE, UND_PROTECTED, UND_PUBLIC };
    const u16 extended = und_take(p, 'R') ? UND_ADJUST_EXTENDED : 0;
    const char c = und_char(p);
    if (c < '0' || c > '5') {
        und_fail(p);
        return 0;
    }
    return access[(c - '0') / 2] | extended | UND_VIRTUAL | UND_ADJUST_VIRTUAL | UND_THUNK;
}

/* Offsets are 32 bits wide, and the static one of an adjustor has no sign. */
static void read_thunk_offsets(und_parse *p, und_node *type)
{
    const unsigned bits = type->class_bits;
    const unsigned count = (bits & UND_ADJUST) != 0            ? 1
                           : (bits & UND_ADJUST_EXTENDED) != 0 ? 4
                           : (bits & UND_ADJUST_VIRTUAL) != 0  ? 2
                                                               : 0;
    und_id tail = 0;
    for (unsigned i = 0; i < count && !p->is_failed; i++) {
        und_value value = as_i32(und_signed(p));
        if (i + 1 == count && value.is_negative)
            value = (und_value){ UINT32_MAX - value.magnitude + 1, false };
        tail = und_append(p, &type->offsets, tail, und_number_node(p, value));
    }
}

/* The value after storing it in 32 bits. */
static und_value as_i32(und_value value)
{
    const u32 low = (u32)value.magnitude;
    const u32 bits = value.is_negative ? 0 - low : low;
    const bool is_negative = bits > INT32_MAX;
    return (und_value){ is_negative ? 0 - bits : bits, is_negative };
}
