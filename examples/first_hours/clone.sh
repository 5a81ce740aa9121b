#!/bin/sh
# The three first hours on a fresh clone: clone.sh FOLDER
#
# Clones the repository that this file is in into FOLDER, which must be empty, installs it there as
# README.md says, with what review, statistics and training need, and runs each script in a folder of
# its own. What each printed is kept in FOLDER/*.txt. TORCH_ARGS is for make (README.md, "About torch").
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?name an empty folder}"
cd "$1"
here=$(pwd)
git clone -q "$repository" clone
make -C clone .venv/.demo
clone/.venv/bin/pip install -q -c clone/constraints.txt -e "./clone[review,stats,train]"
PATH="$here/clone/.venv/bin:$PATH"
for user in linguist ml-engineer batch-runner; do
    mkdir "$user"
    began=$(date +%s)
    code=0
    (cd "$user" && sh "$here/clone/examples/first_hours/$user.sh") > "$user.txt" 2>&1 || code=$?
    echo "$user: exit code $code after $(($(date +%s) - began)) s, $(wc -l < "$user.txt") lines in $here/$user.txt"
    [ "$code" -eq 0 ] || { tail -n 20 "$user.txt"; exit "$code"; }
done
