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

/** How many lines a text takes on a screen that is `columns` wide; lines are not broken where that is infinite. */
export function linesOf(text: string, columns: number): number {
  let count = 0;
  for (const line of text.split("\n")) count += Math.max(Math.ceil(columnsOf(line) / Math.max(columns, 1)), 1);
  return count;
}
