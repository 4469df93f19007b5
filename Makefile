# `make demo` and `make test` set themselves up in .venv; they need python3 (3.11 or newer) and make.
PYTHON ?= python3
BIN := .venv/bin
DEMO_HOME ?= build/home
SERVER := --extra postgres --extra readers --extra server --extra telemetry
EXTRAS := --extra eval --extra llamacpp --extra multilingual --extra readers --extra server

# Where this is set, every process would begin by compiling all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test chromium quick check models-test constraints clean

demo: .venv/base
	$(BIN)/personable demo --home $(DEMO_HOME)

test: .venv/dev chromium
	$(BIN)/python -m pytest -n auto

# The page is tested in a real browser, which is a package of the system. Without it those tests are left out.
chromium:
	command -v chromium || { apt-get update -q && apt-get install -y -q chromium; } || echo "no chromium: see the skipped tests"

quick: .venv/dev
	$(BIN)/python -m pytest -n auto -p no:schemathesis --hypothesis-profile quick --ignore tests/server \
		-m "not model and not slow and not embedder"

models-test: .venv/dev
	$(BIN)/python benchmarks/generator.py --into models
	$(BIN)/python -m pytest -m model

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml

# Pinned with hashes and without addresses; run after changing the dependencies in pyproject.toml.
constraints: .venv/dev
	$(BIN)/uv pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --custom-compile-command "make constraints" -o constraints/base.txt -q
	$(BIN)/uv pip compile pyproject.toml $(SERVER) --group build --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --custom-compile-command "make constraints" \
		-c constraints/base.txt -o constraints/server.txt -q
	$(BIN)/uv pip compile pyproject.toml $(EXTRAS) --group build --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make constraints" \
		-c constraints/base.txt -o constraints/dev.txt -q

.venv/bin/python:
	$(PYTHON) -m venv .venv || { rm -rf .venv; apt-get install -y python3-venv && $(PYTHON) -m venv .venv; }

.venv/base: .venv/bin/python constraints/base.txt pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r constraints/base.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/dev: .venv/bin/python constraints/dev.txt pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r constraints/dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@ .venv/base

clean:
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache
