#!/usr/bin/env bash
# Does the one file of `make dist-linux` run where it should?
#
# It must need no library but those of libc, and no version of that above 2.31. Its own test must pass in
# the system that it was built in and in bare ones of other distributions (those that `make check-bare` has
# made, else those are skipped by name), with nothing but the file copied there. There it must also say
# that libcurl is missing when a symbol server is asked for, and serve its page. The one for arm64 runs under qemu with arm64's libc.
# Licences and notices must name each library that is in it.
#
# From the Makefile: BUILD, VERSION, TARGETS.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
. tests/install/serves.sh

build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
newest=2.31

check_needs() # target, program
{
    local wrong versions
    wrong=$(objdump -p "$2" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(libc|libm|libdl|libpthread|librt)\.so\.[0-9]+$|^ld-linux')
    test -z "$wrong" && pass "$1: needs libc only" || fail "$1: needs libc only" "$wrong"
    versions=$(objdump -T "$2" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    if test "$(printf 'GLIBC_%s\n%s\n' $newest "$versions" | sort -V | tail -n 1)" = GLIBC_$newest; then
        pass "$1: no symbol is newer than GLIBC_$newest ($versions)"
    else
        fail "$1: no symbol is newer than GLIBC_$newest" "$versions"
    fi
}

check_archive() # target
{
    local archive=$build/etlheap-$VERSION-$1.tar.gz folder=$work/$1 name
    mkdir -p "$folder"
    tar -xzf "$archive" -C "$folder" --strip-components 1 || { fail "$1: the archive"; return; }
    check_needs "$1" "$folder/etlheap"
    # The wheel for Python has it.
    check_needs "$1, the library" "$build/linux/$1/libetlheap.so"
    for name in zlib libzstd xxhash libxml2 libzip libmspack libmicrohttpd; do
        test -s "$folder/licenses/$name.txt" && grep -q "^  $name " "$folder/licenses/README.txt" || fail "$1: the licence of $name"
    done
    pass "$1: $(stat -c %s "$folder/etlheap") bytes, the archive $(stat -c %s "$archive")"
}

# Nothing but the file is there.
check_root() # what, folder
{
    cp "$work/linux-x64/etlheap" "$2/tmp/etlheap"
    local said
    if said=$(chroot "$2" /tmp/etlheap selftest 2>&1); then
        pass "$1: selftest"
    else
        fail "$1: selftest" "$(echo "$said" | tail -n 3)"
    fi
    # Not on the way out of the system: nothing answers at this address.
    chroot "$2" /tmp/etlheap selftest --write-demo /tmp/demo > /dev/null 2>&1
    said=$(chroot "$2" /tmp/etlheap report /tmp/demo/demo.etl --symbols 'srv*/tmp/cache*http://127.0.0.1:1/' 2>&1)
    case $said in
    *libcurl*) pass "$1: says that libcurl is missing" ;;
    *) ls "$2"/usr/lib/*/libcurl*.so.4 > /dev/null 2>&1 && pass "$1: has libcurl" ||
        fail "$1: says that libcurl is missing" "$(echo "$said" | tail -n 5)" ;;
    esac
    check_page "$1" /tmp/demo/demo.etl chroot "$2" env -i /tmp/etlheap
}

check_page() # what, trace, command
{
    local what=$1 said
    shift
    if said=$(serves "$@"); then
        pass "$what: serves its page"
    else
        fail "$what: serves its page" "$said"
    fi
}

check_systems()
{
    test "$(id -u)" -eq 0 || { skip "other systems" "needs root, to change into them"; return; }
    local name root
    check_root "debian11" "${LINUX_ROOT:-$build/linux/root}"
    for name in debian12 debian13 ubuntu24; do
        if test ! -s "$build/bare/$name.tar"; then
            skip "$name" "not here; make check-bare ONLY=$name makes it"
            continue
        fi
        root=$work/$name
        mkdir -p "$root"
        tar -xf "$build/bare/$name.tar" -C "$root"
        check_root "$name" "$root"
        rm -rf "$root"
    done
}

check_arm64()
{
    command -v qemu-aarch64-static > /dev/null || { skip "arm64" "no qemu-aarch64-static here (package qemu-user-static)"; return; }
    test -e /usr/aarch64-linux-gnu/lib/libc.so.6 || { skip "arm64" "no libc of arm64 here (package libc6-dev-arm64-cross)"; return; }
    local said
    if said=$(qemu-aarch64-static -L /usr/aarch64-linux-gnu "$work/linux-arm64/etlheap" selftest 2>&1); then
        pass "arm64: selftest under qemu"
    else
        fail "arm64: selftest under qemu" "$(echo "$said" | tail -n 3)"
    fi
    qemu-aarch64-static -L /usr/aarch64-linux-gnu "$work/linux-arm64/etlheap" selftest --write-demo "$work/demo" > /dev/null 2>&1
    check_page arm64 "$work/demo/demo.etl" qemu-aarch64-static -L /usr/aarch64-linux-gnu "$work/linux-arm64/etlheap"
}

for target in $TARGETS; do
    check_archive "$target"
done
test ! -d "$work/linux-x64" || check_systems
test ! -d "$work/linux-arm64" || check_arm64
finish
