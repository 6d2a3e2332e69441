/** The one menu that is open, wherever it came from. */

import type { IconName } from "./icons";

export interface MenuItem {
  label: string;
  /** A line above it, with these words if there are any. */
  section?: string;
  icon?: IconName;
  /** Path data instead of an icon of ours. */
  path?: string;
  /** The key that does the same. */
  keys?: string;
  checked?: boolean;
  disabled?: boolean;
  run: () => void;
}

interface Open {
  items: MenuItem[];
  label: string;
  x: number;
  y: number;
  /** Lower left corner below its button, or the point of a click. */
  above: number | null;
}

class Menu {
  open = $state.raw<Open | null>(null);
  #opener: HTMLElement | null = null;

  /** Below a button, or where the pointer is. */
  show(at: HTMLElement | { x: number; y: number }, label: string, items: MenuItem[]): void {
    this.#opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    if (at instanceof HTMLElement) {
      this.#opener = at;
      const box = at.getBoundingClientRect();
      this.open = { items, label, x: box.left, y: box.bottom + 2, above: box.top - 2 };
    } else this.open = { items, label, x: at.x, y: at.y, above: null };
  }

  close(): void {
    if (!this.open) return;
    this.open = null;
    this.#opener?.focus();
  }

  choose(item: MenuItem): void {
    if (item.disabled) return;
    this.close();
    item.run();
  }
}

export const menu = new Menu();
