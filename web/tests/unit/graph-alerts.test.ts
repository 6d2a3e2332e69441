import { expect, test } from "vitest";
import type { LogEvent } from "../../src/api";
import { drawAlerts } from "../../src/views/graph/paint";
import type { Frame, Scene } from "../../src/views/graph/scene";
import type { Context } from "../../src/draw/canvas";

const frame: Frame = { left: 50, top: 24, width: 480, height: 200, rows: 0, axes: [] };
const alert = (start: number, level: LogEvent["level"]): LogEvent => ({
  start,
  end: null,
  level,
  kind: "warning",
  text: "",
  channel: null,
});

/** Lines down the plot, and flags at its top. */
function painted(alerts: LogEvent[]): { lines: number; flags: number } {
  const found = { lines: 0, flags: 0 };
  const nothing = () => undefined;
  const context = {
    fillRect: (_x: number, _y: number, width: number, height: number) =>
      (found.lines += width === 1 && height === frame.height ? 1 : 0),
    fill: () => found.flags++,
    ...{ beginPath: nothing, moveTo: nothing, lineTo: nothing },
  } as unknown as Context;
  const palette = { warning: "#ff0000", error: "#ff0000", info: "#ff0000" };
  drawAlerts(context, { start: 0, end: 100, alerts, palette } as unknown as Scene, frame);
  return found;
}

test("a few alerts have lines, a crowd of them flags alone", () => {
  const few = Array.from({ length: 10 }, (_, place) => alert(place * 10, "warning"));
  expect(painted(few)).toEqual({ lines: 10, flags: 10 });
  const many = Array.from({ length: 90 }, (_, place) => alert(place + 0.5, "warning"));
  expect(painted(many)).toEqual({ lines: 0, flags: 90 });
  // An error among them keeps its line.
  expect(painted([...many, alert(97, "error")])).toEqual({ lines: 1, flags: 91 });
});
