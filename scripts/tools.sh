#!/bin/sh
# Checks that tools are installed before anything long runs: tools.sh TOOL...
#
#   TOOL: rust, clippy, rustfmt, nextest, node, python, chromium
#
# Announces what is about to be installed. Debian packages are installed right here when run as root; for every tool
# that stays missing, one line names it and how to get it, and the exit code is 1.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

say() { echo "tools: $*" >&2; }

# The first version number that a command prints; nothing if the command is not installed.
version() { "$@" 2>/dev/null | sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p' | head -n 1; }

at_least() { # needed, found
  awk -v needed="$1" -v found="$2" 'BEGIN {
    n = split(needed, a, "."); split(found, b, ".")
    for (i = 1; i <= n; i++) if (a[i] + 0 != b[i] + 0) exit a[i] + 0 > b[i] + 0
  }'
}

# Sets `problem` to what is missing and how to get it, and `packages` to the Debian packages that bring it.
check() {
  problem='' packages=''
  case $1 in
    rust)
      needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
      found=$(version "$cargo" --version) compiler=$(version "${RUSTC:-rustc}" --version)
      if [ -z "$found" ] || [ -z "$compiler" ]; then
        problem="Rust $needed or newer: install it from https://rustup.rs"
      elif ! at_least "$needed" "$found" || ! at_least "$needed" "$compiler"; then
        problem="Rust $needed or newer (found cargo $found, rustc $compiler): run 'rustup update stable'"
      elif ! command -v "${CC:-cc}" >/dev/null; then
        problem="a C compiler (cc), which Rust links with: on Debian run 'apt-get install build-essential', on macOS 'xcode-select --install'"
        packages="build-essential"
      fi ;;
    clippy)
      [ -n "$(version "$cargo" clippy --version)" ] || problem="clippy: run 'rustup component add clippy'" ;;
    rustfmt)
      [ -n "$(version "$cargo" fmt --version)" ] || problem="rustfmt: run 'rustup component add rustfmt'" ;;
    nextest)
      [ -n "$(version "$cargo" nextest --version)" ] ||
        say "cargo-nextest is not installed, so the tests run with 'cargo test', which is slower (to get it: cargo install --locked cargo-nextest)" ;;
    node)
      needed=$(sed -n 's/.*"node": ">=\(.*\)".*/\1/p' web/package.json)
      found=$(version node --version) npm=$(version "${NPM:-npm}" --version)
      if [ -z "$found" ] || [ -z "$npm" ]; then
        problem="Node.js $needed or newer with npm: install it from https://nodejs.org"
      elif ! at_least "$needed" "$found"; then
        problem="Node.js $needed or newer (found $found): install it from https://nodejs.org"
      fi ;;
    python)
      # What the packages in tests/peers/requirements.txt need.
      needed=3.11 python=${PYTHON:-python3}
      found=$(version "$python" --version)
      if [ -n "$found" ] && ! at_least "$needed" "$found"; then
        problem="Python $needed or newer (found $found): install it from https://www.python.org, or set PYTHON to its path"
      elif [ -z "$found" ] || ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        problem="Python $needed or newer with venv and pip: on Debian run 'apt-get install python3-venv', elsewhere install it from https://www.python.org"
        packages="python3-venv"
      fi ;;
    chromium)
      problem=$(sh scripts/browser.sh 2>&1 >/dev/null) || packages="chromium fonts-dejavu-core"
      problem=${problem#missing } ;;
    *)
      say "unknown tool '$1'; known are rust, clippy, rustfmt, nextest, node, python and chromium"
      exit 2 ;;
  esac
}

# Whether what a stamp stands for has to be installed, for the first time or again.
stale() { # stamp, list of packages
  [ ! -e "$1" ] || [ -n "$(find "$2" -newer "$1")" ]
}

announce() {
  case $1 in
    node)
      if stale web/node_modules/ready web/package-lock.json; then
        say "the npm packages in web/package-lock.json will be installed into web/node_modules"
      fi ;;
    python)
      if stale .venv/ready tests/peers/requirements.txt; then
        say "the Python packages in tests/peers/requirements.txt will be installed into .venv"
      fi
      if stale tests/peers/foxglove/node_modules/.package-lock.json tests/peers/foxglove/package-lock.json; then
        say "the npm packages in tests/peers/foxglove/package-lock.json will be installed beside it"
      fi ;;
  esac
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

status=0 install='' installing=''
for tool; do
  check "$tool"
  if [ -z "$problem" ]; then
    continue
  elif [ -n "$packages" ] && may_install; then
    install="$install $packages" installing="$installing $tool"
  else
    say "missing $problem"
    status=1
  fi
done
[ $status = 0 ] || exit $status
for tool; do announce "$tool"; done
[ -n "$install" ] || exit 0

say "installing Debian packages:$install"
# shellcheck disable=SC2086
{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $install; } >&2 || say "apt-get failed"
for tool in $installing; do
  check "$tool"
  if [ -n "$problem" ]; then
    say "missing $problem"
    status=1
  fi
done
exit $status
