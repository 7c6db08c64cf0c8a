# What there is to do with this repository: `make help`.
# Every target that compiles brings the pinned engine first (scripts/engine),
# which also names a missing tool and how to get it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# ONDATRA_PROFILE=dev builds the demo's binary faster and slower to run.
ONDATRA_PROFILE ?= release
TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
# Cargo puts the profile "dev" into a folder of another name.
PROFILE_DIR := $(if $(filter dev,$(ONDATRA_PROFILE)),debug,$(ONDATRA_PROFILE))
export DEMO
export ONDATRA_BIN ?= $(TARGET_DIR)/$(PROFILE_DIR)/ondatrasql

# cargo nextest runs the tests of all crates at once; plain cargo does without it.
HAS_NEXTEST := $(shell command -v cargo-nextest 2>/dev/null)

.PHONY: help engine postgres object-store build demo test lint bench dist soak docs book check-docs

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

engine: ## bring the pinned DuckDB library and extensions into .engine/
	@scripts/engine

postgres: ## bring PostgreSQL for the tests (apt-get, where it is missing)
	@scripts/postgres

object-store: ## bring an object store for the tests
	@scripts/object-store

build: engine ## build the binary (ONDATRA_PROFILE=dev for a debug build)
	cargo build --profile $(ONDATRA_PROFILE) --bin ondatrasql

demo: build $(if $(filter cloud,$(DEMO)),postgres object-store) ## build, fetch a year of flights, run the example twice, show results (DEMO=cloud: in PostgreSQL and an object store)
	@scripts/demo-data
	@scripts/demo

# Doc tests come first, so that the run closes with the summary of all others.
test: engine postgres object-store ## run every test
	cargo test --workspace --doc
	$(if $(HAS_NEXTEST),cargo nextest run --workspace,cargo test --workspace --all-targets)

lint: engine ## check formatting and clippy, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

bench: engine postgres ## measure, all or WORD=… (docs/benchmarks.md)
	cargo build --release --bin ondatrasql
	cargo run --release -p bench -- $(if $(WORD),"$(WORD)")

soak: engine postgres object-store ## run the long tests: faults, crashes, random histories
	$(if $(HAS_NEXTEST),ONDATRA_SOAK=1 cargo nextest run --workspace --release --no-fail-fast --run-ignored all soak,ONDATRA_SOAK=1 cargo test --workspace --release --no-fail-fast soak -- --include-ignored)

docs: engine ## build the API documentation, warnings are errors
	RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

book: ## build the user docs as a book in target/book/
	@scripts/book

check-docs: engine ## write docs/checks/ again, from the list of checks
	ONDATRA_WRITE_DOCS=1 cargo test --package checks --test it pages

dist: engine ## make the release archive in target/dist/
	@scripts/dist
