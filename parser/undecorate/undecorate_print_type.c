/*
 * undecorate_print_type.c - prints types as text, before and behind the name that they declare.
 *
 *     int (__cdecl *  f  )(char)            a pointer to function
 *     int const (*    a  )[3][4]            a pointer to array
 *     public: void __cdecl  g  (int) const  a member function
 *
 * In: nodes of types. Out: text. say_before writes the part before the name, say_after the mirror
 * image behind it. Invariant: each bracket that say_before opens must be closed by say_after of the
 * same node, and the name is written between them exactly once.
 */
#include "undecorate_print.h"

static void say_before(und_printer *printer, und_id id);
static void say_after(und_printer *printer, und_id id);
static void say_signature(und_printer *printer, const und_node *function);
static void say_declarator(und_printer *printer, und_id id);
static void put_declarator_sign(und_printer *printer, const und_node *pointer);
static void say_parameters(und_printer *printer, und_id id);
static void say_parameters_end(und_printer *printer, const und_node *function);
static void say_offsets(und_printer *printer, const und_node *function);
static void put_dimensions(und_printer *printer, const und_node *array);
static const char *tag_text(unsigned letter);
static const char *convention_text(unsigned letter);
static bool is_wrapped(const und_printer *printer, const und_node *pointer);

/* Says a type. Type 0 stands for none: constructors have no return type, and some variables no
 * type. */
void und_say_type(und_printer *printer, und_saying saying)
{
    const und_node *const type = &printer->nodes[saying.node];
    if (saying.node == 0)
        return;
    switch ((und_say)saying.say) {
    case UND_SAY_BEFORE:
        say_before(printer, saying.node);
        return;
    case UND_SAY_AFTER:
        say_after(printer, saying.node);
        return;
    case UND_SAY_QUALS:
        und_put_quals(&printer->text, type->quals, true);
        return;
    case UND_SAY_SIGNATURE:
        say_signature(printer, type);
        return;
    case UND_SAY_CONVENTION:
        und_put_space(&printer->text);
        und_put_words(&printer->text, convention_text(type->detail));
        return;
    case UND_SAY_DECLARATOR:
        say_declarator(printer, saying.node);
        return;
    case UND_SAY_STAR:
        put_declarator_sign(printer, type);
        return;
    case UND_SAY_OFFSETS:
        say_offsets(printer, type);
        return;
    case UND_SAY_PARAMETERS:
        say_parameters(printer, saying.node);
        return;
    case UND_SAY_PARAMETERS_END:
        say_parameters_end(printer, type);
        return;
    default:
        assert(false);
        return;
    }
}

/*
 * Says the part before the name. A pointer begins with everything that its pointee has before its
 * own name, and adds its sign; so does an array, whose brackets come after.
 */
static void say_before(und_printer *printer, und_id id)
{
    const und_node *const type = &printer->nodes[id];
    const und_id child = type->child;
    switch ((und_kind)type->kind) {
    case UND_PRIMITIVE:
        und_put_words(&printer->text, und_primitive_text(type->detail));
        und_put_quals(&printer->text, type->quals, true);
        return;
    case UND_TAG:
        und_put_words(&printer->text, tag_text(type->detail));
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, child), UND_SAY(UND_SAY_QUALS, id));
        return;
    case UND_POINTER: {
        /* The convention of a function stands inside of the parenthesis. */
        const bool is_function = printer->nodes[child].kind == UND_FUNCTION;
        UND_SAY_ALL(printer, UND_SAY(is_function ? UND_SAY_SIGNATURE : UND_SAY_BEFORE, child),
                    UND_SAY(UND_SAY_DECLARATOR, id));
        return;
    }
    case UND_ARRAY:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_BEFORE, child), UND_SAY(UND_SAY_QUALS, id));
        return;
    case UND_FUNCTION:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_SIGNATURE, id), UND_SAY(UND_SAY_CONVENTION, id));
        return;
    default:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, child));
        return;
    }
}

/* Says the part behind the name, in mirror image: what is outermost before the name is innermost
 * behind it. So a pointer closes its parenthesis first and then lets its pointee end. */
static void say_after(und_printer *printer, und_id id)
{
    const und_node *const type = &printer->nodes[id];
    switch ((und_kind)type->kind) {
    case UND_POINTER:
        if (is_wrapped(printer, type))
            und_put_words(&printer->text, ")");
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_AFTER, type->child));
        return;
    case UND_ARRAY:
        put_dimensions(printer, type);
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_AFTER, type->child));
        return;
    case UND_FUNCTION:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_OFFSETS, id), UND_SAY(UND_SAY_PARAMETERS, id),
                    UND_SAY(UND_SAY_AFTER, type->child));
        return;
    default:
        return;
    }
}

/* Says everything of a function type before its convention. */
static void say_signature(und_printer *printer, const und_node *function)
{
    static const struct {
        unsigned bit;
        const char *words;
    } rows[] = {
        { UND_THUNK, "[thunk]: " },        { UND_PUBLIC, "public: " },
        { UND_PROTECTED, "protected: " },  { UND_PRIVATE, "private: " },
        { UND_STATIC, "static " },         { UND_VIRTUAL, "virtual " },
        { UND_EXTERN_C, "extern \"C\" " },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        if ((function->class_bits & rows[i].bit) != 0)
            und_put_words(&printer->text, rows[i].words);
    }
    if (function->child != 0)
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_BEFORE, function->child), UND_TEXT(" "));
}

/* From the parenthesis to the sign: `(__cdecl item::*const`. The class of a member
 * is a name of its own, so the sign waits on the stack until it is said. */
static void say_declarator(und_printer *printer, und_id id)
{
    const und_node *const pointer = &printer->nodes[id];
    const und_id pointee = pointer->child;
    und_put_space(&printer->text);
    if ((pointer->quals & UND_UNALIGNED) != 0)
        und_put_words(&printer->text, "__unaligned ");
    if (is_wrapped(printer, pointer))
        und_put_words(&printer->text, "(");
    if (printer->nodes[pointee].kind == UND_FUNCTION) {
        und_put_words(&printer->text, convention_text(printer->nodes[pointee].detail));
        und_put_words(&printer->text, " ");
    }
    if (pointer->extra != 0)
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, pointer->extra), UND_TEXT("::"),
                    UND_SAY(UND_SAY_STAR, id));
    else
        put_declarator_sign(printer, pointer);
}

/* A pointer's own qualifiers stand close to its sign: `*const`. That all pointers of
 * x64 are 64 bits wide is not said. */
static void put_declarator_sign(und_printer *printer, const und_node *pointer)
{
    const char *const sign = pointer->detail == 'P' ? "*" : pointer->detail == 'A' ? "&" : "&&";
    und_put_words(&printer->text, sign);
    und_put_quals(&printer->text, pointer->quals, false);
}

/* Says what a thunk adds to `this`, behind its name. */
static void say_offsets(und_printer *printer, const und_node *function)
{
    if (function->offsets == 0)
        return;
    const unsigned bits = function->class_bits;
    const char *const words = (bits & UND_ADJUST) != 0            ? "`adjustor{"
                              : (bits & UND_ADJUST_EXTENDED) != 0 ? "`vtordispex{"
                                                                  : "`vtordisp{";
    und_put_words(&printer->text, words);
    UND_SAY_ALL(printer, UND_LIST(function->offsets, ", "), UND_TEXT("}'"));
}

/* `(void)` is a function without parameters; `()` is a list that has ended before the
 * first, which only damaged names have. */
static void say_parameters(und_printer *printer, und_id id)
{
    const und_node *const function = &printer->nodes[id];
    if ((function->class_bits & UND_NO_PARAMETERS) != 0) {
        say_parameters_end(printer, function);
        return;
    }
    und_put_words(&printer->text, "(");
    if ((function->flags & UND_HAS_PARAMETERS) == 0)
        und_put_words(&printer->text, "void");
    UND_SAY_ALL(printer, UND_LIST(function->extra, ", "), UND_SAY(UND_SAY_PARAMETERS_END, id));
}

/* Closes the list and tells the qualifiers of `this`, in the order llvm-undname has. */
static void say_parameters_end(und_printer *printer, const und_node *function)
{
    und_text *const text = &printer->text;
    if ((function->flags & UND_VARIADIC) != 0) {
        if (text->length > 0 && text->out[text->length - 1] != '(')
            und_put_words(text, ", ");
        und_put_words(text, "...");
    }
    if ((function->class_bits & UND_NO_PARAMETERS) == 0)
        und_put_words(text, ")");
    und_put_quals(text, function->quals, true);
    if ((function->quals & UND_UNALIGNED) != 0)
        und_put_words(text, " __unaligned");
    if ((function->flags & UND_NOEXCEPT) != 0)
        und_put_words(text, " noexcept");
    if ((function->flags & UND_LVALUE) != 0)
        und_put_words(text, " &");
    if ((function->flags & UND_RVALUE) != 0)
        und_put_words(text, " &&");
}

/* "[3][]": a dimension without a size is stored as 0. */
static void put_dimensions(und_printer *printer, const und_node *array)
{
    for (und_id id = array->extra; id != 0; id = printer->nodes[id].extra) {
        const und_node *const size = &printer->nodes[printer->nodes[id].child];
        und_put_words(&printer->text, "[");
        if (size->number != 0)
            und_put_number(&printer->text, size);
        und_put_words(&printer->text, "]");
    }
}

/* Arrays and functions bind more tightly than the pointer to them. */
static bool is_wrapped(const und_printer *printer, const und_node *pointer)
{
    const u8 kind = printer->nodes[pointer->child].kind;
    return kind == UND_ARRAY || kind == UND_FUNCTION;
}

/* Always in this order, whatever the order in the program was. */
void und_put_quals(und_text *text, unsigned quals, bool has_space_before)
{
    static const struct {
        unsigned bit;
        const char *words;
    } rows[] = {
        { UND_CONST, " const" },
        { UND_VOLATILE, " volatile" },
        { UND_RESTRICT, " __restrict" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        if ((quals & rows[i].bit) == 0)
            continue;
        und_put_words(text, has_space_before ? rows[i].words : rows[i].words + 1);
        has_space_before = true;
    }
}

/* Enums end here too: their letter is the only other one that is read as a tag. */
static const char *tag_text(unsigned letter)
{
    switch (letter) {
    case 'T':
        return "union ";
    case 'U':
        return "struct ";
    case 'V':
        return "class ";
    default:
        return "enum ";
    }
}

/* Two letters each: the second one is that of exported 16-bit functions. */
static const char *convention_text(unsigned letter)
{
    switch (letter) {
    case 'A':
    case 'B':
        return "__cdecl";
    case 'C':
    case 'D':
        return "__pascal";
    case 'E':
    case 'F':
        return "__thiscall";
    case 'G':
    case 'H':
        return "__stdcall";
    case 'I':
    case 'J':
        return "__fastcall";
    case 'M':
    case 'N':
        return "__clrcall";
    case 'O':
    case 'P':
        return "__eabi";
    case 'Q':
        return "__vectorcall";
    case 'S':
        return "__attribute__((__swiftcall__)) ";
    case 'W':
        return "__attribute__((__swiftasynccall__)) ";
    default:
        return "";
    }
}

/* Reading and printing ask the same tables, so a type that is read can be spelled. */
const char *und_primitive_text(unsigned detail)
{
    static const char *const plain[] = {
        ['C' - 'A'] = "signed char",    ['D' - 'A'] = "char",
        ['E' - 'A'] = "unsigned char",  ['F' - 'A'] = "short",
        ['G' - 'A'] = "unsigned short", ['H' - 'A'] = "int",
        ['I' - 'A'] = "unsigned int",   ['J' - 'A'] = "long",
        ['K' - 'A'] = "unsigned long",  ['M' - 'A'] = "float",
        ['N' - 'A'] = "double",         ['O' - 'A'] = "long double",
        ['T' - 'A'] = "std::nullptr_t", ['X' - 'A'] = "void",
    };
    static const char *const extended[] = {
        ['J' - 'A'] = "__int64",        ['K' - 'A'] = "unsigned __int64", ['N' - 'A'] = "bool",
        ['P' - 'A'] = "auto",           ['Q' - 'A'] = "char8_t",          ['S' - 'A'] = "char16_t",
        ['T' - 'A'] = "decltype(auto)", ['U' - 'A'] = "char32_t",         ['W' - 'A'] = "wchar_t",
    };
    const unsigned letter = detail & ~(unsigned)UND_PRIMITIVE_EXTENDED;
    if (letter < 'A' || letter > 'X')
        return NULL;
    if (detail == letter)
        return plain[letter - 'A'];
    return letter - 'A' < ETL_COUNT_OF(extended) ? extended[letter - 'A'] : NULL;
}
