#!/bin/sh
# Packs the release binary of a target that this machine can run: archive.sh VERSION TARGET FOLDER
#
# The names are the ones in [package.metadata.binstall] of crates/cli/Cargo.toml.
set -eu
version=${1:?usage: archive.sh VERSION TARGET FOLDER}
target=${2:?usage: archive.sh VERSION TARGET FOLDER}
folder=${3:?usage: archive.sh VERSION TARGET FOLDER}
cd "$(dirname "$0")/.."
case $target in *windows*) exe=.exe ;; *) exe= ;; esac
logpose=target/$target/release/logpose$exe
built=$("$logpose" --version)
if [ "$built" != "logpose $version" ]; then
  echo "archive: expected logpose $version, but $logpose is $built" >&2
  exit 1
fi

name=logpose-$version-$target
stage=$folder/$name
rm -rf "$stage"
mkdir -p "$stage/completions" "$stage/man"
cp "$logpose" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage"
"$logpose" man "$stage/man"
"$logpose" completion bash >"$stage/completions/logpose.bash"
"$logpose" completion zsh >"$stage/completions/_logpose"
"$logpose" completion fish >"$stage/completions/logpose.fish"
"$logpose" completion powershell >"$stage/completions/_logpose.ps1"

cd "$folder"
if [ -n "$exe" ]; then
  7z a -bd -bso0 "$name.zip" "$name"
else
  tar -czf "$name.tar.gz" "$name"
fi
rm -rf "$name"
