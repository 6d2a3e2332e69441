/** Answers in Arrow as text and as numbers. */

import { DataType, Null, type Field, type Table, type Vector } from "apache-arrow";
import { formatNumber } from "../../values/format";

export interface Column {
  name: string;
  type: string;
  /** Whether its values are numbers that can be drawn. */
  numeric: boolean;
  vector: Vector;
  field: Field;
}

export function columnsOf(table: Table): Column[] {
  return table.schema.fields.flatMap((field, place) => {
    const vector = table.getChildAt(place);
    return vector
      ? [{ name: field.name, type: typeName(typeOf(field)), numeric: isNumber(typeOf(field)), vector, field }]
      : [];
  });
}

function isNumber(type: DataType): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type);
}

/** Types in few words. */
function typeName(type: DataType): string {
  if (DataType.isDictionary(type)) return typeName(type.dictionary as DataType);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type)) return "text";
  if (DataType.isBool(type)) return "boolean";
  if (DataType.isTimestamp(type)) return type.timezone ? `timestamp ${type.timezone}` : "timestamp";
  if (DataType.isList(type) || DataType.isFixedSizeList(type)) return `list of ${typeName(listed(type))}`;
  if (DataType.isStruct(type)) return "struct";
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isBinaryView(type)) return "bytes";
  return (type as { toString(): string }).toString().toLowerCase();
}

const listed = (type: { children: Field[] }): DataType => (type.children[0] ? typeOf(type.children[0]) : new Null());

/** Arrow types the type of a field as `any`. */
const typeOf = (field: Field): DataType => field.type as DataType;

/** A value as text, exactly; nothing for null. */
export function exact(value: unknown, type: DataType): string | null {
  return textOf(value, type, (number) => (Object.is(number, -0) ? "-0" : String(number)));
}

/** A value as text for people. */
export function short(value: unknown, type: DataType): string | null {
  return textOf(value, type, formatNumber);
}

function textOf(value: unknown, type: DataType, number: (value: number) => string): string | null {
  if (value === null || value === undefined) return null;
  if (DataType.isDictionary(type)) return textOf(value, type.dictionary as DataType, number);
  if (DataType.isTimestamp(type) || DataType.isDate(type)) return moment(value);
  if (DataType.isDecimal(type)) return decimal(value, type.scale);
  if (DataType.isStruct(type)) return fields(value, type.children, number);
  if (DataType.isList(type) || DataType.isFixedSizeList(type)) return elements(value, listed(type), number);
  if (typeof value === "number") return number(value);
  if (value instanceof Uint8Array) return [...value].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return typeof value === "string" || typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

function moment(value: unknown): string {
  const date = new Date(Number(value));
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().replace(/\.000Z$/, "Z");
}

function fields(value: unknown, children: Field[], number: (value: number) => string): string {
  const record = value as Record<string, unknown>;
  const texts = children.map(
    (child) => `${child.name}: ${textOf(record[child.name], typeOf(child), number) ?? "null"}`,
  );
  return `{${texts.join(", ")}}`;
}

function elements(value: unknown, type: DataType, number: (value: number) => string): string {
  const texts = Array.from(value as Iterable<unknown>, (one) => textOf(one, type, number) ?? "null");
  return `[${texts.join(", ")}]`;
}

/** A decimal out of the words that hold it, lowest first. */
function decimal(value: unknown, scale: number): string {
  if (!(value instanceof Uint32Array)) return String(value);
  let number = value.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  number = BigInt.asIntN(value.length * 32, number);
  const digits = (number < 0n ? -number : number).toString().padStart(scale + 1, "0");
  const text = scale > 0 ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
  return number < 0n ? `-${text}` : text;
}

/** A column as numbers; NaN where there is none. */
export function numbersOf({ vector, field }: Column): Float64Array {
  const type = typeOf(field);
  return Float64Array.from({ length: vector.length }, (_, place) => {
    const value: unknown = vector.get(place);
    if (value === null || value === undefined) return NaN;
    return DataType.isDecimal(type) ? Number(decimal(value, type.scale)) : Number(value);
  });
}

export interface Drawable {
  x: Column;
  xs: Float64Array;
  y: Column[];
}

/** What of an answer can be drawn: something that goes on like time, and numbers beside it. */
export function drawable(columns: Column[]): Drawable | null {
  const named = columns.find((column) => isTime(column));
  const first = columns[0];
  const x = named ?? (first?.numeric ? first : undefined);
  if (!x || x.vector.length < 2) return null;
  const y = columns.filter((column) => column !== x && column.numeric && column.name !== "time_ns");
  if (y.length === 0) return null;
  const xs = numbersOf(x);
  // Without the name of a time only what never steps back can be one.
  if (!named && xs.some((value, place) => place > 0 && !(value >= (xs[place - 1] ?? NaN)))) return null;
  return { x, xs, y };
}

function isTime({ name, numeric, field }: Column): boolean {
  if (DataType.isTimestamp(typeOf(field))) return true;
  return numeric && /^(time|t|start|bucket|seconds)$/i.test(name);
}

/** Where an error says that it is, as a place in the text; nothing if it says none. */
export function placeOf(message: string, sql: string): { start: number; end: number } | null {
  const match = /line:? (\d+), column:? (\d+)/i.exec(message);
  if (!match) return null;
  const lines = sql.split("\n");
  const [line, column] = [Number(match[1]) - 1, Number(match[2]) - 1];
  if (line < 0 || line >= lines.length) return null;
  const before = lines.slice(0, line).reduce((sum, text) => sum + text.length + 1, 0);
  const start = Math.min(before + Math.max(column, 0), sql.length);
  const word = /^"[^"]*"?|^\w+|^./.exec(sql.slice(start))?.[0] ?? "";
  return { start, end: start + word.length };
}

type Sortable = number | bigint | string | null;

/** The order of rows by a column. */
export function ordered({ vector, field }: Column, down: boolean): number[] {
  const values = Array.from({ length: vector.length }, (_, place): Sortable => {
    const value: unknown = vector.get(place);
    return typeof value === "number" || typeof value === "bigint" ? value : exact(value, typeOf(field));
  });
  const compare = (a: Sortable, b: Sortable): number => {
    // Nothing comes last, whichever way it goes.
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const sign = down ? -1 : 1;
    if (typeof a === "string" || typeof b === "string") {
      return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
    }
    return a < b ? -sign : a > b ? sign : 0;
  };
  return values.map((_, place) => place).sort((a, b) => compare(values[a] ?? null, values[b] ?? null) || a - b);
}
