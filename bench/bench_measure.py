"""Timing commands side by side, and the table."""

import json
import statistics
import subprocess
import time

from bench_inputs import BenchError


def wall_seconds(command):
    """Wall time of a whole process, its output thrown away."""
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.decode().strip()}")
    return seconds


def measured(rss_anon, command):
    """Wall time, processor time and peak anonymous memory of a command."""
    done = subprocess.run([rss_anon, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    found = json.loads(done.stderr.strip().splitlines()[-1])
    return found["seconds"], found["cpu_seconds"], found["rss_anon"]


def wall_and_memory(rss_anon, command):
    """Wall time and peak anonymous memory of a command."""
    seconds, _, memory = measured(rss_anon, command)
    return seconds, memory


class Rounds:
    """
    Several commands timed in turns: one round runs each of them once. What the
    machine does meanwhile then falls on all of them alike, and a ratio is the
    median over the rounds of the ratio within one round.
    """

    def __init__(self, runs):
        self.runs = runs
        self.commands = {}
        self.seconds = {}

    def add(self, name, command):
        self.commands[name] = command

    def run(self):
        self.seconds = {name: [] for name in self.commands}
        for _ in range(self.runs):
            for name, command in self.commands.items():
                self.seconds[name].append(wall_seconds(command))

    def has(self, name):
        return name in self.seconds

    def rates(self, name, amount):
        return [amount / seconds for seconds in self.seconds[name]]

    def ratios(self, over, under, factor=1.0):
        """factor * time(over) / time(under), round by round."""
        return [factor * a / b for a, b in zip(self.seconds[over], self.seconds[under])]


class Peer:
    """
    A program that asks itself a question again and again, and takes turns with another
    one. It prints a line of JSON when it is ready; for each line it is sent, it asks once
    and prints the seconds; when there are no more, it prints its answer as JSON.
    """

    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self.line()

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise BenchError(f"{' '.join(self.command)} ended with status {self.process.wait()}")
        return json.loads(text)

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.line()

    def finish(self):
        self.process.stdin.close()
        answer = self.line()
        if self.process.wait() != 0:
            raise BenchError(f"{' '.join(self.command)} ended with status {self.process.returncode}")
        return answer

    def stop(self):
        """Ends it early; does nothing after finish()."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Row:
    """One measure: all its values, how to write one, and what it is held against."""

    def __init__(self, measure, values, unit, target=None, stretch=None, at_most=False):
        self.measure = measure
        self.value = statistics.median(values)
        self.low, self.high = min(values), max(values)
        self.unit = unit
        self.target, self.stretch = target, stretch
        self.at_most = at_most

    def meets(self, limit):
        return self.value <= limit if self.at_most else self.value >= limit

    def verdict(self):
        if self.target is None:
            return ""
        if self.stretch is not None and self.meets(self.stretch):
            return "stretch"
        return "met" if self.meets(self.target) else "MISSED"

    def limit(self, value):
        return "" if value is None else ("<= " if self.at_most else ">= ") + self.write(value)

    def write(self, value):
        digits = 0 if value >= 100 else 1 if value >= 20 else 2
        return f"{value:,.{digits}f} {self.unit}".strip()

    def cells(self):
        spread = "" if self.low == self.high else f"{self.write(self.low)} .. {self.write(self.high)}"
        return [self.measure, self.write(self.value), spread, self.limit(self.target),
                self.limit(self.stretch), self.verdict()]


def print_table(rows):
    head = ["measure", "value", "lowest .. highest", "target", "stretch", "verdict"]
    lines = [head] + [row.cells() for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        left = line[0].ljust(widths[0])
        print("  ".join([left] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]))
