/** The lines of messages: without the codes of terminals, and how many of them there are on the screen. */

// Sequences of ECMA-48 (colours, cursor), titles of windows, and other controls than tabs and ends of lines.
const CODES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-_]|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** A message as plain text. */
export function plain(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(CODES, "").replace(/\s+$/, "");
}

/** How many characters of a line are as wide as two. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/gu;

/** How many columns of a fixed-width font a line takes; a tab goes to the next multiple of 8. */
export function columnsOf(line: string): number {
  if (/^[ -~]*$/.test(line)) return line.length;
  let columns = 0;
  for (const piece of line.split(/(\t)/)) {
    if (piece === "\t") columns += 8 - (columns % 8);
    else columns += [...piece].length + (piece.match(wide)?.length ?? 0);
  }
  return columns;
}

/**
 * A text whose lines are at most so wide, broken behind blanks where there are any. Done here and not by the browser, so that
 * the height of a row is known before it is drawn.
 */
export function broken(text: string, columns: number): string {
  if (!Number.isFinite(columns)) return text;
  const most = Math.max(columns, 8);
  return text
    .split("\n")
    .map((line) => (columnsOf(line) <= most ? line : pieces(line, most).join("\n")))
    .join("\n");
}

function pieces(line: string, most: number): string[] {
  const found: string[] = [];
  let rest = [...line];
  while (rest.length > 0) {
    let [end, width, blank] = [0, 0, 0];
    for (; end < rest.length; end++) {
      const sign = rest[end] ?? "";
      width += sign === "\t" ? 8 - (width % 8) : columnsOf(sign);
      if (width > most && end > 0) break;
      if (sign === " " || sign === "\t") blank = end + 1;
    }
    // A word that is longer than half a line is broken like any other text.
    const cut = end < rest.length && rest[end] !== " " && blank > end / 2 ? blank : end;
    found.push(rest.slice(0, cut).join("").trimEnd());
    rest = rest.slice(cut);
    while (rest[0] === " " && rest.length > 1) rest = rest.slice(1);
    if (rest.length === 1 && rest[0] === " ") break;
  }
  return found;
}

/** How many lines a text has. */
export function linesOf(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
