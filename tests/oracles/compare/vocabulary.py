"""What a program offers: commands, options and their words, asked of the program itself.

Help and completion are made from the program's own tables, so a new exporter, format or
key shows up here without anyone listing it.
"""

import re
import subprocess

COMPLETION = re.compile(r"^\s+([a-z]+):(--[a-z-]+)(?: \| [a-z]+:-[a-zA-Z])?\)(?:.*?_etlheap_(?:words|list) '([^']*)')?")


# An option's placeholder is a capital word, a range, or alternatives.
WITH_VALUE = re.compile(r"^  (?:-[a-zA-Z], )?(--[a-z-]+) (?:[A-Z][A-Z.|]*|\[-\][A-Z]+|[A-Za-z]+\|[A-Za-z|]+)(?: |$)", re.M)


class Vocabulary:
    """commands: {command: {option: [words]}}; an option that takes no listed words has [].
    with_value: {(command, option)} whose value is a word of its own."""

    def __init__(self, commands, with_value=()):
        self.commands, self.with_value = commands, set(with_value)

    def words(self, command, option):
        return self.commands.get(command, {}).get(option, [])

    def left_out(self, command, arguments):
        """The arguments that remain without options that the program does not know, and those."""
        options = self.commands.get(command, {})
        left, gone, skips = [], [], False
        for word in arguments:
            if skips:
                skips = False
            elif word.startswith("--") and word.partition("=")[0] not in options:
                gone.append(word.partition("=")[0])
                skips = "=" not in word and (command, gone[-1]) in self.with_value
            else:
                left.append(word)
        return left, gone

    def lacks(self, command, arguments):
        """The first of these arguments that the program does not know, or None."""
        if command not in self.commands:
            return f"command {command}"
        options = self.commands[command]
        words = list(arguments)
        for place, word in enumerate(words):
            if not word.startswith("--"):
                continue
            option, _, value = word.partition("=")
            if option not in options:
                return f"option {option} of {command}"
            if not value and place + 1 < len(words) and not words[place + 1].startswith("--"):
                value = words[place + 1]
            for part in value.removeprefix("-").split(",") if options[option] and value else []:
                if part not in options[option]:
                    return f"{option} {part} of {command}"
        return None


def ask(program):
    def said(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL).stdout

    names = re.search(r"^Commands:\n((?:  .*\n)+)", said("--help"), re.M)
    commands, with_value = {}, set()
    for name in re.findall(r"^  ([a-z]+) ", names[1], re.M) if names else []:
        text = said(name, "--help")
        commands[name] = {option: [] for option in re.findall(r"^  (?:-[a-zA-Z], )?(--[a-z-]+)", text, re.M)}
        with_value |= {(name, option) for option in WITH_VALUE.findall(text)}
    for line in said("--completion", "bash").splitlines():
        found = COMPLETION.match(line)
        if found and found[3] and found[1] in commands:
            commands[found[1]].setdefault(found[2], [])
            commands[found[1]][found[2]] = found[3].split()
    return Vocabulary(commands, with_value)


def united(one, other):
    """Words of both, so that what only one knows is met and told."""
    commands = {}
    for vocabulary in (one, other):
        for command, options in vocabulary.commands.items():
            mine = commands.setdefault(command, {})
            for option, words in options.items():
                mine[option] = list(dict.fromkeys(mine.get(option, []) + words))
    return Vocabulary(commands, one.with_value | other.with_value)


def only_in(one, other):
    """Lines that say what the first knows and the second does not."""
    lines = []
    for command, options in one.commands.items():
        if command not in other.commands:
            lines.append(f"command {command}")
            continue
        for option, words in options.items():
            if option not in other.commands[command]:
                lines.append(f"option {option} of {command}")
                continue
            known = other.commands[command][option]
            lines += [f"{option} {word} of {command}" for word in words if known and word not in known]
    return lines
