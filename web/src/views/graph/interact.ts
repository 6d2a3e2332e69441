/** Wheel, pointers and fingers on a graph. */

import { clock } from "../../store/clock.svelte";
import type { Frame } from "./scene";

export interface GraphControls {
  frame(): Frame | null;
  /** The range of an axis now, and a wish for another one; nothing for what is visible. */
  range(axis: string): [number, number] | null;
  setRange(axis: string, range: [number, number] | null): void;
  log(axis: string): boolean;
  /** Somebody clicked on an axis. */
  openAxis(axis: string, x: number, y: number): void;
  /** Whether a drag without Shift selects. */
  selecting(): boolean;
}

type Area = { kind: "plot" } | { kind: "axis"; key: string } | { kind: "none" };

/** Pixels that a hand trembles during a click. */
const SLACK = 4;

/** Handlers for an element that fills the view. */
export function interact(element: HTMLElement, controls: GraphControls): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let drag: {
    area: Area;
    x: number;
    y: number;
    moved: boolean;
    select: boolean;
    start: number;
    end: number;
    range: [number, number] | null;
    anchor: number;
  } | null = null;
  let pinch: { distance: number; middle: number } | null = null;

  /** Buttons lie above the plot. */
  const onTool = (event: Event) => event.target instanceof Element && event.target.closest("[role=toolbar]") !== null;
  const spot = (event: { clientX: number; clientY: number }) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const timeAt = (x: number): number => {
    const frame = controls.frame();
    if (!frame) return clock.start;
    return clock.start + ((x - frame.left) / frame.width) * clock.span;
  };
  const areaAt = (x: number, y: number): Area => {
    const frame = controls.frame();
    if (!frame) return { kind: "none" };
    const axis = frame.axes.find((axis) => x >= axis.left && x < axis.left + axis.width);
    if (axis && y < frame.top + frame.height + 8) return { kind: "axis", key: axis.key };
    return x >= frame.left && x <= frame.left + frame.width ? { kind: "plot" } : { kind: "none" };
  };
  /**
   * The range of an axis, `factor` times as large around a place between 0 (below) and 1, moved by a part of itself.
   */
  const stretched = (
    key: string,
    range: [number, number],
    factor: number,
    around: number,
    by = 0,
  ): [number, number] => {
    const log = controls.log(key);
    const [low, high] = log ? (range.map(Math.log10) as [number, number]) : range;
    const span = high - low;
    const middle = low + around * span;
    const made = [middle - around * span * factor + by * span, middle + (1 - around) * span * factor + by * span];
    return (log ? made.map((power) => 10 ** power) : made) as [number, number];
  };

  const wheel = (event: WheelEvent) => {
    const { x, y } = spot(event);
    const area = areaAt(x, y);
    if (area.kind === "none") return;
    event.preventDefault();
    // Lines and pages as some mice send them.
    const unit = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    // A pinch comes as a wheel with Ctrl, in small steps.
    const factor = Math.exp(Math.max(Math.min(dy, 240), -240) * (event.ctrlKey ? 0.01 : 0.0018));
    if (area.kind === "axis") {
      const frame = controls.frame();
      const range = controls.range(area.key);
      if (frame && range)
        controls.setRange(area.key, stretched(area.key, range, factor, 1 - (y - frame.top) / frame.height));
      return;
    }
    const frame = controls.frame();
    if (!frame) return;
    const sideways = event.shiftKey && dx === 0 ? dy : dx;
    if (!event.ctrlKey && (event.shiftKey || Math.abs(dx) > Math.abs(dy)))
      clock.pan((sideways / frame.width) * clock.span);
    else if (clock.following) clock.zoom(factor, clock.end);
    else clock.zoom(factor, timeAt(x));
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || onTool(event)) return;
    const { x, y } = spot(event);
    const area = areaAt(x, y);
    if (area.kind === "none") return;
    element.focus({ preventScroll: true });
    pointers.set(event.pointerId, { x, y });
    element.setPointerCapture(event.pointerId);
    if (pointers.size === 2) {
      drag = null;
      pinch = fingers();
      return;
    }
    drag = {
      area,
      x,
      y,
      moved: false,
      select: area.kind === "plot" && (event.shiftKey || controls.selecting()),
      start: clock.start,
      end: clock.end,
      range: area.kind === "axis" ? controls.range(area.key) : null,
      anchor: timeAt(x),
    };
  };

  const fingers = () => {
    const [a, b] = [...pointers.values()];
    if (!a || !b) return null;
    return { distance: Math.max(Math.abs(a.x - b.x), 20), middle: (a.x + b.x) / 2 };
  };

  const move = (event: PointerEvent) => {
    const { x, y } = spot(event);
    const frame = controls.frame();
    if (!frame) return;
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, { x, y });
    if (pinch) {
      const now = fingers();
      if (!now) return;
      clock.pan(((pinch.middle - now.middle) / frame.width) * clock.span);
      clock.zoom(pinch.distance / now.distance, timeAt(now.middle));
      pinch = now;
      return;
    }
    const area = areaAt(x, y);
    clock.hover = area.kind === "plot" && event.pointerType !== "touch" ? timeAt(x) : null;
    element.style.cursor = drag?.moved
      ? drag.select
        ? "col-resize"
        : "grabbing"
      : area.kind === "axis"
        ? "ns-resize"
        : "";
    if (!drag) return;
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < SLACK) return;
    drag.moved = true;
    if (drag.area.kind === "axis") {
      const { key } = drag.area;
      if (drag.range) controls.setRange(key, stretched(key, drag.range, 1, 0, (y - drag.y) / frame.height));
    } else if (drag.select) {
      const [from, to] = [drag.anchor, timeAt(Math.min(Math.max(x, frame.left), frame.left + frame.width))];
      clock.selection = { start: Math.min(from, to), end: Math.max(from, to) };
    } else {
      const by = ((drag.x - x) / frame.width) * (drag.end - drag.start);
      clock.following = false;
      clock.show(drag.start + by, drag.end + by);
    }
  };

  const up = (event: PointerEvent) => {
    pointers.delete(event.pointerId);
    if (pinch) {
      if (pointers.size === 0) pinch = null;
      return;
    }
    const done = drag;
    drag = null;
    element.style.cursor = "";
    if (!done || done.moved || event.type === "pointercancel") return;
    if (done.area.kind === "axis") controls.openAxis(done.area.key, event.clientX, event.clientY);
    else if (event.altKey) clock.mark = timeAt(done.x);
    else if (done.select && clock.selection) clock.selection = null;
    else clock.seek(timeAt(done.x), true);
  };

  const double = (event: MouseEvent) => {
    if (onTool(event)) return;
    const { x, y } = spot(event);
    const area = areaAt(x, y);
    if (area.kind === "axis") controls.setRange(area.key, null);
    else if (area.kind === "plot") clock.showAll();
  };

  const leave = () => {
    clock.hover = null;
  };

  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("dblclick", double);
  return () => {
    element.removeEventListener("wheel", wheel);
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", up);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("dblclick", double);
  };
}
