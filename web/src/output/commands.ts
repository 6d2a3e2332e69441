/**
 * What is shown, as lines for the terminal or for SQL. They mean exactly what is shown: the same files, the same channels,
 * the same time range.
 */

import type { LogInfo, Session, Window } from "../api";
import type { SeriesRef } from "../model/series";
import type { CommandLine } from "../model/view";

/** A word of a POSIX shell. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A pattern for `-y` that fits one name only. */
export function pattern(name: string): string {
  // In a class nothing is special, also where a backslash separates folders.
  const glob = name.replace(/[*?[{}\\]/g, (sign) => `[${sign}]`);
  return glob.startsWith("re:") ? `[r]${glob.slice(1)}` : glob;
}

/** A name in SQL. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text in SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A moment of the session in nanoseconds of a log's own clock. */
export function nanoseconds(session: Session, log: LogInfo, t: number): bigint {
  return BigInt(Math.round(t * 1e9)) + BigInt(session.origin_ns) - BigInt(log.offset_ns);
}

/** The same in seconds, with as many digits as it takes. */
export function moment(session: Session, log: LogInfo, t: number): string {
  const ns = nanoseconds(session, log, t);
  const size = ns < 0n ? -ns : ns;
  const group = (size % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  return `${ns < 0n ? "-" : ""}${size / 1_000_000_000n}${group ? `.${group}` : ""}`;
}

/** A file as an argument. */
function file(log: LogInfo): string {
  return quote(log.path.startsWith("-") ? `./${log.path}` : log.path);
}

/** Whether the command line can read it: a live source is not a file, and its data is gone with the server. */
const readable = (log: LogInfo): boolean => log.state === "finished";

/** Whether a log has data outside of a time range. */
function cuts(log: LogInfo, window: Window | null): window is Window {
  if (!window) return false;
  return (log.start !== null && window.start > log.start) || (log.end !== null && window.end < log.end);
}

interface CommandGroup {
  logs: LogInfo[];
  refs: SeriesRef[];
  /** ` -S 1..2`, or nothing for whole logs. */
  range: string;
}

/** The chosen series by log; logs of which the same is chosen stand together. */
function groupsOf(session: Session, refs: SeriesRef[], window: Window | null): CommandGroup[] {
  const found = new Map<string, CommandGroup>();
  for (const log of session.logs) {
    const mine = refs.filter((ref) => ref.log === log.id);
    if (mine.length === 0 || !readable(log)) continue;
    const range = cuts(log, window)
      ? ` -S ${moment(session, log, window.start)}..${moment(session, log, window.end)}`
      : "";
    const key = JSON.stringify([mine.map((ref) => [ref.name, ref.path]), range]);
    const same = found.get(key);
    if (same) same.logs.push(log);
    else found.set(key, { logs: [log], refs: mine, range });
  }
  return [...found.values()];
}

const files = (group: CommandGroup): string => group.logs.map(file).join(" ");

const unique = (words: string[]): string[] => [...new Set(words)];

/** `-y` for whole channels. */
const channels = (refs: SeriesRef[]): string => unique(refs.map((ref) => ` -y ${quote(pattern(ref.name))}`)).join("");

/** `-y` for channels and parts of them. */
const series = (refs: SeriesRef[]): string =>
  unique(refs.map((ref) => ` -y ${quote(pattern(ref.name + ref.path))}`)).join("");

/** The name of a file to write, after the first log. */
function output(group: CommandGroup, extension: string): string {
  const name = group.logs[0]?.name.replace(/\.[^.]*$/, "").replace(/^-+/, "") || "out";
  return quote(`${name}.${extension}`);
}

function lines(
  session: Session,
  refs: SeriesRef[],
  window: Window | null,
  label: string,
  text: (group: CommandGroup) => string,
): CommandLine[] {
  const found = groupsOf(session, refs, window);
  return found.map((group) => ({
    label: found.length > 1 ? `${label} (${group.logs.map((log) => log.name).join(", ")})` : label,
    text: text(group),
  }));
}

/** Series over time as a picture. */
export const plotCommands = (session: Session, refs: SeriesRef[], window: Window | null = null): CommandLine[] =>
  lines(
    session,
    // The length of a list is nothing that `plot` knows.
    refs.filter((ref) => !ref.path.endsWith(".length")),
    window,
    "Plot",
    (group) => `logpose plot ${files(group)}${series(group.refs)}${group.range} -o ${output(group, "svg")}`,
  );

/** One series against another as a picture. */
export const xyCommands = (
  session: Session,
  x: SeriesRef,
  y: SeriesRef,
  window: Window | null = null,
): CommandLine[] =>
  x.log === y.log
    ? lines(session, [x, y], window, "Path", (group) => {
        const [right, up] = [x, y].map((ref) => quote(pattern(ref.name + ref.path)));
        return `logpose plot ${files(group)} --xy ${right} ${up}${group.range} -o ${output(group, "svg")}`;
      })
    : [];

/** Samples as text. */
export const catCommands = (session: Session, refs: SeriesRef[], window: Window | null = null): CommandLine[] =>
  lines(
    session,
    refs,
    window,
    "Samples",
    (group) => `logpose cat ${files(group)}${channels(group.refs)}${group.range}`,
  );

/** The numbers of series. */
export const statsCommands = (session: Session, refs: SeriesRef[], window: Window | null = null): CommandLine[] =>
  lines(
    session,
    refs,
    window,
    "Statistics",
    (group) => `logpose stats ${files(group)}${channels(group.refs)}${group.range}`,
  );

/** Channels as a file of another format. `wide`: a column for each channel. */
export const convertCommands = (
  session: Session,
  refs: SeriesRef[],
  window: Window | null,
  format: "csv" | "mcap" | "parquet" | "wpilog",
  wide = false,
): CommandLine[] =>
  lines(session, refs, window, `Convert to ${format === "wpilog" ? "WPILOG" : format.toUpperCase()}`, (group) => {
    // The tables of a board's recordings have an extension in common with ours.
    const to = format === "csv" ? " --to csv" : "";
    const options = `${to}${wide ? " --wide" : ""}${channels(group.refs)}${group.range}`;
    return `logpose convert ${files(group)} -o ${output(group, format)}${options}`;
  });

/** A series in an expression of `find`. */
export function term(ref: SeriesRef): string {
  return `${identifier(ref.name)}${ref.path}`;
}

/** When a condition holds, such as `${term(ref)} < 10`. */
export const findCommands = (
  session: Session,
  refs: SeriesRef[],
  condition: string,
  window: Window | null = null,
): CommandLine[] =>
  lines(session, refs, window, "Find", (group) => `logpose find ${quote(condition)} ${files(group)}${group.range}`);

/** Lines of text that match, of chosen channels or of all. `text` may stand between slashes. */
export function grepCommands(
  session: Session,
  text: string,
  refs: SeriesRef[],
  window: Window | null = null,
): CommandLine[] {
  const expression = /^\/(.+)\/$/.exec(text)?.[1] ?? text.replace(/[\\^$.*+?()[\]{}|#&~-]/g, "\\$&");
  const everywhere = refs.length === 0;
  const wanted = everywhere ? session.logs.map((log) => ({ log: log.id, name: "", path: "" })) : refs;
  return lines(session, wanted, window, "Find text", (group) => {
    const which = everywhere ? "" : channels(group.refs);
    const word = expression.startsWith("-") ? ` -- ${quote(expression)}` : ` ${quote(expression)}`;
    return `logpose grep -i${which}${group.range}${word} ${files(group)}`;
  });
}

/** What is in a log, with its modes and events. */
export const infoCommands = (session: Session): CommandLine[] =>
  session.logs.filter(readable).map((log) => ({ label: `About ${log.name}`, text: `logpose info ${file(log)}` }));

/** A question in SQL to all logs that are files. */
export function sqlCommands(session: Session, sql: string): CommandLine[] {
  const found = session.logs.filter(readable);
  if (found.length === 0 || !sql.trim()) return [];
  const word = sql.startsWith("-") ? ` ${sql}` : sql;
  return [{ label: "SQL in the terminal", text: `logpose sql ${quote(word)} ${found.map(file).join(" ")}` }];
}

/** The table that a channel is in SQL. */
const tableOf = (ref: SeriesRef): string => identifier(ref.type === undefined ? ref.name : `${ref.name} (${ref.type})`);

/** A part of a column `value` in SQL: elements are counted from 1 there. */
function valueOf(path: string): string {
  let text = "value";
  for (const [, field, element] of path.matchAll(/\.([^.[]+)|\[(\d+)\]/g)) {
    if (element !== undefined) text += `[${Number(element) + 1}]`;
    else if (field !== undefined) text = field === "length" ? `array_length(${text})` : `${text}[${literal(field)}]`;
  }
  return text;
}

/** A condition on time in SQL; empty where nothing is cut. */
export function timeCondition(session: Session, log: LogInfo, window: Window | null): string {
  if (!cuts(log, window)) return "";
  return `time_ns BETWEEN ${nanoseconds(session, log, window.start)} AND ${nanoseconds(session, log, window.end)}`;
}

/** Whether SQL has a column with the log's name. */
const several = (session: Session): boolean => session.logs.filter((log) => log.state !== "closed").length > 1;

/** One series in SQL, over the session's logs. */
export function seriesSql(session: Session, ref: SeriesRef, window: Window | null = null): string | null {
  const log = session.logs[ref.log];
  if (!log) return null;
  const conditions = [several(session) ? `log = ${literal(log.name)}` : "", timeCondition(session, log, window)].filter(
    (condition) => condition !== "",
  );
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  const name = ref.path ? ` AS ${identifier(ref.path.replace(/^\./, ""))}` : "";
  return `SELECT time, ${valueOf(ref.path)}${name} FROM ${tableOf(ref)}${where} ORDER BY time`;
}

/** Series beside each other in SQL, a row for each time: one question for each log. */
export function wideSql(session: Session, refs: SeriesRef[], window: Window | null = null): string[] {
  return session.logs.flatMap((log) => {
    const mine = refs.filter((ref) => ref.log === log.id);
    if (mine.length === 0) return [];
    const patterns = unique(mine.map((ref) => literal(pattern(ref.name))));
    const conditions = [
      several(session) ? `log = ${literal(log.name)}` : "",
      timeCondition(session, log, window),
    ].filter((condition) => condition !== "");
    const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
    return [`SELECT * FROM wide(NULL, ${patterns.join(", ")})${where} ORDER BY time`];
  });
}
