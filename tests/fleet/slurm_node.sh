# slurm_node.sh - a Slurm cluster of this one machine, in a folder. To be sourced by bash.
#
# munged, slurmctld and slurmd are started as the user that runs the test, with ports, key,
# spool and logs of their own, so that a Slurm that is installed here is not touched; no
# service manager and no control groups are needed. slurm_node_stop, to be called at the
# end, ends exactly these.
#
# shellcheck shell=bash

# What is not there, in words; empty when a node can be started.
slurm_node_lacks()
{
    local program
    if test "$(id -u)" -ne 0; then
        echo "starting Slurm's daemons needs root"
        return
    fi
    for program in munged slurmctld slurmd sbatch squeue scancel scontrol; do
        PATH=$PATH:/usr/sbin command -v "$program" > /dev/null || {
            echo "no $program here: apt-get install slurm-wlm munge, as make check-fleet does"
            return
        }
    done
}

# Two ports that nobody listens on.
slurm_node_ports()
{
    "${PYTHON:-python3}" -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[s.getsockname()[1] for s in sockets])'
}

slurm_node_start() # folder
{
    local folder=$1 host ports i
    host=$(hostname -s)
    read -r -a ports < <(slurm_node_ports)
    slurm_node_pids=()
    mkdir -p "$folder"/{munge,state,spool,log}
    # The key is nobody else's business, and munge insists on that.
    chmod 700 "$folder/munge"
    (umask 077 && head -c 1024 /dev/urandom > "$folder/munge/key")
    PATH=$PATH:/usr/sbin
    munged --foreground --force --num-threads=2 --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
        --pid-file="$folder/munge/pid" --log-file="$folder/log/munged" --seed-file="$folder/munge/seed" \
        > "$folder/log/munged.out" 2>&1 < /dev/null &
    slurm_node_pids+=($!)
    export SLURM_CONF=$folder/slurm.conf
    cat > "$SLURM_CONF" << CONF
ClusterName=etlheap-test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/state/slurmctld.pid
SlurmdPidFile=$folder/spool/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
MpiDefault=none
ReturnToService=2
KillWait=1
MinJobAge=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
    # Slurm 22 cannot do without a plugin; none of its control groups is used.
    case $(slurmd -V) in
    *' 1'[0-9].* | *' 20.'* | *' 21.'* | *' 22.'*)
        printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s/cgroup\n' "$folder" > "$folder/cgroup.conf"
        ;;
    *) echo "CgroupPlugin=disabled" > "$folder/cgroup.conf" ;;
    esac
    for ((i = 0; i < 100; i++)); do
        test ! -S "$folder/munge/socket" || break
        sleep 0.1
    done
    slurmctld -D -c -f "$SLURM_CONF" > "$folder/log/slurmctld.out" 2>&1 < /dev/null &
    slurm_node_pids+=($!)
    slurmd -D -c -f "$SLURM_CONF" -N "$host" > "$folder/log/slurmd.out" 2>&1 < /dev/null &
    slurm_node_pids+=($!)
    for ((i = 0; i < 300; i++)); do
        test "$(sinfo --noheader --format=%t 2> /dev/null)" != idle || return 0
        sleep 0.1
    done
    for i in "$folder"/log/*; do tail -n 3 "$i" | sed "s|^|$(basename "$i"): |" >&2; done
    return 1
}

slurm_node_stop()
{
    local i
    test ${#slurm_node_pids[@]} -gt 0 || return 0
    scancel --user="$(id -un)" 2> /dev/null
    # The daemons of the node first, the ones they depend on last.
    for ((i = ${#slurm_node_pids[@]} - 1; i >= 0; i--)); do
        kill "${slurm_node_pids[i]}" 2> /dev/null
        wait "${slurm_node_pids[i]}" 2> /dev/null
    done
    slurm_node_pids=()
}
