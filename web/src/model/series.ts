/** Words that everything else is made of. */

/** A series by its name, as layouts, addresses and files keep it. */
export interface SeriesRef {
  /** Which of the open logs. */
  log: number;
  /** The channel's name. */
  name: string;
  /** A part of its values: `.translation.x`, `[0]`; empty for the value itself. */
  path: string;
  /** The channel's type, where several channels of the log share the name. */
  type?: string;
}

/** One string for each series. */
export const keyOf = (ref: SeriesRef): string => `${ref.log}:${ref.name}${ref.path}${ref.type ? `(${ref.type})` : ""}`;

export const sameSeries = (a: SeriesRef, b: SeriesRef): boolean => keyOf(a) === keyOf(b);

/** What is dragged from the sidebar: a list of `SeriesRef` as JSON. */
export const SERIES_MIME = "application/x-logpose-series";

/** Reads a reference from untrusted input: a link, a file, a drag. */
export function seriesRef(data: unknown): SeriesRef | null {
  if (typeof data !== "object" || data === null) return null;
  const { log, name, path, type } = data as Record<string, unknown>;
  if (typeof name !== "string" || !name) return null;
  const ref: SeriesRef = {
    log: typeof log === "number" && Number.isInteger(log) && log >= 0 ? log : 0,
    name,
    path: typeof path === "string" ? path : "",
  };
  if (typeof type === "string") ref.type = type;
  return ref;
}

export function seriesRefs(data: unknown): SeriesRef[] {
  return Array.isArray(data) ? data.map(seriesRef).filter((ref) => ref !== null) : [];
}
