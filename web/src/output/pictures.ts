/** Painted pictures as files. */

import { color, type Context, type Paint } from "../draw/canvas";
import { fileName } from "./download";
import { SvgContext } from "../draw/svg";
import type { Export } from "../model/view";

/** Pixels of a saved picture in a CSS pixel: twice as fine as on a plain screen. */
export const PICTURE_RATIO = 2;

/** The picture as a PNG, on the colour of panels. */
async function pngOf(paint: Paint, width: number, height: number): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * PICTURE_RATIO);
  canvas.height = Math.round(height * PICTURE_RATIO);
  const context = canvasOf(canvas);
  context.scale(PICTURE_RATIO, PICTURE_RATIO);
  onPanel(context, paint, width, height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png"),
  );
}

/** The picture as an SVG, on the colour of panels. */
function svgOf(paint: Paint, width: number, height: number, title: string): Blob {
  const context = new SvgContext(width, height, canvasOf(document.createElement("canvas")));
  onPanel(context, paint, width, height);
  return new Blob([context.text(title)], { type: "image/svg+xml" });
}

function canvasOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser does not support canvas");
  return context;
}

function onPanel(context: Context, paint: Paint, width: number, height: number): void {
  context.fillStyle = color("--panel");
  context.fillRect(0, 0, width, height);
  paint(context, width, height);
}

/** What a view with a painted picture gives away: it, as a PNG and as an SVG. */
export function pictures(name: string, paint: Paint, width: number, height: number, what = "Picture"): Export[] {
  return [
    { label: `${what} (PNG)`, file: fileName(name, "png"), run: () => pngOf(paint, width, height) },
    {
      label: `${what} (SVG)`,
      file: fileName(name, "svg"),
      run: () => Promise.resolve(svgOf(paint, width, height, name)),
    },
  ];
}
