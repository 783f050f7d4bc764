# memdir: each target does its own set-up, is quick when there is nothing to do, and is what CI runs.
#
# A language whose toolchain is missing is left out loudly; with CI=true that is a failure.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

PYTHON ?= python3
CACHE := .cache
VENV := $(CACHE)/venv
OLDEST := $(CACHE)/venv-oldest
BIN := $(VENV)/bin
CONFORMANCE := target/conformance

RUST_SOURCES := $(shell find core bindings-* tests -name '*.rs' -not -path '*/node_modules/*') Cargo.toml Cargo.lock $(wildcard */Cargo.toml)
PYTHON_SOURCES := $(shell find bindings-python -name '*.py' -o -name '*.pyi' -o -name pyproject.toml)

# $(call need,PROGRAM,WHAT): goes on with the recipe if PROGRAM is there.
define need
	if ! command -v $(1) > /dev/null; then
		echo "==> LEFT OUT: $(2), because $(1) is not installed" >&2
		if [ "$${CI:-}" = true ]; then exit 1; else exit 0; fi
	fi
endef

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# $(call ready,FILE...): makes what a recipe needs, after it is known that it can be made.
ready = $(MAKE) --no-print-directory $(1)

# --- the main job -----------------------------------------------------------------------------

.PHONY: demo
demo: $(CACHE)/python-installed ## an agent with memory, end to end, through the real anthropic SDK
	@$(BIN)/python examples/python/demo.py

# --- tests ------------------------------------------------------------------------------------

.PHONY: test
test: test-rust test-python test-node test-counts ## every test, quick ones first

.PHONY: test-rust
test-rust: ## the core, its stores, and the conformance cases in Rust
	@$(call need,cargo,Rust)
	@cargo test --workspace --exclude memdir-python --no-run --quiet
	@rm -f $(CONFORMANCE)/rust-*
	@tests/harmless cargo test --workspace --exclude memdir-python --quiet

.PHONY: test-python
test-python: ## the Python package as it is installed
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-installed $(CACHE)/python-oldest-installed)
	@rm -f $(CONFORMANCE)/python-*
	@tests/harmless $(BIN)/python -m pytest --quiet -p no:cacheprovider bindings-python/tests
	@echo "==> the tools again, with the oldest anthropic that is supported"
	@tests/harmless $(OLDEST)/bin/python -m pytest --quiet -p no:cacheprovider bindings-python/tests/e2e bindings-python/tests/test_tool.py

.PHONY: test-node
test-node: ## the Node package
	@$(call need,node,Node)
	@true

RUNNERS := $(if $(shell command -v cargo),rust-local rust-memory rust-default-open) \
	$(if $(shell command -v $(PYTHON)),python-tool python-async-tool python-store)

.PHONY: test-counts
test-counts: ## every conformance runner ran every case
	@tests/compare-counts $(RUNNERS)

# --- set-up -----------------------------------------------------------------------------------

$(CACHE)/python-tools: bindings-python/requirements-dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "memdir needs Python 3.10 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --requirement bindings-python/requirements-dev.txt
	touch $@

# The wheel is built once, with optimisation, and installed as a user installs it.
$(CACHE)/wheel: $(CACHE)/python-tools $(RUST_SOURCES) $(PYTHON_SOURCES)
	rm -rf $(CACHE)/wheels
	$(BIN)/maturin build --quiet --release --manifest-path bindings-python/Cargo.toml --out $(CACHE)/wheels
	touch $@

$(CACHE)/python-installed: $(CACHE)/wheel
	$(BIN)/pip install --quiet --force-reinstall --no-deps $(CACHE)/wheels/memdir-*.whl
	touch $@

$(CACHE)/python-oldest-installed: $(CACHE)/wheel
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet 'anthropic==0.84.0' $$(grep -E '^(pytest|trio)==' bindings-python/requirements-dev.txt)
	$(OLDEST)/bin/pip install --quiet --force-reinstall --no-deps $(CACHE)/wheels/memdir-*.whl
	touch $@

$(CACHE)/tools/bin/cargo-deny:
	cargo install --locked --quiet cargo-deny --version 0.20.2 --root $(CACHE)/tools

# --- checks -----------------------------------------------------------------------------------

.PHONY: lint
lint: lint-rust lint-python ## formatting and every static check

.PHONY: lint-rust
lint-rust:
	@$(call need,cargo,Rust)
	@$(call ready,$(CACHE)/tools/bin/cargo-deny)
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --quiet -- --deny warnings
	@RUSTDOCFLAGS='--deny warnings' cargo doc --package memdir --no-deps --all-features --quiet
	@$(CACHE)/tools/bin/cargo-deny --log-level error check bans licenses sources

.PHONY: lint-python
lint-python:
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-installed)
	@$(BIN)/ruff check --quiet bindings-python examples tests
	@$(BIN)/ruff format --quiet --check bindings-python examples tests
	@cd bindings-python
	@../$(BIN)/mypy
	@../$(BIN)/python -m mypy.stubtest memdir --mypy-config-file pyproject.toml

.PHONY: generate
generate: generate-python ## make again what is generated and committed

.PHONY: generate-python
generate-python:
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-tools)
	@$(BIN)/maturin generate-stubs --quiet --manifest-path bindings-python/Cargo.toml --out bindings-python/python

.PHONY: bench
bench: $(CACHE)/python-installed ## measure against the SDKs' own tools
	@$(BIN)/python bindings-python/benches/view.py

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf target $(CACHE)
