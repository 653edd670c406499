#!/usr/bin/env python3
"""Is the image what the specification says, and does the program run in it?

    check_image.py ARCHIVE

The archive is read as a registry's client reads it: from index.json by digests, each of which must be that of
the bytes. The layer is unpacked into an empty folder, and etlheap runs there by chroot, as the image's user: its
own test, and a report whose function names come from a symbol server at the loopback address. What is in it has its
licences there.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracles"))

from oracle_support import Results  # pylint: disable=wrong-import-position

TESTS = os.path.dirname(os.path.abspath(__file__))
MAKE_TRACE = os.environ["MAKE_TRACE"]
CHROOT = shutil.which("chroot", path=os.environ.get("PATH", "") + ":/usr/sbin") or "chroot"


class Image:
    def __init__(self, results, path):
        self.results = results
        with tarfile.open(path) as tar:
            self.files = {entry.name: tar.extractfile(entry).read() for entry in tar.getmembers() if entry.isfile()}

    def blob(self, what, reference):
        data = self.files.get("blobs/sha256/" + reference["digest"][7:], b"")
        good = "sha256:" + hashlib.sha256(data).hexdigest() == reference["digest"] and len(data) == reference["size"]
        self.results.check(f"{what} has its digest and size", good)
        return data


def in_root(root, *words, user=65532):
    done = subprocess.run([CHROOT, f"--userspec={user}:{user}", root, "/usr/bin/etlheap", *words], capture_output=True, text=True,
                          check=False, env={"LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": "/data", "PATH": "/usr/bin"})
    return done.returncode, done.stdout, done.stderr


def check_symbols(results, root, folder):
    """A server of the tests, over a store with the PDBs of the demo."""
    trace, loose, store = (os.path.join(folder, name) for name in ("demo.etl", "loose", "store"))
    subprocess.run([MAKE_TRACE, "demo", trace], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(loose)
    subprocess.run([os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols"), loose], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(trace, os.path.join(root, "data"))
    _, out, _ = in_root(root, "symbols", "/data/demo.etl", "--symbols", "/data", "--offline", "--format", "json")
    for name, key in re.findall(r'"([\w.]+\.pdb)/([0-9A-F]+)"', out):
        if os.path.exists(os.path.join(loose, name)):
            os.makedirs(os.path.join(store, name, key))
            shutil.copy(os.path.join(loose, name), os.path.join(store, name, key, name))
    log = os.path.join(folder, "server.log")
    server = subprocess.Popen([sys.executable, os.path.join(TESTS, "../oracles/http_symbol_server.py"), store, log],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = server.stdout.readline().strip()
    status, out, errors = in_root(root, "report", "/data/demo.etl", "--symbols", f"srv**http://127.0.0.1:{port}/ok")
    results.check("symbols are downloaded in the image", status == 0 and "History::append" in out, status, errors, out[-500:])
    server.stdin.close()
    server.wait(timeout=10)


def check_licences(results, root):
    """Each package of the list has its copyright file, and texts that it names are there; so has the program."""
    documents = os.path.join(root, "usr/share/doc")
    packages = sorted(set(os.listdir(documents)) - {"etlheap"})
    lacking = [name for name in packages if not os.path.isfile(os.path.join(documents, name, "copyright"))]
    libraries = sum(".so" in name for _, _, files in os.walk(os.path.join(root, "usr/lib")) for name in files) + \
        sum(".so" in name for _, _, files in os.walk(os.path.join(root, "lib")) for name in files)
    results.check(f"{len(packages)} packages of {libraries} libraries have licences", not lacking and 10 < len(packages) <= libraries + 1, lacking)
    results.check("those of libcurl and of what it needs", {"libc6", "libcurl4", "libssl3", "ca-certificates"} <= set(packages), packages)
    texts = "".join(open(os.path.join(documents, name, "copyright"), encoding="utf-8").read() for name in packages)
    named = set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", texts))
    results.equal("the texts that they refer to", set(os.listdir(os.path.join(root, "usr/share/common-licenses"))), named)
    own = os.path.join(documents, "etlheap")
    results.check("the program's own, and those of what is linked in",
                  os.path.isfile(os.path.join(own, "LICENSE")) and len(os.listdir(os.path.join(own, "licenses"))) >= 7)


def main():
    results = Results()
    if os.geteuid() != 0:
        results.skip("the image", "needs root, to change into it")
        results.finish()
    image = Image(results, sys.argv[1])
    results.equal("the layout has its version", json.loads(image.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
    entry = json.loads(image.files["index.json"])["manifests"][0]
    manifest = json.loads(image.blob("the manifest", entry))
    config = json.loads(image.blob("the configuration", manifest["config"]))
    layer = gzip.decompress(image.blob("the layer", manifest["layers"][0]))
    results.equal("the configuration has the digest of what is unpacked", config["rootfs"]["diff_ids"],
                  ["sha256:" + hashlib.sha256(layer).hexdigest()])
    results.equal("it does not run as root", config["config"]["User"], "65532:65532")
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "root")
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            names = tar.getnames()
            tar.extractall(root)
        results.check("folders come before what is in them", names == sorted(names))
        results.check("there is no shell", not any(os.path.basename(name) in ("sh", "bash", "dash", "busybox") for name in names))
        status, out, errors = in_root(root, "selftest")
        results.check("selftest", status == 0 and out.count("ok ") >= 6, status, out, errors)
        status, out, _ = in_root(root, "--version")
        results.check("libcurl is there", status == 0 and re.search(r"libcurl \d", out), out)
        check_licences(results, root)
        check_symbols(results, root, folder)
    results.finish()


main()
