#!/bin/sh
# Packs a program that has its libraries in itself, with its documents and the licences of all it contains:
#
#   program_dist.sh TARGET PROGRAM PAGES DEPS ARCHIVE DOCUMENT...
#
# TARGET is that of static_deps.sh, which filled the folder DEPS. PAGES is a folder of manual pages (they become
# text for Windows). ARCHIVE is a .zip or a .tar.gz. The same inputs give the same bytes, dated
# SOURCE_DATE_EPOCH. Documents keep their folders, so that links between them lead somewhere. If LIBRARY names a
# folder, with the library, its import library and headers, it is packed, too.
set -eu

target=$1
program=$2
pages=$3
deps=$4
archive=$(realpath -m "$5")
name=$(basename "$archive" .zip)
name=${name%.tar.gz}
shift 5

licences=${LICENCES:-/usr/share/doc}
case $target in
# The compiler's own runtime is linked in as well, and has licences too.
windows-*) executable=etlheap.exe runtime='gcc-mingw-w64-base mingw-w64-x86-64-dev' ;;
*) executable=etlheap runtime= ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name

main()
{
    mkdir -p "$root/manual" "$root/licenses"
    cp "$program" "$root/$executable"
    test -z "${LIBRARY-}" || cp -R "$LIBRARY" "$root/library"
    add_pages
    add_licences
    notice > "$root/licenses/README.txt"
    for document in "$@"; do
        mkdir -p "$root/$(dirname "$document")"
        cp "$document" "$root/$document"
    done
    pack
}

add_pages()
{
    for page in "$pages"/*.1; do
        case $target in
        # Without bold and underlining, which Windows' editors show as noise.
        windows-*) groff -man -Tutf8 -P-cbou "$page" > "$root/manual/$(basename "$page" .1).txt" ;;
        *) cp "$page" "$root/manual" ;;
        esac
    done
}

add_licences()
{
    cp "$deps"/licenses/* "$root/licenses"
    # The tests' framework is not in the program, and the library of the machine does downloads on Linux.
    rm -f "$root"/licenses/cmocka*
    case $target in linux-*) rm -f "$root"/licenses/curl* ;; esac
    for package in $runtime; do
        cp "$licences/$package/copyright" "$root/licenses/$package.txt"
    done
}

# What is in the program, with the versions.
linked()
{
    sed -n 's/^package /  /p' "$deps/versions.txt" | grep -v '^  cmocka ' |
        case $target in linux-*) grep -v '^  curl ' ;; *) cat ;; esac
}

notice()
{
    echo "$executable contains, linked statically, the libraries listed below, each under"
    echo "its own licence, which lies beside this file. They were built, unchanged, from"
    echo "Debian's source packages of these versions, to be had from"
    echo "https://sources.debian.org and https://snapshot.debian.org:"
    echo
    linked
    echo
    if test -n "$runtime"; then
        echo "The compiler linked its own libraries in as well; their licences are here, too:"
        echo
        for package in $runtime; do echo "  $package"; done
        echo
    fi
    echo "libmspack and libmicrohttpd are under the GNU Lesser General Public License,"
    echo "version 2.1 (of libmicrohttpd, or later). To use $executable with other versions of"
    echo "them, build it anew: etlheap's source is free, and \`make ${target%%-*}\` with a"
    echo "changed packaging/static_deps.sh links any other."
    echo
    sed -n 's/^compiler /The compiler was /p' "$deps/versions.txt"
    sed -n 's/^sha256 /  /p' "$deps/versions.txt" | grep -v ' cmocka_'
}

pack()
{
    find "$work" -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH:-0}" {} +
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f -exec chmod 644 {} +
    chmod 755 "$root/$executable"
    rm -f "$archive.new"
    case $archive in
    *.zip) (cd "$work" && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -q -9 -X "$archive.new" -@) ;;
    *) tar --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -C "$work" -c "$name" | gzip -9n > "$archive.new" ;;
    esac
    mv "$archive.new" "$archive"
}

main "$@"
