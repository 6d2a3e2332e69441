import type { LogInfo } from "../../api";

export interface Example {
  label: string;
  sql: string;
}

const CHANNELS: Example = {
  label: "The largest channels",
  sql: "SELECT channel, type, samples, bytes\nFROM channels\nORDER BY bytes DESC\nLIMIT 20",
};

const RATES: Example = {
  label: "Mean of every number",
  sql: "SELECT channel, count(*) AS samples, min(number) AS low, avg(number) AS mean, max(number) AS high\nFROM samples\nWHERE number IS NOT NULL\nGROUP BY channel\nORDER BY channel",
};

const MODES: Example = { label: "Modes", sql: "SELECT mode, start, duration\nFROM modes" };

const COLLISIONS: Example = { label: "Collisions", sql: "SELECT *\nFROM collisions" };

const SPEEDS: Example = {
  label: "Speed of each actor",
  sql: "SELECT actor, max(speed) AS fastest, avg(speed) AS mean\nFROM carla_motion\nGROUP BY actor\nORDER BY fastest DESC",
};

/** Questions that the open logs can answer. */
export function examples(logs: readonly LogInfo[]): Example[] {
  const has = (...presets: string[]) => logs.some((log) => presets.includes(log.preset));
  return [...(has("frc", "ds") ? [MODES] : []), ...(has("carla") ? [COLLISIONS, SPEEDS] : []), CHANNELS, RATES];
}
