import { expect, test } from "vitest";
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
