/*
 * undecorate_print.c - prints the nodes of names and symbols as text.
 *
 * In: nodes of a parse. Out: text in a buffer of fixed size; false if it did not fit or took too
 * much work.
 *
 *     sayings (a stack)   [ ")" | after(pointee) ]  ◀── take the top, write its first words,
 *                                                       push the rest
 *
 * Symbols have two forms. The name-only form is for the symbol that was asked for. Symbols inside
 * of names (the function around a local name, the function in a template argument) are printed with
 * everything they have, because that distinguishes overloads that differ only there. Invariant:
 * back references can say much and write little, so the work is limited apart from the text.
 */
#include "undecorate_print.h"

static void begin(und_printer *printer, und_parse *p, char *out, size_t length_max);
static bool run(und_printer *printer);
static void say(und_printer *printer, und_saying saying);
static void say_node(und_printer *printer, und_id id);
static void say_identifier(und_printer *printer, und_id id);
static void say_special_identifier(und_printer *printer, const und_node *node);
static void say_initializer(und_printer *printer, const und_node *node, und_id subject);
static void say_symbol(und_printer *printer, const und_node *symbol);
static void say_declared(und_printer *printer, const und_node *symbol);
static void say_table(und_printer *printer, const und_node *table);
static void say_symbol_name(und_printer *printer, und_id id);
static void say_reference(und_printer *printer, const und_node *reference);
static void say_list(und_printer *printer, und_saying saying);
static void say_arguments(und_printer *printer, und_id identifier);
static void put_literal(und_printer *printer, const und_node *literal);
static const char *word_text(unsigned word);

/* Nothing is known to fit before all of it is written, so a short buffer costs as
 * much as a long one, and the NUL has its byte set aside from the start. */
bool und_print_symbol(und_parse *p, und_id symbol, char *out, size_t capacity, size_t *length)
{
    if (capacity == 0)
        return false;
    und_printer printer; /* large; begin() sets what is read */
    begin(&printer, p, out, capacity - 1);
    say_symbol_name(&printer, symbol);
    if (!run(&printer))
        return false;
    out[printer.text.length] = '\0';
    if (length != NULL)
        *length = printer.text.length;
    return true;
}

/* Identifiers are printed to be compared with each other; nobody reads them, so there
 * is no NUL. */
bool und_print_identifier(und_parse *p, und_id identifier, char *out, size_t capacity,
                          size_t *length)
{
    und_printer printer;
    begin(&printer, p, out, capacity);
    UND_SAY_ALL(&printer, UND_SAY(UND_SAY_NODE, identifier));
    if (!run(&printer))
        return false;
    *length = printer.text.length;
    return true;
}

/* Pushes sayings in reverse, because the stack returns the last one first. A full stack ends
 * printing like a full text. */
void und_say_all(und_printer *printer, const und_saying *sayings, size_t count)
{
    if (count > UND_SAYINGS_MAX - (size_t)printer->count) {
        printer->text.is_full = true;
        return;
    }
    for (size_t i = count; i > 0; i--)
        printer->sayings[printer->count++] = sayings[i - 1];
}

static void begin(und_printer *printer, und_parse *p, char *out, size_t length_max)
{
    printer->nodes = p->nodes;
    printer->input = p->text;
    printer->work_left = &p->work_left;
    printer->text = (und_text){ .out = out, .length_max = length_max };
    printer->count = 0;
}

/* Runs sayings. Repetition can say much and write nothing, so the work is limited apart from the
 * text; the limit is for a name with all comparisons that it takes. */
static bool run(und_printer *printer)
{
    while (printer->count > 0 && !printer->text.is_full) {
        if (*printer->work_left == 0)
            return false;
        --*printer->work_left;
        printer->count--;
        say(printer, printer->sayings[printer->count]);
    }
    return !printer->text.is_full;
}

/* One row of the list of sayings; those about types are in undecorate_print_type.c. */
static void say(und_printer *printer, und_saying saying)
{
    switch ((und_say)saying.say) {
    case UND_SAY_TEXT:
        und_put_words(&printer->text, saying.text);
        return;
    case UND_SAY_NODE:
        say_node(printer, saying.node);
        return;
    case UND_SAY_MORE:
        und_put_words(&printer->text, saying.text);
        say_list(printer, saying);
        return;
    case UND_SAY_LIST:
        say_list(printer, saying);
        return;
    case UND_SAY_ARGUMENTS:
        say_arguments(printer, saying.node);
        return;
    case UND_SAY_SPACE:
        und_put_space(&printer->text);
        return;
    default:
        und_say_type(printer, saying);
        return;
    }
}

/* A node as a whole. A type has no name between its two sides here. */
static void say_node(und_printer *printer, und_id id)
{
    const und_node *const node = &printer->nodes[id];
    switch ((und_kind)node->kind) {
    case UND_NOTHING:
        return;
    case UND_PRIMITIVE:
    case UND_TAG:
    case UND_POINTER:
    case UND_ARRAY:
    case UND_FUNCTION:
    case UND_CUSTOM:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_BEFORE, id), UND_SAY(UND_SAY_AFTER, id));
        return;
    case UND_FUNCTION_SYMBOL:
    case UND_VARIABLE:
    case UND_TABLE:
    case UND_PLAIN_SYMBOL:
    case UND_STRING:
        say_symbol(printer, node);
        return;
    case UND_QUALIFIED:
        UND_SAY_ALL(printer, UND_LIST(node->child, "::"));
        return;
    case UND_NUMBER:
        und_put_number(&printer->text, node);
        return;
    case UND_REFERENCE:
        say_reference(printer, node);
        return;
    default:
        say_identifier(printer, id);
        return;
    }
}

/* Identifiers that a programmer spells. Template arguments follow each, except that a
 * conversion has them between the word and the type: `operator<int> int *`. */
static void say_identifier(und_printer *printer, und_id id)
{
    const und_node *const node = &printer->nodes[id];
    const char *const spelled = (const char *)printer->input + node->at;
    switch ((und_kind)node->kind) {
    case UND_NAME:
        und_put(&printer->text, spelled, node->size);
        say_arguments(printer, id);
        return;
    case UND_WORD:
        und_put_words(&printer->text, word_text(node->detail));
        return;
    case UND_OPERATOR:
        und_put_words(&printer->text, und_operator_text(node->detail));
        say_arguments(printer, id);
        return;
    case UND_LITERAL_OPERATOR:
        und_put_words(&printer->text, "operator \"\"");
        und_put(&printer->text, spelled, node->size);
        say_arguments(printer, id);
        return;
    case UND_STRUCTOR:
        if (node->detail == 1)
            und_put_words(&printer->text, "~");
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, node->child), UND_SAY(UND_SAY_ARGUMENTS, id));
        return;
    case UND_CONVERSION:
        UND_SAY_ALL(printer, UND_TEXT("operator"), UND_SAY(UND_SAY_ARGUMENTS, id), UND_TEXT(" "),
                    UND_SAY(UND_SAY_NODE, node->child));
        return;
    default:
        say_special_identifier(printer, node);
        return;
    }
}

/* Identifiers that only compilers make. They are put in quotes of two kinds, which no
 * name of a program contains, and never have template arguments. */
static void say_special_identifier(und_printer *printer, const und_node *node)
{
    switch ((und_kind)node->kind) {
    case UND_REPEATED:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, node->child));
        return;
    case UND_LOCAL_SCOPE:
        UND_SAY_ALL(printer, UND_TEXT("`"), UND_SAY(UND_SAY_NODE, node->child), UND_TEXT("'::`"),
                    UND_SAY(UND_SAY_NODE, node->extra), UND_TEXT("'"));
        return;
    case UND_GUARD:
        und_put_words(&printer->text,
                      node->detail == 1 ? "`local static thread guard'" : "`local static guard'");
        if (node->extra != 0)
            UND_SAY_ALL(printer, UND_TEXT("{"), UND_SAY(UND_SAY_NODE, node->extra), UND_TEXT("}"));
        return;
    case UND_BASE_DESCRIPTOR:
        UND_SAY_ALL(printer, UND_TEXT("`RTTI Base Class Descriptor at ("),
                    UND_LIST(node->extra, ", "), UND_TEXT(")'"));
        return;
    case UND_VCALL:
        UND_SAY_ALL(printer, UND_TEXT("`vcall'{"), UND_SAY(UND_SAY_NODE, node->extra),
                    UND_TEXT(", {flat}}"));
        return;
    case UND_INITIALIZER:
        say_initializer(printer, node, node->child);
        return;
    default:
        assert(false);
        printer->text.is_full = true;
        return;
    }
}

/* `subject` is a variable, or the name of one. */
static void say_initializer(und_printer *printer, const und_node *node, und_id subject)
{
    const bool is_variable = printer->nodes[node->child].kind == UND_VARIABLE;
    und_put_words(&printer->text, node->detail == 1 ? "`dynamic atexit destructor for "
                                                    : "`dynamic initializer for ");
    UND_SAY_ALL(printer, UND_TEXT(is_variable ? "`" : "'"), UND_SAY(UND_SAY_NODE, subject),
                UND_TEXT("''"));
}

/* The whole form: access, types and all. */
static void say_symbol(und_printer *printer, const und_node *symbol)
{
    switch ((und_kind)symbol->kind) {
    case UND_FUNCTION_SYMBOL:
        say_declared(printer, symbol);
        return;
    case UND_VARIABLE:
        if (symbol->detail == '0')
            und_put_words(&printer->text, "private: static ");
        else if (symbol->detail == '1')
            und_put_words(&printer->text, "protected: static ");
        else if (symbol->detail == '2')
            und_put_words(&printer->text, "public: static ");
        say_declared(printer, symbol);
        return;
    case UND_TABLE:
        say_table(printer, symbol);
        return;
    case UND_STRING:
        put_literal(printer, symbol);
        return;
    default:
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, symbol->child));
        return;
    }
}

/* Function or variable: its type stands around its name. */
static void say_declared(und_printer *printer, const und_node *symbol)
{
    UND_SAY_ALL(printer, UND_SAY(UND_SAY_BEFORE, symbol->extra), UND_SAY(UND_SAY_SPACE, 0),
                UND_SAY(UND_SAY_NODE, symbol->child), UND_SAY(UND_SAY_AFTER, symbol->extra));
}

/* Qualifiers come first (tables are const), the base that a table is for comes last. */
static void say_table(und_printer *printer, const und_node *table)
{
    const size_t length = printer->text.length;
    und_put_quals(&printer->text, table->quals, false);
    if (printer->text.length > length)
        und_put_words(&printer->text, " ");
    if (table->extra != 0)
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, table->child), UND_TEXT("{for `"),
                    UND_SAY(UND_SAY_NODE, table->extra), UND_TEXT("'}"));
    else
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, table->child));
}

/* The name-only form. Tables and literals have no other. */
static void say_symbol_name(und_printer *printer, und_id id)
{
    const und_node *const symbol = &printer->nodes[id];
    const und_node *const name = &printer->nodes[symbol->child];
    const und_node *const identifier = &printer->nodes[name->extra];
    if (symbol->kind != UND_FUNCTION_SYMBOL && symbol->kind != UND_VARIABLE) {
        say_symbol(printer, symbol);
        return;
    }
    const und_node *const type = &printer->nodes[symbol->extra];
    const bool is_thunk = type->kind == UND_FUNCTION && (type->class_bits & UND_THUNK) != 0;
    if (is_thunk) {
        und_put_words(&printer->text, "[thunk]: ");
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_OFFSETS, symbol->extra));
    }
    if (identifier->kind == UND_INITIALIZER &&
        printer->nodes[identifier->child].kind == UND_VARIABLE)
        say_initializer(printer, identifier, printer->nodes[identifier->child].child);
    else
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, symbol->child));
}

/* Offsets follow the address in braces; without any, '&' tells that it is one. */
static void say_reference(und_printer *printer, const und_node *reference)
{
    const und_id symbol = reference->child;
    if (reference->extra == 0) {
        if (reference->detail == 1)
            und_put_words(&printer->text, "&");
        UND_SAY_ALL(printer, UND_SAY(UND_SAY_NODE, symbol));
        return;
    }
    UND_SAY_ALL(printer, UND_TEXT("{"), UND_SAY(UND_SAY_NODE, symbol),
                UND_TEXT(symbol != 0 ? ", " : ""), UND_LIST(reference->extra, ", "), UND_TEXT("}"));
}

/* One item, and a saying for the rest of the list: a list takes one place on the stack
 * no matter how long it is. */
static void say_list(und_printer *printer, und_saying saying)
{
    if (saying.node == 0)
        return;
    const und_node *const cell = &printer->nodes[saying.node];
    const und_saying more = { .text = saying.text, .say = UND_SAY_MORE, .node = cell->extra };
    if (cell->extra != 0)
        und_say_all(printer, &more, 1);
    say_node(printer, cell->child);
}

/* An empty list is still shown: `pack<>` is a template with no arguments. */
static void say_arguments(und_printer *printer, und_id identifier)
{
    const und_node *const node = &printer->nodes[identifier];
    if ((node->flags & UND_HAS_ARGUMENTS) != 0)
        UND_SAY_ALL(printer, UND_TEXT("<"), UND_LIST(node->arguments, ", "), UND_TEXT(">"));
}

/* Literals are decoded where they are shown: the text needs no room in the nodes. */
static void put_literal(und_printer *printer, const und_node *literal)
{
    etl_cursor c = etl_cursor_of((etl_bytes){ printer->input + literal->at, literal->size });
    und_read_literal(&c, &printer->text);
}

static const char *word_text(unsigned word)
{
    static const char *const texts[] = {
        [UND_WORD_ANONYMOUS] = "`anonymous namespace'",
        [UND_WORD_VFTABLE] = "`vftable'",
        [UND_WORD_VBTABLE] = "`vbtable'",
        [UND_WORD_LOCAL_VFTABLE] = "`local vftable'",
        [UND_WORD_OBJECT_LOCATOR] = "`RTTI Complete Object Locator'",
        [UND_WORD_TYPE_DESCRIPTOR] = "`RTTI Type Descriptor'",
        [UND_WORD_BASE_ARRAY] = "`RTTI Base Class Array'",
        [UND_WORD_HIERARCHY] = "`RTTI Class Hierarchy Descriptor'",
    };
    return texts[word];
}

/* All writing passes here. What does not fit is not written in part. */
void und_put(und_text *text, const char *words, size_t size)
{
    if (size > text->length_max - text->length) {
        text->is_full = true;
        return;
    }
    memcpy(text->out + text->length, words, size);
    text->length += size;
}

void und_put_words(und_text *text, const char *words)
{
    und_put(text, words, strlen(words));
}

/* `int f` and `list<int> f` need a space between type and name, `int *f` does not. */
void und_put_space(und_text *text)
{
    if (text->length == 0)
        return;
    const char last = text->out[text->length - 1];
    const bool is_word = (last >= '0' && last <= '9') || (last >= 'A' && last <= 'Z') ||
                         (last >= 'a' && last <= 'z');
    if (is_word || last == '>')
        und_put(text, " ", 1);
}

/* Digits are found from the last to the first, so they are collected at the end of
 * an array that holds the longest number. */
void und_put_number(und_text *text, const und_node *number)
{
    char digits[20];
    size_t first = sizeof digits;
    u64 rest = number->number;
    do {
        digits[--first] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if ((number->flags & UND_NEGATIVE) != 0)
        und_put(text, "-", 1);
    und_put(text, digits + first, sizeof digits - first);
}
