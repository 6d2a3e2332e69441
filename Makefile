# `make` lists the targets.

CARGO ?= cargo
PYTHON ?= python3
DIALECTS := $(patsubst dialects/%/Cargo.toml,%,$(wildcard dialects/*/Cargo.toml))
# nextest runs the tests of all crates side by side; plain `cargo test` does the same more slowly.
RUN_TESTS := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo "nextest run --no-fail-fast" || echo "test --no-fail-fast")
VENV := .venv/bin

.PHONY: help demo install test quick format-check clippy layers rust-tests doc-tests peers bless fuzz fuzz-all bench bench-live ci clean

help: ## lists the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: ## builds logpose and does the main job on logs that it makes itself
	$(CARGO) build --release -p logpose-cli
	@sh scripts/demo.sh target/release/logpose target/demo

install: ## installs the binary `logpose`
	$(CARGO) install --path crates/cli --locked

test: format-check clippy layers rust-tests doc-tests peers ## passes all tests; installs what they need

quick: ## core and dialects only; seconds
	$(CARGO) $(RUN_TESTS) -p logpose-core $(DIALECTS:%=-p logpose-%)

format-check:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- $(if $(CI),-D warnings)

layers: ## checks who depends on whom
	@sh scripts/layers.sh $(DIALECTS)

rust-tests:
	$(CARGO) $(RUN_TESTS) --workspace --locked

doc-tests:
	$(CARGO) test --workspace --locked --doc --quiet

# The whole workspace, because one package alone has other features and would build DataFusion again.
peers: $(VENV)/ready ## compares with WPILib, pyarrow, polars, DuckDB, the MCAP package and Foxglove's client (Node)
	$(CARGO) build --locked --workspace --bins --examples
	LOGPOSE_BIN=$(CURDIR)/target/debug/logpose $(VENV)/python -m pytest -q tests/peers

$(VENV)/ready: tests/peers/requirements.txt
	@$(PYTHON) -m venv .venv || { echo "make: the peer tests need python3 with the venv module (on Debian: apt-get install python3-venv)"; exit 1; }
	$(VENV)/pip install --quiet --disable-pip-version-check -r tests/peers/requirements.txt
	@touch $@

bless: ## accepts new transcripts and golden dumps; review the diff like code
	LOGPOSE_BLESS=1 $(CARGO) test --workspace --no-fail-fast

fuzz: ## fuzzes one target for so long: make fuzz T=decode_wpilog S=60
	sh fuzz/run.sh $(or $(S),60) $(T)

fuzz-all: ## ten seconds of each fuzz target
	sh fuzz/run.sh $(or $(S),10)

bench: ## speed as ratios to peers and to the machine's limits; QUICK=1 leaves the large inputs out
	$(PYTHON) bench/run.py $(if $(QUICK),--quick)

bench-live: ## one server and 500 clients on loopback: cycles, latency, processor, memory; stops by itself
	$(CARGO) build --release -p logpose-bench --bin live
	target/release/live

ci: ## what .ci/run calls: tests with warnings as errors, ten seconds of each fuzz target, the demo
	$(MAKE) test CI=1
	FUZZ_SEED=1 $(MAKE) fuzz-all
	$(MAKE) demo

clean:
	$(CARGO) clean
	rm -rf .venv fuzz/target
