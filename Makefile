# Everything runs in .venv; each target installs what it needs once and is quick afterwards.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
RUN ?= runs/demo
HOURS ?= first-hours
# A plain pip on Linux brings the CUDA build of torch (gigabytes). To have the CPU build, pass the
# index that PyTorch's own "Get started" page shows: make demo TORCH_ARGS="--index-url ..."
TORCH ?= torch==2.13.0
TORCH_ARGS ?=
PYTEST_ARGS ?= -n 2 --dist loadfile --no-loadscope-reorder
# What `make quick` runs: the rooms below the door, without what starts servers, browsers or processes.
QUICK := tests/scenarios tests/prompts tests/pipeline tests/quality \
	--ignore=tests/pipeline/integration --ignore=tests/quality/review \
	--ignore-glob="*/test_browser_*" -m "not slow"
# Tests read exports with the converter of the one and the schema of the other, which do without the
# versions that the trainers depend on.
TRAINERS := llamafactory==0.9.5 axolotl==0.19.0
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Tests start hundreds of commands: each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check coverage bench bench-peers first-hours dist clean

demo: $(VENV)/.demo
	$(BIN)/hipo demo -o $(RUN)

test: check
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Lint, types and the fast tests, without torch and what needs it; in the full .venv where it is there.
quick: $(VENV)/.quick
	@began=$$(date +%s); set -e; \
	$(BIN)/ruff check .; \
	$(BIN)/ruff format --check .; \
	$(BIN)/mypy --no-warn-unused-ignores; \
	$(BIN)/lint-imports | tail -1; \
	$(BIN)/python -m pytest $(PYTEST_ARGS) $(QUICK); \
	echo "quick: $$(($$(date +%s) - began)) s"

# The whole suite with every line counted that it runs, in the commands it starts, too; the least
# share that must be run is fail_under in pyproject.toml.
coverage: $(VENV)/.dev
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest $(PYTEST_ARGS) --cov --cov-report=

# Writes the table to benchmarks/results.md, with the machine and the versions it was measured on.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks --report benchmarks/results.md

# The same calls through Bespoke Curator and datatrove, each in an environment of its own.
bench-peers: $(VENV)/.dev $(PEERS)/curator/.done $(PEERS)/datatrove/.done
	$(BIN)/python -m benchmarks peers --report benchmarks/results-peers.md

# What a new user does in the first hour, as a linguist, an ML engineer and somebody who runs batches:
# a fresh clone and environment in HOURS, and what each of the three scripts printed.
first-hours:
	TORCH_ARGS="$(TORCH_ARGS)" examples/first_hours/clone.sh $(HOURS)

# The wheel, the source archive, and what is in an installation: a bill of materials (CycloneDX).
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python -m release.sbom dist/hipo-*.whl

clean:
	rm -rf $(VENV) $(PEERS) dist build .pytest_cache .coverage .coverage.* .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: | $(BIN)/python
	$(BIN)/pip install -q $(TORCH_ARGS) "$(TORCH)"
	touch $@

$(VENV)/.demo: pyproject.toml constraints.txt $(VENV)/.torch
	$(BIN)/pip install -q -c constraints.txt -e ".[embeddings,datasets]"
	touch $@

$(VENV)/.quick: pyproject.toml constraints.txt | $(BIN)/python
	test -e $(VENV)/.dev || $(BIN)/pip install -q -c constraints.txt -e ".[quick]"
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.torch
	$(BIN)/pip install -q -c constraints.txt -e ".[all,dev]"
	$(BIN)/pip install -q -c constraints.txt --no-deps $(TRAINERS)
	touch $@ $(VENV)/.demo

# Every version is written down, so there is nothing to resolve.
$(PEERS)/%/.done: benchmarks/peer_scripts/%.txt
	$(PYTHON) -m venv $(PEERS)/$*
	$(PEERS)/$*/bin/pip install -q --no-deps -r $<
	touch $@
