#!/bin/sh
# Checks all crates for Windows, links the command line without SQL, and runs its transcripts and the library's tests
# under Wine. What the tools at hand do not allow is skipped, and one line says so.
set -eu
. "$(dirname "$0")/targets.sh"
target=x86_64-pc-windows-gnu
# Debian's wine64 alone is not on the path.
PATH=$PATH:/usr/lib/wine

want_target $target
if ! want x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-win32; then
  say "skipped everything: no C compiler for Windows (on Debian: apt-get install gcc-mingw-w64-x86-64-win32)"
  exit 0
fi

$cargo check --workspace --all-targets --locked --target $target
say "all crates, tests and examples compile without warnings"

without_sql="--locked --target $target -p logpose -p logpose-log -p logpose-files -p logpose-browse -p logpose-bridges --no-default-features --features viewer"
$cargo test $without_sql --no-run
say "the command line and the tests link"

if ! want wine64 wine64; then
  say "skipped the tests: no Wine (on Debian: apt-get install wine64)"
  exit 0
fi
wine=$out/wine
mkdir -p "$wine"
x86_64-w64-mingw32-gcc -O2 -Wall -shared scripts/windows/bcryptprimitives.c -ladvapi32 -o "$wine/bcryptprimitives.dll"
export WINEPREFIX="$wine/prefix" WINEDEBUG=-all WINEPATH="Z:$wine" CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine64
# The first start makes the prefix, and talks about it.
wine64 wineboot --init >/dev/null 2>&1
$cargo test $without_sql --lib --bins
# Wine binds a UDP socket of 127.1.2.3 to every address, so that robots of the Driver Station's link are not found there;
# the other two start thousands of processes, which takes Wine minutes.
$cargo test $without_sql --test it -- --skip ds::a_robot --skip ds::sticks --skip fixtures::every_command \
  --skip carla::every_command
say "skipped SQL transcripts (DataFusion is checked, not linked), two tests of the Driver Station's link, and two long ones"
