/** The tables that can be asked, with their columns. */

import { postSql } from "../../api";

export interface TableInfo {
  name: string;
  columns: { name: string; type: string }[];
  /** Whether it is a channel, not one of the tables that every log has. */
  channel: boolean;
}

const QUESTION =
  "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema <> 'information_schema'";

export async function tables(channels: ReadonlySet<string>): Promise<TableInfo[]> {
  const { table } = await postSql({ sql: QUESTION, limit: 100_000 });
  const [names, columns, types] = ["table_name", "column_name", "data_type"].map((name) => table.getChild(name));
  const rows = Array.from({ length: table.numRows }, (_, place): [string, string, string] => [
    String(names?.get(place)),
    String(columns?.get(place)),
    String(types?.get(place)),
  ]);
  return grouped(rows, channels);
}

/** Rows of names, columns and types as tables; those of all logs first. */
export function grouped(rows: readonly [string, string, string][], channels: ReadonlySet<string>): TableInfo[] {
  const found = new Map<string, TableInfo>();
  for (const [name, column, type] of rows) {
    const known = found.get(name) ?? { name, columns: [], channel: isChannel(name, channels) };
    known.columns.push({ name: column, type: plainType(type) });
    found.set(name, known);
  }
  return [...found.values()].sort(
    (a, b) => Number(a.channel) - Number(b.channel) || (a.channel ? a.name.localeCompare(b.name) : 0),
  );
}

/** Tables that keep their names also where a channel has the same one. */
const OWN = [
  "channels",
  "samples",
  "modes",
  "matches",
  "console",
  "errors",
  "frames",
  "actors",
  "collisions",
  "blocked",
];

/** A channel has its own name, or with its type behind it where two share the name. */
const isChannel = (name: string, channels: ReadonlySet<string>): boolean =>
  !OWN.includes(name) && (channels.has(name) || channels.has(name.replace(/ \([^()]*\)$/, "")));

/** `Dictionary(Int32, Utf8)` is a text for everybody. */
function plainType(type: string): string {
  const words: Record<string, string> = {
    Utf8: "text",
    Utf8View: "text",
    Float64: "double",
    Boolean: "boolean",
    Int64: "integer",
  };
  const inner = /^Dictionary\(\w+, (\w+)\)$/.exec(type)?.[1] ?? type;
  const list = /^List\((\w+)\)$/.exec(inner)?.[1];
  if (list) return `list of ${words[list] ?? list}`;
  return inner.startsWith("Struct(") ? "struct" : (words[inner] ?? inner);
}
