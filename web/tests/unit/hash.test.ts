import { deflateSync, strToU8 } from "fflate";
import { describe, expect, test } from "vitest";
import { decodeState, encodeState } from "../../src/model/hash";

const pack = (bytes: Uint8Array): string => Buffer.from(deflateSync(bytes)).toString("base64url");

describe("state in the address", () => {
  test.each([
    [{}],
    [{ tabs: [1, 2, { a: "ä€😀", b: null }], x: 1.25e-9 }],
    ["text"],
    [Array.from({ length: 5000 }, (_, place) => ({ id: `p${place}`, at: place / 7 }))],
  ])("comes back as it was", (state) => {
    const hash = encodeState(state);
    expect(hash).toMatch(/^[\w-]+$/);
    expect(decodeState(`#${hash}`)).toEqual(state);
  });

  test.each([
    ["nothing", ""],
    ["a lone #", "#"],
    ["words", "#section-2"],
    ["signs", "#%00<script>"],
    ["no base64", "#====="],
    ["no deflate", `#${Buffer.from("hello, world").toString("base64url")}`],
    ["no JSON", `#${pack(strToU8("{"))}`],
    ["something long", `#${"A".repeat(500_000)}`],
    ["a bomb", `#${pack(new Uint8Array(64 << 20))}`],
  ])("is nothing if it is %s", (_, hash) => expect(decodeState(hash)).toBeNull());

  test("is nothing if any part of it is missing", () => {
    const hash = encodeState({ tabs: [{ id: "t", title: "Some title", root: { id: "p" } }] });
    for (let end = 1; end < hash.length; end++) expect(decodeState(hash.slice(0, end))).toBeNull();
  });
});
