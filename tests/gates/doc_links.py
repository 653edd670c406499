#!/usr/bin/env python3
"""Do the links in pages of Markdown lead somewhere, inside the folder that they are in?

    doc_links.py FOLDER...      every page below each FOLDER; status 1 and a line for each
                                link that does not

A link to a file needs the file, one to a heading needs the heading too. What leads out of
the folder is broken: it is not there when the folder is given away.
"""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"https?:|mailto:")


def anchors(path):
    """The headings of a page, as GitHub makes anchors of them."""
    with open(path, encoding="utf-8") as file:
        titles = re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def links(text):
    return [link for link in LINK.findall(text) if not ELSEWHERE.match(link)]


def broken(folder, page):
    """What is wrong with links of a page, whose path is relative to the folder."""
    root = os.path.realpath(folder)
    at = os.path.join(root, page)
    wrong = []
    with open(at, encoding="utf-8") as file:
        found = links(file.read())
    for link in found:
        name, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(at), name)) if name else at
        if not path.startswith(root + os.sep) or not os.path.exists(path):
            wrong.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(path):
            wrong.append(f"{link}: no such heading")
    return len(found), wrong


def main(folders):
    count, failed = 0, 0
    for folder in folders:
        for here, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(".md"):
                    page = os.path.relpath(os.path.join(here, name), folder)
                    found, wrong = broken(folder, page)
                    count, failed = count + found, failed + len(wrong)
                    for line in wrong:
                        print(f"{page}: {line}")
    if count == 0:
        print("no page has a link")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
