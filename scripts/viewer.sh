#!/bin/sh
# Starts the viewer on some logs, checks that it serves the real page and the logs, and ends it: viewer.sh BINARY LOG…
set -eu
logpose=$1
shift
said=$(mktemp)
viewer=
trap 'kill -INT $viewer 2>/dev/null || true; rm -f "$said"' EXIT
"$logpose" open "$@" --no-browser --json >"$said" &
viewer=$!
tries=0
until [ -s "$said" ]; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] && kill -0 $viewer || { echo "viewer: logpose open did not start"; exit 1; }
  sleep 0.1
done
node -e '
  const { url } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  const get = async (path) => { const r = await fetch(new URL(path, url)); if (!r.ok) throw new Error(`${path}: ${r.status}`); return r; };
  (async () => {
    const page = await (await get("/")).text();
    if (!page.includes("id=\"app\"")) throw new Error("the page is not the viewer");
    for (const [, path] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g)) await get(path);
    const { logs } = await (await get("/api/session")).json();
    console.log(`${url} showed ${logs.length} logs: ${logs.map((log) => log.format).join(", ")}`);
  })().catch((error) => { console.error(`viewer: ${error.message}`); process.exit(1); });
' "$said"
kill -INT $viewer
wait $viewer
