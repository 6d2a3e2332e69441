/** State behind the # of an address: JSON, deflated, in an alphabet that addresses leave alone. */

import { deflateSync, Inflate, strFromU8, strToU8 } from "fflate";

/** Longer links are rejected. */
const LONGEST = 400_000;
const LARGEST = 4 << 20;

export function encodeState(state: unknown): string {
  const bytes = deflateSync(strToU8(JSON.stringify(state)), { level: 9 });
  let binary = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The state in a link; `null` if it is not a state of this page. */
export function decodeState(hash: string): unknown {
  const text = hash.replace(/^#/, "");
  if (!text || text.length > LONGEST || !/^[\w-]+$/.test(text)) return null;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(strFromU8(inflate(Uint8Array.from(binary, (sign) => sign.charCodeAt(0))))) as unknown;
  } catch {
    return null;
  }
}

/** A few bytes may claim to be gigabytes; so it ends when it is too much. */
function inflate(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  let whole = false;
  const stream = new Inflate((part, last) => {
    size += part.length;
    if (size > LARGEST) throw new Error("too large");
    parts.push(part);
    whole ||= last;
  });
  // In pieces, because one call gives all that it can make of what it was given.
  for (let start = 0; start < bytes.length; start += 1024) {
    stream.push(bytes.subarray(start, start + 1024), start + 1024 >= bytes.length);
  }
  if (!whole) throw new Error("cut");
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
