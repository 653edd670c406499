#!/bin/sh
# Makes Debian packages of an installed tree:
#
#   make_deb.sh STAGE FOLDER VERSION SOVERSION PACKAGE...
#
# STAGE is what `make install DESTDIR=STAGE prefix=/usr` made and is used up; FOLDER
# takes etlheap_*.deb (the program), libetlheapN_*.deb (the shared library),
# python3-etlheap_*.deb (the Python module) and libetlheap-dev_*.deb (all that compiling
# needs: the PACKAGEs too, and what they need to be linked with by `pkg-config --static`). The same tree gives the same bytes, dated
# SOURCE_DATE_EPOCH.
set -eu
# Whoever makes the packages, everybody reads what is in them.
umask 022

stage=$1
folder=$2
version=$3
soversion=$4
shift 4

for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture pkg-config strip; do
    command -v $tool > /dev/null || {
        echo "Debian packages need $tool; install it with: sudo apt-get install dpkg-dev binutils pkg-config" >&2
        exit 1
    }
done

architecture=$(dpkg --print-architecture)
libdir=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
doc=usr/share/doc
work=$folder/work
rm -rf "$work"
mkdir -p "$work/debian"

# What moves from the stage to a package, by path.
take() # package, path...
{
    package=$1
    shift
    for path in "$@"; do
        mkdir -p "$work/$package/$(dirname "$path")"
        mv "$stage/$path" "$work/$package/$path"
    done
}

# No address is known for whoever reads this, and .invalid is the domain that says so.
maintainer='etlheap contributors <etlheap@etlheap.invalid>'

# Of the package; those of the program are in CHANGELOG.md.
debian_changes()
{
    printf 'etlheap (%s-1) unstable; urgency=medium\n\n' "$version"
    printf '  * Package of etlheap %s; its changes are in changelog.gz.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-0}")"
}

# Debian has the licence, the changes and nothing unpacked that need not be.
add_documents() # package
{
    at=$work/$1/$doc/$1
    mkdir -p "$at"
    cp LICENSE "$at/copyright"
    gzip -9nc CHANGELOG.md > "$at/changelog.gz"
    debian_changes | gzip -9nc > "$at/changelog.Debian.gz"
    chmod 644 "$at/copyright" "$at"/changelog*.gz
    # Of packages for its archive alone Debian expects that a bug asked for them.
    mkdir -p "$work/$1/usr/share/lintian/overrides"
    echo "$1: initial-upload-closes-no-bugs" > "$work/$1/usr/share/lintian/overrides/$1"
}

# "libc6 (>= 2.36), libzstd1 (>= 1.4.0)", from the binary itself.
libraries_of() # file
{
    file=$(realpath "$1")
    (cd "$work" && dpkg-shlibdeps -O -e"$file" 2> shlibdeps.log || { cat shlibdeps.log >&2; exit 1; }) |
        sed -n 's/^shlibs:Depends=//p'
}

# The packages of all that `pkg-config --static` tells a compiler to link with: those of
# our libraries do not depend on what these are linked with.
linked_statically()
{
    libraries=$(PKG_CONFIG_PATH=$stage/$libdir/pkgconfig pkg-config --static --libs-only-l etlheap)
    for library in $libraries; do
        test "$library" != -letlheap || continue
        name=lib${library#-l}
        file=$(${CC:-cc} -print-file-name="$name.so")
        # What is part of the C library has an archive alone.
        test "$file" != "$name.so" || file=$(${CC:-cc} -print-file-name="$name.a")
        test -e "$file" || {
            echo "make_deb.sh: pkg-config --static names $library, and the compiler finds no such library" >&2
            exit 1
        }
        dpkg-query --search "$(realpath "$(dirname "$file")")/$(basename "$file")" | sed 's/[:,].*//'
    done
}

# The package of a library that is loaded when it is needed, from this machine's.
package_of() # file name of the library
{
    dpkg-query --search "*/$1" | sed -n '1s/[:,].*//p'
}

make_package() # package, section, depends, recommends, summary; the long text from stdin
{
    root=$work/$1
    mkdir -p "$root/DEBIAN"
    size=$(du -sk --exclude=DEBIAN "$root" | cut -f 1)
    {
        printf 'Package: %s\nVersion: %s-1\nArchitecture: %s\n' "$1" "$version" "$architecture"
        printf 'Source: etlheap\nMaintainer: %s\n' "$maintainer"
        printf 'Installed-Size: %s\nDepends: %s\nSection: %s\nPriority: optional\n' "$size" "$3" "$2"
        test -z "$4" || printf 'Recommends: %s\n' "$4"
        printf 'Description: %s\n' "$5"
        sed 's/^/ /'
    } > "$root/DEBIAN/control"
    (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/${1}_$version-1_$architecture.deb"
}

static=$(linked_statically)
others=$(printf '%s\n' "$@" $static | grep -vx libc6-dev | LC_ALL=C sort -u | tr '\n' ' ' | sed 's/ *$//; s/ /, /g')

printf 'Source: etlheap\n\nPackage: etlheap\nArchitecture: any\n' > "$work/debian/control"
strip --strip-unneeded "$stage/usr/bin/etlheap" "$stage/$libdir/libetlheap.so.$version"
strip --strip-debug --enable-deterministic-archives "$stage/$libdir/libetlheap.a"
gzip -9n "$stage"/usr/share/man/man1/*.1
rm -f "$stage/$doc/etlheap/LICENSE" "$stage/$doc/etlheap/CHANGELOG.md"

library=libetlheap$soversion
take "$library" "$libdir/libetlheap.so.$soversion" "$libdir/libetlheap.so.$version"
mkdir -p "$stage/$doc/libetlheap-dev"
mv "$stage/$doc/etlheap/examples" "$stage/$doc/libetlheap-dev/examples"
take libetlheap-dev usr/include "$libdir/libetlheap.so" "$libdir/libetlheap.a" "$libdir/pkgconfig" "$doc/libetlheap-dev"
take python3-etlheap usr/lib/python3
take etlheap usr/bin usr/share
for package in etlheap "$library" libetlheap-dev python3-etlheap; do add_documents "$package"; done

left=$(find "$stage" ! -type d)
test -z "$left" || { echo "make_deb.sh: in no package: $left" >&2; exit 1; }

# Fetching symbols is the only thing that goes without.
fetches_with=$(package_of libcurl.so.4)
test -n "$fetches_with" || { echo "make_deb.sh: no package has libcurl.so.4" >&2; exit 1; }
serves_with=$(package_of libmicrohttpd.so.12)
test -n "$serves_with" || { echo "make_deb.sh: no package has libmicrohttpd.so.12" >&2; exit 1; }
make_package etlheap devel "$(libraries_of "$work/etlheap/usr/bin/etlheap"), $serves_with" "$fetches_with, ca-certificates" \
    "heap and VirtualAlloc analysis of Windows ETL traces" << 'TEXT'
Reads traces that Event Tracing for Windows recorded and says which process,
heap and call stack holds memory, in any window of time, without Windows' own
tools.
TEXT
mkdir -p "$work/$library/DEBIAN"
echo 'activate-noawait ldconfig' > "$work/$library/DEBIAN/triggers"
echo "libetlheap $soversion $library (>= $version)" > "$work/$library/DEBIAN/shlibs"
make_package "$library" libs "$(libraries_of "$work/$library/$libdir/libetlheap.so.$version")" "$fetches_with, ca-certificates" \
    "heap and VirtualAlloc analysis of Windows ETL traces, library" << 'TEXT'
The shared library, for programs that were linked with it.
TEXT
make_package libetlheap-dev libdevel "$library (= $version-1), $others" "" \
    "heap and VirtualAlloc analysis of Windows ETL traces, headers" << 'TEXT'
Headers, the static library and an example, to compile programs with.
TEXT
# Byte code is left to Python, which makes it when it may, beside the module and unknown to dpkg.
mkdir -p "$work/python3-etlheap/DEBIAN"
cat > "$work/python3-etlheap/DEBIAN/prerm" << 'END'
#!/bin/sh
set -e
rm -rf /usr/lib/python3/dist-packages/etlheap/__pycache__
END
chmod 755 "$work/python3-etlheap/DEBIAN/prerm"
architecture=all
make_package python3-etlheap python "$library (>= $version), python3 (>= 3.9)" "python3-pandas" \
    "heap and VirtualAlloc analysis of Windows ETL traces, Python module" << 'TEXT'
Opens traces, asks questions about them, and turns the answers into tables.
TEXT
rm -rf "$work" "$stage"
