#!/bin/bash
# sbatch examples/clusters/slurm_array.sh: eight jobs, each a shard of the plan with a run of its own.
# Submitted again, it goes on. To submit some of them again: sbatch --array=3,5 ...
# kubernetes_job.yaml runs it, too.
#SBATCH --job-name=hipo
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --dependency=singleton
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

shards=8                                  # parts of the plan, whichever of them are submitted
runs="$HOME/hipo-runs"                    # shared by all machines
every=600                                 # seconds between copies of a run that is being played
name="shard-${SLURM_ARRAY_TASK_ID:?is not set: submit this with sbatch --array=1-$shards}"

pid="" told="" due=""
# The time is running out: Slurm tells this shell alone.
trap 'told=1; if [ -n "$pid" ]; then kill -TERM "$pid" || true; fi' USR1
# Cancelled or preempted: Slurm tells hipo, too, and kills after 30 s. Half of that is for calls in flight;
# who has not been told (Kubernetes tells this shell alone) is told then.
trap 'told=1; if [ -n "$pid" ]; then { sleep 15; kill -TERM "$pid"; } > /dev/null 2>&1 & fi' TERM
trap 'due=1' USR2                         # from the clock below

# Copy a folder to where all machines see it; the copy that is there goes when the new one is whole.
keep() {
  rm -rf "$runs/.$name.new" && cp -r "$1" "$runs/.$name.new" || return
  if [ -d "$runs/$name" ]; then
    rm -rf "$runs/.$name.old" && mv "$runs/$name" "$runs/.$name.old" || return
  fi
  mv "$runs/.$name.new" "$runs/$name" && rm -rf "$runs/.$name.old"
}

# The same while hipo writes the run: SQLite makes a whole copy of the database.
keep_live() {
  rm -rf "$local/live"
  mkdir "$local/live" && cd "$local/$name" &&
    find . -maxdepth 1 -type f ! -name 'run.sqlite*' -exec cp {} "$local/live/" \; &&
    python3 -I -c 'import sqlite3, sys
sqlite3.connect("file:run.sqlite?mode=ro", uri=True).execute("vacuum into ?", sys.argv[1:])' \
      "$local/live/run.sqlite" && keep "$local/live"
}

# A run lives on a disk of its machine, not on a network file system: it is copied there and back.
mkdir -p "$runs"
local="$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/hipo-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID-XXXX")"
trap 'rm -rf "$local"' EXIT
if [ ! -d "$runs/$name" ] && [ -d "$runs/.$name.old" ]; then mv "$runs/.$name.old" "$runs/$name"; fi
if [ -d "$runs/$name" ]; then cp -r "$runs/$name" "$local/"; fi
if [ -n "$told" ]; then exit 3; fi

hipo generate hipo-paper --shard "$SLURM_ARRAY_TASK_ID/$shards" --budget-tokens 5000000 -o "$local/$name" &
pid=$!
{ while sleep "$every" && kill -USR2 "$$"; do :; done; } > /dev/null 2>&1 &   # ends with this shell
clock=$!
while kill -0 "$pid" 2> /dev/null; do     # a signal ends wait, not hipo
  wait "$pid" || true
  if [ -n "$due" ] && [ -z "$told" ] && kill -0 "$pid" 2> /dev/null; then (keep_live) || true; fi
  due=""
done
code=0
wait "$pid" || code=$?
kill "$clock" 2> /dev/null || true

trap '' TERM USR1 USR2                    # whoever is told now, the copy becomes whole
if [ -d "$local/$name" ]; then
  if keep "$local/$name"; then
    echo "copied to $runs/$name"
  else
    trap - EXIT
    echo "error: not copied to $runs; the run lies on $(hostname) in $local/$name" >&2
    code=7
  fi
fi
exit "$code"
