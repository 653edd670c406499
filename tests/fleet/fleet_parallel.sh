#!/usr/bin/env bash
# Does GNU parallel make the same archive as one machine, also when something is killed,
# and on another machine?
#
# The other machine is this one through a real sshd, which is started here with a key, a
# port and a configuration of its own, and ended. What is killed is killed midway: see
# stop_library of fleet_traces.sh.
#
# Functions are called through check:
# shellcheck disable=SC2317
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
. tests/fleet/fleet_traces.sh

work=$(mktemp -d)
daemon=
trap 'test -z "$daemon" || kill "$daemon"; rm -rf "$work"' EXIT
PATH=$PATH:/usr/sbin

for program in parallel flock; do
    command -v $program > /dev/null || {
        skip "GNU parallel" "no $program here: apt-get install parallel, as make check-fleet does"
        finish
    }
done

make_traces 20
single_machine "$work/wanted.ehs" "${traces[@]}" || fail "one machine stores and merges ${#traces[@]} traces"
run() { "$FLEET/parallel_store.sh" -e "$EVERY" "$@"; }
stored_lines() { grep -c ': stored$' "$work/log"; }

# --- here ----------------------------------------------------------------------------

folder=$work/here
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]}" > "$work/log" 2>&1
check "all traces: status" test $? -eq 0
check "all traces: the sum has the bytes of the single machine" cmp "$folder/all.ehs" "$work/wanted.ehs"
check "all traces: each is stored once" test "$(stored_lines)" -eq ${#traces[@]}
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]}" > "$work/log" 2>&1
check "again: nothing is stored" test $? -eq 0 -a "$(stored_lines)" -eq 0
rm "$folder/summaries${traces[4]}.ehs"
touch -d '2001-01-01' "${traces[7]}"
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]}" > "$work/log" 2>&1
check "one summary lost, one trace with another time: those are stored" test $? -eq 0 -a "$(stored_lines)" -eq 2
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]:0:5}" > "$work/log" 2>&1
single_machine "$work/five.ehs" "${traces[@]:0:5}"
check "fewer traces: nothing is stored" test "$(stored_lines)" -eq 0
check "fewer traces: they are the sum" cmp "$folder/all.ehs" "$work/five.ehs"

# --- killed --------------------------------------------------------------------------

folder=$work/killed
stopping_program "${traces[9]}"
begin_run() # name
{
    export STOP_ONCE=$work/$1.stopped
    ETLHEAP=$work/etlheap run -o "$folder" -j 2 "${traces[@]}" > "$work/log" 2>&1 &
    running=$!
    check "$1: the program is caught midway" wait_for is_stopped
}

begin_run killed
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]}" > "$work/busy.log" 2>&1
check "killed: a second run in the same folder is refused" test $? -eq 3 -a -s "$work/busy.log"
kill -9 "$(cat "$STOP_ONCE")"
wait $running
check "killed: status 3, and nothing is merged" test $? -eq 3 -a ! -e "$folder/all.ehs"
check "killed: the others are stored" test "$(stored_lines)" -eq $((${#traces[@]} - 1))
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]}" > "$work/log" 2>&1
check "killed: the same command again stores the one" test $? -eq 0 -a "$(stored_lines)" -eq 1
check "killed: the sum has the bytes of the single machine" cmp "$folder/all.ehs" "$work/wanted.ehs"

folder=$work/ended
begin_run ended
# All of the run, as a machine ends that loses its power.
kill_all()
{
    local child children
    children=$(ps -o pid= --ppid "$1")
    kill -9 "$1"
    for child in $children; do kill_all "$child"; done
}
kill_all $running 2> /dev/null
wait $running 2> /dev/null
before=$(find "$folder/summaries" -name '*.ehs' | wc -l)
ETLHEAP=$ETLHEAP run -o "$folder" "${traces[@]}" > "$work/log" 2>&1
check "ended: the same command again stores the rest" test $? -eq 0 -a "$(stored_lines)" -ge $((${#traces[@]} - before)) -a "$before" -gt 0
check "ended: the sum has the bytes of the single machine" cmp "$folder/all.ehs" "$work/wanted.ehs"
unset STOP_ONCE

# --- another machine -----------------------------------------------------------------

start_sshd()
{
    local i
    ssh-keygen -q -t ed25519 -N '' -f "$work/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/key" || return
    mkdir -p /run/sshd
    read -r port < <("${PYTHON:-python3}" -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    printf '%s\n' "ListenAddress 127.0.0.1:$port" "HostKey $work/host" "AuthorizedKeysFile $work/key.pub" \
        'StrictModes no' 'PermitRootLogin yes' 'UsePAM no' 'PasswordAuthentication no' 'PidFile none' 'MaxStartups 100' > "$work/sshd_config"
    printf '%s\n' 'Host other' 'HostName 127.0.0.1' "Port $port" "User $(id -un)" "IdentityFile $work/key" \
        'StrictHostKeyChecking no' "UserKnownHostsFile $work/known" 'LogLevel ERROR' > "$work/ssh_config"
    "$(command -v sshd)" -D -e -f "$work/sshd_config" > "$work/sshd.log" 2>&1 &
    daemon=$!
    for ((i = 0; i < 50; i++)); do
        ! ssh -F "$work/ssh_config" other true 2> /dev/null || return 0
        sleep 0.1
    done
    return 1
}

if test "$(id -u)" -ne 0 || ! command -v sshd > /dev/null; then
    skip "another machine" "needs root, and sshd (package openssh-server)"
elif ! start_sshd; then
    fail "sshd starts" "$(tail -n 3 "$work/sshd.log")"
else
    folder=$work/other
    PARALLEL_SSH="ssh -F $work/ssh_config" ETLHEAP=$ETLHEAP run -S 2/other -S 1/: -o "$folder" "${traces[@]}" > "$work/log" 2>&1
    check "another machine: status" test $? -eq 0
    check "another machine: the sum has the bytes of the single machine" cmp "$folder/all.ehs" "$work/wanted.ehs"
    check "another machine: it has done some" grep -q other "$folder/joblog"

    # The command of docs/fleet.md for machines that share no folder, with names of here.
    mkdir -p "$work/apart/traces" "$work/bin"
    for i in 0 1 2 3; do cp "${traces[i]}" "$work/apart/traces/$i.etl"; done
    ln -s "$ETLHEAP" "$work/bin/etlheap"
    line=$(sed -n 's/^    \(parallel --sshlogin .*\)/\1/p' docs/fleet.md)
    line=${line/8\/ada@build1/2\/other}
    line=${line/ etlheap / $work/bin/etlheap }
    carried() { (cd "$work/apart" && PARALLEL_SSH="ssh -F $work/ssh_config" bash -c "$line" && "$ETLHEAP" merge traces/*.ehs -o all.ehs); }
    check "machines without a common folder: the command of docs/fleet.md" carried
    by_hand() { (cd "$work/apart" && for i in 0 1 2 3; do "$ETLHEAP" store --summary "traces/$i.etl" -o "$i.ehs" || exit; done && "$ETLHEAP" merge [0-9].ehs -o wanted.ehs); }
    check "machines without a common folder: by hand" by_hand
    check "machines without a common folder: the same bytes" cmp "$work/apart/all.ehs" "$work/apart/wanted.ehs"
fi

finish
