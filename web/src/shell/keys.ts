/** Keys and their names. */

const NAMES: Record<string, string> = {
  " ": "Space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  "−": "-",
  "=": "+",
};

interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** What was pressed, as it stands in the list of actions: `Ctrl+Shift+Z`, `Alt+→`, `?`. */
export function nameOf(event: Pressed): string {
  const key = NAMES[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  // Signs have their Shift in them already.
  const plainSign = event.key.length === 1 && event.key !== " " && event.key.toLowerCase() === event.key.toUpperCase();
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && !plainSign) parts.push("Shift");
  return [...parts, key].join("+");
}

/** Whether it is a text field. */
export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !/^(checkbox|radio|button|range|color|file)$/.test(target.type);
}
