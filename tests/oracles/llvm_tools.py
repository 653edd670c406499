"""Which clang, lld and LLVM programs the oracles use: all of one version, as check_deps.sh installs them."""

import shutil

# Older and newer ones print otherwise. Those that the tests were tried with come first.
VERSIONS = (16, 19, 18, 17)
PROGRAMS = ("clang", "lld-link", "llvm-pdbutil")


def version():
    """The version, or None: no version has all programs here."""
    return next((number for number in VERSIONS if all(shutil.which(f"{name}-{number}") for name in PROGRAMS)), None)


def tool(name):
    """The name of one program, clang-16. It need not be there."""
    return f"{name}-{version() or VERSIONS[0]}"
