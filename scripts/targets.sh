# What the checks for other systems share; sourced by windows.sh and macos.sh.
cargo=${CARGO:-cargo}
out=${CARGO_TARGET_DIR:-target}
case $out in /*) ;; *) out=$PWD/$out ;; esac
# The page is no matter of the system, and Node.js is not needed to check the rest.
unset LOGPOSE_WEB
export RUSTFLAGS="${RUSTFLAGS:-} -D warnings"

# say WORDS...: what happens, or what does not and why.
say() {
  echo "${0##*/}: $*"
}

# want_target TARGET: Rust's standard library for it, by rustup where it is missing.
want_target() {
  [ -d "$(rustc --print target-libdir --target "$1")" ] && return 0
  say "adding Rust's target $1"
  rustup target add "$1" && return 0
  say "skipped everything: the target cannot be had (rustup target add $1)"
  exit 0
}

# want COMMAND PACKAGE...: whether there is a command; installs Debian's packages where it may.
want() {
  command -v "$1" >/dev/null && return 0
  wanted=$1
  shift
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    say "installing $* for $wanted"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    command -v "$wanted" >/dev/null
  else
    return 1
  fi
}
