#!/bin/sh
# Fuzzes one target that run.sh has built: one.sh FOLDER-OF-BINARIES SECONDS TARGET
set -eu
binaries=$1 seconds=$2 target=$3
status=0
dialect=${target##*_}
corpus=corpus/$target artifacts=artifacts/$target
rm -rf "$artifacts"
mkdir -p "$corpus" "$artifacts"
seeds=
for folder in "$dialect/valid" "$dialect/corrupt" "fuzz/$target"; do
    if [ -d "../fixtures/$folder" ]; then seeds="$seeds ../fixtures/$folder"; fi
done
log=$artifacts/log
# shellcheck disable=SC2086
"$binaries/$target" "$corpus" $seeds -seed="${FUZZ_SEED:-0}" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix="$artifacts/" -print_final_stats=1 >"$log" 2>&1 || true
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
covered=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
crashes=0
for crash in "$artifacts"/crash-* "$artifacts"/timeout-* "$artifacts"/oom-*; do
    [ -f "$crash" ] || continue
    crashes=$((crashes + 1))
    status=1
    mkdir -p "../fixtures/fuzz/$target"
    name=crash-$(basename "$crash" | sed 's/^[a-z]*-//')
    cp "$crash" "../fixtures/fuzz/$target/$name"
    echo "  $(basename "$crash" | cut -d- -f1): fixtures/fuzz/$target/$name; what it did: fuzz/$log" >&2
done
if [ -z "$runs" ] && [ $crashes -eq 0 ]; then
    status=1
    echo "  $target ended without a result; see fuzz/$log" >&2
fi
printf '%-18s %10s runs %6s edges %3s crashes\n' "$target" "${runs:-?}" "${covered:-?}" "$crashes"
exit $status
