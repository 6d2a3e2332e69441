/** CARLA from above: the page shows of an actor what `logpose carla state` prints. */

import type { Page } from "@playwright/test";
import { alone, exportedPng, expect, fileOf, logposeJson, test } from "./base";

const hash = (config: unknown, cursor: number) => alone("carla", config, { cursor });

interface Actor {
  actor: number;
  pose: { x: number; y: number; z: number; yaw: number };
  velocity: { linear: { x: number; y: number; z: number } };
  controls: { brake: number; gear: number };
  light: { state: string } | null;
}

function stateAt(time: number, actor: number): Actor {
  const state = logposeJson("carla", "state", fileOf("carla"), "--time", String(time), "--actor", String(actor));
  const [found] = (state as { actors: Actor[] }).actors;
  if (!found) throw new Error(`no actor ${actor} at ${time}`);
  return found;
}

const speedOf = ({ velocity: { linear } }: Actor) => Math.hypot(linear.x, linear.y, linear.z).toFixed(2);
const placeOf = ({ pose }: Actor) => `${pose.x.toFixed(2)}, ${pose.y.toFixed(2)}, ${pose.z.toFixed(2)} m`;

/** The middle of the picture. */
async function middle(page: Page): Promise<{ x: number; y: number }> {
  const box = await page.getByTestId("carla-canvas").boundingBox();
  if (!box) throw new Error("nothing is drawn yet");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** How many different colours a part of the picture has. */
const colours = (page: Page): Promise<number> =>
  page.getByTestId("carla-canvas").evaluate((element) => {
    // A copy, because reading the picture itself would slow it down.
    const { width, height } = element as HTMLCanvasElement;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy?.drawImage(element as HTMLCanvasElement, 0, 0);
    const data = copy?.getImageData(0, 0, width, height).data ?? [];
    const seen = new Set<number>();
    for (let at = 0; at < data.length; at += 4) {
      seen.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
    }
    return seen.size;
  });

test("a followed actor is shown as the recording has it, at any time", async ({ page, open, picture }) => {
  await open(["carla"], hash({ follow: 10 }, 10.15));
  const card = page.getByTestId("carla-followed");
  for (const time of [10.15, 5.02]) {
    if (time !== 10.15) await page.goto(page.url().replace(/#.*/, hash({ follow: 10 }, time)));
    await page.reload();
    const actor = stateAt(time, 10);
    await expect(card.getByTestId("carla-speed")).toHaveText(speedOf(actor));
    await expect(card.getByTestId("carla-place")).toHaveText(placeOf(actor));
    await expect(card.getByTestId("carla-yaw")).toHaveText(`${actor.pose.yaw.toFixed(1)}°`);
    await expect(card.getByTestId("carla-control")).toContainText(`gear ${actor.controls.gear}`);
    await picture(`carla-${time}`);
  }
});

test("clicking follows whoever is there, Escape stops it", async ({ page, open, picture }) => {
  await open(["carla"], hash({ follow: 11, trail: 2 }, 6));
  const at = await middle(page);
  await expect(page.getByTestId("carla-followed")).toHaveAttribute("data-actor", "11");
  await page.getByTestId("carla-unfollow").click();
  await expect(page.getByTestId("carla-followed")).toHaveCount(0);
  // Whoever was followed last is followed by a key, and by a click in the middle of the picture.
  await page.getByTestId("carla-follow").selectOption("10");
  await expect(page.getByTestId("carla-followed")).toHaveAttribute("data-actor", "10");
  await page.getByTestId("carla-canvas").focus();
  await page.keyboard.press("Escape");
  await expect(page.getByTestId("carla-followed")).toHaveCount(0);
  await page.keyboard.press("p");
  await expect(page.getByTestId("carla-followed")).toHaveAttribute("data-actor", "10");
  await page.keyboard.press("p");
  await expect(page.getByTestId("carla-followed")).toHaveAttribute("data-actor", "11");
  await page.mouse.click(at.x, at.y);
  await expect(page.getByTestId("carla-followed")).toHaveAttribute("data-actor", "11");
  await page.keyboard.press("o");
  await picture("carla-heading-up");
  // Dragging looks elsewhere.
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 150, at.y + 60, { steps: 4 });
  await page.mouse.up();
  await expect(page.getByTestId("carla-followed")).toHaveCount(0);
});

test("hovering names an actor, and a light's state", async ({ page, open }) => {
  // The light of actor 2 in the middle, near enough to be hit.
  const light = stateAt(5, 2);
  const camera = { x: light.pose.x, y: light.pose.y, scale: 20 };
  await open(["carla"], hash({ camera, follow: null }, 5));
  const at = await middle(page);
  await expect(async () => {
    await page.mouse.move(at.x + 1, at.y);
    await page.mouse.move(at.x, at.y);
    await expect(page.getByTestId("carla-hovered")).toHaveAttribute("data-actor", "2", { timeout: 500 });
  }).toPass();
  await expect(page.getByTestId("carla-light")).toHaveText(light.light?.state ?? "");
});

test("collisions are listed and lead to their time", async ({ page, open, picture }) => {
  await open(["carla"], hash({}, 2));
  const list = page.getByTestId("carla-collisions");
  await expect(list).toContainText("1 collision");
  await list.getByRole("button", { name: /10 tesla model3 × 11 audi a2/ }).click();
  await page.getByTestId("carla-follow").selectOption("10");
  const actor = stateAt(10.150000151, 10);
  await expect(page.getByTestId("carla-place")).toHaveText(placeOf(actor));
  await picture("carla-collision");
});

test("what is hidden is not there, and colours can mean speed", async ({ page, open, picture }) => {
  await open(["carla"], hash({}, 8));
  await expect.poll(() => colours(page)).toBeGreaterThan(30);
  await picture("carla-all");
  const all = await colours(page);
  const show = async (name: string) => {
    await page.getByTestId("carla-show").click();
    await page.getByRole("menu").getByText(name, { exact: true }).click();
  };
  for (const group of ["Vehicles", "Bikes", "Walkers", "Lights", "Signs"]) await show(group);
  await page.getByLabel("Trails").selectOption("0");
  await expect.poll(() => colours(page)).toBeLessThan(all);
  await show("Vehicles");
  await show("By speed");
  await expect.poll(() => colours(page)).toBeGreaterThan(30);
  await picture("carla-speed");
});

test("it plays without a hole, and the picture is a file", async ({ page, open }) => {
  await open(["carla"], hash({ follow: 10 }, 4));
  const place = page.getByTestId("carla-place");
  await expect(place).toBeVisible();
  const before = await place.textContent();
  await page.keyboard.press("Space");
  await expect.poll(() => place.textContent()).not.toBe(before);
  await page.keyboard.press("Space");
  const file = await exportedPng(page);
  expect(file.name).toMatch(/^Junction.*\.png$/);
  expect(file.width).toBeGreaterThan(1000);
  expect(file.bytes.length).toBeGreaterThan(10_000);
});

test("a log without a recording says what is missing", async ({ page, open }) => {
  await open(["refloat"], hash({}, 0));
  await expect(page.getByTestId("carla-view")).toContainText("No CARLA recording is open");
});
