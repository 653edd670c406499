#!/usr/bin/env python3
"""packaging/sbom.py: the list of what is in a program.

It is compared with the packages that static_deps.sh builds, and with what the specification of
SPDX 2.3 requires of a document: fields, identifiers, relationships between things that exist.
"""

import hashlib
import json
import os
import re
import subprocess
import sys

from oracle_support import WORK, Results

PACKAGING = os.path.abspath("packaging")
REQUIRED = {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"}
REQUIRED_OF_PACKAGES = {"name", "SPDXID", "downloadLocation"}


def made(target, versions, archive, *more, environment=None):
    done = subprocess.run([sys.executable, "-B", os.path.join(PACKAGING, "sbom.py"), "etlheap", "1.2.3", target, versions, archive, *more],
                          capture_output=True, text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1600000000", **(environment or {})})
    return done.stdout, done.stderr


def check_image(results, versions, archive):
    """An image also has packages of Debian as they are, one of which may be a library that is linked in, too."""
    listed = os.path.join(WORK, "packages.txt")
    with open(listed, "w", encoding="utf-8") as file:
        file.write("package libc6 2.36-9+deb12u7\npackage curl 8.0\npackage zlib 1:2.0+dfsg-1\n")
    plain, document = (json.loads(made("linux-x64", versions, archive, *more)[0]) for more in ((), (listed,)))
    inside = {one["relatedSpdxElement"] for one in document["relationships"] if one["relationshipType"] == "CONTAINS"}
    results.equal("an image: its packages are in it", inside, {"SPDXRef-package-libc6", "SPDXRef-package-curl", "SPDXRef-package-zlib"})
    results.equal("an image: all identifiers differ", len({one["SPDXID"] for one in document["packages"]}), len(document["packages"]))
    results.equal("an image: libraries are linked as in the program", [one for one in document["packages"] if one["SPDXID"] not in inside], plain["packages"])
    results.check("an image: it has a name of its own", document["name"] == "etlheap-1.2.3-image" != plain["name"], document["name"])
    package = next(one for one in document["packages"] if one["SPDXID"] == "SPDXRef-package-libc6")
    results.equal("an image: its package URL", package["externalRefs"][0]["referenceLocator"], "pkg:deb/debian/libc6@2.36-9%2Bdeb12u7?arch=amd64")


def main():
    results = Results()
    with open(os.path.join(PACKAGING, "static_deps.sh"), encoding="utf-8") as file:
        text = file.read()
    packages = re.search(r"^packages='([^']*)'", text, re.M)[1].split()
    versions, archive = os.path.join(WORK, "versions.txt"), os.path.join(WORK, "etlheap-1.2.3.tar.gz")
    with open(versions, "w", encoding="utf-8") as file:
        file.write("recipe 0 linux-x64\ncompiler gcc 10\n")
        for package in packages:
            file.write(f"package {package} 1:2.0+dfsg-1\n")
        for package in packages:
            file.write(f"sha256 {hashlib.sha256(package.encode()).hexdigest()}  {package}_2.0.orig.tar.xz\n")
    with open(archive, "wb") as file:
        file.write(b"the archive")
    for target, left_out in (("linux-x64", {"curl"}), ("linux-arm64", {"curl"}), ("windows-x64", set())):
        out, errors = made(target, versions, archive)
        results.equal(f"{target}: no errors", errors, "")
        document = json.loads(out)
        results.check(f"{target}: all required fields", REQUIRED <= set(document), sorted(document))
        found = {package["name"]: package for package in document["packages"]}
        results.equal(f"{target}: each linked library", set(found) - {"etlheap"}, set(packages) - left_out)
        results.check(f"{target}: packages have what is required", all(REQUIRED_OF_PACKAGES <= set(one) for one in found.values()))
        ids = {one["SPDXID"] for one in document["packages"]} | {document["SPDXID"]}
        results.check(f"{target}: identifiers are in order", all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids) and len(ids) == len(found) + 1)
        ends = {one[side] for one in document["relationships"] for side in ("spdxElementId", "relatedSpdxElement")}
        results.equal(f"{target}: relationships reach all", ends, ids)
        results.equal(f"{target}: the sum of the archive", found["etlheap"]["checksums"][0]["checksumValue"], hashlib.sha256(b"the archive").hexdigest())
        results.check(f"{target}: sources have sums", all(hashlib.sha256(name.encode()).hexdigest() in found[name]["comment"] for name in set(found) - {"etlheap"}))
        results.check(f"{target}: versions are escaped in package URLs",
                      all("@1%3A2.0%2Bdfsg-1?" in found[name]["externalRefs"][0]["referenceLocator"] for name in set(found) - {"etlheap"}))
        results.equal(f"{target}: the date is the commit's", document["creationInfo"]["created"], "2020-09-13T12:26:40Z")
        results.equal(f"{target}: the same bytes again", made(target, versions, archive, environment={"TZ": "Asia/Tokyo"})[0], out)
    check_image(results, versions, archive)
    with open(versions, "a", encoding="utf-8") as file:
        file.write("package surprise 1.0\n")
    results.check("a library without a licence here is an error", "surprise" in made("linux-x64", versions, archive)[1])
    results.finish()


main()
