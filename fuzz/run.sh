#!/bin/sh
# Fuzzes each target for so many seconds: fuzz/run.sh SECONDS [TARGET…]
#
# The targets are built by plain cargo on the stable toolchain, all in one go, with the flags that cargo-fuzz
# would pass; cargo-fuzz itself is not needed. The code under test has no `unsafe`, so there is no sanitizer.
# Seeds are the fixtures, also those in fixtures/fuzz/<target>. An input that crashes a target is copied to fixtures/fuzz/<target>/crash-<hash>, where
# the ordinary tests feed it to the same function (crashes.rs of each crate), and the exit code is 1. FUZZ_SEED makes a run that can be repeated; without it every run
# tries something else. one.sh runs one target that is built.
set -eu
cd "$(dirname "$0")"
seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- $(ls fuzz_targets | sed 's/\.rs$//')

host=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module"
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
    coverage="$coverage -Cllvm-args=-sanitizer-coverage-$flag"
done
flags="--cfg fuzzing $coverage -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Ccodegen-units=1"
bins=
for target; do bins="$bins --bin $target"; done
# With --target the flags are not given to build scripts.
# shellcheck disable=SC2086
RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags" CARGO_TARGET_DIR="$PWD/target" \
    cargo build --quiet --release --target "$host" $bins

# One process a target, as many at a time as there are processors.
cores=$(getconf _NPROCESSORS_ONLN)
printf '%s\n' "$@" | xargs -n 1 -P "$cores" sh one.sh "target/$host/release" "$seconds" || exit 1
