#!/bin/sh
# Prints the section of CHANGELOG.md for a version: release-notes.sh VERSION
#
# Fails if the version is not the one in Cargo.toml or has no section, so that a wrong tag stops before anything is built.
set -eu
version=${1:?usage: release-notes.sh VERSION}
cd "$(dirname "$0")/.."
manifest=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
if [ "$version" != "$manifest" ]; then
  echo "release-notes: the tag says $version and Cargo.toml says $manifest; correct one of them" >&2
  exit 1
fi
notes=$(awk -v version="$version" '/^## / { inside = $2 == version; next } inside' CHANGELOG.md | sed '/./,$!d')
if [ -z "$notes" ]; then
  echo "release-notes: CHANGELOG.md has no section \"## $version\"; rename \"## Next\" to it" >&2
  exit 1
fi
printf '%s\n' "$notes"
