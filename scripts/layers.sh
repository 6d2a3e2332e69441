#!/bin/sh
# Who may depend on whom: a dialect on core and thiserror alone (and serde_json, where its model has JSON), each heavy dependency named by the one crate that fences
# it off, and nothing quick on DataFusion.
set -eu
status=0
for dialect in "$@"; do
  for dependency in $(cargo tree --locked -p "logpose-$dialect" -e normal --depth 1 --prefix none --format '{p}' | tail -n +2 | cut -d' ' -f1); do
    case $dependency in
      logpose-core | thiserror | serde_json) ;;
      # The checksums of a recording.
      crc32fast | sha2) [ "$dialect" = refloat ] || { echo "layers: logpose-$dialect depends on $dependency"; status=1; } ;;
      # The station's files hold pieces of the packets of its link.
      logpose-driverstation) [ "$dialect" = dslog ] || { echo "layers: logpose-$dialect depends on $dependency"; status=1; } ;;
      *) echo "layers: logpose-$dialect depends on $dependency; a dialect depends on logpose-core, thiserror and serde_json alone"; status=1 ;;
    esac
  done
done
fenced() { # dependency, then the packages that may name it
  dependency=$1; shift
  for manifest in crates/*/Cargo.toml; do
    package=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
    case " $* " in *" $package "*) continue ;; esac
    if sed -n '/^\[dependencies\]/,/^\[/p' "$manifest" | grep -q "^$dependency[ .=]"; then
      echo "layers: $package names $dependency, which only $* may"; status=1
    fi
  done
}
fenced datafusion logpose-query
fenced datafusion-datasource-parquet logpose-query
fenced object_store logpose-lake logpose-query
fenced blake3 logpose-lake
fenced parquet logpose-bridges
fenced arrow-ipc logpose-bridges logpose-viewer
fenced arrow-json logpose-lake
fenced mcap logpose-bridges
fenced pcap-parser logpose-bridges
fenced etherparse logpose-bridges
fenced prost-reflect logpose-schema logpose-bridges
fenced plotters logpose-plot
fenced tokio logpose-lake logpose-live logpose-query logpose-server
fenced axum logpose-server
fenced hyper logpose-server
# The rooms of the library: all stand on files, none on another, and only the library itself names them. What simulates
# and generates is for the command line and for tests.
fenced logpose-files logpose-analysis logpose-expr logpose-browse logpose-log logpose-demo
fenced logpose-analysis logpose-log
fenced logpose-expr logpose-log
fenced logpose-browse logpose-log
fenced logpose-demo logpose
fenced logpose-lake logpose logpose-query
fenced logpose-sim logpose logpose-demo
fenced tokio-tungstenite logpose-live
fenced tokio-serial logpose-live
fenced foxglove logpose-live
fenced btleplug logpose-live
# What answers the viewer's requests runs without a server: in a page or a notebook.
for heavy in axum hyper tokio tokio-tungstenite tungstenite logpose-live; do
  if cargo tree --locked -p logpose-viewer -e normal --prefix none --format '{p}' | grep -q "^$heavy "; then
    echo "layers: logpose-viewer reaches $heavy; sockets belong into logpose-server"; status=1
  fi
done
for heavy in datafusion axum; do
  if cargo tree --locked -e normal --prefix none --format '{p}' | grep -q "^$heavy "; then
    echo "layers: a default member reaches $heavy, which belongs into a crate of its own"; status=1
  fi
done
# The binary alone and the workspace with its tests ask for the same features, so that both use one build of each dependency.
features() { cargo tree --locked "$@" --prefix none --format '{p} {f}' | grep -v " ($PWD" | sed 's/ (\*)$//' | sort -u; }
all=$(mktemp)
trap 'rm -f "$all"' EXIT
features --workspace -e normal,build,dev >"$all"
if features -p logpose -e normal,build | grep -vxFf "$all"; then
  echo "layers: the tests compile these again with other features; name the union in [workspace.dependencies]"; status=1
fi
[ $status -eq 0 ] && echo "layers: $# dialects depend on core, thiserror and serde_json alone (refloat on two checksums besides); nothing heavy is reached"
exit $status
