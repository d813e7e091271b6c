# Every recipe works from a fresh clone: the virtual environment is made on demand from the hash lock, and made again
# only when the lock or pyproject.toml changes. It is .venv, of the first Python that was used; PYTHON=python3.13 names
# another one, which gets .venv-3.13 if .venv is of another version.

SHELL       := /bin/bash
PYTHON      ?= python3
WORKERS     ?= 2
ARGS        ?=
FUZZ_SECONDS ?= 600

VENV := .venv
ifneq ($(origin PYTHON),file)
version_of = $(shell $(1) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
NAMED := $(call version_of,$(PYTHON))
$(if $(NAMED),,$(error PYTHON=$(PYTHON) cannot be started; name an interpreter such as python3.12))
FOUND := $(if $(wildcard .venv/bin/python),$(call version_of,.venv/bin/python))
ifneq ($(filter-out $(NAMED),$(FOUND)),)
VENV := .venv-$(NAMED)
endif
endif
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
LOCK  := requirements/dev.txt

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Nearly a hundred tests start a program. Where byte code is not kept, each compiles all of the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test browser live check fix golden requirements bench bench-peers fuzz fuzz-repairs mutants clients handover frameworks packages release-check docs lock clean
.DELETE_ON_ERROR:

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Legato needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

demo: $(READY) ## Watch one conversation change provider mid-way (needs no key, no network)
	$(BIN)/legato demo $(ARGS)

# What computes must be reached, branch for branch. These tests reach it; to watch the others as well takes minutes and
# shows next to nothing new. They run like these, and a new folder is among them until it is named here.
PURE    := model ledger transcript wire
WATCHED := $(addprefix tests/unit/,$(PURE) request tools) tests/requirements
REPORTS := --cov-report=term --cov-report=json:coverage.json

test: $(READY) ## Run all tests, with branch coverage of the pure packages; ARGS="-k name" narrows the run and watches all
ifeq ($(ARGS),)
	$(BIN)/python -m pytest -n $(WORKERS) $(WATCHED) $(PURE:%=--cov=src/legato/%) $(REPORTS)
	$(BIN)/python scripts/check_coverage.py coverage.json
	$(BIN)/python -m pytest -n $(WORKERS) $(WATCHED:%=--ignore=%)
else
	$(BIN)/python -m pytest -n $(WORKERS) --cov $(REPORTS) $(ARGS)
endif

# Needs Chromium, on the PATH or named: make browser CHROMIUM=/opt/chrome/chrome. Without one it fails.
export CHROMIUM
browser: $(READY) ## Open the HTML pages in a real browser: keys, filters, hostile content, and how 100 MB behave
	LEGATO_BROWSER=1 $(BIN)/python -m pytest -n 0 -s -q tests/browser $(ARGS)

live: $(READY) ## Ask real providers, with your keys and up to LEGATO_LIVE_MAX_USD dollars (0.50); needs LEGATO_LIVE=1
	$(BIN)/python -m pytest -n 0 -s -rs -m live tests/live $(ARGS)

check: $(READY) ## Lint, format, types (pyright strict) and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python scripts/check_functions.py
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

fix: $(READY) ## Format, and repair what ruff can repair
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format
	$(BIN)/ruff check

golden: $(READY) ## Write the golden files anew; read the diff before committing it
	LEGATO_GOLDEN=write $(BIN)/python -m pytest tests/golden tests/docs $(ARGS)

requirements: $(READY) ## Show which tests prove each requirement, and write docs/requirements.md
	$(BIN)/python scripts/requirements_report.py $(ARGS)

bench: $(READY) ## Measure speed and memory
	$(BIN)/python -m bench $(ARGS)

bench-peers: $(READY) ## Measure other libraries on the same work, each in its own environment
	$(BIN)/python scripts/bench_peers.py $(ARGS)

# The campaigns of damaged answers and mutated files say how to go on: make fuzz FUZZ_SEED=7 FUZZ_START=250000
export FUZZ_SEED FUZZ_START
fuzz: $(READY) ## Run properties and campaigns on many more examples, for FUZZ_SECONDS (600), then long sessions and kills
	$(BIN)/python scripts/fuzz.py --seconds $(FUZZ_SECONDS) --workers $(WORKERS) $(ARGS)

FUZZ_CASES ?= 10000
fuzz-repairs: $(READY) ## Damage FUZZ_CASES files (10000), repair them and count the repairs that harm; FUZZ_SEED, FUZZ_START
	nice -n 10 $(BIN)/python scripts/fuzz_repairs.py --cases $(FUZZ_CASES) --seconds 36000 --workers $(WORKERS) $(ARGS)

mutants: $(READY) ## Break every requirement on purpose: do its tests notice? MUTANTS=REQ-012 narrows, MUTANTS_SEED draws others
	nice -n 10 $(BIN)/python -m scripts.mutants --workers $(WORKERS) $(ARGS)

# Needs npm. CLIENTS and BACKENDS narrow it, by parts of names: make clients CLIENTS=codex,claude BACKENDS=kimi
export CLIENTS BACKENDS
clients: $(READY) ## Let the real coding clients do tasks through the gateway, on every backend; writes docs/clients.md
	$(BIN)/python -m scripts.clients --workers $(WORKERS) $(ARGS)

# Needs npm. CLIENTS narrows it: make handover CLIENTS=pi,qwen
handover: $(READY) ## Let the real coding clients go on with what another one began, from sessions that are converted
	$(BIN)/python -m scripts.clients.handover

# FRAMEWORKS narrows it, by parts of names: make frameworks FRAMEWORKS=langchain
export FRAMEWORKS
frameworks: $(READY) ## Let agent frameworks go on with damaged histories, with and without Legato; writes docs/integrations.md
	$(BIN)/python -m scripts.frameworks $(ARGS)

packages: $(READY) ## Build the packages, try them in clean environments and run all tests, on every Python that is here
	$(BIN)/python scripts/try_packages.py --workers $(WORKERS) $(ARGS)

release-check: $(READY) ## Look at the packages before a release: versions, contents, metadata, and how they start
	$(BIN)/python scripts/release_check.py $(ARGS)

docs: $(READY) ## Write what is generated anew: rules, hosts, options, trust, reference, licences, requirements, the pictures of the demo and of a conversation
	$(BIN)/python scripts/rules_doc.py
	$(BIN)/python scripts/hosts_doc.py
	LEGATO_GOLDEN=write $(BIN)/python -m pytest --quiet tests/docs/test_options_page.py
	$(BIN)/python scripts/reference_doc.py
	LEGATO_GOLDEN=write $(BIN)/python -m pytest --quiet tests/docs/test_trust_page.py
	$(BIN)/python scripts/supply_chain.py
	$(BIN)/python scripts/requirements_report.py > /dev/null
	$(BIN)/python scripts/demo_picture.py
	$(BIN)/python scripts/chat_recording.py

# Built from what pyproject.toml names, for every supported Python on Linux and macOS. Existing pins stay unless
# ARGS=--upgrade asks for newer ones. Nothing in the file says where packages come from.
lock: ## Resolve the dependencies into requirements/dev.txt (ARGS=--upgrade for newer ones)
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv; }
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes --quiet \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file $(LOCK) $(ARGS)

clean: ## Remove everything that make made
	rm -rf .venv .venv-3.* .venv-peers build dist htmlcov coverage.json .coverage .coverage.* .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
