#!/bin/sh
# The Chromium that the viewer's tests run in: prints its path; installs Debian's where it can.
set -eu
find_it() {
  for name in ${CHROMIUM:+"$CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name"; then return 0; fi
  done
  return 1
}
find_it && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >&2
  find_it && exit 0
fi
echo "browser: the viewer's tests need Chromium or Chrome (on Debian: apt-get install chromium), or its path in CHROMIUM" >&2
exit 1
