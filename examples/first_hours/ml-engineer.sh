#!/bin/sh
# The first hour of an ML engineer.
#
# Every command of docs/tutorials/ml-engineer.md, from which docs/generate_first_hours.py writes this
# file. It needs hipo and python on the path, and fills the folder it is started in. Each line is
# printed before what it prints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="${here%/*/*}"  # programs of the clone take parts in it
export OPENAI_API_KEY="${OPENAI_API_KEY:-none}"  # to estimate, a key must be there; none is sent
trap 'if [ -e endpoint.pid ]; then kill "$(cat endpoint.pid)" || true; fi' EXIT
set -v

# == A run
# calls, tokens and dollars, and how many rows of each kind the recipe can yield; nothing is sent
hipo generate --model offline/rules --scenarios products --strategy direct,reflective --tactics balanced --turns 2 -n 24 -o runs/ml --dry-run
hipo generate --model offline/rules --scenarios products --strategy direct,reflective --tactics balanced --turns 2 -n 24 -o runs/ml
# labelled again by a program that does not see the labels
hipo verify runs/ml --judge offline/judge --no-embeddings
python "$here/visitor.py" hipo view runs/ml

# == Sets
# the run itself, a dialogue a row
hipo export runs/ml -o sets/corpus
# an evaluator's prompt and the labels; better answers and worse ones
hipo export runs/ml --to sft --any -o sets/sft
hipo export runs/ml --to dpo --any --include-deception -o sets/dpo
# the messages and the right answer of every item, in one split
hipo export runs/ml --to benchmark --any -o sets/bench
if python -c "import importlib.util as i; raise SystemExit(not i.find_spec('datasets'))"; then
    python -c "from datasets import load_dataset; print(load_dataset('sets/sft'))"
else
    echo "skipped: no datasets here (pip install 'hipo[train]')"
fi

# == A training
if python -c "import importlib.util as i; raise SystemExit(not i.find_spec('trl'))"; then
    test -d tiny || python -m tests.tiny_model tiny
    # five steps each: a LoRA adapter of the labels, and one of what is preferred
    python sets/sft/train_sft.py --model tiny --steps 5 --output tuned/sft
    python sets/dpo/train_dpo.py --model tiny --steps 5 --output tuned/dpo
else
    echo "skipped: no trl here (pip install 'hipo[train]')"
fi

# == An evaluation
# what a model behind a key would cost
hipo evaluate sets/bench --task hipo-utterance -m openai/gpt-4o-mini -n 8 -o results --dry-run
# two that cost nothing: one reads the words, one answers by lot
hipo evaluate sets/bench --task hipo-utterance -m offline/reader -m offline/random -n 8 -o results
hipo evaluate table results --no-paper
