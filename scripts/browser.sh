#!/bin/sh
# Prints the path of Chromium or Chrome: $CHROMIUM if set, else the first one found. `tools.sh chromium` installs it.
set -eu
for name in ${CHROMIUM:+"$CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable \
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
  if command -v "$name"; then exit 0; fi
done
echo "missing Chromium or Chrome: on Debian run 'apt-get install chromium', elsewhere install Chrome or set CHROMIUM to its path" >&2
exit 1
