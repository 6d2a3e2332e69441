# `make` lists the targets.

CARGO ?= cargo
PYTHON ?= python3
NPM ?= npm
DIALECTS := $(patsubst dialects/%/Cargo.toml,%,$(wildcard dialects/*/Cargo.toml))
# The demo and the tests share one build, the dev profile, with Clippy standing in for the compiler of our own crates: so
# every dependency is compiled once and lints cost no second pass. With CI set a warning is an error.
DEV := $(shell clippy-driver --version >/dev/null 2>&1 && echo RUSTC_WORKSPACE_WRAPPER=clippy-driver) \
	CLIPPY_ARGS=$(if $(CI),-Dwarnings) $(CARGO)
LOGPOSE := $(CURDIR)/target/debug/logpose
# nextest runs the tests of all crates side by side; plain `cargo test` does the same more slowly.
NEXTEST := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)
RUN_TESTS := $(if $(NEXTEST),nextest run,test --tests) --no-fail-fast
# Tests that need the corpus of real logs are marked as ignored; where there is a corpus they run too. CORPUS=none leaves
# them out.
CORPUS := $(wildcard $(or $(LOGPOSE_CORPUS),../shared/corpus)/wpilog)
RUN_IGNORED := $(if $(filter-out none,$(CORPUS)),$(if $(NEXTEST),--run-ignored all,-- --include-ignored))
VENV := .venv/bin
WEB := crates/server/dist/index.html
# What is built here carries the viewer, or is not built.
export LOGPOSE_WEB := require
export CARGO PYTHON NPM

.NOTPARALLEL:
.PHONY: help demo install test tools rust quick format-check lints layers rust-tests doc-tests peers web web-tests viewer pictures bless package windows macos fuzz fuzz-all torture torture-short bench bench-live bench-view bench-web ci no-corpus clean

help: ## lists the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: rust $(WEB) ## builds logpose, walks through its features on generated logs and shows them in the browser
	$(DEV) build --locked -p logpose
	@sh scripts/demo.sh $(LOGPOSE) target/demo

install: rust $(WEB) ## installs the binary `logpose`
	$(CARGO) install --path crates/cli --locked

test: tools format-check layers web-tests rust-tests doc-tests peers viewer ## runs all tests; installs what they need

# What the tests need, checked and installed before anything long runs.
tools:
	@sh scripts/tools.sh rust clippy rustfmt nextest node python chromium

quick: ## core and dialects only; seconds
	$(CARGO) $(RUN_TESTS) -p logpose-core $(DIALECTS:%=-p logpose-%)

rust:
	@sh scripts/tools.sh rust

format-check:
	$(CARGO) fmt --all --check

lints: $(WEB) ## builds everything, tests included, and shows what Clippy says
	$(DEV) build --workspace --all-targets --locked

layers: ## checks who depends on whom
	@sh scripts/layers.sh $(DIALECTS)

rust-tests: $(WEB)
	$(DEV) $(RUN_TESTS) --workspace --locked $(RUN_IGNORED)

doc-tests: $(WEB)
	$(DEV) test --workspace --locked --doc --quiet

peers: $(VENV)/ready $(WEB) ## compares with WPILib, pyarrow, polars, DuckDB, the MCAP package and Foxglove's client (Node)
	$(DEV) build --locked --workspace --bins --examples
	LOGPOSE_BIN=$(LOGPOSE) $(VENV)/python -m pytest -q tests/peers

$(VENV)/ready: tests/peers/requirements.txt
	@sh scripts/tools.sh python
	@$(PYTHON) -m venv .venv
	$(VENV)/pip install --quiet --disable-pip-version-check -r tests/peers/requirements.txt
	@touch $@

web: $(WEB) ## builds the page that the binary carries

web/node_modules/ready: web/package.json web/package-lock.json
	@sh scripts/tools.sh node
	cd web && $(NPM) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB): web/node_modules/ready web/index.html web/vite.config.ts web/svelte.config.js web/tsconfig.json $(shell find web/src web/public -type f 2>/dev/null)
	cd web && $(NPM) run --silent build

web-tests: web/node_modules/ready ## checks the front end: format, types, units against golden answers of the API
	cd web && $(NPM) run --silent lint && $(NPM) run --silent check && $(NPM) run --silent unit

viewer: $(WEB) ## tries the viewer in Chromium; pictures of every view are then in web/artefacts
	@sh scripts/tools.sh chromium
	$(DEV) build --locked --workspace --bins --examples
	cd web && LOGPOSE_BIN=$(LOGPOSE) $(NPM) run --silent unit -- tests/unit/commands.test.ts
	cd web && CHROMIUM="$$(sh ../scripts/browser.sh)" LOGPOSE_BIN=$(LOGPOSE) $(NPM) run --silent e2e

pictures: $(WEB) ## takes the pictures in the README from the demo logs, in Chromium
	@sh scripts/tools.sh chromium
	$(DEV) build --locked --workspace --bins --examples
	cd web && CHROMIUM="$$(sh ../scripts/browser.sh)" LOGPOSE_BIN=$(LOGPOSE) LOGPOSE_E2E=pictures $(NPM) run --silent pictures

bless: ## rewrites every golden file: fixtures, dumps, transcripts, answers of the API; review the diff like code
	LOGPOSE_BLESS=1 $(DEV) test --workspace --no-fail-fast

package: $(WEB) ## packs every crate as for crates.io, installs logpose from the packages and tries it
	sh scripts/package.sh --debug

windows: rust ## checks everything for Windows, links it without SQL and runs transcripts under Wine
	@sh scripts/windows.sh

macos: rust ## checks everything for macOS, as far as that goes without Apple's SDK
	@sh scripts/macos.sh

fuzz: ## fuzzes one target for so long: make fuzz T=decode_wpilog S=60
	sh fuzz/run.sh $(or $(S),60) $(T)

fuzz-all: ## ten seconds of each fuzz target
	sh fuzz/run.sh $(or $(S),10)

torture: $(VENV)/ready $(WEB) ## damaged files, kills, full disks, hostile peers, hard questions for S=600 seconds; SEED= repeats, T=files:132 is one trial
	$(DEV) build --locked -p logpose
	LOGPOSE_BIN=$(LOGPOSE) $(VENV)/python tests/torture --seconds $(or $(S),600) $(SEED:%=--seed %) $(T)

torture-short: $(VENV)/ready $(WEB)
	$(DEV) build --locked -p logpose
	LOGPOSE_BIN=$(LOGPOSE) $(VENV)/python tests/torture --rounds 2 --seed 1

bench: rust ## speed as ratios to peers and to the machine's limits; QUICK=1 leaves the large inputs out
	$(PYTHON) bench/run.py $(if $(QUICK),--quick)

bench-live: ## one server and 500 clients on loopback: cycles, latency, processor, memory; stops by itself
	$(CARGO) build --release -p logpose-bench --bin live
	target/release/live

bench-view: ## the viewer's server on a log of 1 GB: opening, requests a second, latency, memory; stops by itself
	$(CARGO) build --release -p logpose-bench --bin view --bin generate
	target/release/view

bench-web: $(WEB) ## frames a second of graphs with 10 channels of 100,000 and of 10,000,000 samples and of 3,000 actors in Chromium; memory of the page
	@sh scripts/tools.sh rust chromium
	$(CARGO) build --release -p logpose -p logpose-bench
	cd web && CHROMIUM="$$(sh ../scripts/browser.sh)" node bench/run.mjs

ci: export CI := 1
ci: export CARGO_INCREMENTAL := 0
ci: export FUZZ_SEED := 1
# Green means that the real logs were read too, so without them nothing begins.
ci: $(if $(CORPUS),,no-corpus)
ci: ## what .ci/run calls: the demo, all tests with warnings as errors, a short torture, ten seconds of each fuzz target; then where the time went
	@bash scripts/steps.sh tools format-check layers web demo web-tests rust-tests doc-tests peers viewer torture-short package fuzz-all

no-corpus:
	@echo "make ci: there is no corpus of real logs at $(or $(LOGPOSE_CORPUS),../shared/corpus): LOGPOSE_CORPUS names its folder, CORPUS=none tests on fixtures/ alone" >&2
	@exit 1

clean:
	$(CARGO) clean
	rm -rf .venv fuzz/target crates/server/dist web/node_modules web/artefacts
