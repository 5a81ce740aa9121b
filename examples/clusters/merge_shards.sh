#!/bin/bash
# When all jobs of the array are done, on a machine with a disk of its own.
set -euo pipefail

cp -r "$HOME"/hipo-runs/shard-* /tmp/
hipo runs merge /tmp/shard-* -o /tmp/whole
hipo verify /tmp/whole
hipo export /tmp/whole --to benchmark -o "$HOME/sets/benchmark"
