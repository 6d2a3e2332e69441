#!/bin/sh
# Fuzzes each target for so many seconds: fuzz/run.sh SECONDS [TARGET…]
#
# The targets are built by plain cargo on the stable toolchain, all in one go, with the flags that cargo-fuzz
# would pass; cargo-fuzz itself is not needed. The code under test has no `unsafe`, so there is no sanitizer.
# Seeds are the fixtures. An input that crashes a target is copied to fixtures/<dialect>/corrupt/crash-<hash>, where
# the ordinary tests find it, and the exit code is 1. FUZZ_SEED makes a run that can be repeated; without it every run
# tries something else.
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

status=0
for target; do
    dialect=${target##*_}
    corpus=corpus/$target artifacts=artifacts/$target
    rm -rf "$artifacts"
    mkdir -p "$corpus" "$artifacts"
    seeds=
    for folder in valid corrupt; do
        if [ -d "../fixtures/$dialect/$folder" ]; then seeds="$seeds ../fixtures/$dialect/$folder"; fi
    done
    log=$artifacts/log
    # shellcheck disable=SC2086
    "target/$host/release/$target" "$corpus" $seeds -seed="${FUZZ_SEED:-0}" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
        -rss_limit_mb=2048 -artifact_prefix="$artifacts/" -print_final_stats=1 >"$log" 2>&1 || true
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    crashes=0
    for crash in "$artifacts"/crash-* "$artifacts"/timeout-* "$artifacts"/oom-*; do
        [ -f "$crash" ] || continue
        crashes=$((crashes + 1))
        status=1
        mkdir -p "../fixtures/$dialect/corrupt"
        name=crash-$(basename "$crash" | sed 's/^[a-z]*-//')
        cp "$crash" "../fixtures/$dialect/corrupt/$name"
        echo "  $(basename "$crash" | cut -d- -f1): fixtures/$dialect/corrupt/$name; what it did: fuzz/$log" >&2
    done
    if [ -z "$runs" ] && [ $crashes -eq 0 ]; then
        status=1
        echo "  $target ended without a result; see fuzz/$log" >&2
    fi
    printf '%-18s %10s runs %6s edges %3s crashes\n' "$target" "${runs:-?}" "${covered:-?}" "$crashes"
done
exit $status
