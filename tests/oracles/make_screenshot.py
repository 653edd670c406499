#!/usr/bin/env python3
"""Writes the picture of README and docs/find_a_leak.md: the HTML report of the demo trace.

    make_screenshot.py FILE.png

The page is opened in headless Chromium, light, 1,400 pixels wide, and cut off below the
table. The picture must stay below 150 KB, so pngquant and optipng reduce it if they are
installed.
"""

import base64
import os
import shutil
import subprocess
import sys
import tempfile

from browser_page import PACKAGE, Page, find_browser
from oracle_support import ETLHEAP

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
WIDTH = 1400
HEIGHT = 2228
BYTES_MAX = 150_000


def make_report(folder):
    symbols = os.path.join(folder, "symbols")
    os.mkdir(symbols)
    subprocess.run([MAKE_TRACE, "demo", "demo.etl"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    subprocess.run([ETLHEAP, "export", "demo.etl", "--symbols", symbols, "--format", "html", "-o", "demo.html"],
                   cwd=folder, check=True)
    return os.path.join(folder, "demo.html")


def take(browser, folder, path):
    page = Page(browser, folder, WIDTH, HEIGHT)
    try:
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.open(make_report(folder), "#kind=heap")
        page.come_to_rest()
        picture = page.call("Page.captureScreenshot", format="png")["data"]
    finally:
        page.close()
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture))


def reduce(path):
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--strip", "--speed", "1", "--output", path, "64", path], check=True)
    if shutil.which("optipng"):
        subprocess.run(["optipng", "-quiet", "-o5", path], check=True)


def main():
    browser = find_browser()
    if browser is None:
        sys.exit(f"make_screenshot.py: no Chromium here; install it with: apt-get install {PACKAGE}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        take(browser, folder, sys.argv[1])
    reduce(sys.argv[1])
    size = os.path.getsize(sys.argv[1])
    if size > BYTES_MAX:
        sys.exit(f"make_screenshot.py: {sys.argv[1]} has {size} bytes, more than {BYTES_MAX}")


if __name__ == "__main__":
    main()
