/** Views of space: fields, swerve, joysticks, boards; they show what the log has. */

import type { Page } from "@playwright/test";
import { alone, exportedPng, expect, fileOf, logpose, test, type LogName } from "./base";

const hash = (kind: string, config: unknown, cursor: number) => alone(kind, config, { cursor });

const at = (name: string, log = 0) => ({ log, name, path: "" });

/** What a channel of a log holds at a time. */
function held<T>(log: LogName, channel: string, t: number): T {
  const lines = logpose("cat", fileOf(log), "-y", channel, "-E", String(t), "--json").trim().split("\n");
  return (JSON.parse(lines.at(-1) ?? "null") as { value: T }).value;
}

const degrees = (radians: number) => (radians * 180) / Math.PI;

interface Pose {
  translation: { x: number; y: number };
  rotation: { value: number };
}

const poseText = ({ translation: { x, y }, rotation }: Pose) =>
  `(${x.toFixed(2)}, ${y.toFixed(2)}) m, ${degrees(rotation.value).toFixed(1)}°`;

test.describe("field", () => {
  const robot = { sources: [{ ref: at("NT:/Drive/Pose"), role: "robot" }] };

  test("shows the pose that the log has, and the next one after a step", async ({ page, open, picture }) => {
    await open(["frc"], hash("field", robot, 14));
    const pose = page.getByTestId("pose");
    await expect(pose).toHaveText(poseText(held<Pose>("frc", "NT:/Drive/Pose", 14)));
    await picture("field");
    await page.keyboard.press("Shift+ArrowRight");
    await expect(pose).toHaveText(poseText(held<Pose>("frc", "NT:/Drive/Pose", 15)));
  });

  test("finds the robot by itself, and takes what is dropped on it", async ({ page, open }) => {
    await open(["akit"], hash("field", null, 14));
    await expect(page.getByTestId("empty")).toContainText("Drop a pose here");
    const data = await page.evaluateHandle((ref) => {
      const carried = new DataTransfer();
      carried.setData("application/x-logpose-series", JSON.stringify([ref]));
      return carried;
    }, at("/RealOutputs/Drive/Pose"));
    const pane = page.getByTestId("pane");
    const box = (await pane.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const middle = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
    await pane.dispatchEvent("dragover", { dataTransfer: data, ...middle });
    await pane.dispatchEvent("drop", { dataTransfer: data, ...middle });
    await expect(page.getByTestId("pose")).toHaveText(poseText(held<Pose>("akit", "/RealOutputs/Drive/Pose", 14)));
    await page.keyboard.press("Control+z");
    await page.getByRole("button", { name: "Show the robot of this log" }).click();
    await expect(page.getByTestId("pose")).toHaveText(poseText(held<Pose>("akit", "/RealOutputs/Drive/Pose", 14)));
  });

  test("plays", async ({ page, open }) => {
    await open(["frc"], hash("field", robot, 10));
    const pose = page.getByTestId("pose");
    const before = await pose.textContent();
    await page.keyboard.press("Space");
    await expect(pose).not.toHaveText(before ?? "");
    await page.keyboard.press("Space");
  });

  test("shows where time was spent, turns, measures, and knows the place under the pointer", async ({
    page,
    open,
    picture,
  }) => {
    await open(["frc"], hash("field", robot, 30));
    await page.getByRole("button", { name: "Heat map" }).click();
    await expect(page.getByTestId("heat")).toHaveText("70.0 s");
    await picture("field-heat");
    const canvas = page.getByTestId("field").locator("canvas");
    const box = (await canvas.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await expect(page.getByTestId("pointer")).toContainText("8.27, 4.0");
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(x + 100, y, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await expect(page.getByTestId("pointer")).toContainText(/· \d\.\d{3} m/);
    await canvas.focus();
    await page.keyboard.press("o");
    await page.mouse.move(x, y - 50);
    await expect(page.getByTestId("pointer")).toContainText(/(8|9|1\d)\.\d\d, 4\.0/);
  });

  test("gives a picture, twice as fine, and the lines that show the same", async ({ page, open, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open(["frc"], hash("field", robot, 14));
    await expect(page.getByTestId("pose")).toContainText("m,");
    const canvas = (await page.getByTestId("field").locator("canvas").boundingBox()) ?? { width: 0, height: 0 };
    const file = await exportedPng(page);
    expect(file.name).toMatch(/^FRC_.*-field\.png$/);
    expect(file.width).toBe(Math.round(canvas.width * 2));
    expect(file.bytes.length).toBeGreaterThan(10_000);
    await page.getByTestId("pane-menu").click();
    await page.getByRole("menuitem", { name: "Samples" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("logpose cat");
    const line = await page.evaluate(() => navigator.clipboard.readText());
    expect(line).toContain("-y NT:/Drive/Pose");
  });
});

test("swerve: modules and chassis as the log has them", async ({ page, open, picture }) => {
  await open(["frc"], hash("swerve", null, 28));
  await page.getByRole("button", { name: "Show the modules of this log" }).click();
  const modules = held<{ speed: number; angle: { value: number } }[]>("frc", "NT:/Drive/ModuleStates", 28);
  for (const [place, { speed, angle }] of modules.entries()) {
    const row = page.getByTestId("module").nth(place);
    await expect(row).toContainText(`${speed.toFixed(2)} m/s`);
    await expect(row).toContainText(`${degrees(angle.value).toFixed(1)}°`);
  }
  const { vx, vy } = held<{ vx: number; vy: number }>("frc", "NT:/Drive/ChassisSpeeds", 28);
  await expect(page.getByTestId("speeds")).toContainText(`${Math.hypot(vx, vy).toFixed(2)} m/s`);
  await picture("swerve");
  expect((await exportedPng(page)).bytes.length).toBeGreaterThan(5_000);
});

test.describe("joysticks", () => {
  test("of WPILib: axes and buttons", async ({ page, open, picture }) => {
    await open(["frc"], hash("joysticks", null, 28));
    const axes = held<number[]>("frc", "DS:joystick0/axes", 28).map((axis) => (axis + 0).toFixed(2));
    await expect(page.getByTestId("axes")).toHaveText(axes.join(" "));
    const down = held<boolean[]>("frc", "DS:joystick0/buttons", 28).flatMap((on, place) => (on ? [place + 1] : []));
    await expect(page.getByTestId("buttons")).toHaveText(down.join(" "));
    await picture("joysticks");
    await page.getByLabel("Layout of joystick 0").selectOption("Generic");
    expect((await exportedPng(page)).bytes.length).toBeGreaterThan(3_000);
  });

  test("of AdvantageKit and of a capture have names", async ({ page, open }) => {
    await open(["akit"], hash("joysticks", null, 40));
    await expect(page.getByTestId("joystick")).toContainText("Controller (Demo)");
    await open(["pcap"], hash("joysticks", null, 40));
    await expect(page.getByTestId("joystick")).toContainText("Joystick 0");
  });

  test("say what they need where there are none", async ({ page, open }) => {
    await open(["refloat"], hash("joysticks", null, 590));
    await expect(page.getByTestId("empty")).toContainText("DS:joystick0/axes");
  });
});

test.describe("board", () => {
  const tile = (page: Page, id: string) => page.getByTestId(`tile-${id}`);

  test("shows what the board measured", async ({ page, open, picture }) => {
    await open(["refloat"], hash("board", null, 597.4));
    const value = (id: string) => held<number>("refloat", `/refloat/${id}`, 597.4);
    await expect(tile(page, "pitch")).toHaveText(value("pitch").toFixed(1));
    await expect(tile(page, "setpoint")).toHaveText(value("setpoint").toFixed(1));
    await expect(tile(page, "duty")).toHaveText((value("duty_cycle") * 100).toFixed(1));
    await expect(tile(page, "current")).toHaveText(value("dir_current").toFixed(1));
    await expect(tile(page, "voltage")).toHaveText(value("batt_voltage").toFixed(1));
    await expect(tile(page, "speed")).toHaveText((value("erpm") * 0.00352).toFixed(1));
    // What a log does not have is not there.
    await expect(tile(page, "motor")).toHaveCount(0);
    await expect(page.getByTestId("state")).toHaveText("running");
    await expect(page.getByTestId("warning")).toHaveText([held<string>("refloat", "/refloat/adjustment", 597.4)]);
    await picture("board");
    expect((await exportedPng(page)).bytes.length).toBeGreaterThan(5_000);
  });

  test("warns at the end of the ride, and counts in miles", async ({ page, open, picture }) => {
    await open(["refloat"], hash("board", null, 598.49));
    await expect(page.getByTestId("warning").first()).toBeVisible();
    await picture("board-nosedive");
    const kmh = Number(await tile(page, "speed").textContent());
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByTestId("settings").getByLabel("Speed").selectOption("mph");
    await expect.poll(async () => Number(await tile(page, "speed").textContent())).toBeCloseTo(kmh / 1.609344, 0);
  });
});
