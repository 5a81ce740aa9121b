#!/bin/sh
# The first hour of somebody who runs batches.
#
# Every command of docs/tutorials/batch-runner.md, from which docs/generate_first_hours.py writes this
# file. It needs hipo and python on the path, and fills the folder it is started in. Each line is
# printed before what it prints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="${here%/*/*}"  # programs of the clone take parts in it
export OPENAI_API_KEY="${OPENAI_API_KEY:-none}"  # to estimate, a key must be there; none is sent
trap 'if [ -e endpoint.pid ]; then kill "$(cat endpoint.pid)" || true; fi' EXIT
set -v

# == The bill first
# nothing is sent, and nothing made; the second lists models with their prices
hipo generate --model openai/gpt-4o-mini --scenarios products -n 200 --budget-usd 1 -o runs/night --dry-run
hipo models

# == An endpoint and a recipe
# where another program has this port, take another
port=${PORT:-8123}
python "$here/endpoint.py" "$port" > endpoint.pid
cat > night.yaml <<END
scenarios: [products]
turns: [2]
models:
  default: {model: compatible/rules, base_url: "http://127.0.0.1:$port/v1", price: {input: 1, output: 3}}
limits: {max_concurrency: 2, max_attempts: 2}
END
hipo generate night.yaml -n 40 --dry-run

# == A budget that ends, a process that is killed
# stops before the call that could cost more, with exit code 4
hipo generate night.yaml -n 40 --budget-usd 0.05 -o runs/night -q || echo "exit code $?"
hipo runs show runs/night
# the same command with more to spend goes on; somebody kills it once 10 dialogues are there
hipo generate night.yaml -n 40 --budget-usd 5 -o runs/night -q &
while kill -0 $! && [ "$(hipo runs tail runs/night -n 40 --no-follow | grep -c generated)" -lt 10 ]; do sleep 1; done
kill -9 $! || echo "it was quicker than that"
# and goes on again: nothing is made or paid twice
hipo generate night.yaml -n 40 --budget-usd 5 -o runs/night
python "$here/visitor.py" hipo view runs/night

# == An endpoint with faults
# the endpoint comes back in a bad state: it breaks down on half of the requests, and two attempts are few
kill "$(cat endpoint.pid)"
python "$here/endpoint.py" "$port" 0.5 > endpoint.pid
hipo generate night.yaml -n 60 --budget-usd 5 -o runs/night || echo "exit code $?"
hipo show runs/night --failed
# it is mended; replies that were good are kept, the others are asked for again
kill "$(cat endpoint.pid)"
python "$here/endpoint.py" "$port" > endpoint.pid
hipo generate night.yaml -n 60 --budget-usd 5 -o runs/night --retry-failed

# == Several processes, several machines
# two processes here, for what computes more than one core can
hipo generate night.yaml -n 70 --budget-usd 5 -o runs/night --workers 2
# halves of a plan, each on a machine of its own, put together afterwards
hipo generate night.yaml -n 12 --shard 1/2 -o runs/first -q
hipo generate night.yaml -n 12 --shard 2/2 -o runs/second -q
hipo runs merge runs/first runs/second -o runs/merged

# == Judged, checked, handed over
hipo verify runs/merged --judge offline/judge --no-embeddings
hipo runs check runs/merged
hipo export runs/merged -o sets/night
hipo report runs/merged -o report.html --no-embeddings
kill "$(cat endpoint.pid)" && rm endpoint.pid
