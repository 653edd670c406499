#!/usr/bin/env bash
# Do the Debian packages install and work in a Debian that has nothing else?
#
#   check_deb.sh FOLDER      FOLDER holds the packages, from `make deb`
#
# debootstrap makes a minimal system (kept in FOLDER/../clean-root.tar for the next time), apt
# installs the packages there with what they depend on, and the program, the example and
# the completions are tried. Without root or debootstrap the packages are unpacked and the
# program is run with this machine's libraries, which shows less, and is said.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
. tests/install/serves.sh

folder=$(realpath "$1")
ETLHEAP=$(realpath "${ETLHEAP:-build/etlheap}")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/release/make_trace}")
kept=$(dirname "$folder")/clean-root.tar
root=$(mktemp -d)
trap 'rm -rf "$root" "$folder"/demo.etl "$folder"/inside.json "$folder"/check.log' EXIT

# check NAME COMMAND...: passes when the command does; what it says is the reason.
check()
{
    local name=$1
    shift
    if "$@" > "$folder/check.log" 2>&1 < /dev/null; then
        pass "$name"
    else
        fail "$name" "$(tail -n 5 "$folder/check.log")"
    fi
}

for package in etlheap libetlheap1 libetlheap-dev python3-etlheap; do
    check "$package is a package" dpkg-deb --info "$folder"/${package}_*.deb
done

# Bytes and modes do not depend on who makes them.
same_bytes_under() # umask
{
    local package
    (umask "$1" && "${MAKE:-make}" --no-print-directory BUILD="${BUILD:-build}" DEB="$folder-again" deb) || return 1
    for package in "$folder"/*.deb; do
        cmp "$package" "$folder-again/$(basename "$package")" || return 1
    done
}
for mask in 077 002; do
    check "with umask $mask they are the same bytes" same_bytes_under $mask
done
rm -rf "$folder-again"

if command -v lintian > /dev/null; then
    check "lintian finds no error and gives no warning" lintian --allow-root --fail-on error,warning "$folder"/*.deb
else
    skip "lintian" "it is not installed (package lintian)"
fi

# For everybody: folders to be entered, files to be read.
readable_by_all()
{
    local package
    for package in "$folder"/*.deb; do
        dpkg-deb --contents "$package" | grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) ' && return 1
    done
    return 0
}
check "everybody may read what they install" readable_by_all

if test "$(id -u)" -ne 0 || ! command -v debootstrap > /dev/null; then
    skip "installing in a clean root" "needs root and debootstrap (package debootstrap); unpacking instead"
    dpkg-deb --extract "$folder"/etlheap_*.deb "$root"
    check "the unpacked program passes its own test" "$root/usr/bin/etlheap" selftest
    "$MAKE_TRACE" demo "$folder/demo.etl" > /dev/null
    check "it serves its page" serves "$folder/demo.etl" "$root/usr/bin/etlheap"
    finish
fi

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
install() { inside apt-get install -y -q --no-install-recommends "$@"; }

suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
if test -s "$kept"; then
    tar -xf "$kept" -C "$root"
else
    check "a clean $suite is made" debootstrap --variant=minbase "$suite" "$root"
    test "$tap_failed" -eq 0 || finish
    tar -cf "$kept" -C "$root" .
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$folder"/*.deb "$root/tmp/"
inside apt-get update -q > "$folder/check.log" 2>&1

check "the program installs with what it needs" install "/tmp/$(basename "$folder"/etlheap_*.deb)"
check "it passes its own test" inside etlheap selftest
"$MAKE_TRACE" demo "$root/tmp/demo.etl" > /dev/null
cp "$root/tmp/demo.etl" "$folder/demo.etl"
reports_the_same()
{
    inside sh -c 'cd /tmp && etlheap report demo.etl --format json' > "$folder/inside.json" &&
        (cd "$folder" && "$ETLHEAP" report demo.etl --format json) | cmp - "$folder/inside.json"
}
check "it reports there what it reports here" reports_the_same
check "it serves its page" serves /tmp/demo.etl chroot "$root" env -i PATH=/usr/bin:/bin etlheap
check "it names its libraries" inside etlheap --version
check "its scripts for fleets run" inside /usr/share/etlheap/fleet/slurm_store.sh -h
check "its completion loads" inside bash -c '. /usr/share/bash-completion/completions/etlheap && complete -p etlheap'
check "the library and its headers install" install "/tmp/$(basename "$folder"/libetlheap1_*.deb)" \
    "/tmp/$(basename "$folder"/libetlheap-dev_*.deb)" gcc libc6-dev pkg-config
check "the example compiles" inside sh -c \
    'cc /usr/share/doc/libetlheap-dev/examples/modules.c $(pkg-config --cflags --libs etlheap) -o /tmp/modules'
example_runs() { inside /tmp/modules /tmp/demo.etl | grep 'allocations  BatteryMeter.exe'; }
check "it runs on a trace" example_runs
check "a compiler of C++ installs" install g++
cpp_agrees()
{
    cp tests/install/sizes.cc "$root/tmp/" &&
        inside sh -c 'g++ -std=c++17 /tmp/sizes.cc $(pkg-config --cflags --libs etlheap) -o /tmp/sizes' &&
        inside /tmp/sizes /tmp/demo.etl | grep -x 'BatteryMeter.exe 655360'
}
check "a C++ program finds what the program reports" cpp_agrees
check "the Python module installs" install "/tmp/$(basename "$folder"/python3-etlheap_*.deb)"
python_reads()
{
    inside python3 -c 'import etlheap
with etlheap.open("/tmp/demo.etl") as recording:
    for row in recording.report(etlheap.Query(kinds="heap", group_by="process"), top=1).rows:
        print(row["outstanding_size"], row["process"])' | grep -x '655360 BatteryMeter.exe'
}
check "and reads a trace" python_reads
# Without the shared library's link the linker takes the archive.
links_statically()
{
    inside sh -c 'rm /usr/lib/*/libetlheap.so &&
        cc /usr/share/doc/libetlheap-dev/examples/modules.c $(pkg-config --static --cflags --libs etlheap) -o /tmp/static &&
        ! objdump -p /tmp/static | grep "NEEDED.*etlheap"'
}
check "with pkg-config --static it links with the archive, and needs no other package" links_statically
runs_the_same() { cmp <(inside /tmp/modules /tmp/demo.etl) <(inside /tmp/static /tmp/demo.etl); }
check "and says the same" runs_the_same
remove_all()
{
    inside apt-get purge -y -q $(for file in "$folder"/*.deb; do dpkg-deb -f "$file" Package; done) &&
        ! find "$root/usr" -path '*etlheap*' | grep .
}
check "purging leaves nothing" remove_all

finish
