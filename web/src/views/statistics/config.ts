import { RANGES, type Range } from "../../model/range";
import { sameSeries, seriesRefs, type SeriesRef } from "../../model/series";

export const BINS = [10, 20, 40, 80, 160] as const;

export interface StatisticsConfig {
  series: SeriesRef[];
  /** Time range in use; without a selection the visible range stands for it. */
  range: Range;
  bins: number;
  /** Whether the histogram adds up. */
  cumulative: boolean;
}

export const empty = (): StatisticsConfig => ({ series: [], range: "visible", bins: 40, cumulative: false });

export function restore(data: unknown): StatisticsConfig {
  const { series, range, bins, cumulative } = (data ?? {}) as Record<string, unknown>;
  return {
    series: seriesRefs(series),
    range: RANGES.find((one) => one === range) ?? "visible",
    bins: BINS.find((one) => one === bins) ?? 40,
    cumulative: cumulative === true,
  };
}

export function add(config: StatisticsConfig, refs: SeriesRef[]): boolean {
  const news = refs.filter((ref) => !config.series.some((known) => sameSeries(known, ref)));
  config.series.push(...news.map((ref) => ({ ...ref })));
  return refs.length > 0;
}
