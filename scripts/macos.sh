#!/bin/sh
# Checks all crates for macOS. Zig compiles what is written in C; linking would need Apple's SDK.
set -eu
. "$(dirname "$0")/targets.sh"
target=aarch64-apple-darwin

want_target $target
zig=$out/zig
if [ ! -x "$zig/bin/cargo-zigbuild" ]; then
  say "installing Zig and cargo-zigbuild to $zig"
  if ! "${PYTHON:-python3}" -m venv "$zig" ||
    ! "$zig/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.0 cargo-zigbuild==0.24.0; then
    rm -rf "$zig"
    say "skipped everything: no C compiler for macOS (python3 -m pip install ziglang cargo-zigbuild)"
    exit 0
  fi
fi
PATH=$zig/bin:$PATH
cargo-zigbuild check --workspace --all-targets --locked --target $target
say "all crates, tests and examples compile without warnings; skipped linking and running (they need Apple's SDK)"
