import { expect, test } from "vitest";
import { csv, fileName } from "../../src/output/download";

test("CSV quotes what would be read as something else", () => {
  expect(
    csv([
      ["t", "a,b", 'say "x"'],
      [1.5, null, "two\nlines"],
      [-0, true, " x"],
    ]),
  ).toBe('t,"a,b","say ""x"""\r\n1.5,,"two\nlines"\r\n0,true," x"\r\n');
});

test("names of files are plain", () => {
  expect(fileName("/Drive/Pose x", "csv")).toBe("Drive-Pose-x.csv");
  expect(fileName("…", "png")).toBe("logpose.png");
});
