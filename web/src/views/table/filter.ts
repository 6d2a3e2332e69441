import type { TableRow } from "../../api";
import type { Page } from "../../lists/paging";
import { TICK } from "../../lists/paging";

/** How many pages are looked through before what was found is shown. */
const PAGES = 8;

/**
 * Rows in which a new value has a text. The server knows no such question, so pages are asked for until there is something
 * to show; the end of the searched range is returned.
 */
export async function filtered(
  ask: (from: number) => Promise<{ rows: TableRow[]; more: boolean }>,
  from: number,
  back: boolean,
  sought: RegExp | null,
  limit: number,
): Promise<Page<TableRow>> {
  if (!sought) return ask(from);
  let found: TableRow[] = [];
  let reached = from;
  for (let count = 0; count < PAGES; count++) {
    const page = await ask(from);
    const hits = page.rows.filter((row) => row.cells.some((cell, place) => row.fresh[place] && has(cell, sought)));
    found = back ? [...hits, ...found] : [...found, ...hits];
    const last = back ? page.rows[0] : page.rows.at(-1);
    if (!last || !page.more) return { rows: found, more: false };
    reached = last.time;
    // A row stands for its time alone, so the next page begins right beside it.
    from = back ? last.time : last.time + TICK;
    if (found.length >= limit / 4) break;
  }
  return { rows: found, more: true, reached };
}

function has(cell: string | null, sought: RegExp): boolean {
  sought.lastIndex = 0;
  return cell !== null && sought.test(cell);
}
