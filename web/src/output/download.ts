/** Things that leave the page: files and the clipboard. */

/** Gives a file to the browser to keep. */
export function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Copies a text to the clipboard; returns whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The old way: beyond loopback a page without TLS has no clipboard of its own. */
function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

/** Rows as CSV by RFC 4180. */
export function csv(rows: Iterable<readonly (string | number | boolean | null | undefined)[]>): string {
  let text = "";
  for (const row of rows) text += `${row.map(cell).join(",")}\r\n`;
  return text;
}

function cell(value: string | number | boolean | null | undefined): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) || /^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvFile = (rows: Iterable<readonly (string | number | boolean | null | undefined)[]>): Blob =>
  new Blob([csv(rows)], { type: "text/csv;charset=utf-8" });

/** A name for a file out of what it shows: letters, digits and few signs. */
export function fileName(what: string, extension: string): string {
  const name = what
    .normalize("NFKD")
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
  return `${name || "logpose"}.${extension}`;
}
