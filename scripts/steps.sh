#!/usr/bin/env bash
# Runs make targets in turn and ends with a table of where the time went: steps.sh TARGET…
# Stops at the first target that fails, still prints the table, and returns that target's exit code.
set -u
TIMEFORMAT='%R %U %S'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
table=
total=0
status=0
for target; do
    printf '\n==> make %s\n' "$target"
    # The recipe keeps the real stdout and stderr; only the line of `time` goes to the file.
    { time "${MAKE:-make}" --no-print-directory "$target" 1>&3 2>&4; } 3>&1 4>&2 2>"$log" || status=$?
    read -r wall user system < <(tail -n 1 "$log")
    table+=$(awk -v t="$target" -v w="$wall" -v u="$user" -v s="$system" \
        'BEGIN { printf "%-14s %8.1f %9.1f", t, w / 60, (u + s) / 60 }')
    [ $status -eq 0 ] || table+="  failed"
    table+=$'\n'
    total=$(awk -v a="$total" -v b="$wall" 'BEGIN { print a + b }')
    [ $status -eq 0 ] || break
done
printf '\n%-14s %8s %9s\n%s' step 'wall min' 'CPU min' "$table"
awk -v t="$total" 'BEGIN { printf "%-14s %8.1f\n", "all", t / 60 }'
exit $status
