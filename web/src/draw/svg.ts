/** Pictures as SVG: the calls of a canvas, written as elements. */

import type { Context } from "./painter.svelte";

/** A number as short as a picture needs it. */
export const short = (value: number): string => String(Math.round(value * 100) / 100);

/** Text between tags or in an attribute. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign);

/** Colours with an opacity are written as two attributes: not every program reads `#rrggbbaa`. */
export function inked(attribute: "fill" | "stroke" | "stop-color", color: string): string {
  if (!/^#[0-9a-f]{8}$/i.test(color)) return `${attribute}="${escaped(color)}"`;
  const opacity = attribute === "stop-color" ? "stop-opacity" : `${attribute}-opacity`;
  const part = Math.round((parseInt(color.slice(7), 16) / 255) * 1000) / 1000;
  return `${attribute}="${color.slice(0, 7)}" ${opacity}="${part}"`;
}

/** From the coordinates that are drawn in to those of the picture, as `matrix(…)` has them. */
type Matrix = [number, number, number, number, number, number];

const product = (m: Matrix, [a, b, c, d, e, f]: Matrix): Matrix => [
  m[0] * a + m[2] * b,
  m[1] * a + m[3] * b,
  m[0] * c + m[2] * d,
  m[1] * c + m[3] * d,
  m[0] * e + m[2] * f + m[4],
  m[1] * e + m[3] * f + m[5],
];

/** What `save` keeps and `restore` brings back. */
interface Look {
  fillStyle: string | CanvasGradient | CanvasPattern;
  strokeStyle: string | CanvasGradient | CanvasPattern;
  lineWidth: number;
  lineJoin: CanvasLineJoin;
  lineCap: CanvasLineCap;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  globalAlpha: number;
  imageSmoothingQuality: ImageSmoothingQuality;
  shadowColor: string;
  shadowBlur: number;
}

const PLAIN: Look = {
  fillStyle: "#000000",
  strokeStyle: "#000000",
  lineWidth: 1,
  lineJoin: "miter",
  lineCap: "butt",
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  globalAlpha: 1,
  imageSmoothingQuality: "low",
  shadowColor: "#00000000",
  shadowBlur: 0,
};

class Gradient implements CanvasGradient {
  readonly #stops: string[] = [];

  constructor(
    readonly id: string,
    readonly from: [number, number],
    readonly to: [number, number],
  ) {}

  addColorStop(offset: number, color: string): void {
    this.#stops.push(`<stop offset="${short(offset)}" ${inked("stop-color", color)}/>`);
  }

  get text(): string {
    const [[x1, y1], [x2, y2]] = [this.from, this.to];
    return (
      `<linearGradient id="${this.id}" gradientUnits="userSpaceOnUse" x1="${short(x1)}" y1="${short(y1)}" ` +
      `x2="${short(x2)}" y2="${short(y2)}">${this.#stops.join("")}</linearGradient>`
    );
  }
}

/** Takes the calls of a canvas and keeps them as the elements of an SVG. Shadows are left out. */
export class SvgContext implements Context {
  fillStyle = PLAIN.fillStyle;
  strokeStyle = PLAIN.strokeStyle;
  lineWidth = PLAIN.lineWidth;
  lineJoin = PLAIN.lineJoin;
  lineCap = PLAIN.lineCap;
  font = PLAIN.font;
  textAlign = PLAIN.textAlign;
  textBaseline = PLAIN.textBaseline;
  globalAlpha = PLAIN.globalAlpha;
  imageSmoothingQuality = PLAIN.imageSmoothingQuality;
  shadowColor = PLAIN.shadowColor;
  shadowBlur = PLAIN.shadowBlur;

  #matrix: Matrix = [1, 0, 0, 1, 0, 0];
  #dashes: number[] = [];
  #path: string[] = [];
  /** Whether the path has begun. */
  #down = false;
  /** Groups that are open because something is cut off. */
  #cuts = 0;
  readonly #saved: { look: Look; matrix: Matrix; dashes: number[]; cuts: number }[] = [];
  readonly #parts: string[] = [];
  /** Opaque rectangles of one look, drawn in a row: one element for the thousands of bars that make a line. */
  #bars: { look: string; boxes: string[] } | null = null;
  readonly #gradients: Gradient[] = [];
  readonly #clips: string[] = [];

  /** `ruler` measures texts: a canvas that nothing is drawn on. */
  constructor(
    readonly width: number,
    readonly height: number,
    readonly ruler: Pick<Context, "font" | "textBaseline" | "measureText">,
  ) {}

  /** The picture, as the text of a file. */
  text(title: string): string {
    this.#endBars();
    const [width, height] = [short(this.width), short(this.height)];
    const defs = [...this.#gradients.map((gradient) => gradient.text), ...this.#clips].join("\n");
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
      `<title>${escaped(title)}</title>\n<defs>${defs}</defs>\n` +
      `${this.#parts.join("\n")}${"</g>".repeat(this.#cuts)}\n</svg>\n`
    );
  }

  save(): void {
    const look = Object.fromEntries(Object.keys(PLAIN).map((key) => [key, this[key as keyof Look]]));
    this.#saved.push({
      look: look as unknown as Look,
      matrix: this.#matrix,
      dashes: this.#dashes,
      cuts: this.#cuts,
    });
  }

  restore(): void {
    const before = this.#saved.pop();
    if (!before) return;
    for (; this.#cuts > before.cuts; this.#cuts--) this.#add("</g>");
    Object.assign(this, before.look);
    this.#matrix = before.matrix;
    this.#dashes = before.dashes;
  }

  translate(x: number, y: number): void {
    this.#matrix = product(this.#matrix, [1, 0, 0, 1, x, y]);
  }

  rotate(angle: number): void {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.#matrix = product(this.#matrix, [cos, sin, -sin, cos, 0, 0]);
  }

  scale(x: number, y: number): void {
    this.#matrix = product(this.#matrix, [x, 0, 0, y, 0, 0]);
  }

  getTransform(): DOMMatrix {
    return new DOMMatrix(this.#matrix);
  }

  setLineDash(dashes: Iterable<number>): void {
    this.#dashes = [...dashes];
  }

  beginPath(): void {
    this.#path = [];
    this.#down = false;
  }

  closePath(): void {
    if (this.#path.length > 0) this.#path.push("z");
  }

  moveTo(x: number, y: number): void {
    this.#go("M", x, y);
  }

  lineTo(x: number, y: number): void {
    this.#go(this.#down ? "L" : "M", x, y);
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    if (!this.#down) this.moveTo(x1, y1);
    this.#go(`C${this.#at(x1, y1)} ${this.#at(x2, y2)} `, x, y);
  }

  quadraticCurveTo(x1: number, y1: number, x: number, y: number): void {
    if (!this.#down) this.moveTo(x1, y1);
    this.#go(`Q${this.#at(x1, y1)} `, x, y);
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }

  roundRect(x: number, y: number, width: number, height: number, radii: number | number[] = 0): void {
    const most = Math.min(Math.abs(width), Math.abs(height)) / 2;
    const list = typeof radii === "number" ? [radii] : radii;
    const corner = (place: number) => Math.min(list[place % Math.max(list.length, 1)] ?? 0, most);
    const [a, b, c, d] = [corner(0), corner(1), corner(2), corner(3)];
    const [right, bottom, quarter] = [x + width, y + height, Math.PI / 2];
    this.moveTo(x + a, y);
    this.arc(right - b, y + b, b, -quarter, 0);
    this.arc(right - c, bottom - c, c, 0, quarter);
    this.arc(x + d, bottom - d, d, quarter, 2 * quarter);
    this.arc(x + a, y + a, a, 2 * quarter, 3 * quarter);
    this.closePath();
  }

  /** Curves for quarters and less: those stay right under every matrix. */
  arc(x: number, y: number, radius: number, from: number, to: number, back = false): void {
    const round = 2 * Math.PI;
    const turn = back ? from - to : to - from;
    const sweep = (turn >= round ? round : ((turn % round) + round) % round) * (back ? -1 : 1);
    const pieces = Math.max(Math.ceil(Math.abs(sweep) / (Math.PI / 2) - 1e-9), 1);
    const step = sweep / pieces;
    const reach = (4 / 3) * Math.tan(step / 4);
    this.lineTo(x + radius * Math.cos(from), y + radius * Math.sin(from));
    for (let piece = 0; piece < pieces; piece++) {
      const [a, b] = [from + piece * step, from + (piece + 1) * step];
      const [ca, sa] = [radius * Math.cos(a), radius * Math.sin(a)];
      const [cb, sb] = [radius * Math.cos(b), radius * Math.sin(b)];
      this.bezierCurveTo(
        x + ca - reach * sa,
        y + sa + reach * ca,
        x + cb + reach * sb,
        y + sb - reach * cb,
        x + cb,
        y + sb,
      );
    }
  }

  fill(): void {
    this.#shape(this.#path.join(""), this.#fills());
  }

  stroke(): void {
    this.#shape(this.#path.join(""), this.#strokes());
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const [box, look] = [this.#box(x, y, width, height), this.#fills()];
    // Where the background shines through, two that overlap are not the same as one.
    if (this.globalAlpha !== 1 || look.includes("opacity")) return this.#shape(box, look);
    if (this.#bars?.look !== look) {
      this.#endBars();
      this.#bars = { look, boxes: [] };
    }
    this.#bars.boxes.push(box);
  }

  #endBars(): void {
    if (this.#bars) this.#parts.push(`<path d="${this.#bars.boxes.join("")}" ${this.#bars.look}/>`);
    this.#bars = null;
  }

  #add(element: string): void {
    this.#endBars();
    this.#parts.push(element);
  }

  beginTitle(text: string): void {
    this.#add(`<g><title>${escaped(text)}</title>`);
  }

  endTitle(): void {
    this.#add("</g>");
  }

  /** What is drawn from here to the matching `restore` is seen only within the path. */
  clip(): void {
    const id = `clip${this.#clips.length}`;
    this.#clips.push(`<clipPath id="${id}"><path d="${this.#path.join("")}"/></clipPath>`);
    this.#add(`<g clip-path="url(#${id})">`);
    this.#cuts++;
  }

  fillText(text: string, x: number, y: number): void {
    this.#letters(text, x, y, this.#ink("fill", this.fillStyle));
  }

  strokeText(text: string, x: number, y: number): void {
    this.#letters(text, x, y, this.#strokes());
  }

  measureText(text: string): TextMetrics {
    this.ruler.font = this.font;
    this.ruler.textBaseline = this.textBaseline;
    return this.ruler.measureText(text);
  }

  createLinearGradient(x0: number, y0: number, x1: number, y1: number): CanvasGradient {
    const gradient = new Gradient(`shade${this.#gradients.length}`, this.#point(x0, y0), this.#point(x1, y1));
    this.#gradients.push(gradient);
    return gradient;
  }

  /** Pictures within the picture are kept as PNG. */
  drawImage(image: CanvasImageSource, x: number, y: number, width?: number, height?: number): void {
    if (!(image instanceof HTMLCanvasElement)) return;
    this.#add(
      `<image href="${image.toDataURL()}" x="${short(x)}" y="${short(y)}" width="${short(width ?? image.width)}" ` +
        `height="${short(height ?? image.height)}" preserveAspectRatio="none"${this.#placed()}${this.#opacity()}/>`,
    );
  }

  #point(x: number, y: number): [number, number] {
    const [a, b, c, d, e, f] = this.#matrix;
    return [a * x + c * y + e, b * x + d * y + f];
  }

  #at(x: number, y: number): string {
    const [px, py] = this.#point(x, y);
    return `${short(px)} ${short(py)}`;
  }

  #go(how: string, x: number, y: number): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    this.#path.push(how + this.#at(x, y));
    this.#down = true;
  }

  #box(x: number, y: number, width: number, height: number): string {
    return `M${this.#at(x, y)}L${this.#at(x + width, y)}L${this.#at(x + width, y + height)}L${this.#at(x, y + height)}z`;
  }

  #shape(path: string, look: string): void {
    if (path) this.#add(`<path d="${path}" ${look}${this.#opacity()}/>`);
  }

  #ink(attribute: "fill" | "stroke", style: string | CanvasGradient | CanvasPattern): string {
    if (style instanceof Gradient) return `${attribute}="url(#${style.id})"`;
    return inked(attribute, typeof style === "string" ? style : "none");
  }

  #fills(): string {
    return this.#ink("fill", this.fillStyle);
  }

  /** Widths of lines grow with the matrix. */
  #strokes(): string {
    const [a, b, c, d] = this.#matrix;
    const scale = Math.sqrt(Math.abs(a * d - b * c));
    const more = [
      this.lineJoin === "miter" ? "" : ` stroke-linejoin="${this.lineJoin}"`,
      this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`,
      this.#dashes.length === 0
        ? ""
        : ` stroke-dasharray="${this.#dashes.map((length) => short(length * scale)).join(" ")}"`,
    ];
    return `fill="none" ${this.#ink("stroke", this.strokeStyle)} stroke-width="${short(this.lineWidth * scale)}"${more.join("")}`;
  }

  #opacity(): string {
    return this.globalAlpha === 1 ? "" : ` opacity="${short(this.globalAlpha)}"`;
  }

  #placed(): string {
    const [a, b, c, d, e, f] = this.#matrix;
    if (a === 1 && b === 0 && c === 0 && d === 1 && e === 0 && f === 0) return "";
    const exact = (value: number) => String(Math.round(value * 1e6) / 1e6);
    return ` transform="matrix(${[a, b, c, d, e, f].map(exact).join(" ")})"`;
  }

  #letters(text: string, x: number, y: number, look: string): void {
    const { weight, size, family } = fontOf(this.font);
    const anchor = { left: "start", start: "start", right: "end", end: "end", center: "middle" }[this.textAlign];
    // Not every program knows `dominant-baseline`, so all texts stand on their plain one.
    const above = this.measureText(text).fontBoundingBoxAscent;
    this.ruler.textBaseline = "alphabetic";
    const at = y + this.ruler.measureText(text).fontBoundingBoxAscent - above;
    this.#add(
      `<text x="${short(x)}" y="${short(at)}" ${look} text-anchor="${anchor}" font-size="${short(size)}" ` +
        `font-weight="${weight}" font-family="${escaped(family)}"${this.#placed()}${this.#opacity()}>${escaped(text)}</text>`,
    );
  }
}

/** The parts of a font as canvases have it: `600 12px Inter, sans-serif`. */
function fontOf(font: string): { weight: string; size: number; family: string } {
  const [, weight, size, family] = /^(?:(\w+) )?([\d.]+)px (.+)$/.exec(font.trim()) ?? [];
  return { weight: weight ?? "400", size: Number(size ?? 10), family: family ?? "sans-serif" };
}
