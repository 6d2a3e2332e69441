import type { Level } from "../../api";
import { sameSeries, seriesRefs, type SeriesRef } from "../../model/series";
import { LEVELS, levelsOf } from "../../lists/levels";

export interface ConsoleConfig {
  levels: Level[];
  /** Show only messages containing this text, and none with that; between slashes they are regular expressions. */
  include: string;
  exclude: string;
  /** Only these channels; all channels with messages if empty. */
  series: SeriesRef[];
  /** Whether long lines are broken. */
  wrap: boolean;
}

export const empty = (): ConsoleConfig => ({ levels: [...LEVELS], include: "", exclude: "", series: [], wrap: true });

export function restore(data: unknown): ConsoleConfig {
  const { levels, include, exclude, series, wrap } = (data ?? {}) as Record<string, unknown>;
  return {
    levels: levelsOf(levels),
    include: typeof include === "string" ? include : "",
    exclude: typeof exclude === "string" ? exclude : "",
    series: seriesRefs(series),
    wrap: wrap !== false,
  };
}

export function add(config: ConsoleConfig, refs: SeriesRef[]): boolean {
  const news = refs.filter((ref) => !config.series.some((known) => sameSeries(known, ref)));
  config.series.push(...news.map((ref) => ({ ...ref })));
  return refs.length > 0;
}
