/** A finger that stays opens the menu that the right button of a mouse opens. */

const LONG_MS = 500;
/** Pixels that a finger trembles. */
const SLACK = 10;

/** Listens on the whole window; call the answer to stop. */
export function watchLongPress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  /** When a menu was asked for: what the browser does of its own then is one too many. */
  let opened = -Infinity;

  const stop = () => clearTimeout(timer);
  const down = (event: PointerEvent) => {
    stop();
    const { target, clientX: x, clientY: y } = event;
    if (event.pointerType !== "touch" || !event.isPrimary || !(target instanceof Element)) return;
    from = { x, y };
    timer = setTimeout(() => {
      opened = performance.now();
      const ask = new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: x, clientY: y });
      // What was begun with this finger ends here: no drag, no click.
      if (!target.dispatchEvent(ask))
        target.dispatchEvent(new PointerEvent("pointercancel", { bubbles: true, pointerId: event.pointerId }));
    }, LONG_MS);
  };
  const move = (event: PointerEvent) => {
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > SLACK) stop();
  };
  const native = (event: MouseEvent) => {
    if (!event.isTrusted || performance.now() - opened > 1500) return;
    event.preventDefault();
    event.stopPropagation();
  };
  /** The click that a browser makes of a long press. */
  const click = (event: MouseEvent) => {
    if (event.isTrusted && performance.now() - opened < LONG_MS) native(event);
  };

  const all = { capture: true };
  addEventListener("pointerdown", down, all);
  addEventListener("pointermove", move, all);
  addEventListener("pointerup", stop, all);
  addEventListener("pointercancel", stop, all);
  addEventListener("contextmenu", native, all);
  addEventListener("click", click, all);
  return () => {
    stop();
    removeEventListener("pointerdown", down, all);
    removeEventListener("pointermove", move, all);
    removeEventListener("pointerup", stop, all);
    removeEventListener("pointercancel", stop, all);
    removeEventListener("contextmenu", native, all);
    removeEventListener("click", click, all);
  };
}
