#!/usr/bin/env bash
# Is what `make install` installs complete, and can it be used by those who know
# nothing of this source?
#
# An installed tree is used from outside: a program is compiled with what pkg-config
# says and nothing else, the symbols of the shared library are compared with what the
# compiler makes of the installed headers, and uninstalling has to leave nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

OUT=${OUT:-build/check}
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
PYTHON=${PYTHON:-python3}
CC=${CC:-gcc} # a command and its words, such as "ccache gcc"
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
    include/etlheap/formats/formats.h include/etlheap/etlheap.h share/etlheap/python/etlheap/__init__.py \
    share/man/man1/etlheap.1 share/etlheap/wpa_xml.xsd \
    share/bash-completion/completions/etlheap share/zsh/site-functions/_etlheap \
    share/fish/vendor_completions.d/etlheap.fish share/doc/etlheap/LICENSE share/doc/etlheap/docs/fleet.md \
    share/etlheap/growth_over_runs.sql share/etlheap/fleet/slurm_store.sh share/etlheap/fleet/fleet.sh \
    share/doc/etlheap/examples/modules.c share/doc/etlheap/formats/ehs.md; do
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

check "the Python module is marked as typed" test -e "$tree/share/etlheap/python/etlheap/py.typed"

check "links of the installed pages lead somewhere" "$PYTHON" tests/gates/doc_links.py "$tree/share/doc/etlheap"

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
refreshes_the_cache() # DESTDIR; true if ldconfig was run
{
    rm -f "$TEST_TMP/refreshed"
    make_goal install-library DESTDIR="$1" prefix="$TEST_TMP/loaded" LD_SO_CONF="$TEST_TMP/ld.so.conf" LDCONFIG="touch '$TEST_TMP/refreshed'" &&
        test -e "$TEST_TMP/refreshed"
}
echo "$TEST_TMP/loaded/lib" > "$TEST_TMP/ld.so.conf"
check "a library in a folder of the loader gets into its cache" refreshes_the_cache ''
does_not_refresh() { ! refreshes_the_cache "$1"; }
check "one below DESTDIR does not" does_not_refresh "$TEST_TMP/loaded-root"
echo /another/folder > "$TEST_TMP/ld.so.conf"
check "nor does one that the loader does not look for" does_not_refresh ''

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

# Neither in a folder of its own, nor in one that happens to lie in somebody's checkout.
mkdir -p "$TEST_TMP"/plain/{parser,engine,formats,cli,fuzz,bench,packaging}
cp Makefile CHANGELOG.md "$TEST_TMP/plain"
cp parser/parser.h "$TEST_TMP/plain/parser"
for file in */*.mk; do
    cp "$file" "$TEST_TMP/plain/$file"
done
refuses_to_pack() # folder above which git looks for nothing; empty: anywhere
{
    ! GIT_CEILING_DIRECTORIES=$1 "$MAKE" -C "$TEST_TMP/plain" --no-print-directory dist > "$TEST_TMP/make.log" 2>&1 &&
        grep -q 'not a git checkout' "$TEST_TMP/make.log" && test -z "$(find "$TEST_TMP/plain" -name '*.gz*')"
}
check "make dist outside of git says what is wrong, and makes no archive" refuses_to_pack "$TEST_TMP"
check "nor does it below another checkout" refuses_to_pack ''

# --- the archives of the program ---------------------------------------------------------

# Packed as make windows-dist and make dist-linux do, of stand-ins for the program and its libraries.
make_stand_ins() # folder
{
    local deps=$1/deps package
    mkdir -p "$deps/licenses" "$1/linux/linux-x64"
    printf '%s\n' 'compiler a compiler' 'package stand-in 1.0' 'package other 2:1.0' 'package curl 1' 'sha256 0 stand-in.dsc' > "$deps/versions.txt"
    for package in stand-in other curl; do echo 'a licence' > "$deps/licenses/$package.txt"; done
    for package in gcc-mingw-w64-base mingw-w64-x86-64-dev; do
        mkdir -p "$1/licences/$package" && echo 'a licence' > "$1/licences/$package/copyright"
    done
    echo 'a program' > "$1/stand-in.exe"
    mkdir -p "$1/library/include/etlheap"
    for file in etlheap.dll etlheap.lib include/etlheap/etlheap.h; do echo "a $file" > "$1/library/$file"; done
    cp "$1/stand-in.exe" "$1/linux/linux-x64/etlheap"
    cp -R "$deps" "$1/linux/linux-x64/deps"
}

# Into build/etlheap-*: the names inside come from those of the archives.
pack_programs() # folder
{
    make_stand_ins "$1" || return 1
    LICENCES=$1/licences make_goal windows-zip WINDOWS_PROGRAM="$1/stand-in.exe" WINDOWS_DEPS="$1/deps" WINDOWS_LIBRARY="$1/library" \
        WINDOWS_ZIP="$1/etlheap-$version-windows-x64.zip" &&
        make_goal dist-linux-run LINUX_TARGETS=linux-x64 LINUX="$1/linux" PACKED="$1" || { cat "$TEST_TMP/make.log"; return 1; }
}

unpack_programs() # folder
{
    "$PYTHON" -m zipfile -e "$1/etlheap-$version-windows-x64.zip" "$1" && tar -xzf "$1/etlheap-$version-linux-x64.tar.gz" -C "$1"
}

# Each file of licences is of something that the notice names, and each name of the notice has its file.
notices_are_complete() # folder of the unpacked archive, names
{
    local folder=$1 name named
    shift
    named=$(sed -n 's/^  \([a-z0-9-]*\)\( [0-9].*\)\?$/\1/p' "$folder/licenses/README.txt" | sort)
    diff <(echo "$named") <(printf '%s\n' "$@" | sort) &&
        diff <(echo "$named") <(cd "$folder/licenses" && ls ./*.txt | sed -n 's|^./\(.*\).txt$|\1|p' | grep -vx README | sort)
}

pack_elsewhere_and_later() # folder
{
    (umask 077 && sleep 1 && TZ=Asia/Tokyo pack_programs "$1")
}

if command -v zip > /dev/null && command -v groff > /dev/null; then
    packed=$TEST_TMP/packed elsewhere=$TEST_TMP/packed-elsewhere/with/a/longer/name
    check "the zip for Windows and the archive for Linux are packed" pack_programs "$packed"
    check "they unpack" unpack_programs "$packed"
    check "packed elsewhere, later, with another umask" pack_elsewhere_and_later "$elsewhere"
    for archive in windows-x64.zip linux-x64.tar.gz; do
        folder=$packed/etlheap-$version-${archive%%.*}
        check "$archive: the same bytes" cmp "$packed/etlheap-$version-$archive" "$elsewhere/etlheap-$version-$archive"
        check "$archive: it has what its pages link to" "$PYTHON" tests/gates/doc_links.py "$folder"
        check "$archive: and the pages themselves" test -s "$folder/docs/windows.md" -a -s "$folder/README.md"
        check "$archive: and the recorder's kit" test -s "$folder/packaging/recording/etlheap.wprp"
    done
    for file in etlheap.dll etlheap.lib include/etlheap/etlheap.h; do
        check "windows-x64.zip: it has the library's $file" cmp "$packed/library/$file" "$packed/etlheap-$version-windows-x64/library/$file"
    done
    check "windows-x64.zip: notices are complete" notices_are_complete "$packed/etlheap-$version-windows-x64" \
        stand-in other curl gcc-mingw-w64-base mingw-w64-x86-64-dev
    check "linux-x64.tar.gz: notices are complete" notices_are_complete "$packed/etlheap-$version-linux-x64" stand-in other
else
    skip "the archives of the program" "need zip and groff (packages zip, groff-base)"
fi

# --- the same bytes -------------------------------------------------------------------

names_no_place_of_here()
{
    local file
    for file in bin/etlheap lib/libetlheap.a lib/libetlheap.so; do
        ! grep -aF "$PWD" "$tree/$file" > /dev/null || { echo "$file names $PWD"; return 1; }
    done
}
check "program and libraries do not say where they were built" names_no_place_of_here

# Objects are where a place can get in; all of them would be a second build.
samples=(parser/etl/trace.o engine/fold/aggregate.o engine/core/workers.o formats/io/sink.o formats/view_page.o cli/main.o)
same_bytes_elsewhere()
{
    local elsewhere=$TEST_TMP/elsewhere/with/a/longer/name object
    mkdir -p "$elsewhere"/{fuzz,bench}
    cp -R Makefile CHANGELOG.md packaging parser engine formats cli "$elsewhere"
    cp fuzz/fuzz.mk "$elsewhere/fuzz" && cp bench/bench.mk "$elsewhere/bench"
    CCACHE_DISABLE=1 "$MAKE" -C "$elsewhere" --no-print-directory BUILD="$elsewhere/out" VARIANT=check \
        "${samples[@]/#/$elsewhere/out/check/}" > "$TEST_TMP/make.log" 2>&1 || { tail -n 5 "$TEST_TMP/make.log"; return 1; }
    for object in "${samples[@]}"; do
        cmp "$OUT/$object" "$elsewhere/out/check/$object" || return 1
    done
}
check "built in another folder, objects are the same bytes" same_bytes_elsewhere

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
    # A compiler cache keeps no such file.
    CCACHE_DISABLE=1 gcc -std=c11 -fsyntax-only -aux-info "$TEST_TMP/all.aux" -I"$tree/include" "$TEST_TMP/all.c" &&
        grep -F "$tree/include" "$TEST_TMP/all.aux" | grep -v ' static ' | sed -E 's/^\/\*[^*]*\*\/ //; s/ \(.*//; s/.*[ *]//' | sort -u
}
exports_are_declarations()
{
    declared > "$TEST_TMP/declared" || return 1
    nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort > "$TEST_TMP/exported"
    test -s "$TEST_TMP/declared" && diff "$TEST_TMP/declared" "$TEST_TMP/exported"
}
check "exactly the declared functions are exported" exports_are_declarations

# Of the archive all names that members share, data too.
names_have_our_prefix()
{
    nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' > "$TEST_TMP/names"
    nm --extern-only --defined-only --format=posix "$tree/lib/libetlheap.a" | awk 'NF > 2 { print $1 }' >> "$TEST_TMP/names"
    test "$(wc -l < "$TEST_TMP/names")" -gt 500 && ! grep -v '^etl' "$TEST_TMP/names"
}
check "every global name of the libraries begins with etl" names_have_our_prefix

# Each header alone, in C and in C++: what it lacks, it lacks for every compiler. What one
# compiler warns of and another does not, it says of all of them in one file. The program that
# includes them has types and macros of its own, with the names that projects and <windows.h> use.
headers=$(cd "$tree/include" && find etlheap -name '*.h' | sort)
own_names()
{
    local macro
    # Not the widths that we would take: the same typedef twice is no error in C11.
    printf 'typedef %s;\n' 'unsigned u8' 'unsigned u16' 'unsigned long long u32' 'unsigned short u64' \
        'signed char i8' 'long long i16' 'long long i32' 'int i64' 'struct bytes { int of_mine; } bytes'
    for macro in min max abs swap; do echo "#define $macro(a, b) of_mine(a, b)"; done
    for macro in near far small interface IN OUT OPTIONAL ERROR DELETE NO_ERROR CONST VOID TRUE FALSE COUNT_OF KIB MIB GIB; do
        echo "#define $macro of_mine"
    done
}
own_names > "$TEST_TMP/own_names"
stands_alone() # compiler, standard, suffix of the language
{
    local header wrong=0
    for header in $headers; do
        (cat "$TEST_TMP/own_names" && echo "#include <$header>") > "$TEST_TMP/alone.$3"
        "$1" "-std=$2" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$tree/include" "$TEST_TMP/alone.$3" ||
            { echo "$header does not compile alone"; wrong=1; }
    done
    return $wrong
}
stand_together() # compiler, standard, suffix of the language
{
    (cat "$TEST_TMP/own_names" && printf '#include <%s>\n' $headers) > "$TEST_TMP/together.$3"
    "$1" "-std=$2" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$tree/include" "$TEST_TMP/together.$3"
}
check "all headers are looked at" test "$(echo "$headers" | wc -l)" -ge 25
for compiler in gcc:c11:c clang:c11:c g++:c++17:cc clang++:c++17:cc; do
    IFS=: read -r program_name standard suffix <<< "$compiler"
    if ! command -v "$program_name" > /dev/null; then
        skip "the headers compile, by $program_name" "no $program_name here"
    else
        check "all headers compile together in a program with short names of its own, by $program_name" \
            stand_together "$program_name" "$standard" "$suffix"
        test "${program_name#g}" = "$program_name" && test "${LONG:-0}" = 0 ||
            check "each header compiles alone in such a program, by $program_name" stands_alone "$program_name" "$standard" "$suffix"
    fi
done

# What C++ calls must be what the library exports: no name may be decorated. It asks what the
# program answers, with the one header.
links_from_cpp()
{
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -o "$TEST_TMP/cpp" tests/install/sizes.cc $(pkg-config --cflags --libs etlheap) || return 1
    "$MAKE_TRACE" demo "$TEST_TMP/cpp.etl" > /dev/null
    LD_LIBRARY_PATH=$tree/lib "$TEST_TMP/cpp" "$TEST_TMP/cpp.etl" > "$TEST_TMP/cpp.rows" || return 1
    "$program" report "$TEST_TMP/cpp.etl" --kind heap --group-by process --format csv --no-symbols > "$TEST_TMP/cpp.csv" || return 1
    "$PYTHON" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(row["process"], row["outstanding_size"])' "$TEST_TMP/cpp.csv" | diff - "$TEST_TMP/cpp.rows" && test -s "$TEST_TMP/cpp.rows"
}
if command -v g++ > /dev/null; then
    check "a C++ program finds with the library what the program reports" links_from_cpp
else
    skip "a C++ program calls the library" "no g++ here (package g++)"
fi

# A program whose folders are named like ours.
own_folders_do_not_matter()
{
    mkdir -p "$TEST_TMP/own/parser" "$TEST_TMP/own/engine"
    echo '#error not this one' | tee "$TEST_TMP/own/parser/parser.h" > "$TEST_TMP/own/engine/engine.h"
    echo '#include <etlheap/formats/formats.h>' > "$TEST_TMP/one.c"
    $CC -std=c11 -fsyntax-only -I"$TEST_TMP/own" -I"$tree/include" "$TEST_TMP/one.c"
}
check "headers of the same name elsewhere are not taken for ours" own_folders_do_not_matter

# --- a program that uses it ------------------------------------------------------

includes_ours_alone() { test "$(pkg-config --cflags etlheap | tr -d ' ')" = "-I$tree/include"; }
check "a program gets no include folder but ours" includes_ours_alone

example=$tree/share/doc/etlheap/examples/modules.c
"$MAKE_TRACE" demo "$TEST_TMP/demo.etl" > /dev/null
read -r -a shared_flags < <(pkg-config --cflags --libs etlheap)
# Where there is no shared library the linker takes the archive; that of libzip is in no
# Debian, so other libraries are shared ones. The tree is another one, found by its place.
mkdir -p "$TEST_TMP/static/lib/pkgconfig"
cp "$tree/lib/libetlheap.a" "$TEST_TMP/static/lib"
cp "$tree/lib/pkgconfig/etlheap.pc" "$TEST_TMP/static/lib/pkgconfig"
cp -R "$tree/include" "$TEST_TMP/static"
read -r -a static_flags < <(PKG_CONFIG_PATH=$TEST_TMP/static/lib/pkgconfig pkg-config --define-prefix --static --cflags --libs etlheap)

check "the example compiles with pkg-config" \
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$TEST_TMP/modules" "$example" "${shared_flags[@]}"
links_statically() # program, sources...
{
    local program=$1
    shift
    $CC -std=c11 -w -fno-builtin -o "$program" "$@" "${static_flags[@]}"
}
missing=$(links_statically "$TEST_TMP/modules-static" "$example" 2>&1 | sed -n 's/^.*cannot find \(-l[a-z0-9]*\).*$/\1/p' | grep -vx -e -letlheap | sort -u | tr '\n' ' ')
if test -n "$missing"; then
    skip "and with pkg-config --static" "libraries that others need are not installed: $missing"
    read -r -a static_flags < <(PKG_CONFIG_PATH=$TEST_TMP/static/lib/pkgconfig pkg-config --define-prefix --cflags --libs etlheap
        pkg-config --libs libxxhash libzstd libzip libmspack libxml-2.0 zlib)
    links_statically "$TEST_TMP/modules-static" "$example"
else
    check "and with pkg-config --static, with the archive" links_statically "$TEST_TMP/modules-static" "$example"
fi
needs_the_soname() { objdump -p "$TEST_TMP/modules" | grep 'NEEDED.*libetlheap\.so\.[0-9]' && ! objdump -p "$TEST_TMP/modules-static" | grep "NEEDED.*etlheap"; }
check "one needs the shared library, the other does not" needs_the_soname

# What it counts is what the program counts.
counts_agree()
{
    "$program" report "$TEST_TMP/demo.etl" --kind heap --group-by module --sort size --format csv --no-symbols \
        --no-cull --cull-frame 'ntdll.dll!' --cull-frame 'ucrtbase.dll!' > "$TEST_TMP/rows.csv" || return 1
    "$PYTHON" - "$TEST_TMP/rows.csv" > "$TEST_TMP/rows" <<'PYTHON' || return 1
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

# The programs of docs/c_api.md, as they stand there, find what the program reports.
"$OUT/make_demo_symbols" "$TEST_TMP/symbols" 2> /dev/null || { mkdir -p "$TEST_TMP/symbols" && "$OUT/make_demo_symbols" "$TEST_TMP/symbols"; }
program_of_the_page() # language, name
{
    awk -v fence="^\`\`\`$1\$" '$0 ~ /^```/ { inside = $0 ~ fence; next } inside' docs/c_api.md |
        awk -v name="$2" '/^(\/\* |""")[a-z_]+\.(c|py) - / { on = index($0, name " - ") > 0 } on' > "$TEST_TMP/$2"
    test -s "$TEST_TMP/$2"
}
rows_of_the_program() # group-by
{
    "$program" report "$TEST_TMP/demo.etl" --symbols "$TEST_TMP/symbols" --kind heap --group-by "$1" --top 10 --format json > "$TEST_TMP/wanted.json"
}
same_rows() # file, wanted
{
    "$PYTHON" - "$1" "$TEST_TMP/wanted.json" <<'PYTHON'
import json, sys
got, wanted = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
for part in ("rows", "frames", "stacks"):
    if got[part] != wanted[part]:
        sys.exit(f"{part} differ")
PYTHON
}
the_page_finds_stacks()
{
    program_of_the_page c top_stacks.c || return 1
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$TEST_TMP/top_stacks" "$TEST_TMP/top_stacks.c" "${shared_flags[@]}" || return 1
    (cd "$TEST_TMP" && "$PYTHON" -m zipfile -c demo.etl.zip demo.etl && "$program" store demo.etl -o demo.ehs) || return 1
    rows_of_the_program process,stack || return 1
    local input
    for input in demo.etl.zip demo.etl demo.ehs; do
        (cd "$TEST_TMP" && LD_LIBRARY_PATH=$tree/lib ./top_stacks "$input" symbols > "$input.txt") || return 1
        grep -q 'History::append.*history.cpp:45' "$TEST_TMP/$input.txt" || return 1
        cmp "$TEST_TMP/demo.etl.zip.txt" "$TEST_TMP/$input.txt" && same_rows "$TEST_TMP/top_stacks.json" || return 1
    done
}
check "the program on the page finds the stacks of a zip, a trace and a store" the_page_finds_stacks
the_page_needs_no_headers()
{
    program_of_the_page python top_sites.py || return 1
    (cd "$TEST_TMP" && "$PYTHON" top_sites.py "$library" demo.etl symbols > sites.txt) || return 1
    grep -qx '655360 BatteryMeter.exe History::append' "$TEST_TMP/sites.txt" || return 1
    rows_of_the_program process,site && same_rows "$TEST_TMP/top_sites.json" || return 1
    ! (cd "$TEST_TMP" && "$PYTHON" top_sites.py "$library" demo.ehs symbols 2> store.txt) && grep -q etlheap_open_store "$TEST_TMP/store.txt"
}
check "its Python program needs no structure of ours" the_page_needs_no_headers

# Functions of the program by the names of all that the library has inside.
a_program_may_use_our_names()
{
    test "$(wc -l < "$OUT/installed/names")" -gt 500 || return 1
    sed 's/ .*//; s/.*/void &(void) { __builtin_trap(); }/' "$OUT/installed/names" > "$TEST_TMP/clash.c"
    links_statically "$TEST_TMP/clash" "$example" "$TEST_TMP/clash.c" || return 1
    "$TEST_TMP/clash" "$TEST_TMP/demo.etl" | cmp - "$TEST_TMP/static.txt"
}
check "a program may have functions of the same names" a_program_may_use_our_names

finish
