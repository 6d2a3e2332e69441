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

/** The numbers of the logs that a configuration is about: those of its series and sources, wherever they are in it. */
export function logsOf(config: unknown, found = new Set<number>()): Set<number> {
  if (Array.isArray(config)) for (const item of config) logsOf(item, found);
  else if (typeof config === "object" && config !== null) {
    for (const [key, value] of Object.entries(config)) {
      if (key === "log" && typeof value === "number") found.add(value);
      else logsOf(value, found);
    }
  }
  return found;
}
