#!/usr/bin/env bash
# scripts/slurm-sweep.sh on a SLURM of one node, which is made for it and ends with it: shards, one whose gpulab is killed, one that
# is requeued, and the merge. Needs munged, slurmctld, slurmd and root. Usage: tests/slurm.sh GPULAB
# Exit status 77: SLURM does not start here.
set -euo pipefail
gpulab=$(readlink -f -- "$1")
sweep=$(readlink -f -- "$(dirname -- "$0")/../scripts/slurm-sweep.sh")
here=$(mktemp -d)
PATH=$PATH:/usr/sbin:/sbin
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null || true; wait; rm -rf -- "$here"' EXIT
fail() {
    echo "tests/slurm.sh: $*" >&2
    tail -n 20 "$here"/work/slurm-*.out >&2 2>/dev/null || true
    exit 1
}
# Waits a minute at most for a command to succeed.
until_true() {
    local tries=120
    until "$@"; do
        ((tries-- > 0)) || return 1
        sleep 0.5
    done
}

# --- A cluster of this machine alone ---------------------------------------------------------------------

cd -- "$here"
mkdir state spool work
head -c 1024 /dev/urandom >munge.key
chmod 600 munge.key
munged --foreground --force --key-file="$here/munge.key" --socket="$here/munge" --pid-file="$here/munged.pid" \
    --log-file="$here/munged.log" --seed-file="$here/munge.seed" &>munged.out &
daemons+=($!)
# Two tasks at a time, whatever the machine has.
name=$(hostname -s)
cat >slurm.conf <<CONF
ClusterName=gpulab
SlurmctldHost=$name(127.0.0.1)
# A requeued task waits until what it was started with has expired, two minutes by default.
AuthInfo=socket=$here/munge,cred_expire=5
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=17817
SlurmdPort=17818
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName=$name NodeAddr=127.0.0.1 CPUs=2
PartitionName=main Nodes=ALL Default=YES
CONF
export SLURM_CONF=$here/slurm.conf
until_true test -S munge || exit 77
slurmctld -D -f "$SLURM_CONF" &>slurmctld.out &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" &>slurmd.out &
daemons+=($!)
is_idle() { [[ $(sinfo -h -o %t 2>/dev/null) == idle ]]; }
until_true is_idle || { tail -n 5 slurm*.log slurm*.out >&2; exit 77; }

# --- A sweep in three shards -----------------------------------------------------------------------------

cd work
options=(--kernel reduce --n '2^12,2^14' --wg '32..256*2' --max-runs 5)
GPULAB=$gpulab "$sweep" 3 out.csv "${options[@]}" >ids
has_rows() { [[ $(sed -n 4p "out.shard-$1-of-3.csv" 2>/dev/null) ]]; }
until_true has_rows 1 || fail "the first shard got no rows"
until_true has_rows 2 || fail "the second shard got no rows"
killed=
for process in /proc/[0-9]*; do
    if [[ $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) == "$gpulab sweep "*"--shard 1/3 "* ]]; then
        kill -KILL "${process#/proc/}" && killed=1
    fi
done
[[ -n $killed ]] || fail "no task ran the first shard"
scontrol requeue "$(squeue -h -t R -o '%A %K' | awk '$2 == 2 { print $1 }')"
joined() { [[ -s out.csv || -z $(squeue -h) ]]; }
for _ in 1 2 3; do until_true joined && break; done
[[ -s out.csv ]] || fail "the shards were not joined"
# All in one piece, without a row that is lost or there twice.
planned=$("$gpulab" sweep "${options[@]}" --dry-run | tail -n 1)
rows=$(($(wc -l <out.csv) - 1))
[[ $planned == "$rows "* ]] || fail "$rows rows, and the plan says: $planned"

# --- A shard that never gets whole -----------------------------------------------------------------------

sed -i '$d' out.shard-3-of-3.csv
files=(out.shard-{1,2,3}-of-3.csv)
! "$gpulab" sweep --merge "${files[@]}" -o other.csv 2>why || fail "shards that lack a row were joined"
grep -q 'missing, of shard 3/3' why || fail "$(cat why)"
echo "$rows rows in three shards"
