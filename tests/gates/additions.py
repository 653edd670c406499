#!/usr/bin/env python3
"""Counts the files that proof commits touched, beside the limits of additions.txt.

    additions.py        a line for each row (make rooms); status 1 if a limit is exceeded

How many files a key, a kind or a view takes is what the tables of rows are for, and history is the
only witness of it. Tests, documentation and schemas count.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# What `make readme-update` and its like write whole.
GENERATED = re.compile(r"CHANGELOG\.md|docs/schema/.*|docs/json\.md")


def git(*arguments):
    """What git says, or None without git or history."""
    try:
        done = subprocess.run(["git", "-C", HERE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def rows_of(text):
    """(what, limit, whether new files are left out, subject) of each row."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            what, limit, without, subject = (part.strip() for part in line.split("|", 3))
            yield what, int(limit), without == "new", subject


def commit_of(subject, history):
    """The first commit with the subject, which is the one that made the addition."""
    found = [line.split(" ", 1)[0] for line in history.splitlines() if line.split(" ", 1)[1:] == [subject]]
    return found[-1] if found else None


def counted(names, leaves_out_new):
    """Files that count, of lines "A<tab>path"; of a renamed file, the new name."""
    for line in names.splitlines():
        status, *paths = line.split("\t")
        if paths and not GENERATED.fullmatch(paths[-1]) and not (leaves_out_new and status == "A"):
            yield paths[-1]


def main():
    with open(os.path.join(HERE, "additions.txt"), encoding="utf-8") as file:
        rows = list(rows_of(file.read()))
    history = git("log", "--format=%H %s")
    exceeded = False
    for what, limit, leaves_out_new, subject in rows:
        commit = commit_of(subject, history) if history is not None else None
        if commit is None:
            print(f"files to add a {what:<15} skipped: history does not have \"{subject}\"")
            continue
        files = sorted(counted(git("show", "--format=", "--name-status", "-M", commit), leaves_out_new))
        over = len(files) > limit
        exceeded |= over
        print(f"files to add a {what:<15} {len(files):>5}  at most {limit}{'  EXCEEDED: ' + ', '.join(files) if over else ''}")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
