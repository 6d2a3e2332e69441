/** Reading of configurations from files and links: invalid values become the default. */

export type Data = Record<string, unknown>;

export const record = (data: unknown): Data =>
  typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Data) : {};

export const flag = (data: unknown, otherwise: boolean): boolean => (typeof data === "boolean" ? data : otherwise);

export const within = (data: unknown, low: number, high: number, otherwise: number): number =>
  typeof data === "number" && Number.isFinite(data) ? Math.min(Math.max(data, low), high) : otherwise;

export const oneOf = <T extends string | number>(data: unknown, known: readonly T[], otherwise: T): T =>
  known.includes(data as T) ? (data as T) : otherwise;

export const items = (data: unknown): unknown[] => (Array.isArray(data) ? data : []);
