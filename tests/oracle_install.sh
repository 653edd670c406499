#!/usr/bin/env bash
# Is what `make install` installs complete, and can it be used by those who know
# nothing of this source?
#
# An installed tree is used from outside: a program is compiled with what pkg-config
# says and nothing else, the symbols of the shared library are compared with what the
# compiler makes of the installed headers, and uninstalling has to leave nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

OUT=${OUT:-build/check}
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
CC=${CC:-gcc}
MAKE_TRACE=$(realpath "${MAKE_TRACE:-$OUT/make_trace}")
TEST_TMP=$(realpath "${TEST_TMP:-$(mktemp -d)}")
# The make that started this shares no jobs with the one started here.
unset MAKEFLAGS MFLAGS

# Sanitizers change nothing of what is installed.
if test "$(basename "$OUT")" != check; then
    skip "installing" "done once, by plain make check"
    finish
fi

root=$TEST_TMP/root
tree=$TEST_TMP/tree

# Other tests run the program meanwhile: what is built is taken as it is (-o), also when a
# source has changed since.
built=()
for file in "$OUT/etlheap" "$OUT/libetlheap.a" "$OUT/libetlheap.so"; do
    test ! -f "$file" || built+=(-o "$file")
done

make_goal() # goal, variables...
{
    "$MAKE" "${built[@]}" --no-print-directory BUILD="$BUILD" VARIANT=check "$@" > "$TEST_TMP/make.log" 2>&1
}

# check NAME COMMAND...: passes when the command does; what it says is the reason.
check()
{
    local name=$1
    shift
    if "$@" > "$TEST_TMP/check.log" 2>&1; then
        pass "$name"
    else
        fail "$name" "$(tail -n 5 "$TEST_TMP/check.log")"
    fi
}

# --- what is where ---------------------------------------------------------------

if ! make_goal install prefix="$tree" DESTDIR=; then
    fail "make install" "$(tail -n 5 "$TEST_TMP/make.log")"
    finish
fi
pass "make install"

version=$(sed -n 's/^#define ETLHEAP_VERSION "\(.*\)"/\1/p' parser/parser.h)
program=$tree/bin/etlheap
library=$tree/lib/libetlheap.so
for file in bin/etlheap lib/libetlheap.a lib/libetlheap.so "lib/libetlheap.so.$version" lib/pkgconfig/etlheap.pc \
    include/etlheap/parser/parser.h include/etlheap/parser/symbols.h include/etlheap/engine/engine.h \
    include/etlheap/formats/formats.h share/man/man1/etlheap.1 share/etlheap/wpa_xml.xsd \
    share/bash-completion/completions/etlheap share/zsh/site-functions/_etlheap \
    share/fish/vendor_completions.d/etlheap.fish share/doc/etlheap/LICENSE share/doc/etlheap/docs/fleet.md \
    share/etlheap/growth_over_runs.sql share/etlheap/fleet/slurm_store.sh share/etlheap/fleet/fleet.sh \
    share/doc/etlheap/examples/modules.c; do
    check "$file is installed" test -s "$tree/$file"
done

each_command_has_a_page()
{
    local command
    for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        test -s "$tree/share/man/man1/etlheap-$command.1" || { echo "no page for $command"; return 1; }
    done
}
check "each command has a manual page" each_command_has_a_page

# Staged and below a multiarch folder, as packagers do.
make_goal install DESTDIR="$root" prefix=/usr libdir=/usr/lib/x86_64-linux-gnu
names_the_final_place()
{
    grep -qx 'prefix=/usr' "$root/usr/lib/x86_64-linux-gnu/pkgconfig/etlheap.pc" &&
        grep -qx 'libdir=${prefix}/lib/x86_64-linux-gnu' "$root/usr/lib/x86_64-linux-gnu/pkgconfig/etlheap.pc" &&
        ! grep -rIl "$root" "$root"
}
check "with DESTDIR, files name the place they are for" names_the_final_place
make_goal uninstall DESTDIR="$root" prefix=/usr libdir=/usr/lib/x86_64-linux-gnu
left=$(find "$root" ! -type d)
if test -z "$left"; then pass "make uninstall leaves no file"; else fail "make uninstall leaves no file" "$left"; fi

# --- the tarball -----------------------------------------------------------------

# Two runs, a second apart for whoever writes down the time of day.
if git rev-parse HEAD > /dev/null 2>&1; then
    make_goal dist BUILD="$TEST_TMP/one" && sleep 1 && make_goal dist BUILD="$TEST_TMP/two"
    tarball=etlheap-$version.tar.gz
    check "make dist gives the same bytes each time" cmp "$TEST_TMP/one/$tarball" "$TEST_TMP/two/$tarball"
    holds_the_commit()
    {
        diff <(git ls-tree -r --name-only --full-tree HEAD | sort) \
            <(tar -tzf "$TEST_TMP/one/$tarball" | sed -n "s|^etlheap-$version/||p" | grep -v '/$' | grep . | sort)
    }
    check "it holds the files of the last commit" holds_the_commit
else
    skip "make dist" "this is no checkout of git"
fi

# --- the program -----------------------------------------------------------------

check "the installed program passes its own test" env TMPDIR="$TEST_TMP" "$program" selftest

fails_without_room()
{
    TMPDIR=$TEST_TMP/nowhere "$program" selftest > "$TEST_TMP/out" 2> "$TEST_TMP/err"
    test $? -eq 3 && grep -q '^FAILED' "$TEST_TMP/out" && grep -q TMPDIR "$TEST_TMP/err" && test "$(wc -l < "$TEST_TMP/err")" -eq 1
}
check "which fails, with a reason, where it cannot write" fails_without_room

# --- the library -----------------------------------------------------------------

export PKG_CONFIG_PATH=$tree/lib/pkgconfig
check "pkg-config knows the version" test "$(pkg-config --modversion etlheap)" = "$version"
check "the soname has the major number alone" \
    grep -q 'SONAME.*libetlheap\.so\.[0-9]*$' <(objdump -p "$library" | sed 's/ *$//')

# The compiler's own list of the functions that headers declare.
declared()
{
    printf '#include <etlheap/parser/symbols.h>\n#include <etlheap/formats/formats.h>\n' > "$TEST_TMP/all.c"
    gcc -std=c11 -fsyntax-only -aux-info "$TEST_TMP/all.aux" -I"$tree/include" "$TEST_TMP/all.c" &&
        grep -F "$tree/include" "$TEST_TMP/all.aux" | grep -v ' static ' | sed -E 's/^\/\*[^*]*\*\/ //; s/ \(.*//; s/.*[ *]//' | sort -u
}
exports_are_declarations()
{
    declared > "$TEST_TMP/declared" || return 1
    nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort > "$TEST_TMP/exported"
    test -s "$TEST_TMP/declared" && diff "$TEST_TMP/declared" "$TEST_TMP/exported"
}
check "exactly the declared functions are exported" exports_are_declarations

front_doors_stand_alone()
{
    local header
    for header in parser/parser.h parser/symbols.h engine/engine.h formats/formats.h; do
        echo "#include <etlheap/$header>" > "$TEST_TMP/one.c"
        "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$tree/include" "$TEST_TMP/one.c" || return 1
    done
}
check "each front door compiles alone" front_doors_stand_alone

if command -v g++ > /dev/null; then
    printf 'extern "C" {\n#include <etlheap/formats/formats.h>\n#include <etlheap/parser/symbols.h>\n}\n' > "$TEST_TMP/all.cc"
    check "C++ takes them inside extern \"C\"" g++ -Wall -Wextra -Werror -fsyntax-only -I"$tree/include" "$TEST_TMP/all.cc"
else
    skip "C++ takes them inside extern \"C\"" "no g++ here (package g++)"
fi

# A program whose folders are named like ours.
own_folders_do_not_matter()
{
    mkdir -p "$TEST_TMP/own/parser" "$TEST_TMP/own/engine"
    echo '#error not this one' | tee "$TEST_TMP/own/parser/parser.h" > "$TEST_TMP/own/engine/engine.h"
    echo '#include <etlheap/formats/formats.h>' > "$TEST_TMP/one.c"
    "$CC" -std=c11 -fsyntax-only -I"$TEST_TMP/own" -I"$tree/include" "$TEST_TMP/one.c"
}
check "headers of the same name elsewhere are not taken for ours" own_folders_do_not_matter

# --- a program that uses it ------------------------------------------------------

example=$tree/share/doc/etlheap/examples/modules.c
"$MAKE_TRACE" demo "$TEST_TMP/demo.etl" > /dev/null
read -r -a shared_flags < <(pkg-config --cflags --libs etlheap)
# With --static pkg-config names what the other libraries need to be static, too, and
# Debian has not all of that: all but they is static here.
read -r -a other_names < <(pkg-config --print-requires-private etlheap | tr '\n' ' ')
read -r -a other_flags < <(pkg-config --libs "${other_names[@]}")

check "the example compiles with pkg-config" \
    "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$TEST_TMP/modules" "$example" "${shared_flags[@]}"
check "and with the static library" \
    "$CC" -std=c11 -pthread -I"$tree/include" -o "$TEST_TMP/modules-static" "$example" \
    "$tree/lib/libetlheap.a" "${other_flags[@]}"
needs_the_soname() { objdump -p "$TEST_TMP/modules" | grep 'NEEDED.*libetlheap\.so\.[0-9]' && ! objdump -p "$TEST_TMP/modules-static" | grep "NEEDED.*etlheap"; }
check "one needs the shared library, the other does not" needs_the_soname

# What it counts is what the program counts.
counts_agree()
{
    "$program" report "$TEST_TMP/demo.etl" --kind heap --group-by module --sort size --format csv --no-symbols \
        --no-cull --cull-frame 'ntdll.dll!' --cull-frame 'ucrtbase.dll!' > "$TEST_TMP/rows.csv" || return 1
    "${PYTHON:-python3}" - "$TEST_TMP/rows.csv" > "$TEST_TMP/rows" <<'PYTHON' || return 1
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(row["size"], row["count"], row["module"] or "(no stack)")
PYTHON
    LD_LIBRARY_PATH=$tree/lib "$TEST_TMP/modules" "$TEST_TMP/demo.etl" > "$TEST_TMP/shared.txt" || return 1
    "$TEST_TMP/modules-static" "$TEST_TMP/demo.etl" > "$TEST_TMP/static.txt" || return 1
    cmp "$TEST_TMP/shared.txt" "$TEST_TMP/static.txt" || return 1
    sed -E 's/^ *([0-9]+) bytes in +([0-9]+) allocations  /\1 \2 /' "$TEST_TMP/shared.txt" | diff - "$TEST_TMP/rows"
}
check "it counts what etlheap report counts" counts_agree

finish
