import type { ConsoleRow } from "../../api";
import { TICK, type Page } from "../../lists/paging";

/** How many pages are looked through before a search gives up, or an export is long enough. */
const PAGES = 200;

/** The next message that has a text, behind a time or before it. */
export async function search(
  ask: (from: number, back: boolean) => Promise<Page<ConsoleRow>>,
  from: number,
  back: boolean,
  sought: RegExp,
): Promise<ConsoleRow | null> {
  let t = back ? from : from + TICK;
  for (let count = 0; count < PAGES; count++) {
    const { rows, more } = await ask(t, back);
    const hit = back ? rows.findLast((row) => has(row, sought)) : rows.find((row) => has(row, sought));
    if (hit) return hit;
    const last = back ? rows[0] : rows.at(-1);
    if (!more || !last) return null;
    t = back ? last.time : last.time + TICK;
  }
  return null;
}

/** All messages from a time on. */
export async function everything(
  ask: (from: number) => Promise<Page<ConsoleRow>>,
  from: number,
): Promise<ConsoleRow[]> {
  const found: ConsoleRow[] = [];
  for (let count = 0; count < PAGES; count++) {
    const { rows, more } = await ask(from);
    // Rows that share the time of a page's last one come again with the next page.
    const last = rows.at(-1);
    const whole = more && last && rows[0]?.time !== last.time ? rows.filter((row) => row.time < last.time) : rows;
    found.push(...whole);
    if (!more || !last) break;
    from = whole.length < rows.length ? last.time : last.time + TICK;
  }
  return found;
}

function has(row: ConsoleRow, sought: RegExp): boolean {
  sought.lastIndex = 0;
  return sought.test(row.text);
}
