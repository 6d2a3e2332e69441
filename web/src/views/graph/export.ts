/** What a graph gives away: pictures, files of its series, lines for the terminal. */

import { postExport } from "../../api";
import type { ExportFormat, Reference } from "../../api";
import { catCommands, convertCommands, plotCommands, seriesSql, sqlCommands } from "../../output/commands";
import { fileName } from "../../output/download";
import type { SeriesRef } from "../../model/series";
import { clock } from "../../store/clock.svelte";
import { logs } from "../../store/session.svelte";
import type { CommandLine, Export } from "../../model/view";
import type { GraphConfig } from "./config";
import type { GraphModel } from "./model.svelte";
import type { Plot } from "./plot";
import { picturePng } from "./png";
import type { Frame, Scene } from "./scene";
import { svgOf } from "./svg";
import type { LegendLine } from "./svg";

/** The stretch that leaves: what is selected, or what is visible. */
const stretch = () => clock.selection ?? { start: clock.start, end: clock.end };

const chosen = (config: GraphConfig): SeriesRef[] => config.series.filter((one) => one.shown).map((one) => one.ref);

export function commandsOf(config: GraphConfig): CommandLine[] {
  const [refs, window, { session }] = [chosen(config), stretch(), logs];
  const sql = refs.flatMap((ref) => {
    const text = seriesSql(session, ref, window);
    return text ? [{ label: `SQL: ${ref.name}${ref.path}`, text }] : [];
  });
  return [
    ...plotCommands(session, refs, window),
    ...catCommands(session, refs, window),
    ...convertCommands(session, refs, window, "csv"),
    ...sql.slice(0, 8),
    ...(sql[0] ? sqlCommands(session, sql[0].text) : []),
  ];
}

export function exportsOf(
  config: GraphConfig,
  model: GraphModel,
  scene: () => Scene | null,
  plot: () => Plot | null,
  frame: () => Frame | null,
): Export[] {
  const name = logs.logs.length === 1 ? (logs.logs[0]?.name.replace(/\.\w+$/, "") ?? "graph") : "graph";
  const legend = (): LegendLine[] =>
    model.items
      .filter((item) => item.series.shown && item.found)
      .map((item) => ({ name: item.name, color: item.color, text: item.row ? "" : (item.axis?.unit ?? "") }));
  const drawn = () => {
    const [now, where] = [scene(), frame()];
    if (!now || !where) throw new Error("there is no picture yet");
    return { scene: now, frame: where };
  };
  const series = (): Reference[] =>
    chosen(config).flatMap((ref) => {
      const found = logs.find(ref);
      return found ? [found.reference] : [];
    });
  const data =
    (format: ExportFormat, wide = false) =>
    () =>
      postExport({ ...stretch(), format, series: series(), wide });
  return [
    {
      label: "Picture (PNG)",
      file: fileName(name, "png"),
      run: () => picturePng(drawn().scene, drawn().frame, plot()?.canvas ?? null, legend(), clock.cursor),
    },
    {
      label: "Picture (SVG)",
      file: fileName(name, "svg"),
      run: () => {
        const { scene, frame } = drawn();
        const text = svgOf(scene, frame, legend(), clock.cursor, logs.session.title);
        return Promise.resolve(new Blob([text], { type: "image/svg+xml" }));
      },
    },
    { label: "Samples (CSV)", file: fileName(name, "csv"), run: data("csv") },
    { label: "Table, a column each (CSV)", file: fileName(`${name}-wide`, "csv"), run: data("csv", true) },
    { label: "Channels (MCAP)", file: fileName(name, "mcap"), run: data("mcap") },
  ];
}
