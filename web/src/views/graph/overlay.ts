/**
 * What moves above the plot: the cursor, the mark, the pointer, the selection. Drawn apart, so that the plot can
 * rest.
 */

import { faded } from "../../draw/canvas";
import { formatDuration, formatTime } from "../../values/format";
import type { Frame, Palette } from "./scene";

export interface Dot {
  y: number;
  color: string;
}

export interface Overlay {
  start: number;
  end: number;
  cursor: number;
  mark: number | null;
  hover: number | null;
  selection: { start: number; end: number } | null;
  /** Lines at the cursor. */
  dots: Dot[];
  colors: { cursor: string; mark: string; accent: string; raised: string };
  palette: Palette;
}

export function drawOverlay(context: CanvasRenderingContext2D, frame: Frame, overlay: Overlay): void {
  const { start, end, colors, palette } = overlay;
  const scale = frame.width / (end - start);
  const x = (t: number) => frame.left + (t - start) * scale;
  const right = frame.left + frame.width;
  const height = frame.height + frame.rows;
  const bottom = frame.top + height;
  const inside = (t: number | null): t is number => t !== null && t >= start && t <= end;
  // To the millisecond, and finer where pixels are.
  const step = Math.min(Math.max(10 ** Math.floor(Math.log10(1 / scale)), 1e-6), 1e-3);

  if (overlay.selection) {
    const [from, to] = [Math.max(x(overlay.selection.start), frame.left), Math.min(x(overlay.selection.end), right)];
    if (to > from) {
      context.fillStyle = faded(colors.accent, 0.1);
      context.fillRect(from, frame.top, to - from, height);
      context.fillStyle = faded(colors.accent, 0.8);
      context.fillRect(from, frame.top, 1, height);
      context.fillRect(to - 1, frame.top, 1, height);
    }
  }
  const line = (t: number, color: string, dash: number[]) => {
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(Math.round(x(t)) + 0.5, frame.top);
    context.lineTo(Math.round(x(t)) + 0.5, bottom);
    context.stroke();
    context.setLineDash([]);
  };
  context.font = `500 11px ${palette.font}`;
  const flag = (t: number, text: string, fill: string, ink: string, top: number) => {
    const width = context.measureText(text).width + 12;
    const left = Math.min(Math.max(x(t) - width / 2, 2), frame.left + frame.width + 40 - width);
    context.fillStyle = fill;
    context.beginPath();
    context.roundRect(left, top, width, 17, 4);
    context.fill();
    context.fillStyle = ink;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, left + width / 2, top + 9);
  };

  if (inside(overlay.hover)) line(overlay.hover, faded(colors.cursor, 0.4), [3, 3]);
  if (overlay.mark !== null) {
    if (inside(overlay.mark)) line(overlay.mark, colors.mark, [5, 3]);
    const [from, to] = [overlay.mark, overlay.cursor].map((t) => Math.min(Math.max(x(t), frame.left), right));
    if (from !== undefined && to !== undefined && Math.abs(to - from) > 1) {
      const y = frame.top + frame.height - 14;
      context.strokeStyle = colors.mark;
      context.beginPath();
      context.moveTo(from, y);
      context.lineTo(to, y);
      context.stroke();
      const text = `Δ ${formatDuration(overlay.cursor - overlay.mark)}`;
      const width = context.measureText(text).width + 12;
      if (Math.abs(to - from) > width) {
        const middle = (from + to) / 2;
        context.fillStyle = colors.raised;
        context.beginPath();
        context.roundRect(middle - width / 2, y - 9, width, 18, 4);
        context.fill();
        context.stroke();
        context.fillStyle = colors.mark;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(text, middle, y + 0.5);
      }
    }
  }
  if (inside(overlay.cursor)) {
    line(overlay.cursor, colors.cursor, []);
    for (const dot of overlay.dots) {
      if (dot.y < frame.top - 1 || dot.y > frame.top + frame.height + 1) continue;
      context.beginPath();
      context.arc(x(overlay.cursor), dot.y, 4, 0, 2 * Math.PI);
      context.fillStyle = dot.color;
      context.fill();
      context.strokeStyle = palette.panel;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }
  if (inside(overlay.mark)) flag(overlay.mark, formatTime(overlay.mark, step), colors.mark, palette.panel, bottom + 4);
  if (inside(overlay.hover))
    flag(overlay.hover, formatTime(overlay.hover, step), colors.raised, palette.text, bottom + 4);
  if (inside(overlay.cursor)) {
    flag(overlay.cursor, formatTime(overlay.cursor, step), colors.cursor, palette.panel, bottom + 4);
  }
}
