/** A log of each dialect, as it looks when it is first opened: the preset shows what matters, and the channels are the log's. */

import { answer, expect, fileOf, logposeJson, test, type LogName } from "./base";

const DIALECTS: { name: LogName; kinds: string[] }[] = [
  { name: "frc", kinds: ["graph", "field", "console", "events"] },
  { name: "akit", kinds: ["graph", "events"] },
  { name: "rlog", kinds: ["graph", "events"] },
  { name: "rlog1", kinds: ["graph"] },
  { name: "ds", kinds: ["graph", "events"] },
  { name: "pcap", kinds: ["graph"] },
  { name: "carla", kinds: ["carla", "graph"] },
  { name: "refloat", kinds: ["board", "graph"] },
  { name: "damaged", kinds: ["graph"] },
];

for (const { name, kinds } of DIALECTS) {
  test(`${name}: a first layout, and all channels of the log`, async ({ page, open, settled, picture }) => {
    await open([name]);
    const shown = await page
      .getByTestId("pane")
      .evaluateAll((panes) => panes.map((pane) => pane.getAttribute("data-kind")));
    expect(shown).toEqual(expect.arrayContaining(kinds));
    const session = await answer<{ logs: unknown[] }>(page, "/api/session");
    const listed = logposeJson("list", fileOf(name)) as { name: string }[];
    const names = new Set(listed.map((channel) => channel.name));
    const { channels } = await answer<{ channels: { name: string }[] }>(page, "/api/logs/0/channels");
    const served = new Set(channels.map((channel) => channel.name));
    expect([...served].sort()).toEqual([...names].sort());
    expect(session.logs).toHaveLength(1);
    await settled();
    await picture(`open-${name}`);
  });
}

test("several logs on one clock", async ({ page, open, settled, picture }) => {
  await open(["frc", "ds", "carla", "refloat"]);
  const session = await answer<{ logs: unknown[] }>(page, "/api/session");
  expect(session.logs).toHaveLength(4);
  await settled();
  await picture("open-several");
});

test("light, on a projector", async ({ page, open, settled, picture }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await page.emulateMedia({ colorScheme: "light" });
  await open(["frc"]);
  await settled();
  await picture("open-frc-light-projector");
  await open(["carla"]);
  await settled();
  await picture("open-carla-light-projector");
});
