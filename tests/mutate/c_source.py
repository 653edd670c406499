"""Tokens and functions of a C source file.

Enough of C to know where an operator, a number or a statement stands, and what must not
be touched: comments, strings, preprocessor lines, assertions, prefetch hints. The source
is one this project's compiler accepts, so nothing here looks for errors.
"""
import bisect
import re

PUNCTUATION = """<<= >>= ... -> ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^=
{ } ( ) [ ] ; , : ? ~ ! < > = + - * / % & | ^ . #""".split()
PATTERN = re.compile("|".join((
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)",
    r'(?P<string>L?"(?:\\.|[^"\\])*"|L?\'(?:\\.|[^\'\\])*\')',
    r"(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[uUlLfF]*)",
    r"(?P<name>[A-Za-z_]\w*)",
    "(?P<mark>" + "|".join(re.escape(mark) for mark in PUNCTUATION) + ")")), re.S)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)

TYPES = set("""void bool char short int long unsigned signed float double size_t ptrdiff_t
uintptr_t intptr_t u8 u16 u32 u64 i8 i16 i32 i64 uint8_t uint16_t uint32_t uint64_t int8_t
int16_t int32_t int64_t""".split())
NUMERIC = TYPES - {"void", "bool"}
CONTROL = {"if", "for", "while", "switch"}
KEYWORDS = CONTROL | {"else", "do", "return", "goto", "case", "default", "break", "continue"}
DECLARERS = TYPES | {"const", "static", "struct", "enum", "union", "volatile", "extern", "_Atomic"}
# What these calls are given changes no answer.
UNTOUCHED_CALLS = {"assert", "static_assert", "_Static_assert", "__builtin_prefetch", "sizeof", "offsetof"}


class Token:
    __origins__ = ("kind", "text", "start", "end", "partner", "function", "touched")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.partner = None  # index of the other bracket
        self.function = None
        self.touched = False

    def __repr__(self):
        return f"{self.text}@{self.start}"


class Function:
    def __init__(self, name, result):
        self.name = name
        self.result = result  # tokens of the return type; None for a table

    def returns_bool(self):
        return self.result is not None and self.result[-1:] == ["bool"]

    def returns_number(self):
        return self.result is not None and self.result and self.result[-1] in NUMERIC

    def returns_pointer(self):
        return self.result is not None and "*" in self.result


class Source:
    """A file as tokens, each with its bracket and the function it stands in."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = self._split()
        self._line_starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self._match_brackets()
        self._find_functions()
        self._leave_out_calls()

    def _split(self):
        hidden = PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), self._without_comments())
        tokens, at = [], 0
        while at < len(hidden):
            match = PATTERN.match(hidden, at)
            if match is None:
                raise ValueError(f"{self.path}: unknown character at offset {at}: {hidden[at]!r}")
            if match.lastgroup != "skip":
                tokens.append(Token(match.lastgroup, match.group(), at))
            at = match.end()
        return tokens

    def _without_comments(self):
        """Comments as spaces: a line of one may begin like a preprocessor line."""
        def blank(match):
            return re.sub(r"[^\n]", " ", match.group()) if match.group().startswith("/") else match.group()
        return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, self.text, flags=re.S)

    def _match_brackets(self):
        open_ones = []
        for index, token in enumerate(self.tokens):
            if token.kind != "mark":
                continue
            if token.text in "({[":
                open_ones.append(index)
            elif token.text in ")}]":
                token.partner = open_ones.pop()
                self.tokens[token.partner].partner = index

    def _find_functions(self):
        """A brace outside of all others opens a function after `)`, a table after `=`."""
        tokens, index, begins = self.tokens, 0, 0
        while index < len(tokens):
            token = tokens[index]
            if token.text == "{":
                self._take_body(begins, index)
                index = begins = token.partner + 1
                continue
            if token.text == ";":
                begins = index + 1
            elif token.text == "(":
                index = token.partner
            index += 1

    def _take_body(self, begins, brace):
        tokens = self.tokens
        head = [token.text for token in tokens[begins:brace]]
        if head[-1:] == [")"]:
            opening = tokens[brace - 1].partner
            result = [token.text for token in tokens[begins:opening - 1] if token.text not in ("static", "inline", "const")]
            function = Function(tokens[opening - 1].text, result)
        elif head[-1:] == ["="]:
            names = [token.text for token in tokens[begins:brace] if token.kind == "name" and token.text not in DECLARERS]
            function = Function("table " + (names[1] if len(names) > 1 else names[0]), None)
        else:
            return
        for token in tokens[brace:tokens[brace].partner + 1]:
            token.function, token.touched = function, True

    def _leave_out_calls(self):
        for index, token in enumerate(self.tokens[:-1]):
            if token.text in UNTOUCHED_CALLS:
                after = self.tokens[index + 1]
                last = after.partner if after.text == "(" else index
                for inside in self.tokens[index:last + 1]:
                    inside.touched = False

    # --- questions the operators ask ---

    def line_of(self, offset):
        return bisect.bisect_right(self._line_starts, offset)

    def line_words(self, offset):
        """The line's tokens with one space between: the same however it is formatted."""
        line = self.line_of(offset)
        first = self._line_starts[line - 1]
        last = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        return " ".join(token.text for token in self.tokens if first <= token.start < last)

    def is_binary(self, index):
        """Whether the sign at index stands between two operands."""
        before = self.tokens[index - 1]
        if before.kind == "name":
            return before.text not in KEYWORDS
        if before.kind in ("number", "string"):
            return True
        return before.text == "]" or (before.text == ")" and not self._is_cast(index - 1))

    def _is_cast(self, closing):
        inside = self.tokens[self.tokens[closing].partner + 1:closing]
        return bool(inside) and all(t.kind == "name" or t.text == "*" for t in inside) and \
            (inside[-1].text == "*" or inside[-1].text in TYPES)

    def _is_block(self, brace):
        """Whether `{` opens a block of statements, not a list of values."""
        before = self.tokens[brace - 1]
        if before.text in (";", "{", "}", "else", "do", ":"):
            return before.text != "{" or self._is_block(brace - 1)
        if before.text != ")":
            return False
        opener = self.tokens[before.partner - 1]
        return opener.text in CONTROL or brace == 0 or self.tokens[brace - 1].function is None

    def statements(self):
        """(first, last) indices of every statement that ends in a semicolon."""
        for index, token in enumerate(self.tokens):
            if token.touched and token.function.result is not None and index > 0 and self._begins_statement(index):
                last = self._end_of_statement(index)
                if last is not None:
                    yield index, last

    def _begins_statement(self, index):
        before = self.tokens[index - 1]
        if before.text == "{":
            return self._is_block(index - 1)
        if before.text == "}":
            return self._is_block(before.partner)
        if before.text == ")":
            return self.tokens[before.partner - 1].text in CONTROL
        if before.text == ":":
            return any(t.text in ("case", "default") for t in self.tokens[max(0, index - 4):index])
        return before.text in (";", "else", "do") and not self._in_round(index)

    def _in_round(self, index):
        """Whether it is inside the parentheses of a `for`."""
        while index > 0:
            index -= 1
            text = self.tokens[index].text
            if text in (")", "}", "]"):
                index = self.tokens[index].partner
            elif text == "(":
                return True
            elif text == "{":
                return False
        return False

    def _end_of_statement(self, index):
        if self.tokens[index].text in CONTROL | {"else", "do", "{", "}", "case", "default", ";"}:
            return None
        while index < len(self.tokens):
            token = self.tokens[index]
            if token.text == ";":
                return index
            if token.text in ("(", "{", "["):
                index = token.partner
            elif token.text in (")", "}", "]"):
                return None
            index += 1
        return None

    def is_declaration(self, first):
        one, two, three = (self.tokens[first + i] for i in range(3))
        if one.text in DECLARERS:
            return True
        if one.kind != "name" or one.text in KEYWORDS:
            return False
        return two.kind == "name" or (two.text == "*" and (three.kind == "name" or three.text == "*"))
