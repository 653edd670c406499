#!/usr/bin/env python3
"""The README's examples are what the program prints.

Each indented block of the README that begins with "$ build/etlheap ..." is run
on the demo trace (and a longer one), and what the program prints compared with the lines below.

    cli_readme.py             compares
    cli_readme.py --update    writes what the program prints into the README
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile

from oracle_support import Results

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "README.md")
ETLHEAP = os.path.abspath(os.environ.get("ETLHEAP", "build/etlheap"))
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))

# The command, then all indented lines, and blank ones between them.
BLOCK = re.compile(r"^    \$ build/etlheap (.*)\n((?:    .*\n|\n(?=    |\n))*)", re.MULTILINE)


def indented(text):
    return "".join((f"    {line}").rstrip() + "\n" for line in text.splitlines())


def printed(folder, arguments):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = subprocess.run(
        [ETLHEAP, *arguments.split()],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    return indented(done.stdout.decode("utf-8"))


def main():
    with open(README, encoding="utf-8") as file:
        readme = file.read()
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "build"))
        demo = os.path.join(folder, "build", "demo.etl")
        subprocess.run([MAKE_TRACE, "demo", demo], check=True, stdout=subprocess.DEVNULL)
        longer = os.path.join(folder, "build", "longer.etl")
        subprocess.run([MAKE_TRACE, "battery-meter", longer], check=True, stdout=subprocess.DEVNULL)
        if "--update" in sys.argv:
            updated = BLOCK.sub(
                lambda match: f"    $ build/etlheap {match[1]}\n{printed(folder, match[1])}", readme
            )
            with open(README, "w", encoding="utf-8") as file:
                file.write(updated)
            return
        blocks = BLOCK.findall(readme)
        results.check("the README has examples", blocks)
        for arguments, wanted in blocks:
            got = printed(folder, arguments)
            lines = difflib.unified_diff(
                wanted.rstrip("\n").splitlines(), got.rstrip("\n").splitlines(), "README.md", "program", lineterm=""
            )
            results.check(
                f"README: etlheap {arguments}",
                wanted.rstrip("\n") == got.rstrip("\n"),
                *lines,
                "make readme-update writes what the program prints",
            )
    results.finish()


if __name__ == "__main__":
    main()
