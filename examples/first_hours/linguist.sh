#!/bin/sh
# The first hour of a linguist.
#
# Every command of docs/tutorials/linguist.md, from which docs/generate_first_hours.py writes this
# file. It needs hipo and python on the path, and fills the folder it is started in. Each line is
# printed before what it prints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="${here%/*/*}"  # programs of the clone take parts in it
export OPENAI_API_KEY="${OPENAI_API_KEY:-none}"  # to estimate, a key must be there; none is sent
trap 'if [ -e endpoint.pid ]; then kill "$(cat endpoint.pid)" || true; fi' EXIT
set -v

# == A scenario of your own
# a commented file that is valid as it stands; every problem is told with its line
hipo scenarios new lost_luggage -o my_pack
hipo scenarios validate my_pack --no-embeddings
# a dialogue on the screen, nothing kept
hipo scenarios preview my_pack/lost_luggage.yaml --model offline/rules
python "$here/visitor.py" hipo author my_pack

# == Dialogues, and what is doubtful about them
hipo generate --scenario-dir my_pack --scenarios lost_luggage --model offline/rules --turns 1 -n 4 -o runs/mine
# a program labels what it reads without seeing the labels; what differs is flagged and waits for people
hipo verify runs/mine --judge offline/judge --policy review --no-embeddings
hipo show runs/mine
python "$here/visitor.py" hipo view runs/mine

# == Labels of your own
# which questions are asked, and which labels answer them: another commented file, for a folder of its own
hipo scheme new facing_up -o my_labels
hipo scheme validate my_labels/facing_up.yaml
# a scenario names its scheme; prompts, forms and data sets follow from it
hipo scenarios new wet_carpet --scheme my_labels/facing_up.yaml -o my_scenes
hipo generate --scheme my_labels/facing_up.yaml --scenario-dir my_scenes --only --model offline/rules --turns 1 -n 4 -o runs/labels
hipo show runs/labels

# == Labelling with others
# every dialogue, for two annotators and an expert
python "$here/visitor.py" hipo review serve runs/labels --all --per-item 2
# how well people agree, beyond what chance would bring
hipo review agreement runs/labels
# the answers as a table; with --blank one to fill in, for those who would rather use a spreadsheet
hipo review export runs/labels --all --to csv -o sheets

# == What came of it
# a line for every turn, for a spreadsheet or R, with the labels of people beside the declared ones
hipo export runs/labels --to turns -o sets/turns
# items with right answers: the expert's labels stand in place of the declared ones
hipo export runs/labels --to benchmark -o sets/settled
hipo report runs/labels -o report.html --no-embeddings

# == In another language
hipo scenarios translate lost_luggage --scenario-dir my_pack --language zh -m openai/gpt-4o-mini -o words --dry-run
