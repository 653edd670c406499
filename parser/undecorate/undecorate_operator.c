/*
 * undecorate_operator.c - names that are codes: operators, constructors and helpers
 * that compilers make.
 *
 *     <code> ::= [0-9A-Z] | _ [0-9A-Z] | __ [0-9A-Z]
 *
 * The codes of special symbols (tables, thunks, literals) have no row: they are
 * read where symbols begin, and are no names elsewhere.
 */
#include "undecorate_internal.h"

enum {
    CODE_CONSTRUCTOR = 0,
    CODE_DESTRUCTOR = 1,
    CODE_CONVERSION = 'B' - 'A' + 10,
    CODE_LITERAL_OPERATOR = 2 * UND_CODES + 'K' - 'A' + 10
};

#define CODE(letter)              ((letter) - 'A' + 10)
#define CODE_UNDER(letter)        (UND_CODES + CODE(letter))
#define CODE_DOUBLE_UNDER(letter) (2 * UND_CODES + CODE(letter))

static const char *const texts[3 * UND_CODES] = {
    [2] = "operator new",
    [3] = "operator delete",
    [4] = "operator=",
    [5] = "operator>>",
    [6] = "operator<<",
    [7] = "operator!",
    [8] = "operator==",
    [9] = "operator!=",
    [CODE('A')] = "operator[]",
    [CODE('C')] = "operator->",
    [CODE('D')] = "operator*",
    [CODE('E')] = "operator++",
    [CODE('F')] = "operator--",
    [CODE('G')] = "operator-",
    [CODE('H')] = "operator+",
    [CODE('I')] = "operator&",
    [CODE('J')] = "operator->*",
    [CODE('K')] = "operator/",
    [CODE('L')] = "operator%",
    [CODE('M')] = "operator<",
    [CODE('N')] = "operator<=",
    [CODE('O')] = "operator>",
    [CODE('P')] = "operator>=",
    [CODE('Q')] = "operator,",
    [CODE('R')] = "operator()",
    [CODE('S')] = "operator~",
    [CODE('T')] = "operator^",
    [CODE('U')] = "operator|",
    [CODE('V')] = "operator&&",
    [CODE('W')] = "operator||",
    [CODE('X')] = "operator*=",
    [CODE('Y')] = "operator+=",
    [CODE('Z')] = "operator-=",
    [UND_CODES + 0] = "operator/=",
    [UND_CODES + 1] = "operator%=",
    [UND_CODES + 2] = "operator>>=",
    [UND_CODES + 3] = "operator<<=",
    [UND_CODES + 4] = "operator&=",
    [UND_CODES + 5] = "operator|=",
    [UND_CODES + 6] = "operator^=",
    [CODE_UNDER('D')] = "`vbase dtor'",
    [CODE_UNDER('E')] = "`vector deleting dtor'",
    [CODE_UNDER('F')] = "`default ctor closure'",
    [CODE_UNDER('G')] = "`scalar deleting dtor'",
    [CODE_UNDER('H')] = "`vector ctor iterator'",
    [CODE_UNDER('I')] = "`vector dtor iterator'",
    [CODE_UNDER('J')] = "`vector vbase ctor iterator'",
    [CODE_UNDER('K')] = "`virtual displacement map'",
    [CODE_UNDER('L')] = "`eh vector ctor iterator'",
    [CODE_UNDER('M')] = "`eh vector dtor iterator'",
    [CODE_UNDER('N')] = "`eh vector vbase ctor iterator'",
    [CODE_UNDER('O')] = "`copy ctor closure'",
    [CODE_UNDER('T')] = "`local vftable ctor closure'",
    [CODE_UNDER('U')] = "operator new[]",
    [CODE_UNDER('V')] = "operator delete[]",
    [CODE_DOUBLE_UNDER('A')] = "`managed vector ctor iterator'",
    [CODE_DOUBLE_UNDER('B')] = "`managed vector dtor iterator'",
    [CODE_DOUBLE_UNDER('C')] = "`EH vector copy ctor iterator'",
    [CODE_DOUBLE_UNDER('D')] = "`EH vector vbase copy ctor iterator'",
    [CODE_DOUBLE_UNDER('G')] = "`vector copy ctor iterator'",
    [CODE_DOUBLE_UNDER('H')] = "`vector vbase copy constructor iterator'",
    [CODE_DOUBLE_UNDER('I')] = "`managed vector vbase copy constructor iterator'",
    [CODE_DOUBLE_UNDER('L')] = "operator co_await",
    [CODE_DOUBLE_UNDER('M')] = "operator<=>",
};

static_assert(sizeof texts / sizeof texts[0] <= UINT8_MAX, "a code is a node's detail");

static unsigned read_code(und_parse *p);

/* Constructors and conversions get the rest of their names later, from their class
 * and from their return type. */
void und_read_operator(und_parse *p, und_id identifier)
{
    const unsigned code = read_code(p);
    if (p->is_failed)
        return;
    und_node *const node = &p->nodes[identifier];
    node->detail = (u8)code;
    switch (code) {
    case CODE_CONSTRUCTOR:
    case CODE_DESTRUCTOR:
        node->kind = UND_STRUCTOR;
        return;
    case CODE_CONVERSION:
        node->kind = UND_CONVERSION;
        return;
    case CODE_LITERAL_OPERATOR:
        if (und_read_simple_name(p, identifier))
            node->kind = UND_LITERAL_OPERATOR;
        return;
    default:
        node->kind = UND_OPERATOR;
        if (texts[code] == NULL)
            und_fail(p);
        return;
    }
}

const char *und_operator_text(unsigned detail)
{
    return texts[detail];
}

/* Number of a row: the group by its underscores, the code in it by its letter. */
static unsigned read_code(und_parse *p)
{
    const unsigned group = UND_TAKE(p, "__") ? 2 : und_take(p, '_') ? 1 : 0;
    const char c = und_char(p);
    if (c >= '0' && c <= '9')
        return group * UND_CODES + (unsigned)(c - '0');
    if (c >= 'A' && c <= 'Z')
        return group * UND_CODES + (unsigned)CODE(c);
    und_fail(p);
    return 0;
}
