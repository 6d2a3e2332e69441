/** Layouts as files. */

import { download, fileName } from "../output/download";
import { desk } from "../store/desk.svelte";
import { layout } from "../store/layout.svelte";
import { logs } from "../store/session.svelte";
import { toasts } from "../store/toasts.svelte";
import { openLayout } from "./layouts";

const ENDING = "logpose.json";
const LARGEST = 4 << 20;

/** Gives the layout to the browser to keep. */
export function saveLayout(): void {
  const title = layout.tab ? layout.titleOf(layout.tab) : "";
  const text = JSON.stringify({ logpose: "layout", ...layout.data() }, null, 2);
  const name = fileName(`${logs.opened[0]?.preset ?? ""} ${title}`.trim(), ENDING);
  download(new Blob([`${text}\n`], { type: "application/json" }), name);
}

/** Opens the file dialog. */
export function chooseLayout(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = `.${ENDING},.json,application/json`;
  input.hidden = true;
  input.onchange = () => {
    const file = input.files?.[0];
    if (file) void loadLayout(file);
    input.remove();
  };
  input.oncancel = () => input.remove();
  // Within the page, so that it lives until a file is chosen.
  document.body.append(input);
  input.click();
}

export async function loadLayout(file: File): Promise<void> {
  if (!/\.json$/i.test(file.name)) {
    toasts.show(`${file.name} is not a layout. To open a log, run: logpose open ${file.name}`, "warning");
    return;
  }
  let data: unknown = null;
  try {
    if (file.size <= LARGEST) data = JSON.parse(await file.text());
  } catch {
    // Told below.
  }
  if (!openLayout(data, file.name)) toasts.show(`${file.name} contains no layout`, "error");
  else if (!desk.imported) toasts.show(`Layout of ${file.name}`, "info", { label: "Undo", run: () => layout.undo() });
}
