#!/usr/bin/env python3
"""Writes the manifests with which winget and Scoop install the program for Windows.

    windows_manifests.py ARCHIVE SUMS FOLDER PUBLISHER HOME URL

ARCHIVE is the zip of `make windows-dist`, SUMS the SHA256SUMS of `make release-files`, FOLDER takes the manifests.
PUBLISHER is the first part of winget's identifier, HOME the project's page, and URL the folder from which the files
of the release are downloaded.

The templates are in manifests/; $name stands for a value, which is written as a JSON string: that is YAML, too.
Nothing is written if the zip is not the one that SUMS names, or has no program where the manifests say.
Sources: the schemas of winget's manifests 1.6.0 (version, installer, defaultLocale), and the page
App-Manifests of Scoop.
"""

import hashlib
import json
import os
import re
import string
import sys
import zipfile

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "manifests")
DESCRIPTION = "Reads Windows event traces (ETL) and says where heap and VirtualAlloc memory went"
IDENTIFIER_PART = re.compile(r'[^.\s\\/:*?"<>|\x01-\x1f]{1,32}')


class Refused(Exception):
    """Why no manifest is written, as a sentence."""


def sum_of(archive, sums):
    with open(archive, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    name = os.path.basename(archive)
    with open(sums, encoding="utf-8") as file:
        told = dict(reversed(line.split(None, 1)) for line in file.read().splitlines())
    if told.get(name) != digest:
        raise Refused(f"{sums} does not have the sum of {name}: run `make release-files` again")
    return digest


def folder_of(archive):
    """The folder in the archive that holds everything."""
    name = os.path.basename(archive).removesuffix(".zip")
    with zipfile.ZipFile(archive) as content:
        if f"{name}/etlheap.exe" not in content.namelist():
            raise Refused(f"{archive} has no {name}/etlheap.exe")
    return name


def values_of(archive, sums, publisher, home, url):
    folder = folder_of(archive)
    found = re.fullmatch(r"etlheap-([0-9][^-]*)-windows-x64", folder)
    if found is None:
        raise Refused(f"{archive} is not named etlheap-VERSION-windows-x64.zip")
    if not IDENTIFIER_PART.fullmatch(publisher):
        raise Refused(f"'{publisher}' is no first part of an identifier: at most 32 characters, without dots and spaces")
    for address in (home, url):
        if not re.fullmatch(r"https://[^/\s]+(/\S*)?", address):
            raise Refused(f"'{address}' is not an https address")
    return {
        "identifier": f"{publisher}.etlheap", "publisher": publisher, "version": found[1], "home": home,
        "description": DESCRIPTION, "url": f"{url.rstrip('/')}/{folder}.zip", "folder": folder,
        "program_path": f"{folder}\\etlheap.exe", "sum": sum_of(archive, sums),
    }


def main(archive, sums, folder, publisher, home, url):
    values = {name: json.dumps(value) for name, value in values_of(archive, sums, publisher, home, url).items()}
    identifier = json.loads(values["identifier"])
    outputs = {"winget.version.yaml": f"winget/{identifier}.yaml",
               "winget.installer.yaml": f"winget/{identifier}.installer.yaml",
               "winget.locale.en-US.yaml": f"winget/{identifier}.locale.en-US.yaml",
               "scoop.json": "scoop/etlheap.json"}
    for template, output in outputs.items():
        with open(os.path.join(TEMPLATES, template), encoding="utf-8") as file:
            text = string.Template(file.read()).substitute(values)
        path = os.path.join(folder, output)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        print(path)


if __name__ == "__main__":
    try:
        if len(sys.argv) != 7:
            raise Refused("usage: windows_manifests.py ARCHIVE SUMS FOLDER PUBLISHER HOME URL")
        main(*sys.argv[1:])
    except (Refused, OSError, ValueError, zipfile.BadZipFile) as error:
        sys.exit(f"windows_manifests.py: {error}")
