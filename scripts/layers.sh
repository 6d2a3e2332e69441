#!/bin/sh
# Who may depend on whom: a dialect on core and thiserror alone, and nothing quick on anything heavy.
set -eu
status=0
for dialect in "$@"; do
  for dependency in $(cargo tree --locked -p "logpose-$dialect" -e normal --depth 1 --prefix none --format '{p}' | tail -n +2 | cut -d' ' -f1); do
    case $dependency in
      logpose-core | thiserror) ;;
      *) echo "layers: logpose-$dialect depends on $dependency; a dialect depends on logpose-core and thiserror alone"; status=1 ;;
    esac
  done
done
for heavy in datafusion arrow-array tokio axum; do
  if cargo tree --locked -e normal --prefix none --format '{p}' | grep -q "^$heavy "; then
    echo "layers: a default member reaches $heavy, which belongs into a crate of its own"; status=1
  fi
done
[ $status -eq 0 ] && echo "layers: $# dialects depend on core and thiserror alone; nothing heavy is reached"
exit $status
