#!/usr/bin/env python3
"""Every diagnostic and every status word that the program prints is explained on a page, and
sentences that readers had to read twice do not come back.

    oracle_doc_words.py             compares docs/diagnostics.md with the sources
    oracle_doc_words.py --update    writes the tables of the page

The sources are X-macros of public headers, read as text. Tables of diagnostics and of doubts
are copies of the sentences there. Other words need a row that begins with them; what it says
is up to the author of the page.
"""

import glob
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


# What a page, or the HTML report's script, says in place of a sentence that readers took for something else.
SAID = [
    ("README.md", "*Size* and *Count* add up all blocks that existed at some time in the window, whether or not they were freed."),
    ("README.md", "*Impacting Size* is the outstanding size at the end of the window minus that at its start."),
    ("docs/time_windows.md", "outstanding size at the end of the window minus that at its start, which is AIFO minus AOFI"),
    ("docs/time_windows.md", "A rise *lasts* if memory was low for a while before it, and stays high for a while after it."),
    ("docs/time_windows.md", "level after: 10.0 MiB"),  # the figure
    ("docs/suspects.md", "1. Are there old blocks that were never freed?"),
    ("docs/suspects.md", "2. Are these nearly all of the old blocks?"),
    ("docs/address_space.md", "at most a sixteenth of each unit: with the default unit of 64 KiB, at most 4 KiB."),
    ("docs/trend.md", "the amounts jump once, and are about equal before and after the jump"),
    ("docs/trend.md", "| 10, 12, 11, 30, 31, 32 |"),  # test_trend.c has the examples
    ("docs/symbols.md", "*Sites Named* is the share of that memory for which the name of the site's function is known."),
    ("docs/churn.md", "freed before the thread that allocated them had made ten more allocations"),
    ("docs/troubleshooting.md", "| `withheld`, `symbol_withheld` |"),
    ("docs/c_api.md", "enumerators keep their values and get new neighbours only at the end"),  # as packaging/interface.py allows
    ("formats/html/view_growth.js", "What stays longer is not a spike."),
]
# None of these stands anywhere that users read.
UNSAID = ["by how much the window changed", "what the zoom leaves", "Exact sums over the selected windows", "Memory that stays longer is a level",
          "tenth next allocation", "less than a sixteenth", "only if the answer to four questions", "are the allocations that the row adds up"]
READ_BY_USERS = ["README.md", "docs/*.md", "docs/schema/*.json", "formats/html/*", "formats/text/*.c", "cli/options/*.c", "engine/*.h"]


def plain(text):
    """Without line breaks, indents and seams of C strings."""
    return re.sub(r'\s+', " ", re.sub(r'"\s+"', "", text))


def sentences_not_said(read_text):
    return [f"{path}: {text}" for path, text in SAID if plain(text) not in plain(read_text(path))]


def sentences_that_came_back(texts):
    return [f"{path}: {text}" for path, content in texts.items() for text in UNSAID if text.lower() in plain(content).lower()]


def check_sentences(results):
    paths = [os.path.relpath(path, ROOT) for pattern in READ_BY_USERS for path in glob.glob(os.path.join(ROOT, pattern))]
    texts = {path: read(path) for path in paths}
    results.check("pages, scripts and headers are found", len(texts) > 100, len(texts))
    results.equal("pages say what replaced these sentences", sentences_not_said(read), [])
    results.equal("no such sentence came back", sentences_that_came_back(texts), [])
    results.equal("a sentence that is gone is found", len(sentences_not_said(lambda path: "")), len(SAID))
    found = sentences_that_came_back({"a.c": 'say("Exact sums over "\n    "the selected windows: ");', "b.md": "less than a\n    sixteenth"})
    results.equal("and one that came back", len(found), 2)


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
    check_sentences(results)
    results.finish()


if __name__ == "__main__":
    main()
