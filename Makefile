# Everything runs in .venv, which is made here from nothing but python3 (3.11 or newer) and make.

PYTHON ?= python3
ARGS ?=
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
FOLDERS := harness strategies models reports cli
# What a side of a comparison is played with (cli/shipping.py), by the standard library of Python 3.10. Packages
# that are installed here may be for newer ones, so what their types say does not count.
OLDEST := --python-version 3.10 --disable-error-code assignment --no-warn-unused-ignores -p sixfold.harness -p sixfold.models
LINT_PATHS := $(FOLDERS) $(wildcard tests benchmarks)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALLED := $(VENV)/installed
FILES := $(VENV)/files
# The links of a strict editable install are kept in build/. They may have been deleted with it.
LINKS := $(wildcard build/__editable__.sixfold-*)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-slow corpus proof witness systems browser cluster lint format bench docs wheel clean FORCE

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

run: $(INSTALLED) ## fuzz the catalogue, or TARGETs: make run ARGS="deerflow --seed 1"
	@$(BIN)/sixfold run $(ARGS)

test: $(INSTALLED) ## run the tests on all cores: make test PYTEST_ARGS="-k fold"
	@$(BIN)/pytest -n auto --dist worksteal $(PYTEST_ARGS)

test-slow: $(INSTALLED) ## run the long searches of the tests, too
	@$(BIN)/pytest -n auto --dist worksteal -m slow $(PYTEST_ARGS)

corpus: $(INSTALLED) ## find the known public bugs again: make corpus ARGS="--local"
	@$(BIN)/python -m tests.corpus $(ARGS)

witness: $(INSTALLED) ## hold re-created systems against the real ones: make witness ARGS="--seed 7"
	@$(BIN)/python -m tests.witness $(ARGS)

proof: $(INSTALLED) ## run the reports' tests of known bugs where there is no Sixfold
	@$(BIN)/pytest -n0 -m slow -v tests/corpus/test_reports_of_known_bugs.py $(PYTEST_ARGS)

systems: $(INSTALLED) ## measure the reviewed systems anew: docs/systems.md and its scenarios (minutes)
	@$(BIN)/python -m tests.systems

lint: $(INSTALLED) ## check style, format, import direction and types
	@failed=; \
	$(BIN)/ruff check $(LINT_PATHS) || failed=1; \
	$(BIN)/ruff format --check $(LINT_PATHS) || failed=1; \
	$(BIN)/lint-imports --no-logo || failed=1; \
	$(BIN)/mypy || failed=1; \
	$(BIN)/mypy $(OLDEST) || failed=1; \
	[ -z "$$failed" ]

format: $(INSTALLED) ## rewrite the code in the project's format
	@$(BIN)/ruff check --fix --exit-zero $(LINT_PATHS)
	@$(BIN)/ruff format $(LINT_PATHS)

browser: $(INSTALLED) ## prove the HTML report in Chromium: make browser ARGS="--screenshots docs"
	@$(BIN)/python -m tests.browser $(ARGS)

cluster: $(VENV)/extra-cluster $(VENV)/extra-redis ## play nights on a cluster, and share examples through a Redis server
	@$(BIN)/pytest -n0 -m "slow or not slow" tests/cli/test_crews.py tests/cli/test_example_database.py $(PYTEST_ARGS)

bench: $(INSTALLED) ## run the benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/extra-docs ## build the documentation into site/; a warning is an error
	@$(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

wheel: $(INSTALLED) ## build a wheel into dist/
	@rm -rf build/lib build/bdist.*
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist

clean: ## delete what make, the tests and the tools made; run folders in .sixfold/ stay
	@rm -rf $(VENV) .witness build dist site *.egg-info .hypothesis .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
	@find $(LINT_PATHS) -type d -name __pycache__ -prune -exec rm -rf {} +

# ---------------------------------------------------------------- environment

# Strict mode lays a tree of links, one a file, that type checkers can read like any package. A file that
# was edited needs nothing; after one was added, moved or deleted the tree is laid again (about two
# seconds). All of it is installed again only after a change of pyproject.toml.
$(INSTALLED): pyproject.toml $(FILES) $(if $(LINKS),,FORCE)
	@if [ ! -e $@ ] || [ pyproject.toml -nt $@ ]; then \
	  echo "Installing into $(VENV) ..." && \
	  $(PIP) install --config-settings editable_mode=strict --editable '.[dev]'; \
	else \
	  $(PIP) install --config-settings editable_mode=strict --no-deps --no-build-isolation --editable .; \
	fi
	@touch $@

$(FILES): FORCE | $(BIN)/python
	@find $(FOLDERS) -type f ! -name '*.pyc' | sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# An extra alone: what Sixfold itself needs is installed.
$(VENV)/extra-%: $(INSTALLED)
	@$(PIP) install $$($(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$*'])")
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Sixfold needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

FORCE:
