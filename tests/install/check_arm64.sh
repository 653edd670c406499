#!/usr/bin/env bash
# Does the program say on arm64 what it says here?
#
# The packages that the build needs come for arm64 from the archive that apt uses, into a folder of
# their own ($BUILD/arm64): nothing is installed. The program is built against them by the cross
# compiler, and run by qemu. Its own test must pass, and commands must print the same bytes as the
# program of this machine: text and JSON, stores, symbols, random traces, damage.
#
# From the Makefile: BUILD, MAKE, and ETLHEAP and MAKE_TRACE of this machine.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

MAKE=${MAKE:-make}
ETLHEAP=$(realpath "${ETLHEAP:-build/check/etlheap}")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/check/make_trace}")
mkdir -p "${BUILD:-build}/arm64"
work=$(realpath "${BUILD:-build}/arm64")
root=$work/root
compiler=aarch64-linux-gnu-gcc
# The make that started this shares no jobs with the one started here.
unset MAKEFLAGS MFLAGS

for pair in $compiler:gcc-aarch64-linux-gnu qemu-aarch64-static:qemu-user-static apt-get:apt; do
    command -v "${pair%%:*}" > /dev/null && continue
    skip "the program for arm64" "no ${pair%%:*} here (package ${pair##*:})"
    finish
done

# apt for another processor, with lists and packages of its own.
apt_arm64()
{
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$work/state" \
        -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

fetch_packages()
{
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
    : > "$work/status"
    apt_arm64 update && apt_arm64 install -y --no-install-recommends --download-only \
        $(sh tests/run/check_deps.sh list build | grep -vx -e gcc -e pkg-config)
}

# Links of packages are those of an installed system: here they begin at the folder.
unpack_packages()
{
    local package link
    rm -rf "$root"
    mkdir -p "$root"
    for package in "$work"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$root" || return 1; done
    find "$root" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
}

build()
{
    PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig \
        "$MAKE" --no-print-directory "-j$(nproc)" BUILD="${BUILD:-build}/arm64/build" VARIANT=check CC=$compiler \
        CFLAGS="--sysroot=\"$root\"" LDFLAGS="--sysroot=\"$root\"" "${BUILD:-build}/arm64/build/check/etlheap"
}

if ! fetch_packages > "$work/fetch.log" 2>&1; then
    skip "the program for arm64" "the archive of this system has no packages for arm64: $(tail -n 1 "$work/fetch.log")"
    finish
fi
unpack_packages > "$work/unpack.log" 2>&1 && build > "$work/build.log" 2>&1
if test $? -eq 0; then
    pass "it is built without warnings"
else
    fail "it is built without warnings" "$(tail -n 5 "$work/build.log")"
    finish
fi

arm64() { qemu-aarch64-static -L "$root" "$work/build/check/etlheap" "$@"; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
if arm64 selftest > selftest.txt 2>&1; then pass "it passes its own test"; else fail "it passes its own test" "$(tail -n 3 selftest.txt)"; fi

# The same status, output and messages as the program of this machine.
same() # arguments...
{
    local here there
    "$ETLHEAP" "$@" > here.out 2> here.err < /dev/null
    here=$?
    arm64 "$@" > there.out 2> there.err < /dev/null
    there=$?
    if test $here -eq $there && cmp here.out there.out > same.log 2>&1 && cmp here.err there.err >> same.log 2>&1; then
        pass "etlheap $*"
    else
        fail "etlheap $*" "status $here here, $there on arm64" "$(cat same.log)" "$(head -n 3 there.err)"
    fi
}

"$ETLHEAP" selftest --write-demo . > /dev/null
"$MAKE_TRACE" workload random.etl --seed 7 --events 3000 > /dev/null
"$MAKE_TRACE" workload keyed.etl --seed 8 --events 3000 --keys --compress --free-stacks > /dev/null
"$MAKE_TRACE" kitchen-sink sink.etl > /dev/null
head -c 400000 demo.etl > cut.etl
for trace in demo.etl random.etl keyed.etl sink.etl cut.etl; do
    same info $trace --format json
    same report $trace --format json --no-cull
    same report $trace --suspects --growth --no-symbols
    same windows $trace --every 500ms --format csv
    same allocations $trace --format csv --no-symbols
    same dump $trace
done
same report demo.etl --symbols symbols --frames 5
same report fixed.etl --pairs --symbols symbols
same report fixed.etl --churn --symbols symbols
same symbols demo.etl --symbols symbols
same diff demo.etl longer.etl --symbols symbols
same trend demo.etl fixed.etl longer.etl --symbols symbols
same check longer.etl --baseline demo.etl --max-growth total:64K+5%
same export demo.etl --format html --symbols symbols
same export demo.etl --format folded --symbols symbols
same export demo.etl --format pprof --symbols symbols
# Files written there are read here, and are the same bytes.
for words in "store random.etl" "store --summary keyed.etl"; do
    # shellcheck disable=SC2086
    if "$ETLHEAP" $words -o here.ehs && arm64 $words -o there.ehs && cmp here.ehs there.ehs > same.log 2>&1; then
        pass "etlheap $words writes the same bytes"
    else
        fail "etlheap $words writes the same bytes" "$(cat same.log)"
    fi
done
finish
