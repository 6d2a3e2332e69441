import type { Level } from "../../api";
import { LEVELS, levelsOf } from "../../lists/levels";

export interface EventsConfig {
  levels: Level[];
  /** Kinds that are not shown: others, also those that are not known yet, are. */
  hidden: string[];
  text: string;
  /** Whether the same thing many times in a row is one line. */
  group: boolean;
}

export const empty = (): EventsConfig => ({ levels: [...LEVELS], hidden: [], text: "", group: true });

export function restore(data: unknown): EventsConfig {
  const { levels, hidden, text, group } = (data ?? {}) as Record<string, unknown>;
  return {
    levels: levelsOf(levels),
    hidden: Array.isArray(hidden) ? hidden.filter((kind) => typeof kind === "string") : [],
    text: typeof text === "string" ? text : "",
    group: group !== false,
  };
}

/** Events are not made of series. */
export const add = (): boolean => false;
