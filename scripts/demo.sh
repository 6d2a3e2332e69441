#!/bin/sh
# Walks through the features on generated logs: demo.sh BINARY FOLDER
set -eu
logpose=$1
dir=$2
rm -rf "$dir"
run() {
  printf '\n$ logpose'
  printf ' %s' "$@"
  printf '\n'
  status=0
  "$logpose" "$@" || status=$?
  # 3 says that damage was found, which the damaged log is there for.
  [ $status -eq 0 ] || [ $status -eq 3 ] || exit $status
}
run demo "$dir"
match=$(ls "$dir"/FRC_*.wpilog)
run info "$match"
run list "$match" --include '/Drive/*'
run cat "$match" --include '*Pose*' --start auto --limit 5
run doctor "$dir/damaged.wpilog"
run recover "$dir/damaged.wpilog" --output "$dir/mended.wpilog"
run convert "$match" --output "$dir/match.rlog" --verify
run convert "$match" --output "$dir/match.csv" --wide --every 20ms --include '/Drive/*'
run info "$dir/demo_q12.dslog"
run info "$dir/demo_q12.pcap"
run convert "$match" "$dir/demo_q12.dslog" --align enabled --output "$dir/both.mcap"
junction=$dir/demo_junction.log
run carla info "$junction"
run carla collisions "$junction"
run carla state "$junction" --time 10 --actor class:vehicle
run refloat explain "$dir/demo_nosedive.rfrec"
run convert "$dir/demo_nosedive.rfrec" --output "$dir/nosedive.csv"
printf '\nThe logs are in %s. Next: %s --help\n' "$dir" "$logpose"
set -- "$match" "$dir/demo_q12.rlog" "$dir/demo_q12.dslog" "$junction" "$dir/demo_nosedive.rfrec" "$dir/demo_q12.pcap"
if [ -t 1 ] && [ -z "${CI:-}" ]; then
  printf '\n$ logpose open'
  printf ' %s' "$@"
  printf '\n'
  exec "$logpose" open "$@"
fi
# Nobody is there to look: the viewer starts, answers and ends.
printf '\n$ logpose open … --no-browser\n'
exec sh "$(dirname "$0")/viewer.sh" "$logpose" "$@"
