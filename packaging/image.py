#!/usr/bin/env python3
"""Makes an OCI image of the portable program, without a daemon.

    image.py TARGET PACKED ROOT VERSION ARCHIVE PACKAGES

PACKED is the archive of `make dist-linux`, ROOT a Debian system with libcurl and ca-certificates. The image has
the program, the C library and its loader, libcurl and what it needs, the certificates of authorities, and the
licences of all that: no shell, no package manager. ARCHIVE is a tar file in the layout of the specification, which
podman, skopeo and docker load; the file PACKAGES lists the packages of Debian in it, for sbom.py. The date is
SOURCE_DATE_EPOCH, and the same inputs give the same bytes.

Source: OCI image specification 1.0, image-layout.md, config.md, manifest.md.
"""

import datetime
import glob
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile

PLATFORMS = {"linux-x64": ("amd64", "x86_64-linux-gnu"), "linux-arm64": ("arm64", "aarch64-linux-gnu")}
# What is copied as it is, if it is there.
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
FILES = [CERTIFICATES, "etc/nsswitch.conf", "etc/host.conf"]
COMMON = "usr/share/common-licenses/"  # texts that copyright files refer to
DOCUMENTS = ("LICENSE", "licenses/")  # of the program's archive
PASSWD = b"root:x:0:0:root:/root:/sbin/nologin\netlheap:x:65532:65532:etlheap:/data:/sbin/nologin\n"
GROUP = b"root:x:0:\netlheap:x:65532:\n"


def needed(root, path):
    """Libraries of a program or library in the system, and its loader: paths in it."""
    said = subprocess.run(["chroot", root, "ldd", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?:=> )?(/\S+) \(0x", said)


def closure(root, program, library):
    """The loader looks for libraries in the folders of Debian, where they stay."""
    inside = os.path.join(root, "tmp", "etlheap-image")
    with open(inside, "wb") as out:
        out.write(program)
    os.chmod(inside, 0o755)
    paths = set(needed(root, "/tmp/etlheap-image")) | set(needed(root, library)) | {library}
    os.remove(inside)
    return sorted(paths)


def unpacked(archive):
    """The files of the program's archive, without its folder: name, bytes."""
    with tarfile.open(archive) as tar:
        return {entry.name.split("/", 1)[1]: tar.extractfile(entry).read() for entry in tar.getmembers() if entry.isfile()}


# --- packages -----------------------------------------------------------------------------------


def owner_of(root):
    """A function from the path of a file to the package of it. /lib is /usr/lib, and either may be in a list."""
    owners = {}
    for lists in sorted(glob.glob(os.path.join(root, "var/lib/dpkg/info/*.list"))):
        with open(lists, encoding="utf-8") as file:
            package = os.path.basename(lists).removesuffix(".list").split(":")[0]
            owners.update((line.rstrip("\n").removeprefix("/usr"), package) for line in file)
    return lambda path: owners[path.removeprefix("/usr")]


def versions(root):
    with open(os.path.join(root, "var/lib/dpkg/status"), encoding="utf-8") as file:
        return dict(re.findall(r"^Package: (\S+)$.*?^Version: (\S+)$", file.read(), re.M | re.S))


def read(root, name):
    with open(os.path.join(root, name), "rb") as file:
        return file.read()


def add_licences(layer, root, packages):
    """What each package is under, and the texts that are named there by their paths."""
    for package in packages:
        name = f"usr/share/doc/{package}/copyright"
        text = read(root, name)
        layer.add(name, text)
        for common in re.findall(COMMON + r"([\w.-]*\w)", text.decode("utf-8", "replace")):
            if os.path.isfile(os.path.join(root, COMMON, common)):
                layer.add(COMMON + common, read(root, COMMON + common))


class Layer:
    """A tar file whose entries are sorted, with owners and times that do not depend on who makes it."""

    def __init__(self, time):
        self.time, self.entries = time, {}

    def add(self, name, data, mode=0o644, owner=0):
        self.entries[name] = (data, mode, owner)

    def folder(self, name, mode=0o755, owner=0):
        self.entries[name] = (None, mode, owner)

    def bytes(self):
        for name in list(self.entries):
            while "/" in name:
                name = name.rsplit("/", 1)[0]
                self.entries.setdefault(name, (None, 0o755, 0))
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, (data, mode, owner) in sorted(self.entries.items()):
                entry = tarfile.TarInfo(name)
                entry.mode, entry.uid, entry.gid, entry.mtime = mode, owner, owner, self.time
                if data is None:
                    entry.type = tarfile.DIRTYPE
                    tar.addfile(entry)
                else:
                    entry.size = len(data)
                    tar.addfile(entry, io.BytesIO(data))
        return out.getvalue()


def make_layer(root, packed, triplet, time):
    """The layer, and the names of Debian's packages in it."""
    layer = Layer(time)
    package_of, packages = owner_of(root), {"ca-certificates"}
    for path in closure(root, packed["etlheap"], f"/usr/lib/{triplet}/libcurl.so.4"):
        real = os.path.realpath(os.path.join(root, path.lstrip("/"))).removeprefix(os.path.realpath(root))
        layer.add(path.lstrip("/"), read(root, real.lstrip("/")), 0o755)
        packages.add(package_of(real))
    for name in FILES:
        if os.path.isfile(os.path.join(root, name)):
            layer.add(name, read(root, name))
    layer.add("usr/bin/etlheap", packed["etlheap"], 0o755)
    for name, data in packed.items():
        if name.startswith(DOCUMENTS):
            layer.add("usr/share/doc/etlheap/" + name, data)
    add_licences(layer, root, sorted(packages))
    layer.add("etc/passwd", PASSWD)
    layer.add("etc/group", GROUP)
    layer.folder("tmp", 0o1777)
    layer.folder("data", 0o755, 65532)
    return layer.bytes(), sorted(packages)


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def described(kind, data):
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}


def main():
    target, packed, root, version, archive, listed = sys.argv[1:]
    architecture, triplet = PLATFORMS[target]
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    plain, packages = make_layer(root, unpacked(packed), triplet, time)
    layer = gzip.compress(plain, 9, mtime=0)
    config = json.dumps({
        "created": created, "architecture": architecture, "os": "linux",
        "config": {"User": "65532:65532", "Entrypoint": ["/usr/bin/etlheap"], "Cmd": ["--help"], "WorkingDir": "/data",
                   "Env": ["PATH=/usr/bin", "LC_ALL=C.UTF-8", "XDG_CACHE_HOME=/tmp"],
                   "Labels": {"org.opencontainers.image.title": "etlheap", "org.opencontainers.image.version": version}},
        "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
        "history": [{"created": created, "created_by": "packaging/image.py"}],
    }, sort_keys=True).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described("application/vnd.oci.image.config.v1+json", config),
        "layers": [described("application/vnd.oci.image.layer.v1.tar+gzip", layer)],
    }, sort_keys=True).encode()
    entry = described("application/vnd.oci.image.manifest.v1+json", manifest)
    entry["platform"] = {"architecture": architecture, "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": f"etlheap:{version}"}
    out = Layer(time)
    out.add("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    out.add("index.json", json.dumps({"schemaVersion": 2, "manifests": [entry]}, sort_keys=True).encode())
    for data in (layer, config, manifest):
        out.add("blobs/sha256/" + digest(data)[7:], data)
    known = versions(root)
    with open(listed, "w", encoding="utf-8") as file:
        file.writelines(f"package {package} {known[package]}\n" for package in packages)
    with open(archive + ".new", "wb") as file:
        file.write(out.bytes())
    os.replace(archive + ".new", archive)


main()
