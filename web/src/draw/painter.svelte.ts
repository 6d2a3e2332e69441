/** A canvas that is as sharp as the screen and draws itself when something changed. */

import type { Attachment } from "svelte/attachments";

/** What pictures are drawn on: a canvas, or an SVG that records the same calls. */
export type Context = Pick<
  CanvasRenderingContext2D,
  | "save"
  | "restore"
  | "translate"
  | "rotate"
  | "scale"
  | "getTransform"
  | "setLineDash"
  | "beginPath"
  | "closePath"
  | "moveTo"
  | "lineTo"
  | "bezierCurveTo"
  | "quadraticCurveTo"
  | "rect"
  | "roundRect"
  | "arc"
  | "fillRect"
  | "fillText"
  | "strokeText"
  | "measureText"
  | "createLinearGradient"
  | "drawImage"
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineJoin"
  | "lineCap"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "globalAlpha"
  | "imageSmoothingQuality"
  | "shadowColor"
  | "shadowBlur"
> & {
  /** Of the current path, never of a `Path2D`. */
  fill(): void;
  stroke(): void;
  clip(): void;
  /** What is drawn until `endTitle` has this title, where the picture has titles. */
  beginTitle?(text: string): void;
  endTitle?(): void;
};

/** Draws a picture of that size, in CSS pixels, on a clear canvas. What state it reads, it depends on. */
export type Paint = (context: Context, width: number, height: number) => void;

/**
 * `<canvas {@attach painter(paint)}>`: paints at once when state that `paint` read is another, or the size, but never
 * twice in one frame.
 */
export function painter(paint: Paint): Attachment<HTMLCanvasElement> {
  return (canvas) => {
    const context = canvas.getContext("2d");
    if (!context) return;
    const size = $state({ width: 0, height: 0, ratio: 1 });
    const measure = () => {
      size.width = canvas.clientWidth;
      size.height = canvas.clientHeight;
      size.ratio = devicePixelRatio || 1;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(canvas);
    measure();

    let turn = $state(0);
    let rests = false;
    let waits = false;
    let frame = 0;
    const next = () => {
      rests = false;
      if (!waits) return;
      waits = false;
      turn++;
    };

    $effect(() => {
      void turn;
      if (rests) {
        // The next turn reads everything again.
        waits = true;
        return;
      }
      const { width, height, ratio } = size;
      if (width === 0 || height === 0) return;
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== across || canvas.height !== down) {
        canvas.width = across;
        canvas.height = down;
      }
      rests = true;
      frame = requestAnimationFrame(next);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.save();
      paint(context, width, height);
      context.restore();
    });

    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  };
}
