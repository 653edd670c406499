#!/usr/bin/env bash
# Checks of the source text, each one line of result: layers, limits, rooms, format, calls
# that Windows does not have, and a second compiler. A tool that is absent is a skip, never a pass.
#
#   static.sh list               the checks as parts of run_tests.sh
#   static.sh CHECK [FOLDER...]  one of them
#   static.sh consumers          installs the programs that read exports
#   static.sh goal GOAL...       a goal of the Makefile, as a check
set -u
MAKE=${MAKE:-make}
BUILD=${BUILD:-build}
# The make that started this shares no jobs with the ones started here.
unset MAKEFLAGS MFLAGS

say() # passed failed skipped
{
    echo "$1 passed, $2 failed, $3 skipped"
    exit "$2"
}

# A goal of the Makefile is one check.
check_goal()
{
    if "$MAKE" --no-print-directory BUILD="$BUILD" "$@"; then say 1 0 0; else say 0 1 0; fi
}

check_format()
{
    local tool
    tool=$(command -v clang-format-14 || command -v clang-format)
    if test -z "$tool" || ! "$tool" --version | grep -q 'version 14\.'; then
        echo "skipped: formatting is checked with clang-format 14 (package clang-format-14); other versions format otherwise"
        say 0 0 1
    fi
    check_goal format-check
}

# Two scripts of a page, of which the second names something of the first again.
check_page_names() # folder
{
    local sample folder=$1
    printf '%s\n' 'function draw(body) {}' 'const FEW = 3,' '  MANY = 300;' 'let shown = null;' > "$folder/first.js"
    for sample in 'async function draw() {}' 'const MANY = 2;' 'class FEW {' 'let other = 1,|  shown = 2;'; do
        echo "$sample" | tr '|' '\n' > "$folder/second.js"
        if awk -f tests/gates/page_names.awk "$folder/first.js" "$folder/second.js"; then
            echo "not found: $sample"
            rm -r "$folder"
            say 0 1 0
        fi
    done
    printf '%s\n' 'function redraw() {' '  const FEW = 1;' '  draw();' '}' '// function draw() {}' > "$folder/second.js"
    awk -f tests/gates/page_names.awk "$folder/first.js" "$folder/second.js" || { echo "found inside of a function"; rm -r "$folder"; say 0 1 0; }
}

# The check must find what it is for, or it would pass whatever there is.
check_words()
{
    local folder sample
    folder=$(mktemp -d)
    mkdir "$folder/engine"
    for sample in '"%u MiB are needed; raise --memory"' '"one" /* a comment */ "--top"'; do
        echo "$sample" > "$folder/engine/sample.c"
        if awk -f tests/gates/words.awk "$folder/engine/sample.c"; then
            echo "not found: $sample"
            rm -r "$folder"
            say 0 1 0
        fi
    done
    echo '/* --memory is documented' 'here: --top */ "wpr -start"' > "$folder/engine/sample.c"
    awk -f tests/gates/words.awk "$folder/engine/sample.c" || { echo "found in comments"; rm -r "$folder"; say 0 1 0; }
    for sample in 'u32 lanes;' '/* The journal */' 'void frames_settle(void);' 'i64 JOURNAL_FREE;'; do
        echo "$sample" > "$folder/engine/sample.c"
        if awk -f tests/gates/old_names.awk "$folder/engine/sample.c"; then
            echo "not found: $sample"
            rm -r "$folder"
            say 0 1 0
        fi
    done
    echo 'u32 planes; /* an event list */ unsigned settlement;' > "$folder/engine/sample.c"
    awk -f tests/gates/old_names.awk "$folder/engine/sample.c" || { echo "found in other words"; rm -r "$folder"; say 0 1 0; }
    check_page_names "$folder"
    rm -r "$folder"
    check_goal words
}

# Samples come before the sources: what must be found, and what must not.
check_null_offsets()
{
    local folder sample
    folder=$(mktemp -d)
    for sample in 'u32 *const a = malloc(n); pair b = { a, 0 };|b.at = a + n;|if (a == NULL)' \
        'x->times = calloc(n, 4);|copy(&x->times[1]);' '*at = strdup(s);|name = realloc(name, n);|name[0] = 0;'; do
        echo "$sample" | tr '|' '\n' > "$folder/sample.c"
        if awk -f tests/gates/null_offsets.awk "$folder/sample.c"; then
            echo "not found: $sample"
            rm -r "$folder"
            say 0 1 0
        fi
    done
    for sample in 'u32 *const a = malloc(sizeof a[0]);|if (!a) return;|b = a + n;' 'a = malloc(n);|}|a[0] = 1;' \
        'a = calloc(n, 4);|b = a != NULL ? a + n : NULL;' 'x->a = malloc(n);|y->a[0] = "a[0]"; /* a + n */|a[1] = 0;'; do
        echo "$sample" | tr '|' '\n' > "$folder/sample.c"
        awk -f tests/gates/null_offsets.awk "$folder/sample.c" || { echo "found: $sample"; rm -r "$folder"; say 0 1 0; }
    done
    rm -r "$folder"
    check_goal null-offsets
}

# Sources, read by the compiler that `make check` does not use. Its warnings come before it
# generates code, which is left out. A folder is a part: together they are as quick as there
# are cores.
check_second_compiler() # folder...
{
    if ! command -v clang > /dev/null; then
        echo "skipped: no clang here to read the sources with as well (package clang)"
        say 0 0 1
    fi
    check_goal VARIANT=check CC=clang syntax FOLDERS="$*"
}

# Headers of the libraries are the same for every processor, but lie among those of this system's C
# library, which are not. A name that is new here is one that the compiler does not find.
library_headers='xxhash.h xxh3.h zstd.h zstd_errors.h zip.h zipconf.h mspack.h zlib.h zconf.h curl unicode libxml cmocka.h cmocka_pbc.h'

# Sources, read by the compiler for arm64, which takes other headers in and has other types.
check_arm64() # folder...
{
    local compiler=aarch64-linux-gnu-gcc headers name folder status
    if ! command -v $compiler > /dev/null; then
        echo "skipped: no $compiler here to read the sources for arm64 (package gcc-aarch64-linux-gnu)"
        say 0 0 1
    fi
    if ! $compiler -E -include stdlib.h -x c /dev/null > /dev/null 2>&1; then
        echo "skipped: no headers of the C library for arm64 here to read the sources with (package libc6-dev-arm64-cross)"
        say 0 0 1
    fi
    headers=$(mktemp -d)
    for name in $library_headers; do
        for folder in /usr/include/*-linux-gnu /usr/include/libxml2 /usr/include; do
            test ! -e "$folder/$name" || ln -sfn "$folder/$name" "$headers/$name"
        done
    done
    "$MAKE" --no-print-directory BUILD="$BUILD" VARIANT=check CC=$compiler PKG_CFLAGS="-I$headers" syntax FOLDERS="$*"
    status=$?
    rm -r "$headers"
    test $status -eq 0 || say 0 1 0
    say 1 0 0
}

# Tests that use these are skipped without them.
install_consumers()
{
    if "$MAKE" --no-print-directory BUILD="$BUILD" consumer-deps; then say 1 0 0; fi
    echo "skipped: the programs that read exports cannot be installed here (make consumer-deps)"
    say 0 0 1
}

check_list()
{
    local name
    for name in layers words null-offsets limits rooms format windows-calls; do
        echo "$name bash tests/gates/static.sh $name"
    done
    # Unit tests are by far the most.
    echo "second-compiler-tests bash tests/gates/static.sh second-compiler tests"
    echo "second-compiler-engine bash tests/gates/static.sh second-compiler engine"
    echo "second-compiler-formats bash tests/gates/static.sh second-compiler formats cli"
    echo "second-compiler-parser bash tests/gates/static.sh second-compiler parser bench fuzz"
    echo "arm64-engine bash tests/gates/static.sh arm64 engine"
    echo "arm64-others bash tests/gates/static.sh arm64 parser formats cli"
}

case ${1-} in
list) check_list ;;
layers | limits | rooms) check_goal "$1" ;;
windows-calls) check_goal VARIANT=check windows-calls ;;
words) check_words ;;
null-offsets) check_null_offsets ;;
consumers) install_consumers ;;
goal) check_goal "${@:2}" ;;
format) check_format ;;
second-compiler) check_second_compiler "${@:2}" ;;
arm64) check_arm64 "${@:2}" ;;
*)
    echo "static.sh: say list, consumers, goal, layers, words, null-offsets, limits, rooms, format, windows-calls, second-compiler or arm64" >&2
    exit 2
    ;;
esac
