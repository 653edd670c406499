# fleet_traces.sh - what the tests of cli/fleet/ share: traces, the sum that one machine
# makes of them, and a program that is caught midway. To be sourced by bash after tap.sh;
# the test sets work, a folder of its own.
#
# shellcheck shell=bash

ETLHEAP=$(realpath "${ETLHEAP:-build/etlheap}")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-build/release/make_trace}")
# shellcheck disable=SC2034
FLEET=$PWD/cli/fleet
EVERY=10ms
WAIT_SECONDS=120

check() # name, command...: what it says is the reason
{
    local name=$1
    shift
    # shellcheck disable=SC2154
    if "$@" > "$work/check.log" 2>&1 < /dev/null; then pass "$name"; else fail "$name" "$(tail -n 5 "$work/check.log")"; fi
}

# Fills traces: of two agents, with the same names, in folders that need quotes.
make_traces() # count
{
    local i trace
    traces=()
    for ((i = 0; i < $1; i++)); do
        trace="$work/traces/agent $((i % 2))'s/night$((i / 2)).etl"
        mkdir -p "$(dirname "$trace")"
        "$MAKE_TRACE" workload "$trace" --seed $((100 + i)) --events 300 > /dev/null
        traces+=("$trace")
    done
}

# What must come out: by single commands, one after the other.
single_machine() # output, trace...
{
    local output=$1 summaries=() trace
    shift
    mkdir -p "$work/single"
    for trace in "$@"; do
        summaries+=("$work/single/${#summaries[@]}.ehs")
        "$ETLHEAP" store --summary --every "$EVERY" "$trace" -o "${summaries[-1]}" || return
    done
    "$ETLHEAP" merge "${summaries[@]}" -o "$output"
}

# Makes $work/etlheap, the program, which stops itself when all of one trace's summary is
# written under its temporary name: the first time, if STOP_ONCE names a file for its id. A
# library put before the C library does it in rename().
stopping_program() # trace
{
    ${CC:-gcc} -shared -fPIC -x c -o "$work/stop.so" - << 'C' || fail "the library that stops the program compiles"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rename(const char *from, const char *to)
{
    const char *const at = getenv("STOP_AT"), *const once = getenv("STOP_ONCE");
    if (at && once && strstr(to, at)) {
        const int file = open(once, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (file >= 0) {
            dprintf(file, "%ld\n", (long)getpid());
            close(file);
            raise(SIGSTOP);
        }
    }
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
C
    cat > "$work/etlheap" << SH
#!/bin/sh
export LD_PRELOAD='$work/stop.so' STOP_AT="$1.ehs"
exec '$ETLHEAP' "\$@"
SH
    chmod +x "$work/etlheap"
}

is_stopped()
{
    test -s "$STOP_ONCE" && grep -q '^State:.T' "/proc/$(cat "$STOP_ONCE")/status"
}

# Runs a command until it succeeds.
wait_for() # command...
{
    local i
    for ((i = 0; i < WAIT_SECONDS * 10; i++)); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}
