/** Times as people type them. */

/** Seconds of `12.5`, `1:12.5`, `1:02:03.5`; null if it is something else. */
function seconds(text: string): number | null {
  const parts = text.split(":");
  if (
    parts.length > 3 ||
    !parts.every((part, at) => (at === parts.length - 1 ? /^\d+([.,]\d*)?$/ : /^\d+$/).test(part))
  ) {
    return null;
  }
  return parts.reduce((sum, part) => sum * 60 + Number(part.replace(",", ".")), 0);
}

/**
 * The time that was typed: `12.5`, `1:12.5`, `-3` as times of the log; `+5`, `+-5` from the cursor on; `@14:22:34` by
 * the wall clock of the reader. Nothing if it is none.
 */
export function parseTime(typed: string, cursor: number, wall: number | null): number | null {
  const text = typed.trim().replace(/\s*s$/, "").replaceAll("−", "-");
  if (text.startsWith("@")) {
    const of = seconds(text.slice(1));
    if (of === null || wall === null || !text.includes(":")) return null;
    // On the day of the cursor.
    const day = new Date((wall + cursor) * 1000);
    day.setHours(0, 0, 0, 0);
    const hours = text.split(":").length === 2 ? of * 60 : of;
    return day.getTime() / 1000 + hours - wall;
  }
  const relative = text.startsWith("+");
  const rest = relative ? text.slice(1) : text;
  const negative = rest.startsWith("-");
  const size = seconds(negative ? rest.slice(1) : rest);
  if (size === null) return null;
  return (relative ? cursor : 0) + (negative ? -size : size);
}
