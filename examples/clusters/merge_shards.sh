#!/bin/bash
# sbatch --dependency=singleton,afterany:JOB examples/clusters/merge_shards.sh, when JOB is the array.
# With afterok it would wait for ever: a shard with one failed case ends with exit code 1.
#SBATCH --job-name=hipo-merge
#SBATCH --time=08:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

runs="$HOME/hipo-runs"
local="$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/hipo-merge-XXXX")"

# Keep what was done, verdicts and all, however this ends and whoever is told meanwhile.
keep() {
  trap '' TERM USR1
  if [ -d "$local/whole" ]; then
    if ! { rm -rf "$runs/.whole.new" && cp -r "$local/whole" "$runs/.whole.new"; }; then
      echo "error: not copied to $runs; the run lies on $(hostname) in $local/whole" >&2
      exit 7
    fi
    rm -rf "$runs/whole"
    mv "$runs/.whole.new" "$runs/whole"
    echo "copied to $runs/whole"
  fi
  rm -rf "$local"
}
trap keep EXIT
pid=""
# The time is running out: Slurm tells this shell alone.
trap 'if [ -n "$pid" ]; then kill -TERM "$pid" || true; fi' USR1
# Cancelled or preempted: Slurm tells hipo, too, and kills after 30 s. Half of that is for calls in flight.
trap 'if [ -n "$pid" ]; then { sleep 15; kill -TERM "$pid"; } > /dev/null 2>&1 & fi' TERM

if ! compgen -G "$runs/shard-*" > /dev/null; then
  echo "error: no shard in $runs: submit this with --dependency=singleton,afterany:JOB" >&2
  exit 2
fi
cp -r "$runs"/shard-* "$local/"
# What an earlier merge judged is not paid for again.
if [ -d "$runs/whole" ]; then cp -r "$runs/whole" "$local/before"; fi
hipo runs merge "$local"/*/ -o "$local/whole"

hipo verify "$local/whole" &
pid=$!
while kill -0 "$pid" 2> /dev/null; do wait "$pid" || true; done   # a signal ends wait, not hipo
code=0
wait "$pid" || code=$?
if [ "$code" -gt 1 ]; then exit "$code"; fi   # 1: some were not judged; the others make the set

hipo export "$local/whole" --to benchmark -o "$HOME/sets/benchmark" --overwrite
exit "$code"
