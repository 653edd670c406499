#!/usr/bin/env python3
"""Makes an OCI image of the portable program, without a daemon.

    image.py TARGET PROGRAM ROOT VERSION ARCHIVE

PROGRAM is the one file of `make linux`, ROOT a Debian system with libcurl and ca-certificates. The image has
the program, the C library and its loader, libcurl and what it needs, and the certificates of authorities: no
shell, no package manager. ARCHIVE is a tar file in the layout of the specification, which podman, skopeo and
docker load. The date is SOURCE_DATE_EPOCH, and the same inputs give the same bytes.

Source: OCI image specification 1.0, image-layout.md, config.md, manifest.md.
"""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import datetime

PLATFORMS = {"linux-x64": ("amd64", "x86_64-linux-gnu"), "linux-arm64": ("arm64", "aarch64-linux-gnu")}
# What is copied as it is, if it is there.
FILES = ["etc/ssl/certs/ca-certificates.crt", "etc/nsswitch.conf", "etc/host.conf", "usr/share/doc/libcurl4/copyright",
         "usr/share/doc/libc6/copyright", "usr/share/doc/ca-certificates/copyright"]
PASSWD = b"root:x:0:0:root:/root:/sbin/nologin\netlheap:x:65532:65532:etlheap:/data:/sbin/nologin\n"
GROUP = b"root:x:0:\netlheap:x:65532:\n"


def needed(root, path):
    """Libraries of a program or library in the system, and its loader: paths in it."""
    said = subprocess.run(["chroot", root, "ldd", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?:=> )?(/\S+) \(0x", said)


def closure(root, program, library):
    """The loader looks for libraries in the folders of Debian, where they stay."""
    inside = os.path.join(root, "tmp", "etlheap-image")
    with open(program, "rb") as file, open(inside, "wb") as out:
        out.write(file.read())
    os.chmod(inside, 0o755)
    paths = set(needed(root, "/tmp/etlheap-image")) | set(needed(root, library)) | {library}
    os.remove(inside)
    return sorted(paths)


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


def make_layer(root, program, triplet, time):
    layer = Layer(time)
    library = f"/usr/lib/{triplet}/libcurl.so.4"
    for path in closure(root, program, library):
        real = os.path.join(root, os.path.realpath(os.path.join(root, path.lstrip("/"))).removeprefix(os.path.realpath(root)).lstrip("/"))
        with open(real, "rb") as file:
            layer.add(path.lstrip("/"), file.read(), 0o755)
    for name in FILES:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                layer.add(name, file.read())
    with open(program, "rb") as file:
        layer.add("usr/bin/etlheap", file.read(), 0o755)
    layer.add("etc/passwd", PASSWD)
    layer.add("etc/group", GROUP)
    layer.folder("tmp", 0o1777)
    layer.folder("data", 0o755, 65532)
    return layer.bytes()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def described(kind, data):
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}


def main():
    target, program, root, version, archive = sys.argv[1:]
    architecture, triplet = PLATFORMS[target]
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    plain = make_layer(root, program, triplet, time)
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
    with open(archive + ".new", "wb") as file:
        file.write(out.bytes())
    os.replace(archive + ".new", archive)


main()
