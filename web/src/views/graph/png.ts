/** The picture as a PNG: the canvas of the plot, and a legend below it. */

import type { Frame, Scene } from "./scene";
import { legendHeight } from "./svg";
import type { LegendLine } from "./svg";

export function picturePng(
  scene: Scene,
  frame: Frame,
  canvas: HTMLCanvasElement | null,
  legend: LegendLine[],
  cursor: number,
): Promise<Blob> {
  if (!canvas) return Promise.reject(new Error("there is no picture yet"));
  const ratio = canvas.width / scene.width;
  const made = document.createElement("canvas");
  made.width = canvas.width;
  made.height = Math.round((scene.height + legendHeight(legend, scene.width)) * ratio);
  const context = made.getContext("2d");
  if (!context) return Promise.reject(new Error("this browser has no canvas"));
  context.fillStyle = scene.palette.panel;
  context.fillRect(0, 0, made.width, made.height);
  context.drawImage(canvas, 0, 0);
  context.scale(ratio, ratio);
  if (cursor >= scene.start && cursor <= scene.end) {
    const x = frame.left + ((cursor - scene.start) / (scene.end - scene.start)) * frame.width;
    context.fillStyle = scene.palette.text;
    context.fillRect(Math.round(x), frame.top, 1, frame.height + frame.rows);
  }
  context.font = `11px ${scene.palette.font}`;
  context.textBaseline = "middle";
  const columns = Math.max(Math.floor(scene.width / 260), 1);
  legend.forEach((line, place) => {
    const x = 12 + ((place % columns) * (scene.width - 12)) / columns;
    const y = scene.height + 14 + Math.floor(place / columns) * 18;
    context.fillStyle = line.color;
    context.fillRect(x, y - 1, 14, 3);
    context.fillStyle = scene.palette.text;
    context.fillText(line.text ? `${line.name}  ${line.text}` : line.name, x + 20, y);
  });
  return new Promise((resolve, reject) =>
    made.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png"),
  );
}
