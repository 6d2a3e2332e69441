import { expect, test } from "vitest";
import { VIEW_KEYS, viewCommand } from "../../src/model/keys";
import { nameOf } from "../../src/shell/keys";

const pressed = (key: string, ...held: string[]) =>
  nameOf({
    key,
    ctrlKey: held.includes("ctrl"),
    metaKey: held.includes("meta"),
    altKey: held.includes("alt"),
    shiftKey: held.includes("shift"),
  });

test.each([
  [" ", [], "Space"],
  ["z", ["ctrl"], "Ctrl+Z"],
  ["Z", ["ctrl", "shift"], "Ctrl+Shift+Z"],
  ["z", ["meta"], "Ctrl+Z"],
  ["ArrowLeft", ["alt"], "Alt+←"],
  ["ArrowRight", ["shift"], "Shift+→"],
  ["?", ["shift"], "?"],
  ["/", [], "/"],
  ["[", [], "["],
  ["=", [], "+"],
  ["+", ["shift"], "+"],
  ["t", ["ctrl", "alt"], "Ctrl+Alt+T"],
  ["F6", ["shift"], "Shift+F6"],
  ["1", [], "1"],
])("%s %s is %s", (key, held, name) => expect(pressed(key, ...held)).toBe(name));

test("a key means one thing in all views", () => {
  const keys = Object.values(VIEW_KEYS).flatMap(({ keys }) => keys);
  expect(keys).toEqual([...new Set(keys)]);
  expect(viewCommand("Shift+Z")).toBe("zoomOut");
  expect(viewCommand("T")).toBeUndefined();
});
