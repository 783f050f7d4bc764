# memdir: each target does its own set-up, is quick when there is nothing to do, and is what CI runs.
#
# A language whose toolchain is missing is left out loudly; with CI=true that is a failure.

ifeq ($(filter oneshell,$(.FEATURES)),)
$(error GNU make 3.82 or newer is needed; on macOS: brew install make, then gmake)
endif
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
NODE_SOURCES := $(wildcard bindings-node/*.json bindings-node/*.cjs bindings-node/*.md bindings-node/ts/* bindings-node/scripts/*)

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

.PHONY: demo-node
demo-node: ## the same in TypeScript, through the real @anthropic-ai/sdk
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/node-demo)
	@node examples/node/dist/demo.js

# --- tests ------------------------------------------------------------------------------------

.PHONY: test
test: test-rust test-python test-node test-kotlin test-swift test-counts ## every test, quick ones first

.PHONY: test-rust
test-rust: ## the core, its stores, and the conformance cases in Rust
	@$(call need,cargo,Rust)
	@$(call ready,servers $(CACHE)/postgres $(CACHE)/pgbouncer)
	@cargo test --workspace --exclude memdir-python --no-run --quiet
	@rm -f $(CONFORMANCE)/rust-*
	@tests/harmless cargo test --workspace --exclude memdir-python --quiet

.PHONY: test-python
test-python: ## the Python package as it is installed
	@$(call need,$(PYTHON),Python)
	@$(call ready,servers $(CACHE)/python-installed $(CACHE)/python-oldest-installed $(CACHE)/postgres $(CACHE)/redis)
	@rm -f $(CONFORMANCE)/python-*
	@tests/harmless $(BIN)/python -m pytest --quiet -p no:cacheprovider bindings-python/tests
	@echo "==> the tools again, with the oldest anthropic that is supported"
	@tests/harmless $(OLDEST)/bin/python -m pytest --quiet -p no:cacheprovider bindings-python/tests/e2e bindings-python/tests/test_tool.py

.PHONY: test-node
test-node: ## the Node package
	@$(call need,node,Node)
	@$(call ready,servers $(CACHE)/postgres $(CACHE)/node-packed)
	@cd bindings-node
	@npm run --silent test:build
	@rm -f ../$(CONFORMANCE)/node-*
	@../tests/harmless node --test --test-timeout=120000 test/dist/*.test.*js

.PHONY: test-kotlin
test-kotlin: ## the Kotlin package
	@$(call need,mvn,Kotlin)
	@bindings-uniffi/kotlin/test
	@# What can be checked of the packages for devices without their toolchains.
	@bindings-uniffi/scripts/aar --dry-run
	@bindings-uniffi/scripts/xcframework --dry-run > /dev/null

.PHONY: test-swift
test-swift: ## the Swift package, with a real compiler
	@bindings-uniffi/swift/test

# Without Go there is no server of S3's protocol to test against, and without npm none of Azure's.
S3 := $(shell command -v go)
AZURE := $(shell command -v npm)
RUNNERS := $(if $(shell command -v cargo),rust-local rust-memory rust-sqlite rust-encrypted rust-mounts rust-default-open $(if $(S3),rust-s3) $(if $(AZURE),rust-azure)) \
	$(if $(shell command -v $(PYTHON)),python-tool python-async-tool python-sqlite python-encrypted python-store $(if $(S3),python-s3)) \
	$(if $(shell command -v node),node-local node-encrypted node-sqlite node-store node-table $(if $(S3),node-s3)) \
	$(if $(shell command -v mvn),kotlin-local kotlin-memory kotlin-room kotlin-sqlite kotlin-store)
ON_POSTGRES := $(if $(shell command -v cargo),rust-postgres) \
	$(if $(shell command -v $(PYTHON)),python-postgres) $(if $(shell command -v node),node-postgres)

.PHONY: test-counts
test-counts: ## every conformance runner ran every case
	@swift=
	@# Where Swift's tests were left out, which CI does not allow, nothing is to be compared.
	@if [ "$${CI:-}" = true ] || compgen -G '$(CONFORMANCE)/swift-*' > /dev/null; then
		swift='swift-keychain swift-local swift-memory swift-sqlite swift-store'
	fi
	@postgres=
	@if [ "$${CI:-}" = true ] || [ -e $(CACHE)/postgres ]; then postgres='$(ON_POSTGRES)'; fi
	@redis=
	@if [ "$${CI:-}" = true ] || [ -e $(CACHE)/redis ]; then redis=python-redis; fi
	@tests/compare-counts $(RUNNERS) $$postgres $$redis $$swift

.PHONY: soak
soak: servers $(CACHE)/postgres ## long tests: clients and servers are killed hundreds of times
	@$(call need,cargo,Rust)
	@cargo test --package memdir --no-run --quiet
	@MEMDIR_SOAK=200 tests/harmless cargo test --quiet --package memdir --test postgres_processes kill -- --nocapture
	@MEMDIR_SOAK=100 tests/harmless cargo test --quiet --package memdir --test objects_processes a_kill_at_any_moment
	@MEMDIR_SOAK=100 tests/harmless cargo test --quiet --package memdir --test objects_faults a_fault_that_passes

# --- set-up -----------------------------------------------------------------------------------

.PHONY: servers server-s3 server-azure
servers: server-s3 server-azure # what stores are tested against

server-s3:
	@$(call need,go,the S3 server)
	@tests/servers/s3 install

server-azure:
	@$(call need,npm,the Azure server)
	@tests/servers/azure install

$(CACHE)/python-tools: bindings-python/requirements-dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "memdir needs Python 3.10 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --requirement bindings-python/requirements-dev.txt
	touch $@

# What the store in PostgreSQL is tested against.
$(CACHE)/postgres: tests/servers/postgres
	if tests/servers/postgres install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the tests on PostgreSQL, because it is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

$(CACHE)/pgbouncer: tests/servers/pgbouncer
	if tests/servers/pgbouncer install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the tests behind a connection pooler, because PgBouncer is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

# What the example of a store of one's own is tested against.
$(CACHE)/redis: tests/servers/redis
	if tests/servers/redis install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the Redis example, because redis-server is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

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

$(CACHE)/node-tools: bindings-node/package.json bindings-node/package-lock.json
	cd bindings-node && npm ci --silent
	mkdir -p $(CACHE)
	touch $(abspath $@)

# The packages as they are published: the main one and the one for this platform.
$(CACHE)/node-packed: $(CACHE)/node-tools $(RUST_SOURCES) $(NODE_SOURCES)
	cd bindings-node
	npm run --silent build:native -- --release
	npm run --silent build:ts
	npm run --silent pack
	touch $(abspath $@)

$(CACHE)/node-demo: $(CACHE)/node-packed $(wildcard examples/node/*.ts examples/node/*.json)
	cd examples/node
	npm ci --silent
	npm run --silent install:memdir
	npm run --silent build
	touch $(abspath $@)

$(CACHE)/tools/bin/cargo-deny:
	cargo install --locked --quiet cargo-deny --version 0.20.2 --root $(CACHE)/tools

# --- checks -----------------------------------------------------------------------------------

.PHONY: lint
lint: lint-rust lint-python lint-node ## formatting and every static check

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

.PHONY: lint-node
lint-node:
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/node-packed)
	@cd bindings-node && npm run --silent lint

.PHONY: generate
generate: generate-python generate-node generate-uniffi ## make again what is generated and committed

.PHONY: generate-node
generate-node: # the types of the native half
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/node-tools)
	@cd bindings-node && npm run --silent build:native -- --release

.PHONY: generate-uniffi
generate-uniffi: # the Kotlin and Swift sources
	@$(call need,cargo,Rust)
	@bindings-uniffi/scripts/generate

.PHONY: generate-python
generate-python:
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-tools)
	@$(BIN)/maturin generate-stubs --quiet --manifest-path bindings-python/Cargo.toml --out bindings-python/python

.PHONY: bench
bench: $(CACHE)/python-installed ## measure against the SDKs' own tools
	@cargo bench --quiet --package memdir
	@$(BIN)/python bindings-python/benches/view.py
	@$(call ready,$(CACHE)/node-tools)
	@(cd bindings-node && npm run --silent bench)
	@bindings-uniffi/scripts/bench

.PHONY: xcframework
xcframework: ## the Swift package's library for Apple's systems (needs Xcode)
	@bindings-uniffi/scripts/xcframework

.PHONY: aar
aar: ## the Kotlin package for Android (needs the NDK)
	@bindings-uniffi/scripts/aar

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf target $(CACHE)
