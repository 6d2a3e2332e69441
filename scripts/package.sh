#!/bin/sh
# Packs every crate as for crates.io, checks the packages, installs logpose from them alone and tries it, and builds and
# tests a dialect of somebody else on them:
# package.sh [OPTION OF CARGO INSTALL…]
#
# `cargo publish` would verify each package by building it, all dependencies included, in a folder of its own. Installing
# the binary builds the same packages as a user would get them, and reuses the dependencies that are compiled already: the
# profiles are those of the workspace, and so is the build directory. Only the result lands elsewhere. With --debug that
# is the build of the tests.
set -eu
cd "$(dirname "$0")/.."
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
scratch=$target/from-packages
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
fail() { echo "package: $*" >&2; exit 1; }

[ -f crates/server/dist/index.html ] || fail "the viewer's page is missing: run 'make web'"
rm -rf "$scratch"
mkdir -p "$scratch"
pack() { cargo package --workspace --exclude logpose-bench --exclude logpose-testkit --no-verify --allow-dirty --quiet --target-dir "$scratch/target" "$@"; }
# With the network cargo asks for news of the registry once a package, which takes most of a minute.
pack --offline 2>/dev/null || pack

# A workspace of the packages. It has one member, because the lock file that the binary's package brings is for that alone.
# The files are new to cargo (-m); in a package all of them have one old date.
{
  printf '[workspace]\nresolver = "3"\nmembers = ["logpose-%s"]\n\n[patch.crates-io]\n' "$version"
  for crate in "$scratch"/target/package/*.crate; do
    tar -xzmf "$crate" -C "$scratch"
    folder=$(basename "$crate" .crate)
    [ "$folder" = "logpose-$version" ] || echo "${folder%-"$version"} = { path = \"$folder\" }"
  done
  echo
  awk '/^\[/ { keep = /^\[profile\./ } keep' Cargo.toml
} >"$scratch/Cargo.toml"
awk '/^\[\[package\]\]/ { own = 0 } /^name = "logpose/ { own = 1 } !(own && /^(source|checksum) = /)' "$scratch/logpose-$version/Cargo.lock" >"$scratch/Cargo.lock"

for folder in "$scratch"/logpose*-"$version"; do
  package=$(basename "$folder")
  for field in description keywords categories documentation readme license repository; do
    grep -q "^$field = " "$folder/Cargo.toml" || fail "$package has no $field"
  done
  for licence in LICENSE-MIT LICENSE-APACHE; do
    cmp -s "$licence" "$folder/$licence" || fail "$package lacks $licence, or has another text"
  done
  echo "$package: $(wc -c <"$scratch/target/package/$package.crate") bytes"
done
diff -r crates/server/dist "$scratch/logpose-server-$version/dist" || fail "logpose-server does not carry the viewer's page"

# crates.io looks for relative links of the README beside the crate, where nothing is.
readme=$scratch/logpose-$version/README.md
if grep -nE '\]\([^)h#]|^\[[^]]+\]: [^h]|(src|href)="[^"h#]' "$readme"; then
  fail "links of README.md must begin with $repository/blob/main/ (pictures: /raw/main/)"
fi
grep -oE "$repository/(blob|raw)/main/[^]) \"#]+" "$readme" | sed 's|.*/main/||' | sort -u | while read -r path; do
  [ -e "$path" ] || fail "README.md has a link to $path, which does not exist"
done

CARGO_BUILD_BUILD_DIR=$target cargo install --locked --path "$scratch/logpose-$version" --root "$scratch/root" --target-dir "$scratch/target" "$@"

# A dialect of somebody else, built on the packages. The binary's package is named too, so that the dependencies have the
# features that they were just built with.
cp -R tests/toy-dialect "$scratch/toy-dialect"
sed "s/^members = .*/members = [\"logpose-$version\", \"toy-dialect\"]/" "$scratch/Cargo.toml" >"$scratch/members.toml"
mv "$scratch/members.toml" "$scratch/Cargo.toml"
case " $* " in *" --debug "*) profile=dev ;; *) profile=release ;; esac
(cd "$scratch" && CARGO_BUILD_BUILD_DIR=$target cargo test --offline --profile "$profile" --target-dir "$scratch/target" -p toy-dialect -p logpose --lib)

logpose=$scratch/root/bin/logpose
[ "$("$logpose" --version)" = "logpose $version" ] || fail "the binary is of another version: $("$logpose" --version)"
"$logpose" demo "$scratch/demo"
match=$(ls "$scratch"/demo/FRC_*.wpilog)
"$logpose" info "$match"
sh scripts/viewer.sh "$logpose" "$match"
echo "package: logpose $version, installed from its packages, works"
