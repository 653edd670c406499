"""Mutants of a C source file: one small change each, of the kind a person makes by mistake.

Every operator is a row of OPERATORS: its name and a function that yields
(offset, end, new text) for each place where it applies.
"""
import hashlib
import os
from collections import Counter, namedtuple

from c_source import Source

Mutant = namedtuple("Mutant", "id file function line operator before after start end")

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
LOGIC = {"&&": "||", "||": "&&"}
SIGNS = {"+": "-", "-": "+", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "*": "/", "/": "*", "%": "/"}
STEPS = {"++": "--", "--": "++", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<="}
# Without them memory leaks, which sanitizers see and no answer shows.
FREES = {"free", "machine_free_aligned", "ETLHEAP_VECTOR_FREE", "aggregate_close", "archive_walk_close", "close_walker",
         "etlheap_lifetimes_close", "gate_rows_close", "gate_tables_close", "query_close", "origin_groups_close",
         "windows_memory_close", "windows_plan_close"}


def mark_tokens(source, table):
    for index, token in enumerate(source.tokens):
        if token.touched and token.kind == "mark" and token.text in table:
            yield index, token


def comparisons(source):
    for _, token in mark_tokens(source, COMPARISONS):
        for new in COMPARISONS[token.text]:
            yield token.start, token.end, new


def logic(source):
    for _, token in mark_tokens(source, LOGIC):
        yield token.start, token.end, LOGIC[token.text]


def arithmetic(source):
    for index, token in mark_tokens(source, SIGNS):
        if source.is_binary(index) and not is_type_star(source, index):
            yield token.start, token.end, SIGNS[token.text]
    for _, token in mark_tokens(source, STEPS):
        yield token.start, token.end, STEPS[token.text]


def is_type_star(source, index):
    """`*` after a type or a qualifier: a pointer, not a product."""
    around = source.tokens[index - 1:index + 2]
    if around[1].text != "*":
        return False
    first = index - 1
    return around[0].text in ("const", "struct") or around[2].text in ("const", ")", "*") or \
        (around[0].kind == "name" and around[2].kind == "name" and
         source.tokens[first - 1].text in (";", "{", "}", "const", "(", ",", "static") and
         source.tokens[index + 2].text in ("=", ";", ",", ")"))


def numbers(source):
    for index, token in enumerate(source.tokens):
        if not token.touched or token.kind != "number" or "." in token.text:
            continue
        digits = token.text.rstrip("uUlL")
        suffix = token.text[len(digits):]
        value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits)
        around = [t.text for t in source.tokens[index - 1:index + 2]]
        if value == 0 and around[0] == "{" and around[2] == "}":
            continue  # all zero
        for new in (value + 1, value - 1):
            if new >= 0:
                yield token.start, token.end, (hex(new) if digits[:2] in ("0x", "0X") else str(new)) + suffix


def truths(source):
    swapped = {"true": "false", "false": "true"}
    for token in source.tokens:
        if token.touched and token.text in swapped:
            yield token.start, token.end, swapped[token.text]


def conditions(source):
    for index, token in enumerate(source.tokens[:-1]):
        after = source.tokens[index + 1]
        if token.touched and token.text == "if" and after.text == "(":
            last = source.tokens[after.partner]
            yield after.start, last.end, "(!" + source.text[after.start:last.end] + ")"
        elif token.touched and token.text == "!" and after.text != "=":
            yield token.start, token.end, ""


def returns(source):
    for first, last in source.statements():
        token, function = source.tokens[first], source.tokens[first].function
        if token.text != "return" or last == first + 1:
            continue
        start, end = source.tokens[first + 1].start, source.tokens[last].start
        value = source.text[start:end]
        if function.returns_bool() and value not in ("true", "false"):
            yield start, end, f"!({value})"
        elif function.returns_pointer() and value != "NULL":
            yield start, end, "NULL"
        elif function.returns_number() and last > first + 2:
            yield start, end, f"({value}) + 1"
            yield start, end, "0"


def statements(source):
    for first, last in source.statements():
        token = source.tokens[first]
        if token.text == "return" and last > first + 1:
            continue
        if token.text == "goto" or source.is_declaration(first) or not token.touched:
            continue
        if token.text in FREES or token.text.endswith("_free") or "prefetch" in token.text:
            continue
        yield token.start, source.tokens[last].end, ";"


def extremes(source):
    for token in source.tokens:
        if token.touched and token.kind == "name":
            words = token.text.split("_")
            for old, new in (("min", "max"), ("max", "min"), ("MIN", "MAX"), ("MAX", "MIN")):
                if old in words and source.text[token.end:token.end + 1] == "(":
                    yield token.start, token.end, "_".join(new if word == old else word for word in words)


OPERATORS = (
    ("comparison", comparisons),
    ("logic", logic),
    ("arithmetic", arithmetic),
    ("number", numbers),
    ("truth", truths),
    ("condition", conditions),
    ("return", returns),
    ("statement", statements),
    ("extreme", extremes),
)


def mutants_of(path, text):
    """All mutants of a file, in the order of their places. Ids outlive changes of other lines,
    and a move of the file to another folder."""
    source = Source(path, text)
    function_at = {token.start: token.function for token in source.tokens}
    seen, found = Counter(), []
    file = os.path.basename(path)
    for name, operator in OPERATORS:
        for start, end, new in operator(source):
            function = function_at[start]
            old = text[start:end]
            key = "\0".join((file, function.name, name, source.line_words(start), " ".join(old.split()), new))
            seen[key] += 1
            digest = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:8]
            found.append(Mutant(digest, path, function.name, source.line_of(start), name, old, new, start, end))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


def apply(text, mutant):
    """The source with the change; every line keeps its number."""
    lost = mutant.before.count("\n") - mutant.after.count("\n")
    return text[:mutant.start] + mutant.after + "\n" * lost + text[mutant.end:]


def in_random_order(mutants, seed):
    """The same seed gives the same order; a longer sample begins with the shorter one."""
    return sorted(mutants, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.id}".encode()).digest())
