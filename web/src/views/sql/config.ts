import type { SeriesRef } from "../../model/series";
import { identifier } from "../../output/commands";

/** How many questions are remembered. */
export const REMEMBERED = 30;

export interface SqlConfig {
  sql: string;
  /** Query history, the newest first. */
  history: string[];
  /** Whether tables and columns are listed. */
  tables: boolean;
  /** Whether the answer is drawn. */
  plot: boolean;
}

export const empty = (): SqlConfig => ({ sql: "", history: [], tables: true, plot: false });

export function restore(data: unknown): SqlConfig {
  const { sql, history, tables, plot } = (data ?? {}) as Record<string, unknown>;
  const asked = Array.isArray(history)
    ? history.filter((one): one is string => typeof one === "string" && one.trim() !== "")
    : [];
  return {
    sql: typeof sql === "string" ? sql : "",
    history: asked.slice(0, REMEMBERED),
    tables: tables !== false,
    plot: plot === true,
  };
}

/** A channel that is dropped on an empty editor becomes a question; otherwise its name is added. */
export function add(config: SqlConfig, refs: SeriesRef[]): boolean {
  for (const ref of refs) {
    const name = identifier(ref.type === undefined ? ref.name : `${ref.name} (${ref.type})`);
    if (config.sql.trim()) config.sql = `${config.sql.trimEnd()} ${name}`;
    else config.sql = `SELECT * FROM ${name}`;
  }
  return refs.length > 0;
}

/** Puts a question in front of those that were asked. */
export function remember(config: SqlConfig, sql: string): void {
  config.history = [sql, ...config.history.filter((known) => known !== sql)].slice(0, REMEMBERED);
}
