# Everything runs in .venv; each target installs what it needs once and is quick afterwards.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN ?= runs/demo
# A plain pip on Linux brings the CUDA build of torch (gigabytes). To have the CPU build, pass the
# index that PyTorch's own "Get started" page shows: make demo TORCH_ARGS="--index-url ..."
TORCH ?= torch==2.13.0
TORCH_ARGS ?=
PYTEST_ARGS ?= -n 2
# Tests read exports with its converter alone, which does without the old versions it depends on.
LLAMA_FACTORY := llamafactory==0.9.5
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check bench clean

demo: $(VENV)/.demo
	$(BIN)/hipo demo -o $(RUN)

test: check
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: | $(BIN)/python
	$(BIN)/pip install -q $(TORCH_ARGS) "$(TORCH)"
	touch $@

$(VENV)/.demo: pyproject.toml constraints.txt $(VENV)/.torch
	$(BIN)/pip install -q -c constraints.txt -e ".[embeddings,datasets]"
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.torch
	$(BIN)/pip install -q -c constraints.txt -e ".[all,dev]"
	$(BIN)/pip install -q -c constraints.txt --no-deps $(LLAMA_FACTORY)
	touch $@ $(VENV)/.demo
