#!/bin/bash
# sbatch --dependency=singleton,afterany:JOB examples/clusters/merge_shards.sh, when JOB is the array.
# With afterok it would wait for ever: a shard with one failed case ends with exit code 1.
#SBATCH --job-name=hipo-merge
set -euo pipefail

runs="$HOME/hipo-runs"
local="$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/hipo-merge-XXXX")"

# Keep what was done, verdicts and all, however this ends.
keep() {
  if [ -d "$local/whole" ]; then
    rm -rf "$runs/.whole.new"
    cp -r "$local/whole" "$runs/.whole.new"
    rm -rf "$runs/whole"
    mv "$runs/.whole.new" "$runs/whole"
  fi
  rm -rf "$local"
}
trap keep EXIT
trap : TERM   # hipo is told as well, and finishes before anything is copied

cp -r "$runs"/shard-* "$local/"
# What an earlier merge judged is not paid for again.
if [ -d "$runs/whole" ]; then cp -r "$runs/whole" "$local/before"; fi
hipo runs merge "$local"/*/ -o "$local/whole"
hipo verify "$local/whole"
hipo export "$local/whole" --to benchmark -o "$HOME/sets/benchmark" --overwrite
