/** Pictures that leave the page: an SVG, as the browser shows it, is the picture that was painted. */

import type { Page } from "@playwright/test";
import { alone, exported, expect, test, type LogName } from "./base";

const at = (name: string, path = "") => ({ log: 0, name, path });
const POSE = "NT:/Drive/Pose";

interface Case {
  kind: string;
  log: LogName;
  config: unknown;
  cursor: number;
  /** What is there when there is something to see. */
  shown: string;
  /** A text in the picture. */
  says: RegExp;
}

const CASES: Case[] = [
  {
    kind: "field",
    log: "frc",
    config: {
      sources: [
        { ref: at(POSE), role: "robot" },
        { ref: at(POSE), role: "heat" },
      ],
    },
    cursor: 30,
    shown: "[data-testid=pose]",
    says: />16</,
  },
  {
    kind: "carla",
    log: "carla",
    config: { follow: 10 },
    cursor: 10.4,
    shown: "[data-testid=carla-place]",
    says: /tesla/,
  },
  { kind: "swerve", log: "frc", config: null, cursor: 28, shown: "canvas", says: />FL</ },
  { kind: "joysticks", log: "frc", config: null, cursor: 28, shown: "canvas", says: />Y</ },
  { kind: "board", log: "refloat", config: null, cursor: 597.4, shown: "canvas", says: /duty/ },
  {
    kind: "graph",
    log: "frc",
    config: { series: [{ ref: at("/Power/BatteryVoltage") }, { ref: at("/Shooter/State") }] },
    cursor: 30,
    shown: "[data-testid=legend-row]",
    says: /SHOOTING/,
  },
  {
    kind: "xy",
    log: "frc",
    config: { x: at(POSE, ".translation.x"), y: [at(POSE, ".translation.y")], range: "whole" },
    cursor: 60,
    shown: "[data-testid=xy-canvas]:not([data-points='0'])",
    says: /translation\.y/,
  },
  {
    kind: "statistics",
    log: "frc",
    config: { series: [at("/Power/BatteryVoltage")] },
    cursor: 30,
    shown: "[data-testid=histogram]",
    says: /samples/,
  },
];

/** How far two pictures are apart, of 255, on average and where they differ most in blocks of 8 by 8. */
async function apart(page: Page, svg: string, png: Buffer): Promise<{ mean: number; worst: number; width: number }> {
  // Another page: this one's policy is not that of the viewer.
  const other = await page.context().newPage();
  await other.setContent("<!doctype html>");
  const result = await other.evaluate(
    async ([first, second]) => {
      const pixels = async (address: string, width?: number, height?: number) => {
        const image = new Image();
        image.src = address;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = width ?? image.naturalWidth;
        canvas.height = height ?? image.naturalHeight;
        const context = canvas.getContext("2d");
        if (!context) throw new Error("no canvas");
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return context.getImageData(0, 0, canvas.width, canvas.height);
      };
      const a = await pixels(first ?? "");
      const b = await pixels(second ?? "", a.width, a.height);
      const across = Math.ceil(a.width / 8);
      const blocks = new Float64Array(across * Math.ceil(a.height / 8));
      let sum = 0;
      for (let place = 0; place < a.data.length; place++) {
        const differs = Math.abs((a.data[place] ?? 0) - (b.data[place] ?? 0));
        sum += differs;
        const [x, y] = [(place >> 2) % a.width, Math.floor((place >> 2) / a.width)];
        const block = (y >> 3) * across + (x >> 3);
        blocks[block] = (blocks[block] ?? 0) + differs / 256;
      }
      return { mean: sum / a.data.length, worst: Math.max(...blocks), width: a.width };
    },
    [
      `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`,
      `data:image/png;base64,${png.toString("base64")}`,
    ],
  );
  await other.close();
  return result;
}

for (const { kind, log, config, cursor, shown, says } of CASES) {
  test(`the SVG of ${kind} is what was painted`, async ({ page, open }) => {
    await open([log], alone(kind, config, { cursor }));
    await page.locator(shown).first().waitFor();
    // What is asked for while it is drawn has come when two pictures are the same.
    let png: Buffer = Buffer.alloc(0);
    await expect(async () => {
      const before = png;
      png = (await exported(page, /\(PNG\)$/)).bytes;
      expect(before.equals(png)).toBe(true);
    }).toPass();
    const svg = await exported(page, /\(SVG\)$/);
    expect(svg.name).toMatch(/\.svg$/);
    const text = svg.bytes.toString();
    expect(text).toMatch(says);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    const { mean, worst, width } = await apart(page, text, png);
    expect(width).toBeGreaterThan(500);
    expect(mean, "the pictures are alike").toBeLessThan(1.5);
    expect(worst, "no part is another").toBeLessThan(70);
  });
}
