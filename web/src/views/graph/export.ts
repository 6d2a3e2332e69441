/** What a graph gives away: pictures, files of its series, lines for the terminal. */

import { postExport } from "../../api";
import type { ExportFormat, Reference } from "../../api";
import { catCommands, convertCommands, plotCommands, seriesSql, sqlCommands } from "../../output/commands";
import type { Context } from "../../draw/canvas";
import { fileName } from "../../output/download";
import { PICTURE_RATIO, pictures } from "../../output/pictures";
import type { SeriesRef } from "../../model/series";
import { clock } from "../../store/clock.svelte";
import { logs } from "../../store/session.svelte";
import type { CommandLine, Export } from "../../model/view";
import type { GraphConfig } from "./config";
import type { GraphModel } from "./model.svelte";
import { drawGraph, drawLegend, legendHeight } from "./picture";
import type { Frame, Scene } from "./scene";

/** The exported time range: the selection, or else the visible range. */
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

export function exportsOf(config: GraphConfig, model: GraphModel, scene: Scene | null, frame: Frame | null): Export[] {
  const name = logs.opened.length === 1 ? (logs.opened[0]?.name.replace(/\.\w+$/, "") ?? "graph") : "graph";
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
    ...(scene && frame ? picturesOf(name, model, scene, frame) : []),
    { label: "Samples (CSV)", file: fileName(name, "csv"), run: data("csv") },
    { label: "Table, one column per series (CSV)", file: fileName(`${name}-wide`, "csv"), run: data("csv", true) },
    { label: "Channels (MCAP)", file: fileName(name, "mcap"), run: data("mcap") },
  ];
}

/** The picture that is shown now, with the cursor and a legend. */
function picturesOf(name: string, model: GraphModel, scene: Scene, frame: Frame): Export[] {
  const legend = model.items
    .filter((item) => item.series.shown && item.found)
    .map((item) => ({ name: item.name, color: item.color, text: item.row ? "" : (item.axis?.unit ?? "") }));
  const cursor = clock.cursor;
  const paint = (context: Context): void => {
    drawGraph(context, scene, frame, PICTURE_RATIO);
    drawLegend(context, scene, frame, legend, cursor);
  };
  return pictures(name, paint, scene.width, scene.height + legendHeight(legend, scene.width));
}
