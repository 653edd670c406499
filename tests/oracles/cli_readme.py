#!/usr/bin/env python3
"""The examples of the README and of the pages in docs/ are what the program prints.

Each indented block that begins with "$ build/etlheap ..." is run on the traces of the demo, through
a shell if it has a pipe, and what the program prints compared with the lines below. Each page begins with these files alone, so
that it can be followed by itself.

    cli_readme.py             compares
    cli_readme.py --update    writes what the program prints into the pages
"""

import difflib
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from oracle_support import Results

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ETLHEAP = os.path.abspath(os.environ.get("ETLHEAP", "build/etlheap"))
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
# Traces that only some pages use, and the scenarios of make_trace that they are.
EXAMPLES = {"dotnet.etl": "dotnet", "handles.etl": "handle-leak", "mapped.etl": "mapped-views", "sections.etl": "section-leak"}

# The command, then all indented lines that are no command, and blank ones between them.
BLOCK = re.compile(r"^    \$ build/etlheap (.*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )|\n))*)", re.MULTILINE)


def indented(text):
    return "".join((f"    {line}").rstrip() + "\n" for line in text.splitlines())


# Behind every report without a symbol path: pages say it once, in words.
NAMELESS = "etlheap: note: no function names: "


def printed(folder, arguments):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    piped = f"{shlex.quote(ETLHEAP)} {arguments}"  # through a shell, for what a page pipes into jq
    done = subprocess.run(
        ["sh", "-c", piped] if " | " in arguments else [ETLHEAP, *arguments.split()],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    lines = done.stdout.decode("utf-8").splitlines(keepends=True)
    return indented("".join(line for line in lines if not line.startswith(NAMELESS)))


def page_folder(folder, page, text):
    """A folder with the traces and symbols that `make demo` leaves, and those of EXAMPLES that the page uses."""
    made = os.path.join(folder, os.path.basename(page), "build")
    shutil.copytree(os.path.join(folder, "demo"), made)
    for name, scenario in EXAMPLES.items():
        if f"build/{name}" in text:
            subprocess.run([MAKE_TRACE, scenario, "-o", os.path.join(made, name)], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(made, "team.key"), "wb") as key:  # docs/share.md
        key.write(b"the key of the examples in the pages")
    with open(os.path.join(made, "pooltag.txt"), "w", encoding="utf-8") as tags:  # docs/pool.md
        tags.write("rem our drivers\nLeak - leaky.sys - buffers of open channels\nOld? - <unknown> - before our time\n")
    return os.path.dirname(made)


def compare(results, page, text, folder):
    name = os.path.basename(page)
    for arguments, wanted in BLOCK.findall(text):
        got = printed(folder, arguments)
        lines = difflib.unified_diff(
            wanted.rstrip("\n").splitlines(), got.rstrip("\n").splitlines(), name, "program", lineterm=""
        )
        results.check(
            f"{name}: etlheap {arguments}",
            wanted.rstrip("\n") == got.rstrip("\n"),
            *lines,
            "make readme-update writes what the program prints",
        )


def main():
    results = Results()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ETLHEAP, "selftest", "--write-demo", os.path.join(folder, "demo")], check=True, stdout=subprocess.DEVNULL)
        for page in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]:
            with open(page, encoding="utf-8") as file:
                text = file.read()
            here = page_folder(folder, page, text)
            count += len(BLOCK.findall(text))
            if "--update" in sys.argv:
                updated = BLOCK.sub(lambda match: f"    $ build/etlheap {match[1]}\n{printed(here, match[1])}", text)
                with open(page, "w", encoding="utf-8") as file:
                    file.write(updated)
            else:
                compare(results, page, text, here)
    if "--update" not in sys.argv:
        results.check("there are examples", count > 10, f"{count} of them")
        results.finish()


if __name__ == "__main__":
    main()
