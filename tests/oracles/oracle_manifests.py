#!/usr/bin/env python3
"""packaging/windows_manifests.py: what winget and Scoop install.

The manifests are read as their consumers read them (YAML and JSON, by libraries), and checked against the rules of
their schemas: winget's manifests 1.6.0 and Scoop's schema.json, each written down here anew. Then the archive is
fetched, opened and started from as the manifests say, with files in place of the servers.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile

import yaml

from oracle_support import WORK, Results

SCRIPT = os.path.abspath(os.path.join("packaging", "windows_manifests.py"))
FOLDER = "etlheap-1.2.3-windows-x64"
PROGRAM = b"MZ the program"
HOME, URL = "https://example.org/etlheap", "https://example.org/etlheap/download/v1.2.3/"

TEXT, LINK = r"[^\n]{1,512}", r"https?://[^\s]+"
IDENTIFIER = r'[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}'
COMMON = {"PackageIdentifier": IDENTIFIER, "PackageVersion": r'[^\\/:*?"<>|]{1,128}', "ManifestVersion": r"1\.6\.0"}
# Required names, and those that may be there, each with the form of its value; None: looked at below.
WINGET = {
    "version": ({**COMMON, "DefaultLocale": "en-US", "ManifestType": "version"}, {}),
    "installer": ({**COMMON, "Installers": None, "ManifestType": "installer"},
                  {"Platform": None, "MinimumOSVersion": r"\d+(\.\d+){0,3}", "InstallerType": "zip", "NestedInstallerType": "portable",
                   "NestedInstallerFiles": None, "Commands": None}),
    "defaultLocale": ({**COMMON, "PackageLocale": "en-US", "Publisher": r".{2,256}", "PackageName": r".{2,256}", "License": r".{3,512}",
                       "ShortDescription": r".{3,256}", "ManifestType": "defaultLocale"},
                      {"PackageUrl": LINK, "Moniker": r".{1,40}", "Tags": None}),
}
SCOOP = {"version": r"[\w.\-+]+", "description": TEXT, "homepage": LINK, "license": r"MIT", "architecture": None, "bin": TEXT}


def make_archive(path, folder):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{folder}/etlheap.exe", PROGRAM)
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def make(archive, sums, out, publisher="Some Body", home=HOME, url=URL):
    return subprocess.run([sys.executable, "-B", SCRIPT, archive, sums, out, publisher, home, url], capture_output=True,
                          text=True, check=False)


def check_form(results, name, manifest, required, allowed):
    results.check(f"{name}: each required field", set(required) <= set(manifest), sorted(set(required) - set(manifest)))
    results.check(f"{name}: no other field", set(manifest) <= set(required) | set(allowed), sorted(manifest))
    for field, form in {**required, **allowed}.items():
        if form is not None and field in manifest:
            results.check(f"{name}: {field}", isinstance(manifest[field], str) and re.fullmatch(form, manifest[field]), manifest[field])


def check_start(results, name, archive, path, url, digest):
    """What a package manager does: fetch the address, compare the sum, unpack, start."""
    with open(archive, "rb") as file:
        content = file.read()
    results.equal(f"{name}: the address is the archive's", url, URL + os.path.basename(archive))
    results.equal(f"{name}: the sum", digest.lower(), hashlib.sha256(content).hexdigest())
    with zipfile.ZipFile(archive) as opened:
        results.check(f"{name}: the program is where it says", path in opened.namelist() and opened.read(path) == PROGRAM, path)


def main():
    results = Results()
    archive, sums, out = (os.path.join(WORK, name) for name in (f"{FOLDER}.zip", "SHA256SUMS", "manifests"))
    digest = make_archive(archive, FOLDER)
    with open(sums, "w", encoding="utf-8") as file:
        file.write(f"{'0' * 64}  other.zip\n{digest}  {FOLDER}.zip\n")

    done = make(archive, sums, out, publisher="Somebody")
    results.equal("manifests are written", (done.returncode, done.stderr), (0, ""))
    identifier, manifests = "Somebody.etlheap", {}
    for kind, file in (("version", ""), ("installer", ".installer"), ("defaultLocale", ".locale.en-US")):
        with open(os.path.join(out, "winget", f"{identifier}{file}.yaml"), encoding="utf-8") as opened:
            manifests[kind] = yaml.safe_load(opened)
        check_form(results, f"winget {kind}", manifests[kind], *WINGET[kind])
        results.equal(f"winget {kind}: what and which", (manifests[kind]["PackageIdentifier"], manifests[kind]["PackageVersion"]), (identifier, "1.2.3"))
    installer = manifests["installer"]
    results.equal("winget: one installer, for x64", [one["Architecture"] for one in installer["Installers"]], ["x64"])
    nested = installer["NestedInstallerFiles"]
    results.equal("winget: the command is etlheap", [one["PortableCommandAlias"] for one in nested], ["etlheap"])
    check_start(results, "winget", archive, nested[0]["RelativeFilePath"].replace("\\", "/"), installer["Installers"][0]["InstallerUrl"],
                installer["Installers"][0]["InstallerSha256"])
    results.check("winget: tags", all(re.fullmatch(r"\S{1,40}", tag) for tag in manifests["defaultLocale"]["Tags"]))

    with open(os.path.join(out, "scoop", "etlheap.json"), encoding="utf-8") as opened:
        scoop = json.load(opened)
    check_form(results, "scoop", scoop, SCOOP, {})
    one = scoop["architecture"]["64bit"]
    results.equal("scoop: fields of 64bit", set(one), {"url", "hash", "extract_dir"})
    check_start(results, "scoop", archive, f"{one['extract_dir']}/{scoop['bin']}", one["url"], one["hash"])

    refusals = {
        "a publisher with a space": (make(archive, sums, out + "-1"), "identifier"),
        "a publisher with a quote": (make(archive, sums, out + "-1", publisher='a"b'), "identifier"),
        "an address without TLS": (make(archive, sums, out + "-1", "Somebody", url="http://example.org/"), "https"),
        "a home with a line end": (make(archive, sums, out + "-1", "Somebody", home="https://example.org/\nTags: x"), "https"),
    }
    with open(archive, "ab") as file:
        file.write(b"changed")
    refusals["an archive that was built again"] = make(archive, sums, out + "-1", "Somebody"), "make release-files"
    make_archive(archive, "elsewhere")
    refusals["an archive without the program"] = make(archive, sums, out + "-1", "Somebody"), "has no"
    for name, (done, word) in refusals.items():
        results.check(f"refused: {name}", done.returncode == 1 and word in done.stderr and "Traceback" not in done.stderr, done.stderr)
    results.check("nothing is written then", not os.path.exists(out + "-1"))
    results.finish()


main()
