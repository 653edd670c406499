"""A cell is one command line on one input; it is run by both programs and compared.

Each program has a folder, old/ and new/, which has the inputs as in/ and the program's
stores as own/; a cell runs in a folder of its own there, with links to both. Paths in
outputs are relative, and so the same.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from itertools import product

from compare import rows as rows_table
from compare.differences import Difference, of_outputs, of_status
from compare.inputs import pairs_of
from compare.vocabulary import Vocabulary, united

SIDES = ("old", "new")
PLACEHOLDER = re.compile(r"\{([^}]+)\}")
KEPT_LINKS = ("in", "own")
READ_MAX = 64 << 20  # of an output that differs


@dataclass
class Cell:
    row: rows_table.Row
    command: str
    arguments: list

    @property
    def text(self):
        return " ".join([self.command, *self.arguments])


@dataclass
class Result:
    cell: Cell
    differences: list = field(default_factory=list)  # (output, Difference)
    seconds: dict = None
    skipped: str = None
    left_out: list = field(default_factory=list)  # options that one program does not know


def store_cells(rows, inputs):
    cells = []
    for row in rows:
        if not row.on:
            cells.append(Cell(row, row.command, row.arguments.split()))
        for given in inputs:
            if given.tags & set(row.on):
                words = row.arguments.replace("{in}", " ".join(given.files)).replace("{name}", given.name)
                cells.append(Cell(row, row.command, words.split()))
    return cells


def places_of(row, inputs, stores):
    """The ways in which a row's inputs can be filled in."""
    if "{base}" in row.arguments:
        return [{"base": " ".join(base.files), "new": " ".join(new.files)}
                for base, new in pairs_of(inputs) if not (row.command == "check" and len(base.files) > 1)]
    if "{store}" in row.arguments:
        return [{"store": f"own/{name}"} for name in stores if not name.endswith((".s.ehs", ".m.ehs"))]
    if "{summary}" in row.arguments:
        return [{"summary": f"own/{name}"} for name in stores if name.endswith((".s.ehs", ".m.ehs"))]
    if "{in}" in row.arguments:
        return [{"in": " ".join(given.files)} for given in inputs
                if given.tags & set(row.on) and given.bytes <= row.bytes_max]
    return [{}]


def cells_of(rows, inputs, stores, vocabulary):
    cells = {}
    for row in rows:
        names = list(dict.fromkeys(PLACEHOLDER.findall(row.arguments)))
        choices = {name: rows_table.CHOICES.get(name) or vocabulary.words(row.command, name)
                   for name in names if name.startswith("--") or name in rows_table.CHOICES}
        for place in places_of(row, inputs, stores):
            for words in product(*choices.values()):
                chosen = {**place, **dict(zip(choices, words, strict=True))}
                text = PLACEHOLDER.sub(lambda found, chosen=chosen: chosen[found[1]], row.arguments)
                cell = Cell(row, row.command, text.split())
                cells.setdefault(cell.text, cell)
    return list(cells.values())


class Runner:
    def __init__(self, folder, programs, vocabularies, seconds):
        self.folder, self.programs, self.vocabularies, self.timeout = folder, programs, vocabularies, seconds
        self.number = 0
        for side in SIDES:
            os.makedirs(os.path.join(folder, side, "own"))

    def run(self, cell):
        result = Result(cell)
        if all(cell.command in vocabulary.commands for vocabulary in self.vocabularies.values()):
            cell, result.left_out = self.common(cell)
        unknown = [self.vocabularies[side].lacks(cell.command, cell.arguments) for side in SIDES]
        result.skipped = unknown[0] or unknown[1]
        if result.skipped:
            return result
        self.number += 1  # unique enough: names of folders also have the cell's own id
        name = f"{self.number}-{id(cell):x}"
        statuses, result.seconds = {}, {}
        for side in SIDES:
            start = time.monotonic()
            statuses[side] = self.run_side(side, name, cell)
            result.seconds[side] = time.monotonic() - start
        folders = {side: os.path.join(self.folder, side, name) for side in SIDES}
        if statuses["old"] != statuses["new"]:
            result.differences.append(("status", of_status(statuses["old"], statuses["new"])))
        for output in outputs_of(folders):
            difference = self.compare(output, folders, cell)
            if difference:
                result.differences.append((output, difference))
        for side in SIDES:
            self.keep(cell, side, folders[side])
            shutil.rmtree(folders[side])
        return result

    def common(self, cell):
        """The cell without options that only one program knows, and their names."""
        both = united(*self.vocabularies.values())
        arguments, names = cell.arguments, []
        for vocabulary in self.vocabularies.values():
            known = Vocabulary(vocabulary.commands, both.with_value)
            arguments, gone = known.left_out(cell.command, arguments)
            names += [f"option {option} of {cell.command}" for option in gone]
        return (Cell(cell.row, cell.command, arguments), names) if names else (cell, [])

    def run_side(self, side, name, cell):
        folder = os.path.join(self.folder, side, name)
        os.makedirs(folder)
        os.symlink(os.path.join(self.folder, "in"), os.path.join(folder, "in"))
        os.symlink(os.path.join(self.folder, side, "own"), os.path.join(folder, "own"))
        for file, text in rows_table.FILES.items():
            if file in cell.arguments:
                with open(os.path.join(folder, file), "w", encoding="utf-8") as to:
                    to.write(text)
        # What is kept is written here first: two programs, or two cells, never share a file that is written.
        arguments = [word.replace("own/", "kept-", 1) if cell.row.keep and before == "-o" else word
                     for before, word in zip(["", *cell.arguments], cell.arguments, strict=False)]
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        with open(os.path.join(folder, "stdout"), "wb") as out, open(os.path.join(folder, "stderr"), "wb") as err:
            try:
                return subprocess.run([self.programs[side], cell.command, *arguments], cwd=folder, env=environment,
                                      stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=self.timeout).returncode
            except subprocess.TimeoutExpired:
                return f"none after {self.timeout} seconds"

    def keep(self, cell, side, folder):
        for file in os.listdir(folder) if cell.row.keep else []:
            if file.startswith("kept-"):
                os.replace(os.path.join(folder, file), os.path.join(self.folder, side, "own", file.removeprefix("kept-")))

    def compare(self, output, folders, cell):
        paths = {side: os.path.join(folders[side], output) for side in SIDES}
        there = [os.path.exists(path) for path in paths.values()]
        if all(there) and filecmp.cmp(*paths.values(), shallow=False):
            return None
        data = {}
        for side, path in paths.items():
            data[side] = None
            if os.path.exists(path):
                with open(path, "rb") as file:
                    data[side] = file.read(READ_MAX)
                # Absolute paths are of the same length on both sides.
                data[side] = data[side].replace(folders[side].encode(), folders["new"].encode())
                data[side] = steady(data[side], cell.row.volatile)
        if all(there) and data["old"] == data["new"]:
            return None
        reader = (lambda side: self.read_store(side, paths[side])) if output.endswith(".ehs") else None
        return of_outputs(output_name(output, cell), data["old"], data["new"], reader)

    def read_store(self, side, path):
        """What a program finds in the store that it wrote."""
        found = {}
        for command in ("info", "report", "allocations"):
            done = subprocess.run([self.programs[side], command, path, "--format", "json"], stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=self.timeout)
            try:
                found[command] = json.loads(done.stdout.replace(path.encode(), b"FILE"))
            except ValueError:
                found[command] = f"status {done.returncode}"
        return found


def steady(data, volatile):
    for pattern in volatile:
        data = re.sub(pattern.encode(), b"(of the run)", data)
    return data


def output_name(output, cell):
    """stdout is called by its format, which says how to read it."""
    if output != "stdout":
        return os.path.basename(output)
    formats = [word for before, word in zip(["", *cell.arguments], cell.arguments, strict=False) if before == "--format"]
    return formats[0] if formats else "text"


def outputs_of(folders):
    found = set()
    for folder in folders.values():
        for place, folders_below, files in os.walk(folder):
            if place == folder:
                folders_below[:] = [name for name in folders_below if name not in KEPT_LINKS]
            found |= {os.path.relpath(os.path.join(place, file), folder) for file in files}
    return sorted(found - set(rows_table.FILES))


__all__ = ["Cell", "Difference", "Result", "Runner", "cells_of", "store_cells"]
