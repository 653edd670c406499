# tap.sh - what the shell tests share: results as TAP lines. To be sourced.

tap_count=0
tap_failed=0

pass() # name
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

fail() # name, reason...
{
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    shift
    printf '#   %s\n' "$@"
}

skip() # name, reason
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count # SKIP $1: $2"
}

# For tests of the program: full paths of it and of what makes traces, in a folder of
# the test's own.
begin_program_test()
{
    ETLHEAP=$(realpath "${ETLHEAP:-build/etlheap}")
    MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/release/make_trace}")
    TEST_TMP=${TEST_TMP:-$(mktemp -d)}
    cd "$TEST_TMP" || exit 1
}

finish()
{
    echo "1..$tap_count"
    test "$tap_failed" -eq 0
    exit
}
