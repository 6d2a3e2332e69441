/** Two fingers on a picture: they zoom it, and take it with them. */

interface Point {
  x: number;
  y: number;
}

/**
 * To attach to the element that has the picture. `zoom` makes it `factor` times as large around a point of the element; `pan`
 * moves it by pixels; `begin` ends what the first finger has begun. While there are two fingers the element hears of none.
 */
export function pinching(hands: {
  begin: () => void;
  zoom: (factor: number, x: number, y: number) => void;
  pan: (dx: number, dy: number) => void;
}): (element: HTMLElement) => () => void {
  return (element) => {
    const fingers = new Map<number, Point>();
    let last: { distance: number; middle: Point } | null = null;

    const measure = () => {
      const [a, b] = [...fingers.values()];
      if (!a || !b) return null;
      const distance = Math.max(Math.hypot(a.x - b.x, a.y - b.y), 20);
      return { distance, middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } };
    };
    const pointOf = (event: PointerEvent): Point => {
      const box = element.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const down = (event: PointerEvent) => {
      if (event.pointerType !== "touch") return;
      fingers.set(event.pointerId, pointOf(event));
      if (fingers.size < 2) return;
      event.stopImmediatePropagation();
      if (!last) hands.begin();
      last = measure();
    };
    const move = (event: PointerEvent) => {
      if (!fingers.has(event.pointerId)) return;
      fingers.set(event.pointerId, pointOf(event));
      if (!last) return;
      event.stopImmediatePropagation();
      const now = measure();
      if (!now) return;
      hands.zoom(now.distance / last.distance, now.middle.x, now.middle.y);
      hands.pan(now.middle.x - last.middle.x, now.middle.y - last.middle.y);
      last = now;
    };
    const up = (event: PointerEvent) => {
      if (!fingers.delete(event.pointerId)) return;
      if (last) event.stopImmediatePropagation();
      // The last finger of a pinch begins nothing new.
      if (fingers.size === 0) last = null;
    };

    const all = { capture: true };
    element.addEventListener("pointerdown", down, all);
    element.addEventListener("pointermove", move, all);
    element.addEventListener("pointerup", up, all);
    element.addEventListener("pointercancel", up, all);
    return () => {
      element.removeEventListener("pointerdown", down, all);
      element.removeEventListener("pointermove", move, all);
      element.removeEventListener("pointerup", up, all);
      element.removeEventListener("pointercancel", up, all);
    };
  };
}
