#!/usr/bin/env python3
"""Every diagnostic and every status word that the program prints is explained on a page.

    oracle_doc_words.py             compares docs/diagnostics.md with the sources
    oracle_doc_words.py --update    writes the tables of the page

The sources are X-macros of public headers, read as text. Tables of diagnostics and of doubts
are copies of the sentences there. Other words need a row that begins with them; what it says
is up to the author of the page.
"""

import os
import re
import sys

from oracle_support import Results

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(ROOT, "docs", "diagnostics.md")

# Where words are that need a row: the header, and the macro.
WORDS = [
    ("engine/etlheap_symbols.h", "ETLHEAP_SYMBOL_STATES"),
    ("engine/etlheap_diff.h", "ETLHEAP_DIFF_STATES"),
    ("engine/etlheap_trend.h", "ETLHEAP_TREND_PATTERNS"),
    ("engine/etlheap_gate.h", "ETLHEAP_OUTCOMES"),
    ("formats/formats.h", "ETLHEAP_RATCHETS"),
]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def macro(path, name):
    """The rows of an X-macro as one text, without comments."""
    body = re.search(rf"#define {name}\(X\)((?:[^\n]*\\\n)*[^\n]*\n)", read(path))[1]
    return re.sub(r"/\*.*?\*/", "", body.replace("\\\n", " "), flags=re.DOTALL)


def rows_of(path, name):
    """The arguments of each X(...): names, and string literals, which are one if side by side."""
    rows = []
    for row in re.split(r"\bX\(", macro(path, name))[1:]:
        arguments = [""]
        for token in re.findall(r'\w+|"(?:[^"\\]|\\.)*"|,|\)', row):
            if token == ")":
                break
            if token == ",":
                arguments.append("")
            else:
                arguments[-1] += token.strip('"')
        rows.append(tuple(arguments))
    return rows


def cell(text):
    return text.replace("|", "\\|")


def table(kind):
    if kind == "diagnostics":
        lines = ["| diagnostic | severity | what it means, and what to do |", "|---|---|---|"]
        for name, severity, sentence in rows_of("parser/diag.h", "ETL_DIAGNOSTICS"):
            lines.append(f"| `{name}` | {severity.lower()} | {cell(sentence)} |")
    else:
        lines = ["| word | why the verdict proves nothing |", "|---|---|"]
        for _, word, sentence in rows_of("engine/etlheap_gate.h", "ETLHEAP_DOUBTS"):
            lines.append(f"| `{word}` | {cell(sentence)} |")
    return "\n".join(lines) + "\n"


TABLE = re.compile(r"(<!-- (diagnostics|doubts) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)


def updated(page):
    return TABLE.sub(lambda match: match[1] + table(match[2]) + match[4], page)


def missing_words(page):
    """Words of the sources that no row of a table begins with."""
    explained = set(re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", page, re.MULTILINE))
    words = {word for cells in explained for word in re.findall(r"`([\w-]+)`", cells)}
    return [f"{word} of {name}" for path, name in WORDS for _, word in rows_of(path, name) if word not in words]


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    if "--update" in sys.argv:
        page = updated(page)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
        return
    results = Results()
    results.equal("the page has both tables", [match[2] for match in TABLE.finditer(page)], ["diagnostics", "doubts"])
    diagnostics, doubts = rows_of("parser/diag.h", "ETL_DIAGNOSTICS"), rows_of("engine/etlheap_gate.h", "ETLHEAP_DOUBTS")
    results.check("diagnostics and doubts are found", len(diagnostics) > 60 and len(doubts) > 5 and all(
        len(row) == 3 and len(row[2]) > 10 for row in diagnostics + doubts), diagnostics[:2], doubts[:2])
    results.check("tables are those of the sources", updated(page) == page, "make readme-update writes them")
    results.equal("every status word has a row", missing_words(page), [])

    with open(os.path.join(ROOT, "docs", "c_api.md"), encoding="utf-8") as file:
        api = file.read()
    for name in ("ETLHEAP_KEY", "ETLHEAP_MEASURE"):
        enumerators = [f"{name}_{row[0]}" for row in rows_of("engine/etlheap_columns.h", f"{name}S")]
        results.check(f"enumerators {name}_* are found", len(enumerators) > 15, enumerators)
        results.equal("docs/c_api.md has them all", [word for word in enumerators if f"`{word}`" not in api], [])

    # The comparison finds what it is for.
    without = re.sub(r"^\| `withheld`.*\n", "", page, flags=re.MULTILINE)
    results.equal("a word without a row is found", missing_words(without), ["withheld of ETLHEAP_SYMBOL_STATES"])
    results.check("a diagnostic without a row is found", updated(re.sub(r"^\| `symbol_withheld`.*\n", "", page, flags=re.MULTILINE)) == page)
    results.finish()


if __name__ == "__main__":
    main()
