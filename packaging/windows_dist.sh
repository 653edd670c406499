#!/bin/sh
# Packs the program for Windows with its documents and the licences of all it contains:
#
#   windows_dist.sh PROGRAM PAGES DEPS ZIP DOCUMENT...
#
# PAGES is a folder of manual pages (they become text), DEPS one that windows_deps.sh
# filled. The same inputs give the same bytes, dated SOURCE_DATE_EPOCH. Documents keep
# their folders, so that links between them lead somewhere.
set -eu

program=$1
pages=$2
deps=$3
zip=$(realpath -m "$4")
name=$(basename "$zip" .zip)
shift 4

# The compiler's own runtime is linked in as well, and has licences too.
licences=${LICENCES:-/usr/share/doc}
runtime='gcc-mingw-w64-base mingw-w64-x86-64-dev'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name

main()
{
    mkdir -p "$root/manual" "$root/licenses"
    cp "$program" "$root/etlheap.exe"
    for page in "$pages"/*.1; do
        # Without bold and underlining, which Windows' editors show as noise.
        groff -man -Tutf8 -P-cbou "$page" > "$root/manual/$(basename "$page" .1).txt"
    done
    add_licences
    notice > "$root/licenses/README.txt"
    for document in "$@"; do
        mkdir -p "$root/$(dirname "$document")"
        cp "$document" "$root/$document"
    done
    pack
}

add_licences()
{
    cp "$deps"/licenses/* "$root/licenses"
    # The tests' framework is not in the program.
    rm -f "$root"/licenses/cmocka*
    for package in $runtime; do
        cp "$licences/$package/copyright" "$root/licenses/$package.txt"
    done
}

notice()
{
    echo "etlheap.exe contains, linked statically, the libraries listed below, each under"
    echo "its own licence, which lies beside this file. They were built, unchanged, from"
    echo "Debian's source packages of these versions, to be had from"
    echo "https://sources.debian.org and https://snapshot.debian.org:"
    echo
    sed -n 's/^package /  /p' "$deps/versions.txt" | grep -v '^  cmocka '
    echo
    echo "libmspack is under the GNU Lesser General Public License, version 2.1. To use"
    echo "etlheap.exe with another version of it, build it anew: etlheap's source is free,"
    echo "and \`make windows\` with a changed packaging/windows_deps.sh links any other."
    echo
    sed -n 's/^compiler /The compiler was /p' "$deps/versions.txt"
    sed -n 's/^sha256 /  /p' "$deps/versions.txt" | grep -v ' cmocka_'
}

pack()
{
    find "$work" -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH:-0}" {} +
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f -exec chmod 644 {} +
    chmod 755 "$root/etlheap.exe"
    rm -f "$zip.new"
    (cd "$work" && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -q -9 -X "$zip.new" -@)
    mv "$zip.new" "$zip"
}

main "$@"
