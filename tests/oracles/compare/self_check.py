"""Whether rows.py has every command, option, format and exporter that the program has."""

import re

from compare import inputs as inputs_table
from compare import rows as rows_table

ALL_ROWS = rows_table.STORES + rows_table.MERGES + rows_table.ROWS


def complaints_of(vocabulary, rows=ALL_ROWS, not_compared=None):
    """Sentences, none when every command, option and listed word is in some row."""
    not_compared = rows_table.NOT_COMPARED if not_compared is None else not_compared
    complaints = []
    if not vocabulary.commands:
        complaints.append("--help names no commands")
    for command, options in vocabulary.commands.items():
        lines = [row.arguments for row in rows if row.command == command]
        if command in rows_table.NOT_RUN:
            continue
        if not lines:
            complaints.append(f"command {command} is in no row")
            continue
        for option, words in options.items():
            if option in not_compared:
                continue
            uses = [line for line in lines if has_option(line, option)]
            if not uses:
                complaints.append(f"option {option} of {command} is in no row")
            elif words and not any(f"{{{option}}}" in line for line in uses):
                missing = [word for word in words if not any(has_word(line, option, word) for line in uses)]
                complaints += [f"{option} {word} of {command} is in no row" for word in missing]
    complaints += empty_placeholders(vocabulary, rows)
    complaints += [f"row {row.command} {row.arguments} has {lack}, which this program does not know"
                   for row in rows for lack in [vocabulary.lacks(row.command, literals(row, vocabulary))] if lack]
    known = {option for options in vocabulary.commands.values() for option in options}
    complaints += [f"NOT_COMPARED has {option}, which no command has" for option in not_compared if option not in known]
    tags = {tag for made in inputs_table.MADE for tag in made.tags} | {tag for row in inputs_table.FOLDERS for tag in row[3]}
    complaints += [f"no input has the tag {tag} of row {row.command} {row.arguments}"
                   for row in rows for tag in row.on if tag not in tags]
    return complaints


def literals(row, vocabulary):
    """A row's words, with the first of those that a placeholder stands for."""
    return re.sub(r"\{(--[a-z-]+)\}", lambda found: (vocabulary.words(row.command, found[1]) or ["?"])[0],
                  row.arguments).split()


def has_option(line, option):
    names = {option, *{"--output": ("-o",), "--jobs": ("-j",)}.get(option, ())}
    return any(word.partition("=")[0] in names for word in line.split())


def has_word(line, option, word):
    used = re.findall(rf"{option}[= ](\S+)", line)
    return any(word in text.removeprefix("-").split(",") for text in used)


def empty_placeholders(vocabulary, rows):
    """A placeholder without words would make no runs at all, and nothing would differ."""
    return [f"{{{name}}} of row {row.command} {row.arguments} stands for no words"
            for row in rows for name in re.findall(r"\{(--[a-z-]+)\}", row.arguments)
            if row.command in vocabulary.commands and not vocabulary.words(row.command, name)]
