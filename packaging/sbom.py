#!/usr/bin/env python3
"""Writes what is in a program that has its libraries in itself, as SPDX 2.3 in JSON.

    sbom.py NAME VERSION TARGET VERSIONS FILE [PACKAGES]

VERSIONS is the file that static_deps.sh wrote: packages of Debian, and the sums of their sources. FILE is the
archive of the program. PACKAGES is what image.py wrote: packages of Debian that an image has as they are. The date is SOURCE_DATE_EPOCH, and the same inputs give the same bytes.
Source: the SPDX specification 2.3, chapters 6 to 8 and 11; package URLs by the purl specification.
"""

import datetime
import hashlib
import json
import os
import re
import sys

# What each package is under, as its debian/copyright says of the parts that are linked.
LICENCES = {
    "zlib": "Zlib", "libzstd": "BSD-3-Clause", "xxhash": "BSD-2-Clause", "libxml2": "MIT", "libzip": "BSD-3-Clause",
    "curl": "curl", "libmspack": "LGPL-2.1-only", "libmicrohttpd": "LGPL-2.1-or-later",
}
NOT_LINKED = {"windows-x64": {"cmocka"}, "linux-x64": {"curl"}, "linux-arm64": {"curl"}}


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def sums_of(lines, package):
    """Sums of a package's source files, by their names."""
    found = []
    for line in lines:
        match = re.fullmatch(r"sha256 ([0-9a-f]{64}) +(\S+)", line)
        if match and match[2].startswith(package + "_"):
            found.append((match[2], match[1]))
    return sorted(found)


def purl(name, version, architecture):
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"}


def packages_of(path):
    """Lines "package NAME VERSION", and all lines."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [tuple(line.split()[1:3]) for line in lines if line.startswith("package ")], lines


def related(own, relationship, others):
    return [{"spdxElementId": own["SPDXID"], "relationshipType": relationship, "relatedSpdxElement": one["SPDXID"]} for one in others]


def library(lines, name, version):
    sources = sums_of(lines, name)
    return {
        "name": name,
        "SPDXID": identifier("library-" + name),
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": f"https://snapshot.debian.org/package/{name}/{version}/",
        "filesAnalyzed": False,
        "licenseConcluded": LICENCES[name],
        "licenseDeclared": LICENCES[name],
        "copyrightText": "NOASSERTION",
        "comment": "Linked statically. Sources: " + ", ".join(f"{file} SHA-256 {digest}" for file, digest in sources),
        "externalRefs": [purl(name, version, "source")],
    }


def contained(name, version):
    """A package of Debian; its copyright file, which the image has, names many licences."""
    return {
        "name": name,
        "SPDXID": identifier("package-" + name),
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": f"Its licences are in /usr/share/doc/{name}/copyright of the image.",
        "externalRefs": [purl(name, version, "amd64")],
    }


def program(name, version, path):
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return {
        "name": name,
        "SPDXID": identifier(name),
        "versionInfo": version,
        "packageFileName": os.path.basename(path),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "MIT",
        "licenseDeclared": "MIT",
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "primaryPackagePurpose": "APPLICATION",
    }


def main():
    name, version, target, versions, path, *more = sys.argv[1:]
    packages, lines = packages_of(versions)
    linked = [library(lines, *one) for one in packages if one[0] not in NOT_LINKED[target]]
    inside = [contained(*one) for one in packages_of(more[0])[0]] if more else []
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    own = program(name, version, path)
    title = f"{name}-{version}-{'image' if more else target}"
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": title,
        "documentNamespace": f"https://spdx.org/spdxdocs/{title}-{own['checksums'][0]['checksumValue']}",
        "creationInfo": {"created": date.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: sbom.py"]},
        "packages": [own, *linked, *inside],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}] +
                         related(own, "STATIC_LINK", linked) + related(own, "CONTAINS", inside),
    }
    json.dump(document, sys.stdout, indent=2)
    print()


main()
