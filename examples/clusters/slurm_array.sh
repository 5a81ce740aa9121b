#!/bin/bash
# sbatch examples/clusters/slurm_array.sh: eight jobs, each a shard of the plan with a run of its own.
#SBATCH --job-name=hipo
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@120
set -euo pipefail

runs="$HOME/hipo-runs"                    # shared by all machines
local="${SLURM_TMPDIR:-/tmp}/hipo-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID"
mkdir -p "$runs" "$local"
shard="$SLURM_ARRAY_TASK_ID/8"
name="shard-$SLURM_ARRAY_TASK_ID"

# A run lives on a disk of its machine, not on a network file system: it is copied there and back.
if [ -d "$runs/$name" ]; then cp -r "$runs/$name" "$local/"; fi
trap 'kill -TERM "$pid"; wait "$pid" || true; cp -r "$local/$name" "$runs/"' TERM
hipo generate hipo-paper --shard "$shard" --budget-usd 25 -o "$local/$name" &
pid=$!
code=0
wait "$pid" || code=$?
cp -r "$local/$name" "$runs/"
exit "$code"
