"""axe-core from npm: what of a page people cannot use who do not see it, or have no mouse.

It is installed once, at one version, below the build folder; after that no network is needed.
"""

import fcntl
import os
import shutil
import subprocess

PACKAGE = "axe-core@4.14.1"
FOLDER = os.path.join(os.environ.get("BUILD", "build"), "test-modules", "axe")
SCRIPT = os.path.join(FOLDER, "node_modules", "axe-core", "axe.min.js")
INSTALL_SECONDS = 120
# What is only open to doubt is not reported. Contrast takes it most of a minute in a long page, and
# browser_colours reads it from what is painted.
RUN = """axe.run(%s, { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } }).then((found) =>
  [found.passes.length, found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.html.slice(0, 200)}: ${node.failureSummary.replace(/\\s+/g, ' ').slice(0, 300)}`))])"""


def axe_script():
    """Its text. A test that cannot have it fails: nothing else looks for what it finds."""
    os.makedirs(os.path.dirname(FOLDER), exist_ok=True)
    with open(f"{FOLDER}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(SCRIPT):
            install()
    with open(SCRIPT, encoding="utf-8") as file:
        return file.read()


def install():
    command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix", FOLDER, PACKAGE]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(FOLDER, ignore_errors=True)
        raise RuntimeError(f"axe-core cannot be had: {' '.join(command)} failed: {error}") from error


def violations(page, script, selector="main"):
    """(rules that pass, what violates one) in a part of the page."""
    if not page.run("typeof axe === 'object'"):
        page.run(script + ";0")
    return page.run(RUN % f"document.querySelector('{selector}')")
