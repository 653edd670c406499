#!/bin/sh
# Installs the programs that the benchmark compares with.
#
#   bench_deps.sh MODULES
#
# heaptrack comes from the distribution, DuckDB from npm into the folder MODULES;
# nothing else is touched. What is there already is left alone.
set -u

modules=${1:?usage: bench_deps.sh MODULES}
failed=0

as_root()
{
    if test "$(id -u)" -eq 0; then
        "$@"
    else
        sudo "$@"
    fi
}

apt_install()
{
    as_root apt-get install -y -q --no-install-recommends "$@" > /dev/null
}

# apt needs its lists; a fresh machine has none.
need_package() # command, package
{
    command -v "$1" > /dev/null 2>&1 && return 0
    echo "Installing $2"
    apt_install "$2" || { as_root apt-get update -q > /dev/null && apt_install "$2"; } || {
        echo "Installing failed; install by hand: apt-get install $2" >&2
        failed=1
    }
}

need_package heaptrack_print heaptrack
need_package npm npm

if ! test -d "$modules/node_modules/@duckdb/node-api"; then
    echo "Installing @duckdb/node-api into $modules"
    mkdir -p "$modules"
    npm install --silent --no-fund --no-audit --prefix "$modules" @duckdb/node-api || {
        echo "Installing failed; install by hand: npm install --prefix $modules @duckdb/node-api" >&2
        failed=1
    }
fi

exit "$failed"
