/*
 * undecorate_internal.h - shared by the parts of name undecoration.
 *
 * A decorated name is a small program text in a grammar of some forty nested rules: a name contains
 * template arguments, these contain types, and types contain names. The usual decoder is a family
 * of functions that call each other. Because names come from files and may be nested without limit,
 * rules here do not call each other. A rule that needs another one pushes how it will continue (a
 * step) on a stack of fixed size, and then pushes the step of the other rule:
 *
 *     to read      V?$list@H@app@@ ...      steps: rest of the parameters
 *     read V       ?$list@H@app@@ ...       steps: rest, scopes, template
 *     read ?$list@ H@app@@ ...              steps: rest, scopes, end, arguments
 *     read H@      app@@ ...                steps: rest, scopes, end
 *
 * What was read is kept as nodes, for two reasons. The order of reading is not that of writing:
 * names are stored from the innermost scope outward, and types surround what they declare. And
 * later parts refer to earlier ones by number. Printing walks the nodes in the same way, with a
 * stack of what is still to be written.
 *
 *     undecorate.c          entry points; runs the steps
 *     undecorate_symbol.c   whole symbols: functions, variables, tables, thunks
 *     undecorate_name.c     qualified names, back references
 *     undecorate_operator.c codes of operators, constructors and the like
 *     undecorate_template.c template arguments
 *     undecorate_type.c     types
 *     undecorate_literal.c  symbols of string literals
 *     undecorate_print.c    nodes to text: names and symbols
 *     undecorate_print_type.c   ... types
 *
 * Source of the grammar: LLVM's llvm/lib/Demangle/MicrosoftDemangle.cpp; clang's
 * lib/AST/MicrosoftMangle.cpp. Checked name by name against llvm-undname 16, and against the names
 * that MSVC 2010 put into its PDBs (tests/oracles/oracle_undecorate.py).
 */
#ifndef ETL_UNDECORATE_INTERNAL_H
#define ETL_UNDECORATE_INTERNAL_H

#include "parser/cursor.h"
#include "parser/undecorate.h"

/* The limits for one name; a name that exceeds them stays decorated. The longest compiled name of
 * the tests, of 3457 characters, takes 1062 nodes, 39 steps and 39 sayings. */
#define UND_NODES_MAX    4096
#define UND_STEPS_MAX    1024
#define UND_MEMORY_MAX   1024
#define UND_SAYINGS_MAX  1024
#define UND_COMPARE_SIZE 8192 /* bytes of a text when two templates are compared */

/* Digits 0 to 9 are back references, so each scope of memory has ten places of each kind. */
#define UND_REFERENCES_MAX 10

/* The limit on sayings while printing a name, for names that repeat themselves. */
#define UND_WORK_MAX (1u << 17)

typedef enum und_kind {
    UND_NOTHING,
    /* Identifiers; `arguments` is a list if UND_HAS_ARGUMENTS is set. */
    UND_NAME,             /* text of the input */
    UND_WORD,             /* detail: und_word */
    UND_OPERATOR,         /* detail: see und_operator_text */
    UND_STRUCTOR,         /* child: identifier of the class; detail 1: destructor */
    UND_CONVERSION,       /* child: the type converted to */
    UND_LITERAL_OPERATOR, /* text: the suffix */
    UND_LOCAL_SCOPE,      /* child: the enclosing symbol; extra: number of the block */
    UND_GUARD,            /* extra: number, if any; detail 1: of a thread */
    UND_BASE_DESCRIPTOR,  /* extra: list of four numbers */
    UND_VCALL,            /* extra: offset in the table */
    UND_INITIALIZER,      /* child: variable or name; detail 1: destructor at exit */
    UND_REPEATED,         /* child: what was memorized, other than a UND_NAME */
    /* Types */
    UND_PRIMITIVE, /* detail: its letter, with the top bit set behind a '_' */
    UND_TAG,       /* child: name; detail: its letter */
    UND_POINTER,   /* child: pointee; extra: class of a member, if any; detail: P, A or $ */
    UND_ARRAY,     /* child: element; extra: list of dimensions */
    UND_FUNCTION,  /* child: return type, if any; extra: parameters; detail: convention */
    UND_CUSTOM,    /* child: identifier */
    /* Symbols */
    UND_FUNCTION_SYMBOL, /* child: name; extra: function type */
    UND_VARIABLE,        /* child: name; extra: type, if any; detail: storage class */
    UND_TABLE,           /* child: name; extra: name of the base, if any */
    UND_PLAIN_SYMBOL,    /* child: name */
    UND_STRING,          /* text: what follows ??_C */
    /* The rest */
    UND_QUALIFIED, /* child: list, outermost scope first; extra: the last identifier */
    UND_CELL,      /* child: the item; extra: the next cell */
    UND_NUMBER,    /* number, and UND_NEGATIVE */
    UND_REFERENCE  /* child: symbol, if any; extra: list of offsets; detail 1: by address */
} und_kind;

/* Details of UND_OPERATOR: 36 codes (0 to 9, A to Z) in each of three groups. */
#define UND_CODES 36

/* Qualifiers of types. */
enum {
    UND_CONST = 1,
    UND_VOLATILE = 2,
    UND_RESTRICT = 4,
    UND_UNALIGNED = 8,
    UND_POINTER64 = 16 /* is read, but never shown */
};

/* Flags of nodes. Each applies to few kinds, so values repeat. */
enum {
    UND_HAS_ARGUMENTS = 1, /* identifiers */
    UND_NEGATIVE = 1,      /* numbers */
    /* function types */
    UND_HAS_PARAMETERS = 1, /* not the single `void` */
    UND_VARIADIC = 2,
    UND_NOEXCEPT = 4,
    UND_LVALUE = 8,
    UND_RVALUE = 16
};

/* The kind of a function symbol, in `class_bits` of its type. */
enum {
    UND_PUBLIC = 1,
    UND_PROTECTED = 2,
    UND_PRIVATE = 4,
    UND_GLOBAL = 8,
    UND_STATIC = 16,
    UND_VIRTUAL = 32,
    UND_EXTERN_C = 64,
    UND_NO_PARAMETERS = 128,    /* the list was not encoded */
    UND_ADJUST = 256,           /* thunks: static offset */
    UND_ADJUST_VIRTUAL = 512,   /* with vtordisp */
    UND_ADJUST_EXTENDED = 1024, /* with vtordisp and two more offsets */
    UND_THUNK = 2048
};

/* Names that have no spelling in the input. */
typedef enum und_word {
    UND_WORD_ANONYMOUS,
    UND_WORD_VFTABLE,
    UND_WORD_VBTABLE,
    UND_WORD_LOCAL_VFTABLE,
    UND_WORD_OBJECT_LOCATOR,
    UND_WORD_TYPE_DESCRIPTOR,
    UND_WORD_BASE_ARRAY,
    UND_WORD_HIERARCHY
} und_word;

/* The index of a node. 0 is none; writing to node 0 is harmless. */
typedef u16 und_id;

typedef struct und_node {
    u8 kind;
    u8 detail;
    u8 quals;
    u8 flags;
    u16 at; /* text of the input */
    u16 size;
    union {
        struct {
            und_id child;
            und_id extra;
            union {
                und_id arguments; /* identifiers: list */
                und_id enclosing; /* UND_QUALIFIED: the name of constructors */
                und_id offsets;   /* UND_FUNCTION of a thunk: list */
            };
            u16 class_bits; /* UND_FUNCTION */
        };
        u64 number;
    };
} und_node;

static_assert(sizeof(und_node) == 16, "nodes are copied by assignment and kept in thousands");
static_assert(ETL_DECORATED_SIZE_MAX < UINT16_MAX, "texts are 16-bit offsets");

/* The rest of a rule. Each rule gives the members their meaning. */
typedef struct und_step {
    u8 rule;
    u8 mode;
    u8 quals; /* qualifiers that replace those of a type, if is_qualified */
    bool is_qualified;
    und_id node;
    und_id tail; /* last cell of a list that grows */
    u16 start;   /* an offset in the input, plus 1 */
    u16 names;   /* where outer names and types begin, inside a template */
    u16 types;
} und_step;

typedef enum und_rule {
    UND_RULE_SYMBOL,          /* a whole symbol, from its '?' */
    UND_RULE_DECLARATOR,      /* a whole symbol after its '?', if not a special one */
    UND_RULE_ENCODING,        /* what follows the name of a symbol */
    UND_RULE_ENCODED,         /* checks a symbol when everything was read */
    UND_RULE_VARIABLE_END,    /* qualifiers after a variable's type */
    UND_RULE_TABLE_END,       /* what follows the name of a table */
    UND_RULE_GUARD_END,       /* ... of a guard of a local static */
    UND_RULE_VCALL_END,       /* ... of a vcall thunk */
    UND_RULE_DESCRIPTOR_END,  /* ... of a type descriptor's type */
    UND_RULE_UNTYPED_END,     /* ... of other RTTI names */
    UND_RULE_INITIALIZER_END, /* ... of what an initializer initializes */
    UND_RULE_SYMBOL_NAME,     /* a qualified name of a symbol */
    UND_RULE_TYPE_NAME,       /* a qualified name of a type */
    UND_RULE_SCOPES,          /* the rest of a qualified name */
    UND_RULE_TEMPLATE,        /* a name with template arguments, from its ?$ */
    UND_RULE_TEMPLATE_END,    /* restores the memory of the outer name */
    UND_RULE_ARGUMENTS,       /* template arguments */
    UND_RULE_REFERENCE_END,   /* offsets after the symbol of a template argument */
    UND_RULE_TYPE,            /* a type without qualifiers of its own */
    UND_RULE_FUNCTION,        /* a function type, from its this-qualifiers or convention */
    UND_RULE_PARAMETERS,      /* the parameters of a function type and what follows */
    UND_RULE_CUSTOM_END       /* the end of a type of unknown sort */
} und_rule;

/* How qualifiers precede a type. */
enum {
    UND_QUALS_NONE,
    UND_QUALS_ALWAYS,  /* pointees */
    UND_QUALS_OPTIONAL /* return types: only after a '?' */
};

/*
 * The names and parameter types that digits refer to. Each template begins with an empty memory,
 * and the outer memory returns after it. So all share a stack; the part from `begin` on belongs to
 * the current template.
 */
typedef struct und_memory {
    und_id entries[UND_MEMORY_MAX];
    u16 begin;
    u16 count; /* in all */
} und_memory;

typedef struct und_parse {
    etl_cursor in;
    const u8 *text; /* where the input begins */
    bool is_failed;
    u16 node_count;
    u16 step_count;
    u32 work_left; /* for printing */
    und_memory names;
    und_memory types;
    und_step steps[UND_STEPS_MAX];
    und_node nodes[UND_NODES_MAX];
} und_parse;

/* --- undecorate.c --------------------------------------------------------- */

void und_fail(und_parse *p);

/* Makes a zeroed node. If there is no room, the parse fails and 0 is returned. */
und_id und_new(und_parse *p, und_kind kind);

/* Pushes a step; the last one pushed runs first. */
void und_later(und_parse *p, und_step step);

static inline void und_later_rule(und_parse *p, und_rule rule, und_id node)
{
    und_later(p, (und_step){ .rule = (u8)rule, .node = node });
}

/* Appends an item to the list whose last cell is `tail` (0: the list is empty and
 * *head is set); returns the new last cell. */
und_id und_append(und_parse *p, und_id *head, und_id tail, und_id item);

/* --- reading input --------------------------------------------------------- */

static inline bool und_is_next(const und_parse *p, char c)
{
    return p->in.left > 0 && p->in.at[0] == (u8)c;
}

static inline bool und_is_digit_next(const und_parse *p)
{
    return p->in.left > 0 && p->in.at[0] >= '0' && p->in.at[0] <= '9';
}

static inline bool und_is_next_text(const und_parse *p, const char *text, size_t size)
{
    return p->in.left >= size && memcmp(p->in.at, text, size) == 0;
}

/* Consumes a character or a text if it comes next. */
static inline bool und_take(und_parse *p, char c)
{
    if (!und_is_next(p, c))
        return false;
    etl_skip(&p->in, 1);
    return true;
}

static inline bool und_take_text(und_parse *p, const char *text, size_t size)
{
    if (!und_is_next_text(p, text, size))
        return false;
    etl_skip(&p->in, size);
    return true;
}

#define UND_IS_NEXT(p, literal) und_is_next_text((p), "" literal, sizeof(literal) - 1)
#define UND_TAKE(p, literal)    und_take_text((p), "" literal, sizeof(literal) - 1)

/* Consumes the next character; at the end, returns 0 and the parse fails. */
static inline char und_char(und_parse *p)
{
    if (p->in.left == 0) {
        und_fail(p);
        return 0;
    }
    return (char)etl_u8(&p->in);
}

static inline u16 und_offset(const und_parse *p)
{
    return (u16)(p->in.at - p->text);
}

/* Read encoded numbers, as a value or as a node; 0 and a failed parse on error. */
typedef struct und_value {
    u64 magnitude;
    bool is_negative;
} und_value;

und_value und_number(und_parse *p);
und_id und_number_node(und_parse *p, und_value value);
und_value und_unsigned(und_parse *p);
und_value und_signed(und_parse *p);

/* --- the rules, by file ------------------------------------------------------ */

void und_read_symbol(und_parse *p, und_step step);
void und_read_declarator(und_parse *p, und_step step);
void und_read_encoding(und_parse *p, und_step step);
void und_check_encoded(und_parse *p, und_step step);
void und_read_variable_end(und_parse *p, und_step step);
void und_read_table_end(und_parse *p, und_step step);
void und_read_guard_end(und_parse *p, und_step step);
void und_read_vcall_end(und_parse *p, und_step step);
void und_read_descriptor_end(und_parse *p, und_step step);
void und_read_untyped_end(und_parse *p, und_step step);
void und_read_initializer_end(und_parse *p, und_step step);

void und_read_symbol_name(und_parse *p, und_step step);
void und_read_type_name(und_parse *p, und_step step);
void und_read_scopes(und_parse *p, und_step step);

/* Reads an identifier of a type or scope. May push a step for its template. */
und_id und_read_type_identifier(und_parse *p);

/* Reads text up to '@' into the node of an identifier; false: failed. */
bool und_read_simple_name(und_parse *p, und_id identifier);

/* Adds a name to the memory, unless an identical one is in it. */
void und_memorize(und_parse *p, und_id identifier);

/* Adds an entry to the memory, if a place is free; and finds the entry for a digit. */
void und_remember(und_parse *p, und_memory *memory, und_id id);
und_id und_recall(und_parse *p, const und_memory *memory);

/* Reads the code of an operator, after its '?', into the node of an identifier. */
void und_read_operator(und_parse *p, und_id identifier);
const char *und_operator_text(unsigned detail);

void und_read_template(und_parse *p, und_step step);
void und_read_template_end(und_parse *p, und_step step);
void und_read_arguments(und_parse *p, und_step step);
void und_read_reference_end(und_parse *p, und_step step);

/* `mode`: how qualifiers precede the type. */
void und_read_type(und_parse *p, und_step step);

/* `mode` 1: qualifiers of `this` come first. */
void und_read_function(und_parse *p, und_step step);
void und_read_parameters(und_parse *p, und_step step);
void und_read_custom_end(und_parse *p, und_step step);

/* Reads the qualifiers of a pointee; *is_member (may be NULL): of a member. */
u8 und_read_quals(und_parse *p, bool *is_member);

/* Reads the qualifiers of a pointer itself, if any. */
u8 und_read_pointer_quals(und_parse *p);

/* The spelling of a primitive type; NULL if its letter is unknown. */
#define UND_PRIMITIVE_EXTENDED 0x80
#define UND_PRIMITIVE_NULLPTR  'T'
const char *und_primitive_text(unsigned detail);

/* --- literals ----------------------------------------------------------------- */

/* Decodes what follows ??_C, up to its end. Writes each byte of the text to `out`; NULL only
 * checks. False if damaged. */
struct und_text;
bool und_read_literal(etl_cursor *in, struct und_text *out);

#endif
