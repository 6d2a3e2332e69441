import { sameSeries, seriesRef, type SeriesRef } from "../../model/series";

export interface Column {
  ref: SeriesRef;
  /** In pixels. */
  width: number;
}

export interface TableConfig {
  columns: Column[];
  /** Only rows in which a new value has this text. */
  filter: string;
  /** Whether what one loop logs is one row. */
  loops: boolean;
}

export const WIDTH = 150;
export const NARROWEST = 60;
export const WIDEST = 1200;

export const empty = (): TableConfig => ({ columns: [], filter: "", loops: false });

export function restore(data: unknown): TableConfig {
  const { columns, filter, loops } = (data ?? {}) as Record<string, unknown>;
  const list: unknown[] = Array.isArray(columns) ? columns : [];
  return {
    columns: list.flatMap((column) => {
      const { ref, width } = (column ?? {}) as Record<string, unknown>;
      const series = seriesRef(ref);
      return series ? [{ ref: series, width: clamped(typeof width === "number" ? width : WIDTH) }] : [];
    }),
    filter: typeof filter === "string" ? filter : "",
    loops: loops === true,
  };
}

export const clamped = (width: number): number =>
  Number.isFinite(width) ? Math.round(Math.min(Math.max(width, NARROWEST), WIDEST)) : WIDTH;

/** Adds what is not there yet. */
export function add(config: TableConfig, refs: SeriesRef[]): boolean {
  let added = false;
  for (const ref of refs) {
    if (config.columns.some((column) => sameSeries(column.ref, ref))) continue;
    config.columns.push({ ref: { ...ref }, width: WIDTH });
    added = true;
  }
  return added || refs.length > 0;
}

/** Moves a column to another place. */
export function move(config: TableConfig, from: number, to: number): void {
  const column = config.columns[from];
  if (!column || to < 0 || to >= config.columns.length || from === to) return;
  config.columns.splice(from, 1);
  config.columns.splice(to, 0, column);
}
