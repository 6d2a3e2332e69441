/** What all canvases share: colours of the theme, fonts, shapes. */

import { createSubscriber } from "svelte/reactivity";
import type { Context, Paint } from "./painter.svelte";

export { painter, type Context, type Paint } from "./painter.svelte";

const subscribe = createSubscriber((update) => {
  const observer = new MutationObserver(update);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
});

let known: CSSStyleDeclaration | null = null;
let values = new Map<string, string>();
let theme: string | undefined;

/**
 * The value of a variable of theme.css, `color("--series-0")`; an effect that reads it runs again when the theme
 * changes.
 */
export function color(name: string): string {
  subscribe();
  const now = document.documentElement.dataset["theme"];
  if (now !== theme) {
    theme = now;
    values = new Map();
  }
  let value = values.get(name);
  if (value === undefined) {
    known ??= getComputedStyle(document.documentElement);
    value = known.getPropertyValue(name).trim();
    values.set(name, value);
  }
  return value;
}

/** The colour of the series at a place; they repeat after ten. */
export const seriesColor = (place: number): string => color(`--series-${((place % 10) + 10) % 10}`);

/** A colour of the theme, `#rrggbb`, with another opacity, 0 to 1. */
export function faded(hex: string, opacity: number): string {
  const part = Math.round(Math.min(Math.max(opacity, 0), 1) * 255);
  return hex.slice(0, 7) + part.toString(16).padStart(2, "0");
}

/** A font of the theme for `context.font`. */
export const font = (size: number, weight = 400, family: "--font" | "--mono" = "--font"): string =>
  `${weight} ${size}px ${color(family)}`;

/** Text with its middle, left or right at a point. */
export function label(
  context: Context,
  text: string,
  x: number,
  y: number,
  align: CanvasTextAlign = "center",
  baseline: CanvasTextBaseline = "middle",
): void {
  context.textAlign = align;
  context.textBaseline = baseline;
  context.fillText(text, x, y);
}

/** A line with a head at its end, in the context's stroke colour and width. */
export function arrow(context: Context, x0: number, y0: number, x1: number, y1: number, head: number): void {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const size = Math.min(head, Math.hypot(x1 - x0, y1 - y0));
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.moveTo(x1 - size * Math.cos(angle - 0.5), y1 - size * Math.sin(angle - 0.5));
  context.lineTo(x1, y1);
  context.lineTo(x1 - size * Math.cos(angle + 0.5), y1 - size * Math.sin(angle + 0.5));
  context.stroke();
}

/** What stays the same for many frames: drawn once, then copied. */
export class Backdrop {
  readonly #canvas = document.createElement("canvas");
  #key = "";

  /** Draws with `paint` again only if `key`, the size or the theme is another one. */
  draw(context: Context, width: number, height: number, key: string, paint: Paint): void {
    if (!(context instanceof CanvasRenderingContext2D)) return paint(context, width, height);
    const ratio = context.getTransform().a;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    const whole = `${across} ${down} ${color("--bg")} ${key}`;
    const behind = this.#canvas.getContext("2d");
    if (!behind) return paint(context, width, height);
    if (whole !== this.#key) {
      this.#key = whole;
      this.#canvas.width = across;
      this.#canvas.height = down;
      behind.scale(ratio, ratio);
      paint(behind, width, height);
    }
    context.drawImage(this.#canvas, 0, 0, width, height);
  }
}
