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

finish()
{
    echo "1..$tap_count"
    test "$tap_failed" -eq 0
    exit
}
