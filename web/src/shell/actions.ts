/** All that can be done with a key or from the palette: one list for both, and for the page of keys. */

import { viewOf } from "../store/views";
import { flushSync } from "svelte";
import { getPanes, type LogInfo, type Panes, type Preset, type Reference } from "../api";
import { messageOf } from "../api/later";
import { copyText } from "../output/download";
import { MOST_LOGS, PRESETS, presetTabs } from "./presets";
import { clock } from "../store/clock.svelte";
import { desk } from "../store/desk.svelte";
import { viewCommand } from "../model/keys";
import { layout } from "../store/layout.svelte";
import type { Tab } from "../model/panes";
import { keptLayouts, seriesIn } from "../store/layouts.svelte";
import { offers } from "../store/offers";
import { logs } from "../store/session.svelte";
import { sidebar } from "../store/sidebar.svelte";
import { theme } from "../store/theme.svelte";
import { toasts } from "../store/toasts.svelte";
import { views } from "../views";
import { chooseLayout, saveLayout } from "./files";
import { openLayout } from "./layouts";

export interface Action {
  title: string;
  group: "Time" | "Views" | "Tabs" | "Window" | "Layout";
  /** The first is shown. */
  keys: string[];
  run: () => void;
}

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

function onPane(run: (id: string) => void): () => void {
  return () => {
    if (layout.active) run(layout.active.id);
  };
}

/** All events in the order of time. */
export function allEvents(): { t: number; text: string; level: string; kind: string; log: number }[] {
  return logs.events
    .flatMap(({ events }, log) => events.map(({ start: t, text, level, kind }) => ({ t, text, level, kind, log })))
    .sort((a, b) => a.t - b.t);
}

export function jumpToEvent(by: 1 | -1): void {
  // An event that the cursor stands on is behind us.
  const near = 1e-6;
  const times = allEvents().map((event) => event.t);
  const found = by > 0 ? times.find((t) => t > clock.cursor + near) : times.findLast((t) => t < clock.cursor - near);
  if (found === undefined) toasts.show(by > 0 ? "No event after the cursor" : "No event before the cursor");
  else clock.seek(found);
}

export function changeSpeed(by: number): void {
  const place = SPEEDS.findIndex((speed) => speed >= clock.speed - 1e-9);
  clock.speed = SPEEDS[Math.min(Math.max(place + by, 0), SPEEDS.length - 1)] ?? 1;
}

/** Seconds that are shown around the time in which the robot was enabled. */
const AROUND_S = 5;

export function zoomToEnabled(): void {
  const { enabled } = logs;
  if (!enabled) {
    toasts.show("The robot is never enabled in these logs");
    return;
  }
  clock.following = false;
  clock.show(Math.max(enabled.start - AROUND_S, clock.first), Math.min(enabled.end + AROUND_S, clock.last));
}

function toggleStragglers(): void {
  const { stubs } = logs;
  if (stubs.length === 0) toasts.show("These logs have no stragglers");
  const folded = stubs.some(({ edge }) => clock.opened[edge] === null);
  for (const { edge, to } of stubs) clock.open(edge, folded ? to : null);
}

export function setMark(): void {
  clock.mark = clock.mark === clock.cursor ? null : clock.cursor;
}

export function clearMarks(): void {
  if (clock.selection) clock.selection = null;
  else clock.mark = null;
}

/**
 * Lays out what the server chose of each log; `preset` instead of what the logs say of themselves. Nothing happens if the
 * answer is not `wanted` any more when it comes. Returns the series that are shown now.
 */
export async function applyPreset(preset?: Preset, wanted: () => boolean = () => true): Promise<Reference[]> {
  const found = await suggested(logs.opened, preset);
  if (!found || !wanted()) return [];
  layout.act(() => {
    layout.tabs = found.tabs.length > 0 ? found.tabs : [layout.emptyTab()];
    layout.current = layout.tabs[0]?.id ?? "";
  });
  if (!preset) keptLayouts.suggested();
  return found.series;
}

/** Adds tabs with what the server chose of logs that came later. */
export async function addPreset(added: LogInfo[]): Promise<void> {
  const found = await suggested(added);
  const [first] = found?.tabs ?? [];
  if (!found || !first) return;
  layout.act(() => {
    layout.tabs.push(...found.tabs);
    layout.current = first.id;
  });
}

/** The tabs that the server suggests for logs, and the series in them; null if it does not answer. */
async function suggested(of: LogInfo[], preset?: Preset): Promise<{ tabs: Tab[]; series: Reference[] } | null> {
  const asked = of.slice(0, MOST_LOGS);
  let panes: Map<number, Panes>;
  try {
    panes = new Map(await Promise.all(asked.map(async ({ id }) => [id, await getPanes(id, preset)] as const)));
  } catch (error) {
    toasts.show(messageOf(error), "error");
    return null;
  }
  const tabs = presetTabs({
    logs: of,
    several: logs.several,
    channels: logs.channels,
    panes,
    refOf: (log, channel, path) => logs.refOf(log, channel, path),
    registry: viewOf,
    id: () => layout.id(),
  });
  return { tabs, series: [...panes.values()].flatMap((chosen) => chosen.panes.flatMap((pane) => pane.series)) };
}

/** Opens the window to add logs, where that is possible. */
export function addLogs(): void {
  if (logs.session.adding) desk.adding = true;
  else toasts.show("This server only shows the logs it was started with");
}

/** What the page begins with if the address does not say: the layout it was given, the one of logs like these, a preset. */
export async function applyFirst(): Promise<Reference[]> {
  const { given } = keptLayouts;
  if (given) {
    keptLayouts.given = null;
    if (openLayout(given.layout, given.name)) return shownSeries();
    toasts.show(`${given.name} contains no layout`, "error");
  }
  const remembered = keptLayouts.remembered();
  if (remembered === null || !layout.load(remembered, "Your layout")) return applyPreset();
  toasts.show("This is your layout for logs of this kind", "info", {
    label: "Use suggested",
    run: () => void applyPreset(),
  });
  return shownSeries();
}

const shownSeries = (): Reference[] => seriesIn(layout.data()).flatMap((ref) => logs.find(ref)?.reference ?? []);

export function focusSearch(): void {
  // At once, so that no letter that follows is taken for a key.
  flushSync(() => (sidebar.shown = true));
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  field?.focus();
  field?.select();
}

/** Sidebar, panes, timeline: one after the other. */
function cycleRegion(by: number): void {
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")];
  const here = regions.findIndex((region) => region.contains(document.activeElement));
  regions[(here + by + regions.length) % regions.length]?.focus();
}

export async function copyAddress(): Promise<void> {
  toasts.show((await copyText(location.href)) ? "Link copied" : "The browser does not allow copying");
}

export const actions: Action[] = [
  { title: "Play or pause", group: "Time", keys: ["Space"], run: () => clock.toggle() },
  { title: "Step back 20 ms", group: "Time", keys: ["←"], run: () => clock.step(-1) },
  { title: "Step forward 20 ms", group: "Time", keys: ["→"], run: () => clock.step(1) },
  { title: "Step back 1 s", group: "Time", keys: ["Shift+←"], run: () => clock.step(-50) },
  { title: "Step forward 1 s", group: "Time", keys: ["Shift+→"], run: () => clock.step(50) },
  { title: "Previous event", group: "Time", keys: ["Alt+←"], run: () => jumpToEvent(-1) },
  { title: "Next event", group: "Time", keys: ["Alt+→"], run: () => jumpToEvent(1) },
  { title: "Jump to start", group: "Time", keys: ["Home"], run: () => clock.seek(clock.first) },
  { title: "Jump to end", group: "Time", keys: ["End"], run: () => clock.seek(clock.last) },
  { title: "Go to time…", group: "Time", keys: ["G"], run: () => (desk.typingTime = true) },
  { title: "Slower", group: "Time", keys: [","], run: () => changeSpeed(-1) },
  { title: "Faster", group: "Time", keys: ["."], run: () => changeSpeed(1) },
  { title: "Follow live data", group: "Time", keys: ["L"], run: () => clock.lock() },
  { title: "Loop the selection", group: "Time", keys: ["R"], run: () => (clock.loop = !clock.loop) },
  { title: "Zoom in", group: "Time", keys: ["+"], run: () => clock.zoom(0.5) },
  { title: "Zoom out", group: "Time", keys: ["-"], run: () => clock.zoom(2) },
  { title: "Show the whole log", group: "Time", keys: ["0"], run: () => clock.showAll() },
  { title: "Zoom to enabled", group: "Time", keys: ["Shift+E"], run: zoomToEnabled },
  { title: "Show or hide stragglers", group: "Time", keys: [], run: toggleStragglers },
  { title: "Set mark at cursor", group: "Time", keys: ["M"], run: setMark },
  { title: "Start selection at cursor", group: "Time", keys: ["["], run: () => clock.selectFrom() },
  { title: "End selection at cursor", group: "Time", keys: ["]"], run: () => clock.selectTo() },
  { title: "Cancel; clear selection, then mark", group: "Time", keys: ["Esc"], run: clearMarks },

  { title: "Split pane right", group: "Views", keys: ["V"], run: onPane((id) => layout.split(id, "right")) },
  { title: "Split pane down", group: "Views", keys: ["H"], run: onPane((id) => layout.split(id, "bottom")) },
  { title: "Duplicate pane", group: "Views", keys: ["D"], run: onPane((id) => layout.duplicate(id)) },
  { title: "Maximise or restore pane", group: "Views", keys: ["F"], run: onPane((id) => layout.maximise(id)) },
  { title: "Close pane", group: "Views", keys: ["X"], run: onPane((id) => layout.close(id)) },
  { title: "Rename pane…", group: "Views", keys: ["F2"], run: onPane((id) => (desk.renaming = id)) },
  { title: "Next pane", group: "Views", keys: ["N"], run: () => layout.cycle(1) },
  { title: "Previous pane", group: "Views", keys: ["Shift+N"], run: () => layout.cycle(-1) },

  { title: "New tab", group: "Tabs", keys: ["T", "Ctrl+Alt+T"], run: () => layout.addTab() },
  { title: "Close tab", group: "Tabs", keys: ["Shift+X"], run: () => layout.closeTab(layout.current) },
  { title: "Duplicate tab", group: "Tabs", keys: ["Shift+D"], run: () => layout.duplicateTab(layout.current) },
  { title: "Rename tab…", group: "Tabs", keys: ["Shift+F2"], run: () => (desk.renaming = layout.current) },
  { title: "Next tab", group: "Tabs", keys: ["E"], run: () => layout.cycleTab(1) },
  { title: "Previous tab", group: "Tabs", keys: ["Q"], run: () => layout.cycleTab(-1) },

  { title: "Add logs…", group: "Window", keys: ["Shift+O"], run: addLogs },
  { title: "Command palette", group: "Window", keys: ["Ctrl+P", "Ctrl+K"], run: () => (desk.palette = true) },
  { title: "Search channels", group: "Window", keys: ["/"], run: focusSearch },
  { title: "Show or hide the sidebar", group: "Window", keys: ["B"], run: () => (sidebar.shown = !sidebar.shown) },
  { title: "Next area of the window", group: "Window", keys: ["F6"], run: () => cycleRegion(1) },
  { title: "Previous area of the window", group: "Window", keys: ["Shift+F6"], run: () => cycleRegion(-1) },
  { title: "Toggle dark mode", group: "Window", keys: [], run: () => theme.toggle() },
  { title: "Theme: dark", group: "Window", keys: [], run: () => theme.choose("dark") },
  { title: "Theme: light", group: "Window", keys: [], run: () => theme.choose("light") },
  { title: "Theme: system", group: "Window", keys: [], run: () => theme.choose("system") },
  { title: "Keyboard shortcuts", group: "Window", keys: ["?"], run: () => (desk.help = true) },

  { title: "Undo", group: "Layout", keys: ["Ctrl+Z"], run: () => layout.undo() },
  { title: "Redo", group: "Layout", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], run: () => layout.redo() },
  { title: "Save layout as a file", group: "Layout", keys: ["Ctrl+S"], run: saveLayout },
  { title: "Load layout from a file…", group: "Layout", keys: ["Ctrl+O"], run: chooseLayout },
  { title: "Layouts…", group: "Layout", keys: ["Shift+L"], run: () => (desk.layouts = true) },
  { title: "Copy link to this view", group: "Layout", keys: [], run: () => void copyAddress() },
  { title: "Reset to preset", group: "Layout", keys: [], run: () => void applyPreset() },
  ...PRESETS.map(({ preset, title }) => ({
    title: `Preset: ${title}`,
    group: "Layout" as const,
    keys: [],
    run: () => void applyPreset(preset),
  })),
];

/** For the palette alone: views to show. */
export const viewActions: Action[] = views.map((view) => ({
  title: `New view: ${view.title}`,
  group: "Views",
  keys: [],
  run: onPane((id) => layout.addBeside(id, view.kind, [], "right")),
}));

const byKey = new Map(actions.flatMap((action) => action.keys.map((key) => [key, action] as const)));

/** Does what a key means, wherever the focus is. False if it means nothing in the window or in the active view. */
export function press(key: string): boolean {
  const offer = offers.get(layout.active?.id ?? "");
  if (key === "Esc" && offer?.cancel?.()) return true;
  const action = byKey.get(key);
  const command = viewCommand(key);
  const run = action?.run ?? (command && offer?.keys?.[command]);
  if (run) run();
  else if (/^[1-9]$/.test(key)) layout.showTab(Number(key) - 1);
  else return false;
  return true;
}
