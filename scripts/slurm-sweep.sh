#!/bin/bash
# A sweep as a SLURM job array, one shard a task, and a job that joins them:
#
#   scripts/slurm-sweep.sh 8 results.csv --kernel dot --n 2^20..2^26*4
#
# submits 8 tasks and the merge. A task that is requeued goes on where it stopped, and one whose gpulab is killed
# requeues itself, three times at most. The merge comes when all tasks have ended, and says which shard lacks rows.
# GPULAB names the binary, SBATCH_OPTIONS what sbatch needs beside, as in --gres=gpu:1 --partition=gpu.
# The tasks must run on devices of one kind: the merge refuses others.
set -eu

gpulab=${GPULAB:-gpulab}

shard_file() {
    echo "${1%.csv}.shard-$2-of-$3.csv"
}

# Within the array: run this task's shard.
if [ "${GPULAB_STEP:-}" = shard ]; then
    output=$GPULAB_OUTPUT of=$GPULAB_SHARDS index=$SLURM_ARRAY_TASK_ID
    status=0
    "$gpulab" sweep "$@" --shard "$index/$of" --resume -o "$(shard_file "$output" "$index" "$of")" || status=$?
    if [ "$status" -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit "$status"
fi

# After the array: join the shards.
if [ "${GPULAB_STEP:-}" = merge ]; then
    files=()
    for index in $(seq "$GPULAB_SHARDS"); do
        files+=("$(shard_file "$GPULAB_OUTPUT" "$index" "$GPULAB_SHARDS")")
    done
    exec "$gpulab" sweep --merge "${files[@]}" -o "$GPULAB_OUTPUT"
fi

if [ $# -lt 2 ]; then
    echo "usage: $0 SHARDS OUTPUT.csv SWEEP-OPTIONS..." >&2
    exit 2
fi
export GPULAB=$gpulab GPULAB_SHARDS=$1 GPULAB_OUTPUT=$2
shift 2
# A missing binary is found here and not in the queue.
if ! command -v "$gpulab" >/dev/null; then
    echo "$0: there is no $gpulab: name the binary in GPULAB" >&2
    exit 2
fi
# SBATCH_OPTIONS is a list of words.
# shellcheck disable=SC2086
array=$(GPULAB_STEP=shard sbatch --parsable --requeue --array="1-$GPULAB_SHARDS" ${SBATCH_OPTIONS:-} "$0" "$@")
# Rows that say that a kernel failed make a task fail, too: those belong into the result.
# shellcheck disable=SC2086 # several options are several words
GPULAB_STEP=merge sbatch --parsable --dependency="afterany:${array%%;*}" ${SBATCH_OPTIONS:-} "$0"
