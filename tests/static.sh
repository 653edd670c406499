#!/usr/bin/env bash
# Checks of the source text, each one line of result: layers, limits, format and
# a second compiler. A tool that is absent is a skip, never a pass.
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
        echo "skipped: formatting is checked with clang-format 14 (package clang-format-14)"
        say 0 0 1
    fi
    check_goal format-check
}

# All sources, compiled by the compiler that `make check` does not use.
check_second_compiler()
{
    if ! command -v clang > /dev/null; then
        echo "skipped: no clang here to compile with as well (package clang)"
        say 0 0 1
    fi
    check_goal VARIANT=check CC=clang objects
}

case ${1-} in
layers | limits) check_goal "$1" ;;
format) check_format ;;
second-compiler) check_second_compiler ;;
*)
    echo "static.sh: say layers, limits, format or second-compiler" >&2
    exit 2
    ;;
esac
