# Everything a fresh machine needs is python3 (3.11 or later, with venv) and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
DECISIONS := --cov=browser_agent --cov=observers --cov-branch --cov-report=term
# Without a notice about MkDocs 2, which pyproject.toml leaves out.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs

.PHONY: help setup demo check test cover matrix soak lint docs real bench format

help:
	@echo "make demo   a run is interrupted, looked at and resumed, before your eyes"
	@echo "make check  in a minute: style, imports, types, and the tests that start no process, browser or server"
	@echo "make test   all tests; of a long crossing the cells that differ"
	@echo "make cover  how much of the code the quick tests reach"
	@echo "make matrix every interruption on every site by every way; goes on where it was stopped"
	@echo "make soak   8 worker processes, 3000 runs on all sites, both databases, a storm of kills; ends with the ledgers; ARGS=--help"
	@echo "make lint   ruff, mypy, pyright, import rules, and the documentation, strictly"
	@echo "make docs   the documentation, at http://127.0.0.1:8000"
	@echo "make real   the tests against real services"
	@echo "make bench  what it costs"

setup: $(VENV)/chromium.stamp

$(VENV)/installed.stamp: pyproject.toml
	@test -x $(PY) || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "browser-agent needs Python 3.11 or later: make PYTHON=python3.12")'
	@test -x $(PY) || echo "Making a Python environment in $(VENV)."
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "Installing browser-agent and its packages into $(VENV); on a fresh machine this takes some minutes."
	$(PY) -m pip install --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/chromium.stamp: $(VENV)/installed.stamp
	@echo "Checking this machine, and installing the browser, libraries and fonts that it lacks."
	$(VENV)/bin/browser-agent doctor --install
	@touch $@

demo: setup
	@echo "Starting the demo: two sites on this machine, a browser, and a run that is interrupted."
	$(VENV)/bin/browser-agent demo

# What it says last is how long it took. Types are read from mypy's cache: only what changed is checked again.
check: $(VENV)/installed.stamp
	@began=$$(date +%s); \
	$(PY) -m ruff check --quiet . && $(PY) -m ruff format --check --quiet . \
	&& $(VENV)/bin/lint-imports \
	&& $(PY) -m mypy \
	&& $(PY) -m pytest tests/unit tests/store -m "not process and not postgres and not temporal and not s3" \
		-n logical --dist worksteal -q $(ARGS); \
	ended=$$?; echo "make check: $$(( $$(date +%s) - began )) s"; exit $$ended

test: setup
	@echo "make test: the tests are collected, which takes about 20 s; then each that is over is a dot"
	$(PY) -m pytest -n auto --dist worksteal --processor-time=40 $(ARGS)

cover: setup
	$(PY) -m pytest tests/unit tests/model tests/store -n auto $(DECISIONS) $(ARGS)

matrix: setup
	BROWSER_AGENT_MATRIX=$(CURDIR)/.matrix $(PY) -m pytest -m matrix -n auto -q $(ARGS)

soak: setup
	$(PY) -m tests.soak $(ARGS)

lint: $(VENV)/installed.stamp
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	@test ! -f tests/typing/api.py || $(PY) -m pyright
	$(VENV)/bin/lint-imports
	$(MKDOCS) build --strict

docs: $(VENV)/installed.stamp
	$(MKDOCS) serve $(ARGS)

format: $(VENV)/installed.stamp
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

real: setup
	$(PY) -m pytest tests/real -q $(ARGS)

bench: setup
	$(PY) -m benchmarks $(ARGS)
