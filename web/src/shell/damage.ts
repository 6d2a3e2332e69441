/** How much of a log is lost, in words. */

import type { Damage } from "../api";
import { formatCount } from "../values/format";

/** `587 bytes (0.043 %) are unreadable`; of damage that costs no bytes only that it is there. */
export function unreadable({ bytes, share }: Damage): string {
  if (bytes === 0) return "the file is damaged, but all of its bytes are readable";
  const percent = share * 100;
  const part = percent < 0.001 ? "less than 0.001" : String(Number(percent.toPrecision(2)));
  return `${formatCount(bytes)} ${bytes === 1 ? "byte is" : "bytes are"} unreadable (${part} %)`;
}
