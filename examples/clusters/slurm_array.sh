#!/bin/bash
# sbatch examples/clusters/slurm_array.sh: eight jobs, each a shard of the plan with a run of its own.
# Submitted again, it goes on. To submit some of them again: sbatch --array=3,5 ...
#SBATCH --job-name=hipo
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --dependency=singleton
set -euo pipefail

shards=8                                  # parts of the plan, whichever of them are submitted
runs="$HOME/hipo-runs"                    # shared by all machines
name="shard-$SLURM_ARRAY_TASK_ID"
mkdir -p "$runs"

# A run lives on a disk of its machine, not on a network file system: it is copied there and back.
local="$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/hipo-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID-XXXX")"
if [ ! -d "$runs/$name" ] && [ -d "$runs/.$name.old" ]; then mv "$runs/.$name.old" "$runs/$name"; fi
if [ -d "$runs/$name" ]; then cp -r "$runs/$name" "$local/"; fi

pid=""
trap 'kill -TERM "$pid" || true' USR1     # the time is running out: Slurm tells this shell alone
# Cancelled or preempted: Slurm tells hipo, too, and kills after 30 s. Half of that is for calls in flight.
trap '{ sleep 15; kill -TERM "$pid"; } > /dev/null 2>&1 &' TERM
hipo generate hipo-paper --shard "$SLURM_ARRAY_TASK_ID/$shards" --budget-tokens 5000000 -o "$local/$name" &
pid=$!
while kill -0 "$pid" 2> /dev/null; do wait "$pid" || true; done   # a signal ends wait, not hipo
code=0
wait "$pid" || code=$?

# What was there before goes when the new copy is whole.
if [ -d "$local/$name" ]; then
  rm -rf "$runs/.$name.new" "$runs/.$name.old"
  cp -r "$local/$name" "$runs/.$name.new"
  if [ -d "$runs/$name" ]; then mv "$runs/$name" "$runs/.$name.old"; fi
  mv "$runs/.$name.new" "$runs/$name"
  rm -rf "$runs/.$name.old"
fi
rm -rf "$local"
exit "$code"
