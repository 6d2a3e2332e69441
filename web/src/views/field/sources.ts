/** Which series are what on a field: found, guessed, bound to their parts. */

import { kindOf } from "../../field/kinds";
import { guessRole, placeOf, poseAround, robotSeries } from "../../field/places";
import type { SeriesRef } from "../../model/series";
import { sameSeries } from "../../model/series";
import { guessReading } from "../../poses/poses";
import { logs } from "../../store/session.svelte";
import type { FieldConfig, FieldSource } from "./config";
import { emptyField } from "./config";

/** Adds a series with the role that fits; one that is there already gives a heat map. */
export function addSource(config: FieldConfig, ref: SeriesRef): boolean {
  const around = poseAround(ref);
  if (!around) return false;
  const reading = guessReading(ref.name);
  const place = placeOf(around, reading);
  if (!place) return false;
  const same = config.sources.filter((source) => sameSeries(source.ref, around));
  if (same.length > 0 && (!place.single || same.some(({ role }) => role === "heat"))) return true;
  // The first series decides which field it is, unless somebody has chosen one.
  const kind = kindOf(logs.channels[ref.log] ?? []);
  if (config.sources.length === 0 && config.field === emptyField().field && kind !== config.field) {
    const { field, size, origin, robot } = emptyField(kind);
    Object.assign(config, { field, size, origin, robot });
  }
  const role = same.length > 0 ? "heat" : guessRole(around, place, config.sources);
  config.sources.push({ ref: around, role, color: freeColor(config.sources), reading, hidden: false });
  return true;
}

function freeColor(sources: FieldSource[]): number {
  const used = new Set(sources.map(({ color }) => color));
  for (let color = 0; color < 10; color++) if (!used.has(color)) return color;
  return sources.length % 10;
}

/** A field with the robot of a log, its ghosts and its trajectories; nothing if the log has no poses. */
export function autoField(log: number): FieldConfig | null {
  const refs = robotSeries(log);
  if (refs.length === 0) return null;
  const config = emptyField();
  for (const ref of refs) addSource(config, ref);
  return config;
}
