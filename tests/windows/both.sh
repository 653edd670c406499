# both.sh - runs the program for Windows and the one for Linux with the same words, in
# folders that hold the same files, and compares what they print, say on stderr, return and
# write. To be sourced by bash after tap.sh.
#
#   ETLHEAP   starts etlheap.exe (see wine.sh)
#   NATIVE    the program for Linux, built of the same sources
#
# shellcheck shell=bash

ETLHEAP=$(realpath "${ETLHEAP:-build/windows/run/etlheap}")
NATIVE=$(realpath "${NATIVE:-build/release/etlheap}")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/release/make_trace}")
TEST_TMP=$(realpath -m "${TEST_TMP:-$(mktemp -d)}")
export LC_ALL=C.UTF-8
mkdir -p "$TEST_TMP/inputs" "$TEST_TMP/native" "$TEST_TMP/windows"

run_both() # argument...
{
    (cd "$TEST_TMP/native" && timeout 120 "$NATIVE" "$@" > ../native.out 2> ../native.err < /dev/null; echo $? > ../native.status) &
    (cd "$TEST_TMP/windows" && timeout 120 "$ETLHEAP" "$@" > ../windows.out 2> ../windows.err < /dev/null; echo $? > ../windows.status)
    wait
}

# Files that a run wrote lie in the two folders beside the inputs. Of all that is printed, only
# commands to type next have the quotes of a system's shells.
differences()
{
    local part
    sed -i "/^More: etlheap /s/'/\"/g" "$TEST_TMP/native.out"
    for part in status err out; do
        cmp -s "$TEST_TMP/native.$part" "$TEST_TMP/windows.$part" && continue
        echo "$part differs: $(cmp "$TEST_TMP/native.$part" "$TEST_TMP/windows.$part" 2>&1)"
        echo "Linux:   $(head -c 300 "$TEST_TMP/native.$part" | tr -c '[:print:]\n' . | head -n 3)"
        echo "Windows: $(head -c 300 "$TEST_TMP/windows.$part" | tr -c '[:print:]\n' . | head -n 3)"
    done
    diff -rq "$TEST_TMP/native" "$TEST_TMP/windows" 2>&1
}

same_as() # status, argument...
{
    local wanted=$1 name found
    shift
    name="etlheap $*"
    run_both "$@"
    found=$(differences)
    if test -n "$found"; then
        mapfile -t found <<< "$found"
        fail "$name" "${found[@]}"
    elif test "$(cat "$TEST_TMP/native.status")" -ne "$wanted"; then
        fail "$name" "both return $(cat "$TEST_TMP/native.status"), wanted $wanted" "$(head -n 1 "$TEST_TMP/native.err")"
    else
        pass "$name"
    fi
    (cd "$TEST_TMP/native" && rm -f out.*)
    (cd "$TEST_TMP/windows" && rm -f out.*)
}

same() { same_as 0 "$@"; }

# The same inode in both folders: an input cannot differ.
put() # file, name
{
    ln -f "$1" "$TEST_TMP/native/$2" 2> /dev/null || cp "$1" "$TEST_TMP/native/$2"
    ln -f "$1" "$TEST_TMP/windows/$2" 2> /dev/null || cp "$1" "$TEST_TMP/windows/$2"
}

make() # name, make_trace's arguments...
{
    local name=$1 scenario=$2
    shift 2
    "$MAKE_TRACE" "$scenario" "$TEST_TMP/inputs/$name" "$@" > "$TEST_TMP/make.log" 2>&1 || fail "$name is made" "$(tail -n 1 "$TEST_TMP/make.log")"
    put "$TEST_TMP/inputs/$name" "$name"
}

remove() # name...
{
    local name
    for name in "$@"; do
        rm -f "$TEST_TMP/native/$name" "$TEST_TMP/windows/$name"
    done
}

# The program for Linux gets other words for the same file; what it says must be the same.
alike() # description, words for Windows..., --, words for Linux...
{
    local name=$1 found windows=()
    shift
    while test "$1" != --; do
        windows+=("$1")
        shift
    done
    shift
    (cd "$TEST_TMP/windows" && timeout 120 "$ETLHEAP" "${windows[@]}" > ../windows.out 2> ../windows.err < /dev/null; echo $? > ../windows.status)
    (cd "$TEST_TMP/native" && timeout 120 "$NATIVE" "$@" > ../native.out 2> ../native.err < /dev/null; echo $? > ../native.status)
    # The name that was given is told in a report of JSON.
    sed -i 's/"files": *\[[^]]*\]//' "$TEST_TMP/windows.out" "$TEST_TMP/native.out"
    found=$(differences)
    if test -z "$found" && test "$(cat "$TEST_TMP/windows.status")" -eq 0; then
        pass "$name"
    else
        mapfile -t found <<< "$found"
        fail "$name" "${found[@]}" "status $(cat "$TEST_TMP/windows.status"): $(head -n 1 "$TEST_TMP/windows.err")"
    fi
    (cd "$TEST_TMP/native" && rm -f out.*)
    (cd "$TEST_TMP/windows" && rm -f out.*)
}

# The first line is all that its reader wants. Nobody calls that a failure.
leaves() # argument...
{
    local status
    (cd "$TEST_TMP/windows" && exec "$ETLHEAP" "$@" 2> "$TEST_TMP/windows.err" < /dev/null) | head -n 1 > "$TEST_TMP/windows.out"
    status=${PIPESTATUS[0]}
    if test "$status" -eq 0 && test -s "$TEST_TMP/windows.out" && ! test -s "$TEST_TMP/windows.err"; then
        pass "etlheap $* | head -n 1"
    else
        fail "etlheap $* | head -n 1" "status $status: $(cat "$TEST_TMP/windows.err")"
    fi
}
